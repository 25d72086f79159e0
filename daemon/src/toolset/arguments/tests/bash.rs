//! What arguments of `bash` mean and how faults in them read.

use brattice_policy::Limits;
use brattice_policy::Mode;
use brattice_protocol::session::ToolsetName;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::toolset::Toolset;
use crate::toolset::tool::EscalationOffer;

fn parse_with(
    name: ToolsetName,
    disabled: &[&str],
    arguments: Value,
) -> Result<BashArguments, String> {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let disabled: Vec<String> = disabled.iter().map(|name| (*name).to_owned()).collect();
    let tools = SessionTools::of(Toolset::of(name), &disabled, &Limits::default());
    parse_bash(tools, &arguments).map_err(|fault| fault.to_string())
}

fn standard(arguments: Value) -> Result<BashArguments, String> {
    parse_with(ToolsetName::Standard, &[], arguments)
}

fn dsh(arguments: Value) -> Result<BashArguments, String> {
    parse_with(ToolsetName::Dsh, &[], arguments)
}

fn fault(arguments: Value) -> String {
    standard(arguments).expect_err("a fault")
}

fn foreground(limit: Duration, origin: TimeoutOrigin) -> Placement {
    Placement::Foreground(Timeout { limit, origin })
}

fn limit(asked: Value) -> (u128, TimeoutOrigin) {
    let parsed = standard(json!({"command": "ls", "timeoutMs": asked})).expect("a limit");
    let Placement::Foreground(Timeout { limit, origin }) = parsed.placement else {
        panic!("in the foreground")
    };
    (limit.as_millis(), origin)
}

