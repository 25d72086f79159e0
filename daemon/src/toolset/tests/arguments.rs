//! What arguments of `bash` mean and how faults in them read.

use brattice_protocol::session::ToolsetName;
use proptest::prelude::*;
use serde_json::json;

use super::*;

fn parse(name: ToolsetName, arguments: Value) -> Result<BashArguments, String> {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    parse_bash(Toolset::of(name), &arguments).map_err(|fault| fault.to_string())
}

fn standard(arguments: Value) -> Result<BashArguments, String> {
    parse(ToolsetName::Standard, arguments)
}

fn dsh(arguments: Value) -> Result<BashArguments, String> {
    parse(ToolsetName::Dsh, arguments)
}

fn fault(arguments: Value) -> String {
    standard(arguments).expect_err("a fault")
}

fn limit(asked: Value) -> (u128, TimeoutOrigin) {
    let parsed = standard(json!({"command": "ls", "timeoutMs": asked})).expect("a limit");
    (parsed.timeout.limit.as_millis(), parsed.timeout.origin)
}

#[test]
fn all_arguments_are_taken() {
    let arguments = json!({
        "command": "ls\n", "description": "List", "timeoutMs": 1500, "workdir": "sub"
    });
    let expected = BashArguments {
        command: "ls\n".to_owned(),
        description: Some("List".to_owned()),
        timeout: Timeout { limit: Duration::from_millis(1500), origin: TimeoutOrigin::AsAsked },
        workdir: Some("sub".to_owned()),
    };
    assert_eq!(standard(arguments.clone()), Ok(expected.clone()));
    assert_eq!(dsh(arguments), Ok(expected));
}

#[test]
fn only_the_command_is_required_in_standard() {
    assert_eq!(
        standard(json!({"command": "ls"})),
        Ok(BashArguments {
            command: "ls".to_owned(),
            description: None,
            timeout: Timeout { limit: Duration::from_secs(120), origin: TimeoutOrigin::Default },
            workdir: None,
        })
    );
}

#[test]
fn dsh_requires_a_description() {
    assert_eq!(
        dsh(json!({"command": "ls"})),
        Err("argument `description`: expected text, got nothing".to_owned())
    );
}

#[test]
fn b034_a_limit_is_rounded_up_and_clamped_and_never_overflows() {
    assert_eq!(limit(json!(1.5)), (2, TimeoutOrigin::AsAsked));
    assert_eq!(limit(json!(1e-300)), (1, TimeoutOrigin::AsAsked));
    assert_eq!(limit(json!(600_000)), (600_000, TimeoutOrigin::AsAsked));
    assert_eq!(limit(json!(599_999.5)), (600_000, TimeoutOrigin::AsAsked));
    assert_eq!(limit(json!(600_000.5)), (600_000, TimeoutOrigin::Clamped));
    assert_eq!(limit(json!(99_999_999_999_u64)), (600_000, TimeoutOrigin::Clamped));
    assert_eq!(limit(json!(u64::MAX)), (600_000, TimeoutOrigin::Clamped));
    assert_eq!(limit(json!(1e300)), (600_000, TimeoutOrigin::Clamped));
}

#[test]
fn what_is_no_time_limit_is_a_fault() {
    for (asked, shown) in [
        (json!("abc"), "\"abc\""),
        (json!("5000"), "\"5000\""),
        (json!(0), "0"),
        (json!(-0.0), "-0.0"),
        (json!(-5), "-5"),
        (json!(null), "null"),
        (json!(true), "true"),
        (json!([1]), "an array"),
        (json!({}), "an object"),
    ] {
        assert_eq!(
            fault(json!({"command": "ls", "timeoutMs": asked})),
            format!(
                "argument `timeoutMs`: expected a positive number of milliseconds, got {shown}"
            )
        );
    }
}

#[test]
fn what_is_no_command_is_a_fault() {
    for (arguments, text) in [
        (json!({}), "argument `command`: expected text, got nothing"),
        (json!({"command": 7}), "argument `command`: expected text, got 7"),
        (json!({"command": null}), "argument `command`: expected text, got null"),
        (json!({"command": ["ls"]}), "argument `command`: expected text, got an array"),
        (json!({"command": ""}), "argument `command`: expected text that is not blank, got \"\""),
        (
            json!({"command": " \n\t"}),
            "argument `command`: expected text that is not blank, got \" \\n\\t\"",
        ),
        (
            json!({"command": "a\0b"}),
            "argument `command`: expected text without NUL characters, got one at byte 1",
        ),
    ] {
        assert_eq!(fault(arguments), text);
    }
}

