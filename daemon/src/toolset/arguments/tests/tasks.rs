//! What arguments of the tools for tasks mean and how faults in them read.

use std::time::Duration;

use brattice_policy::Limits;
use brattice_protocol::session::ToolsetName;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::toolset::Toolset;
use crate::toolset::arguments::TimeoutOrigin;

const BOTH: [ToolsetName; 2] = [ToolsetName::Standard, ToolsetName::Dsh];

type Parse<T> = fn(SessionTools<'_>, &Map<String, Value>) -> Result<T, ArgumentFault>;

fn parse<T>(name: ToolsetName, parse: Parse<T>, arguments: Value) -> Result<T, String> {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    parse(SessionTools::of(Toolset::of(name), &[], &Limits::default()), &arguments)
        .map_err(|fault| fault.to_string())
}

fn output(name: ToolsetName, arguments: Value) -> Result<TaskOutputArguments, String> {
    parse(name, parse_task_output, arguments)
}

fn wait(limit: u64, origin: TimeoutOrigin) -> Wait {
    Wait::For(Timeout { limit: Duration::from_millis(limit), origin })
}

#[test]
fn a_read_is_of_what_is_new_and_waits_for_nothing() {
    let expected =
        TaskOutputArguments { task: TaskId::new("bash-1"), wait: Wait::Never, part: Part::New };
    for name in BOTH {
        assert_eq!(output(name, json!({"task_id": "bash-1"})), Ok(expected.clone()));
        let plain = json!({"task_id": "bash-1", "wait": false, "timeout_ms": 5});
        assert_eq!(output(name, plain), Ok(expected.clone()));
    }
}

#[test]
fn b060_a_wait_has_a_default_and_a_cap() {
    let waits = |name, asked: Value| {
        let mut arguments = json!({"task_id": "bash-1", "wait": true});
        arguments.as_object_mut().unwrap().extend(asked.as_object().unwrap().clone());
        output(name, arguments).map(|parsed| parsed.wait)
    };
    for name in BOTH {
        assert_eq!(waits(name, json!({})), Ok(wait(30_000, TimeoutOrigin::Default)));
        for (asked, expected) in [
            (json!(1000), wait(1000, TimeoutOrigin::AsAsked)),
            (json!(0.5), wait(1, TimeoutOrigin::AsAsked)),
            (json!(600_000), wait(600_000, TimeoutOrigin::AsAsked)),
            (json!(99_999_999_999_u64), wait(600_000, TimeoutOrigin::Clamped)),
            (json!(1e300), wait(600_000, TimeoutOrigin::Clamped)),
        ] {
            assert_eq!(waits(name, json!({"timeout_ms": asked})), Ok(expected));
        }
        for (asked, shown) in [(json!(-5), "-5"), (json!(0), "0"), (json!("5"), "\"5\"")] {
            assert_eq!(
                waits(name, json!({"timeout_ms": asked})),
                Err(format!(
                    "argument `timeout_ms`: expected a positive number of milliseconds, got {shown}"
                ))
            );
        }
    }
}

#[test]
fn standard_reads_again_by_offset_or_by_lines() {
    let part = |arguments: Value| {
        let mut arguments = arguments;
        arguments["task_id"] = json!("bash-1");
        output(ToolsetName::Standard, arguments).map(|parsed| parsed.part)
    };
    assert_eq!(part(json!({"offset": 0})), Ok(Part::From(0)));
    assert_eq!(part(json!({"offset": 64_000.0})), Ok(Part::From(64_000)));
    assert_eq!(part(json!({"offset": 1e300})), Ok(Part::From(u64::MAX)));
    assert_eq!(part(json!({"tail_lines": 20})), Ok(Part::TailLines(20)));
    for (arguments, text) in [
        (json!({"offset": -1}), "argument `offset`: expected a whole number from 0 on, got -1"),
        (json!({"offset": 1.5}), "argument `offset`: expected a whole number from 0 on, got 1.5"),
        (json!({"offset": "0"}), "argument `offset`: expected a whole number from 0 on, got \"0\""),
        (
            json!({"tail_lines": 0}),
            "argument `tail_lines`: expected a whole number from 1 on, got 0",
        ),
        (
            json!({"tail_lines": null}),
            "argument `tail_lines`: expected a whole number from 1 on, got null",
        ),
        (
            json!({"offset": 0, "tail_lines": 20}),
            "argument `tail_lines`: expected to be left out beside `offset`, got 20",
        ),
    ] {
        assert_eq!(part(arguments), Err(text.to_owned()));
    }
}

#[test]
fn unknown_arguments_are_refused_in_standard_and_ignored_in_dsh() {
    assert_eq!(
        output(ToolsetName::Standard, json!({"task_id": "bash-1", "block": true})),
        Err("argument `block`: unknown to this tool, expected only `task_id`, `wait`, `timeout_ms`, `offset`, \
             `tail_lines`, got true"
            .to_owned())
    );
    let plain = output(ToolsetName::Dsh, json!({"task_id": "bash-1"}));
    let more = json!({"task_id": "bash-1", "block": true, "offset": -1, "tail_lines": "all"});
    assert_eq!(output(ToolsetName::Dsh, more), plain);

    let list = |name, arguments| parse(name, parse_task_list, arguments);
    for name in BOTH {
        assert_eq!(list(name, json!({})), Ok(()));
    }
    assert_eq!(list(ToolsetName::Dsh, json!({"all": true})), Ok(()));
    assert_eq!(
        list(ToolsetName::Standard, json!({"all": true})),
        Err("argument `all`: unknown to this tool, expected none, got true".to_owned())
    );
}

#[test]
fn a_task_is_named_by_text() {
    for (arguments, text) in [
        (json!({}), "argument `task_id`: expected text, got nothing"),
        (json!({"task_id": 1}), "argument `task_id`: expected text, got 1"),
        (json!({"task_id": ""}), "argument `task_id`: expected text that is not blank, got \"\""),
        (
            json!({"task_id": "bash-1\0"}),
            "argument `task_id`: expected text without NUL characters, got one at byte 6",
        ),
        (
            json!({"task_id": "b".repeat(65)}),
            "argument `task_id`: expected text of at most 64 bytes, got 65 bytes",
        ),
    ] {
        for name in BOTH {
            let fault = Err(text.to_owned());
            assert_eq!(output(name, arguments.clone()).map(|_| ()), fault);
            assert_eq!(parse(name, parse_task_kill, arguments.clone()).map(|_| ()), fault);
        }
    }
}

#[test]
fn a_kill_may_have_a_reason() {
    let reason = |reason: Value| {
        let arguments = json!({"task_id": "bash-1", "reason": reason});
        parse(ToolsetName::Dsh, parse_task_kill, arguments).map(|parsed| parsed.reason)
    };
    let none = TaskKillArguments { task: TaskId::new("bash-1"), reason: None };
    for name in BOTH {
        assert_eq!(parse(name, parse_task_kill, json!({"task_id": "bash-1"})), Ok(none.clone()));
    }
    assert_eq!(reason(json!(" not needed\n")), Ok(Some("not needed".to_owned())));
    assert_eq!(reason(json!(" ")), Ok(None));
    assert_eq!(reason(json!(7)), Err("argument `reason`: expected text, got 7".to_owned()));
    assert_eq!(
        reason(json!("x".repeat(1025))),
        Err("argument `reason`: expected text of at most 1024 bytes, got 1025 bytes".to_owned())
    );
}

#[test]
fn input_goes_as_it_stands() {
    let input = |arguments: Value| parse(ToolsetName::Standard, parse_task_input, arguments);
    let sent = |text: &str, end| {
        Ok(TaskInputArguments { task: TaskId::new("bash-1"), text: text.to_owned(), end })
    };
    assert_eq!(input(json!({"task_id": "bash-1", "text": "y\n"})), sent("y\n", InputEnd::More));
    assert_eq!(
        input(json!({"task_id": "bash-1", "text": "", "eof": true})),
        sent("", InputEnd::Eof)
    );
    assert_eq!(input(json!({"task_id": "bash-1", "text": "\0"})), sent("\0", InputEnd::More));
    assert_eq!(
        input(json!({"task_id": "bash-1"})),
        Err("argument `text`: expected text, got nothing".to_owned())
    );
    assert_eq!(
        input(json!({"task_id": "bash-1", "text": "x".repeat(65_537)})),
        Err("argument `text`: expected text of at most 65536 bytes, got 65537 bytes".to_owned())
    );
    assert_eq!(
        input(json!({"task_id": "bash-1", "text": "", "eof": "yes"})),
        Err("argument `eof`: expected true or false, got \"yes\"".to_owned())
    );
}

proptest! {
    #[test]
    fn any_arguments_parse_or_name_the_argument(
        arguments in proptest::collection::btree_map(
            prop_oneof![
                Just("task_id"), Just("wait"), Just("timeout_ms"), Just("offset"), Just("tail_lines"),
                Just("text"), Just("eof"), Just("reason"),
            ]
            .prop_map(str::to_owned),
            prop_oneof![
                Just(Value::Null),
                any::<bool>().prop_map(Value::from),
                any::<i64>().prop_map(Value::from),
                any::<f64>().prop_map(Value::from),
                ".{0,80}".prop_map(Value::from),
                Just(json!({})),
            ],
            0..6,
        )
    ) {
        for name in BOTH {
            let arguments = Value::Object(arguments.clone().into_iter().collect());
            let faults = [
                output(name, arguments.clone()).err(),
                parse(name, parse_task_kill, arguments.clone()).err(),
                parse(name, parse_task_list, arguments.clone()).err(),
                parse(name, parse_task_input, arguments).err(),
            ];
            for fault in faults.into_iter().flatten() {
                prop_assert!(fault.starts_with("argument `"), "{}", fault);
                prop_assert!(fault.contains("expected"), "{}", fault);
                prop_assert!(fault.contains("got "), "{}", fault);
            }
        }
    }
}