#[test]
fn all_arguments_are_taken() {
    let arguments = json!({
        "command": "ls\n", "description": "List", "timeoutMs": 1500, "workdir": "sub"
    });
    let expected = BashArguments {
        command: "ls\n".to_owned(),
        description: Some("List".to_owned()),
        workdir: Some("sub".to_owned()),
        placement: foreground(Duration::from_millis(1500), TimeoutOrigin::AsAsked),
        input: Input::None,
        wish: None,
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
            workdir: None,
            placement: foreground(Duration::from_secs(120), TimeoutOrigin::Default),
            input: Input::None,
            wish: None,
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
    let known = "expected only `command`, `description`, `timeoutMs`, `workdir`, `run_in_background`, \
                 `sandbox_permissions`, `justification`, `stdin`, `tty`";
    for (name, value, shown) in
        [("cmd", json!("ls"), "\"ls\""), ("runInBackground", json!(true), "true")]
    {
        assert_eq!(
            fault(json!({"command": "ls", name: value})),
            format!("argument `{name}`: unknown to this tool, {known}, got {shown}")
        );
    }
}

#[test]
fn b059_in_the_background_dsh_applies_no_limit_and_standard_the_one_that_is_given() {
    let placement = |parsed: Result<BashArguments, String>| parsed.map(|parsed| parsed.placement);
    let in_standard = |asked: Option<Value>| {
        let mut arguments = json!({"command": "make", "run_in_background": true});
        if let Some(asked) = asked {
            arguments["timeoutMs"] = asked;
        }
        placement(standard(arguments))
    };
    let limit = |milliseconds| Ok(Placement::Background(Some(Duration::from_millis(milliseconds))));
    assert_eq!(in_standard(None), Ok(Placement::Background(None)));
    assert_eq!(in_standard(Some(json!(1000))), limit(1000));
    assert_eq!(in_standard(Some(json!(0.5))), limit(1));
    assert_eq!(in_standard(Some(json!(99_999_999_999_u64))), limit(99_999_999_999));
    assert_eq!(in_standard(Some(json!(1e300))), limit(u64::MAX));
    for asked in [json!({}), json!({"timeoutMs": 1000})] {
        let mut arguments =
            json!({"command": "make", "description": "Build", "run_in_background": true});
        arguments.as_object_mut().unwrap().extend(asked.as_object().unwrap().clone());
        assert_eq!(placement(dsh(arguments)), Ok(Placement::Background(None)));
    }
    for parse in [standard, dsh] {
        let arguments = json!({"command": "make", "description": "Build", "run_in_background": true, "timeoutMs": -5});
        assert_eq!(
            parse(arguments),
            Err("argument `timeoutMs`: expected a positive number of milliseconds, got -5"
                .to_owned())
        );
    }
}

#[test]
fn a_terminal_is_an_input_too() {
    let input = |stdin: bool, tty: bool| {
        standard(json!({"command": "cat", "stdin": stdin, "tty": tty})).map(|parsed| parsed.input)
    };
    assert_eq!(input(false, false), Ok(Input::None));
    assert_eq!(input(true, false), Ok(Input::Pipe));
    assert_eq!(input(false, true), Ok(Input::Terminal));
    assert_eq!(input(true, true), Ok(Input::Terminal));
}

#[test]
fn what_is_neither_true_nor_false_is_a_fault() {
    for name in ["run_in_background", "stdin", "tty"] {
        for (value, shown) in [
            (json!("true"), "\"true\""),
            (json!(1), "1"),
            (json!(null), "null"),
            (json!([]), "an array"),
        ] {
            assert_eq!(
                fault(json!({"command": "ls", name: value})),
                format!("argument `{name}`: expected true or false, got {shown}")
            );
        }
    }
}

#[test]
fn the_background_is_refused_where_a_tool_for_it_is_missing() {
    for name in [ToolsetName::Standard, ToolsetName::Dsh] {
        for missing in ["task_output", "task_kill", "task_list"] {
            for (asked, shown) in [(json!(true), "true"), (json!("yes"), "\"yes\"")] {
                let arguments =
                    json!({"command": "ls", "description": "List", "run_in_background": asked});
                assert_eq!(
                    parse_with(name, &[missing], arguments),
                    Err(format!(
                        "argument `run_in_background`: not available in this session, which does not have all of \
                         `task_output`, `task_kill` and `task_list`, expected to be left out, got {shown}"
                    ))
                );
            }
        }
    }
    let in_the_foreground =
        json!({"command": "ls", "description": "List", "run_in_background": false});
    assert!(parse_with(ToolsetName::Dsh, &["task_list"], in_the_foreground.clone()).is_ok());
    assert_eq!(
        parse_with(ToolsetName::Standard, &["task_list"], in_the_foreground),
        Err("argument `run_in_background`: unknown to this tool, expected only `command`, `description`, \
             `timeoutMs`, `workdir`, `sandbox_permissions`, `justification`, `stdin`, `tty`, got false"
            .to_owned())
    );
    let without_input = json!({"command": "ls", "run_in_background": true});
    assert!(parse_with(ToolsetName::Standard, &["task_input"], without_input).is_ok());
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
        "command": "ls", "description": "List", "colour": 3, "stdin": true, "tty": "yes",
        "run_in_background": false, "sandbox_permissions": null, "justification": null
    });
    assert_eq!(dsh(with_more), plain);
}

#[test]
fn a_wider_mode_comes_with_its_justification_or_not_at_all() {
    let both = json!({
        "command": "make install", "description": "Install", "sandbox_permissions": "workspace-write",
        "justification": "it writes below the workspace"
    });
    let wish = Wish {
        mode: Mode::WorkspaceWrite,
        justification: "it writes below the workspace".to_owned(),
    };
    for parse in [standard, dsh] {
        assert_eq!(parse(both.clone()).map(|parsed| parsed.wish), Ok(Some(wish.clone())));
        for (value, text) in [
            (
                json!({"sandbox_permissions": "danger-full-access"}),
                "argument `justification`: expected beside `sandbox_permissions`, got nothing",
            ),
            (
                json!({"justification": "please"}),
                "argument `sandbox_permissions`: expected beside `justification`, got nothing",
            ),
            (
                json!({"sandbox_permissions": "read-only", "justification": "please"}),
                "argument `sandbox_permissions`: expected one of \"workspace-write\", \"danger-full-access\", got \
                 \"read-only\"",
            ),
            (
                json!({"sandbox_permissions": true, "justification": "please"}),
                "argument `sandbox_permissions`: expected one of \"workspace-write\", \"danger-full-access\", got true",
            ),
            (
                json!({"sandbox_permissions": "workspace-write", "justification": " "}),
                "argument `justification`: expected text that is not blank, got \" \"",
            ),
            (
                json!({"sandbox_permissions": "workspace-write", "justification": "j".repeat(4097)}),
                "argument `justification`: expected text of at most 4096 bytes, got 4097 bytes",
            ),
            (
                json!({
                    "sandbox_permissions": "workspace-write", "justification": "x",
                    "run_in_background": true,
                }),
                "argument `run_in_background`: expected to be left out beside `sandbox_permissions`, got true",
            ),
        ] {
            let mut arguments = json!({"command": "ls", "description": "List"});
            arguments.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
            assert_eq!(parse(arguments), Err(text.to_owned()));
        }
    }
}