#[test]
fn b048_a_command_may_be_a_mebibyte_long_and_no_longer() {
    let longest = "#".repeat(MAX_COMMAND_BYTES);
    let parsed = standard(json!({"command": longest})).expect("a mebibyte");
    assert_eq!(parsed.command.len(), 1_048_576);
    assert_eq!(
        fault(json!({"command": format!("{longest}#")})),
        "argument `command`: expected text of at most 1048576 bytes, got 1048577 bytes"
    );
}

#[test]
fn what_is_no_path_is_a_fault() {
    for (workdir, text) in [
        (json!(""), "argument `workdir`: expected text that is not blank, got \"\""),
        (
            json!("a\0"),
            "argument `workdir`: expected text without NUL characters, got one at byte 1",
        ),
        (json!(5), "argument `workdir`: expected text, got 5"),
        (
            json!("d".repeat(4096)),
            "argument `workdir`: expected text of at most 4095 bytes, got 4096 bytes",
        ),
    ] {
        assert_eq!(fault(json!({"command": "ls", "workdir": workdir})), text);
    }
}

#[test]
fn standard_refuses_what_it_does_not_declare() {
    let known = "expected only `command`, `description`, `timeoutMs`, `workdir`";
    for (name, value, shown) in [
        ("cmd", json!("ls"), "\"ls\""),
        ("run_in_background", json!(true), "true"),
        ("sandbox_permissions", json!("danger-full-access"), "\"danger-full-access\""),
        ("justification", json!("please"), "\"please\""),
        ("stdin", json!(false), "false"),
        ("tty", json!(true), "true"),
    ] {
        assert_eq!(
            fault(json!({"command": "ls", name: value})),
            format!("argument `{name}`: unknown to this tool, {known}, got {shown}")
        );
    }
}

#[test]
fn a_misspelt_name_is_told_before_the_missing_argument() {
    assert!(fault(json!({"cmd": "ls"})).starts_with("argument `cmd`: unknown"));
}

#[test]
fn dsh_ignores_what_it_does_not_know() {
    let plain = dsh(json!({"command": "ls", "description": "List"}));
    assert!(plain.is_ok());
    let with_more = json!({
        "command": "ls", "description": "List", "colour": 3, "stdin": true,
        "run_in_background": false, "sandbox_permissions": null, "justification": "none"
    });
    assert_eq!(dsh(with_more), plain);
}

#[test]
fn dsh_never_runs_in_the_foreground_what_was_meant_for_the_background() {
    for (name, value, shown) in [
        ("run_in_background", json!(true), "true"),
        ("run_in_background", json!("yes"), "\"yes\""),
        ("sandbox_permissions", json!("danger-full-access"), "\"danger-full-access\""),
    ] {
        assert_eq!(
            dsh(json!({"command": "ls", "description": "List", name: value})),
            Err(format!(
                "argument `{name}`: not available in this version, expected to be left out, got {shown}"
            ))
        );
    }
}

#[test]
fn long_values_are_shortened_in_faults() {
    let text = fault(json!({"command": "ls", "timeoutMs": "é".repeat(1_000_000)}));
    assert_eq!(
        text,
        format!(
            "argument `timeoutMs`: expected a positive number of milliseconds, got \"{}…\"",
            "é".repeat(60)
        )
    );
    assert!(fault(json!({"k".repeat(1_000_000): 1, "command": "ls"})).len() < 300);
}

fn any_json() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,80}".prop_map(Value::from),
        Just(json!([1])),
        Just(json!({"a": 1})),
    ]
}

proptest! {
    #[test]
    fn any_arguments_parse_or_name_the_argument(
        arguments in proptest::collection::btree_map(
            prop_oneof![Just("command"), Just("description"), Just("timeoutMs"), Just("workdir"), Just("x")]
                .prop_map(str::to_owned),
            any_json(),
            0..6,
        )
    ) {
        let arguments: Map<String, Value> = arguments.into_iter().collect();
        for name in [ToolsetName::Standard, ToolsetName::Dsh] {
            let toolset = Toolset::of(name);
            match parse_bash(toolset, &arguments) {
                Ok(parsed) => {
                    prop_assert!(!parsed.command.trim().is_empty());
                    prop_assert!(parsed.timeout.limit > Duration::ZERO);
                    prop_assert!(parsed.timeout.limit <= toolset.limits.max);
                }
                Err(fault) => {
                    let fault = fault.to_string();
                    prop_assert!(fault.starts_with("argument `"), "{}", fault);
                    prop_assert!(fault.contains("expected"), "{}", fault);
                    prop_assert!(fault.contains("got "), "{}", fault);
                }
            }
        }
    }
}
