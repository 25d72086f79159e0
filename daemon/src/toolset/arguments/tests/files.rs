//! What arguments of the tools for files mean, and how faults in them read.

use brattice_policy::Limits;
use brattice_policy::Mode;
use brattice_protocol::session::{Options, ToolsetName};
use serde_json::json;

use super::*;
use crate::toolset::Toolset;

type Parse<T> = fn(SessionTools<'_>, &Map<String, Value>) -> Result<T, ArgumentFault>;

fn parse<T>(name: ToolsetName, parse: Parse<T>, arguments: Value) -> Result<T, String> {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let tools = SessionTools::of(Toolset::of(name), &[], &Limits::default());
    let options = Options { edit_tools: Some(true), ..Options::default() };
    let tools = if name == ToolsetName::Minimal { tools.opened_with(&options) } else { tools };
    parse(tools, &arguments).map_err(|fault| fault.to_string())
}

fn edits(pairs: &[(&str, &str, Rule)]) -> Vec<Edit> {
    let edit = |(old, new, rule): &(&str, &str, Rule)| Edit {
        old: (*old).to_owned(),
        new: (*new).to_owned(),
        rule: *rule,
    };
    pairs.iter().map(edit).collect()
}

#[test]
fn a_window_is_the_first_lines_unless_it_is_said() {
    for name in [ToolsetName::Standard, ToolsetName::Dsh] {
        let window = |arguments: Value| {
            parse(name, parse_read, arguments).map(|parsed| (parsed.path, parsed.window))
        };
        let lines = |offset, limit| Window::lines(offset, limit).unwrap();
        assert_eq!(window(json!({"file_path": "f"})), Ok(("f".to_owned(), lines(1, 2000))));
        assert_eq!(
            window(json!({"file_path": "f", "offset": 3.0, "limit": 4})),
            Ok(("f".to_owned(), lines(3, 4)))
        );
        for (limit, came) in [(json!(2001), "2001"), (json!(0), "0"), (json!(1.5), "1.5")] {
            assert_eq!(
                window(json!({"file_path": "f", "limit": limit})),
                Err(format!(
                    "argument `limit`: expected a whole number from 1 to 2000, got {came}"
                ))
            );
        }
        assert_eq!(
            window(json!({"file_path": "f", "offset": 0})),
            Err("argument `offset`: expected a whole number from 1 on, got 0".to_owned())
        );
    }
}

#[test]
fn an_edit_is_one_place_or_files_with_theirs() {
    let standard = |arguments| parse(ToolsetName::Standard, parse_edit, arguments);
    let one = json!({"file_path": "f", "old_string": "a", "new_string": "", "replace_all": true});
    let file = EditedFile { path: "f".to_owned(), edits: edits(&[("a", "", Rule::All)]) };
    let expected = EditArguments { files: vec![file], apply: Apply::Write, wish: None };
    assert_eq!(standard(one.clone()), Ok(expected.clone()));
    assert_eq!(parse(ToolsetName::Dsh, parse_edit, one), Ok(expected));
    let several = json!({"dry_run": true, "files": [
        {"path": "f", "edits": [
            {"old_string": "a", "new_string": "b"},
            {"old_string": "c", "new_string": "d", "replace_all": true},
        ]},
        {"path": "g", "edits": [{"old_string": "e", "new_string": "f"}]},
    ]});
    let first = edits(&[("a", "b", Rule::Once), ("c", "d", Rule::All)]);
    let files = vec![
        EditedFile { path: "f".to_owned(), edits: first },
        EditedFile { path: "g".to_owned(), edits: edits(&[("e", "f", Rule::Once)]) },
    ];
    assert_eq!(standard(several), Ok(EditArguments { files, apply: Apply::DryRun, wish: None }));
}

#[test]
fn dsh_knows_no_files() {
    let only = json!({"files": [{"path": "f", "edits": [{"old_string": "a", "new_string": "b"}]}]});
    assert_eq!(
        parse(ToolsetName::Dsh, parse_edit, only),
        Err("argument `file_path`: expected text, got nothing".to_owned())
    );
}

#[test]
fn a_range_has_its_ends_and_a_whole_file_none() {
    let minimal = |arguments: Value| parse(ToolsetName::Minimal, parse_read, arguments);
    let range = |start, end, numbers| {
        let window = Window::range(start, end).unwrap();
        Ok(ReadArguments { path: "f".to_owned(), window, numbers })
    };
    let (shown, hidden) = (LineNumbers::Shown, LineNumbers::Hidden);
    assert_eq!(minimal(json!({"path": "f"})), range(0, 0, hidden));
    let whole = json!({"path": "f", "start": 2, "end": 4, "numbered": true});
    assert_eq!(minimal(whole.clone()), range(2, 4, shown));
    assert_eq!(
        minimal(json!({"path": "f", "start": 4, "end": 3})),
        Err("argument `end`: expected 0 or a line from 4 on, got 3".to_owned())
    );
    assert_eq!(
        minimal(json!({"path": "f", "start": -1})),
        Err("argument `start`: expected a whole number from 0 on, got -1".to_owned())
    );
    // What is not declared is passed over.
    assert_eq!(parse(ToolsetName::Glrs, parse_read, whole), range(0, 0, hidden));
}

#[test]
fn small_toolsets_edit_a_file_or_files_in_turn() {
    let pairs = json!({"path": "f", "dry_run": true, "edits": [
        {"old": "a", "new": "b", "why": 1},
        {"old": "", "new": ""},
    ]});
    let edit = edits(&[("a", "b", Rule::Once), ("", "", Rule::Once)]);
    let files = vec![EditedFile { path: "f".to_owned(), edits: edit }];
    let expected = EditArguments { files, apply: Apply::DryRun, wish: None };
    assert_eq!(parse(ToolsetName::Minimal, parse_edit, pairs), Ok(expected));
    let none = json!({"path": "f", "edits": []});
    assert_eq!(
        parse(ToolsetName::Minimal, parse_edit, none),
        Err("argument `edits`: expected an array that is not empty, got an array".to_owned())
    );
    let file = json!({"path": "f", "edits": [
        {"old_string": "a", "new_string": "b", "replace_all": true, "why": 1},
    ]});
    let edit = edits(&[("a", "b", Rule::All)]);
    let files = vec![EditedFile { path: "f".to_owned(), edits: edit }];
    let expected = EditArguments { files, apply: Apply::Write, wish: None };
    assert_eq!(parse(ToolsetName::Glrs, parse_edit, json!({"files": [file]})), Ok(expected));
    assert_eq!(
        parse(ToolsetName::Glrs, parse_edit, json!({"path": "f"})),
        Err("argument `files`: expected an array that is not empty, got nothing".to_owned())
    );
}

#[test]
fn a_change_asks_for_a_wider_mode_as_a_command_does() {
    let asked = json!({"file_path": "f", "content": "x", "sandbox_permissions": "workspace-write",
        "justification": "because"});
    let mode = Mode::WorkspaceWrite;
    let wish = Some(Wish { mode, justification: "because".to_owned() });
    for name in [ToolsetName::Standard, ToolsetName::Dsh] {
        assert_eq!(parse(name, parse_write, asked.clone()).unwrap().wish, wish);
        let mut alone = asked.clone();
        alone.as_object_mut().unwrap().remove("justification");
        assert_eq!(
            parse(name, parse_write, alone),
            Err("argument `justification`: expected beside `sandbox_permissions`, got nothing"
                .to_owned())
        );
    }
    let mut dry = asked;
    for (name, value) in
        [("old_string", json!("a")), ("new_string", json!("b")), ("dry_run", json!(true))]
    {
        dry[name] = value;
    }
    dry.as_object_mut().unwrap().remove("content");
    assert_eq!(
        parse(ToolsetName::Standard, parse_edit, dry),
        Err("argument `dry_run`: expected to be left out beside `sandbox_permissions`, got true"
            .to_owned())
    );
}

#[test]
fn a_path_among_files_is_worded_as_one_by_itself() {
    let fault = |arguments: Value| parse(ToolsetName::Standard, parse_edit, arguments).unwrap_err();
    let words = |path: &str| {
        let edits = json!([{"old_string": "a", "new_string": "b"}]);
        let among = fault(json!({"files": [
            {"path": "f", "edits": edits},
            {"path": path, "edits": edits},
        ]}));
        let alone = fault(json!({"file_path": path, "old_string": "a", "new_string": "b"}));
        assert_eq!(among.replace("`files[1].path`", "`file_path`"), alone);
        among
    };
    assert_eq!(
        words("a\0b"),
        "argument `files[1].path`: expected text without NUL characters, got one at byte 1"
    );
    let most = MAX_PATH_BYTES;
    assert_eq!(
        words(&"x".repeat(most + 1)),
        format!(
            "argument `files[1].path`: expected text of at most {most} bytes, got {} bytes",
            most + 1
        )
    );
    assert_eq!(words(" "), "argument `files[1].path`: expected text that is not blank, got \" \"");
}

#[test]
fn a_fault_inside_files_names_its_place() {
    let fault = |files: Value| {
        parse(ToolsetName::Standard, parse_edit, json!({ "files": files })).unwrap_err()
    };
    let edit = |edit: Value| fault(json!([{"path": "f", "edits": [edit]}]));
    let cases = [
        (fault(json!("f")), "`files`: expected an array, got \"f\""),
        (fault(json!([])), "`files`: expected an array that is not empty, got an array"),
        (fault(json!(vec![0; 201])), "`files`: expected an array of at most 200 entries, got 201"),
        (
            fault(json!([{"path": "f"}])),
            "`files[0].edits`: expected an array that is not empty, got nothing",
        ),
        (edit(json!("a")), "`files[0].edits[0]`: expected an object, got \"a\""),
        (
            edit(json!({"old_string": "a"})),
            "`files[0].edits[0].new_string`: expected text, got nothing",
        ),
        (
            edit(json!({"old_string": "a", "new_string": "b", "replace_all": null})),
            "`files[0].edits[0].replace_all`: expected true or false, got null",
        ),
        (
            edit(json!({"old_string": "a", "new_string": "b", "why": 1})),
            "`files[0].edits[0].why`: expected no such key, got 1",
        ),
        (
            edit(json!({"old_string": "", "new_string": "b"})),
            "`files[0].edits[0].old_string`: old_string must not be empty: expected the text that is to be \
             replaced, got \"\"",
        ),
    ];
    for (told, expected) in cases {
        assert_eq!(told, format!("argument {expected}"));
    }
}