#[test]
fn what_was_allowed_is_fed_by_nobody() {
    for name in ["stdin", "tty"] {
        let arguments = json!({
            "command": "bash", "sandbox_permissions": "danger-full-access", "justification": "x", name: true,
        });
        assert_eq!(
            fault(arguments),
            format!(
                "argument `{name}`: expected to be left out beside `sandbox_permissions`, got true"
            )
        );
    }
}

#[test]
fn only_a_wider_mode_can_be_asked_for() {
    let wish = |mode| Wish { mode, justification: "x".to_owned() };
    let check = |asked, mode| wish(asked).check_against(mode).map_err(|fault| fault.to_string());
    assert_eq!(check(Mode::WorkspaceWrite, Mode::ReadOnly), Ok(()));
    for mode in [Mode::WorkspaceWrite, Mode::DangerFullAccess] {
        assert_eq!(
            check(Mode::WorkspaceWrite, mode),
            Err(format!(
                "argument `sandbox_permissions`: expected a mode wider than the session's, {mode}, got \
                 \"workspace-write\""
            ))
        );
    }
}

#[test]
fn where_nobody_is_asked_the_wish_is_a_fault_in_every_toolset() {
    for name in [ToolsetName::Standard, ToolsetName::Dsh] {
        let parse = |more: Value| {
            let mut arguments = json!({"command": "ls", "description": "List"});
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let Value::Object(arguments) = arguments else { unreachable!() };
            let tools = SessionTools::of(Toolset::of(name), &[], &Limits::default())
                .with_escalation(EscalationOffer::Withheld);
            parse_bash(tools, &arguments).map_err(|fault| fault.to_string())
        };
        assert!(parse(json!({})).is_ok());
        for argument in ["sandbox_permissions", "justification"] {
            assert_eq!(
                parse(json!({argument: "workspace-write"})),
                Err(format!(
                    "argument `{argument}`: escalation is refused: approval prompts are disabled in this session; \
                     expected to be left out, got \"workspace-write\"; nothing ran"
                ))
            );
        }
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
            prop_oneof![
                Just("command"), Just("description"), Just("timeoutMs"), Just("workdir"),
                Just("run_in_background"), Just("stdin"), Just("tty"), Just("x"),
            ]
            .prop_map(str::to_owned),
            any_json(),
            0..6,
        )
    ) {
        for name in [ToolsetName::Standard, ToolsetName::Dsh] {
            let arguments = Value::Object(arguments.clone().into_iter().collect());
            match parse_with(name, &[], arguments) {
                Ok(parsed) => {
                    prop_assert!(!parsed.command.trim().is_empty());
                    match parsed.placement {
                        Placement::Foreground(Timeout { limit, .. }) => {
                            prop_assert!(limit > Duration::ZERO);
                            prop_assert!(limit <= Toolset::of(name).times(&Limits::default()).limits.max);
                        }
                        Placement::Background(limit) => {
                            prop_assert!(limit.is_none_or(|limit| limit > Duration::ZERO));
                        }
                    }
                }
                Err(fault) => {
                    prop_assert!(fault.starts_with("argument `"), "{}", fault);
                    prop_assert!(fault.contains("expected"), "{}", fault);
                    prop_assert!(fault.contains("got "), "{}", fault);
                }
            }
        }
    }
}
