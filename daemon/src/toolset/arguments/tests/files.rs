//! What arguments of the tools for files mean, and how faults in them read.

use brattice_policy::Limits;
use brattice_protocol::session::ToolsetName;
use serde_json::json;

use super::*;
use crate::toolset::Toolset;

type Parse<T> = fn(SessionTools<'_>, &Map<String, Value>) -> Result<T, ArgumentFault>;

fn parse<T>(name: ToolsetName, parse: Parse<T>, arguments: Value) -> Result<T, String> {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    parse(SessionTools::of(Toolset::of(name), &[], &Limits::default()), &arguments)
        .map_err(|fault| fault.to_string())
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
    let expected = EditArguments { files: vec![file], apply: Apply::Write };
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
    assert_eq!(standard(several), Ok(EditArguments { files, apply: Apply::DryRun }));
}

#[test]
fn dsh_knows_no_files() {
    let only = json!({"files": [{"path": "f", "edits": [{"old_string": "a", "new_string": "b"}]}]});
    assert_eq!(
        parse(ToolsetName::Dsh, parse_edit, only),
        Err("argument `file_path`: expected text, got nothing".to_owned())
    );
}
