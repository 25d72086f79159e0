//! What arguments of the searches mean, and how faults in them read.

use brattice_policy::Limits;
use brattice_protocol::session::ToolsetName;
use serde_json::json;

use super::*;
use crate::toolset::Toolset;

fn grep(arguments: Value) -> Result<GrepArguments, String> {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let toolset = Toolset::of(ToolsetName::Standard);
    parse_grep(SessionTools::of(toolset, &[], &Limits::default()), &arguments)
        .map_err(|fault| fault.to_string())
}

#[test]
fn a_search_is_plain_unless_it_is_said() {
    let plain = GrepArguments {
        pattern: "-x".to_owned(),
        syntax: Syntax::Regex,
        letter_case: LetterCase::Sensitive,
        span: Span::Line,
        root: None,
        glob: None,
        ignored: Ignored::Skip,
        most: 100,
        output: Output::Content { before: 0, after: 0 },
    };
    assert_eq!(grep(json!({"pattern": "-x"})), Ok(plain));
    let all = json!({
        "pattern": "-x", "path": "p", "glob": "*.rs", "ignoreCase": true, "fixedString": true, "includeIgnored": true,
        "maxResults": 500, "context": 3, "multiline": true, "outputMode": "content",
    });
    let asked = GrepArguments {
        pattern: "-x".to_owned(),
        syntax: Syntax::Literal,
        letter_case: LetterCase::Insensitive,
        span: Span::Lines,
        root: Some("p".to_owned()),
        glob: Some("*.rs".to_owned()),
        ignored: Ignored::Include,
        most: 500,
        output: Output::Content { before: 3, after: 3 },
    };
    assert_eq!(grep(all), Ok(asked));
}

#[test]
fn faults_name_what_was_expected() {
    let cases = [
        (json!({"pattern": ""}), "argument `pattern`: expected text that is not empty, got \"\""),
        (
            json!({"pattern": "x", "maxResults": 501}),
            "argument `maxResults`: expected a whole number from 1 to 500, got 501",
        ),
        (
            json!({"pattern": "x", "context": -1}),
            "argument `context`: expected a whole number from 0 to 50, got -1",
        ),
        (
            json!({"pattern": "x", "context": 2, "outputMode": "files"}),
            "argument `context`: expected to be left out beside `outputMode`, got 2",
        ),
        (
            json!({"pattern": "x", "outputMode": "all"}),
            "argument `outputMode`: expected one of \"content\", \"files\", \"count\", got \"all\"",
        ),
    ];
    for (arguments, fault) in cases {
        assert_eq!(grep(arguments), Err(fault.to_owned()));
    }
    let files = grep(json!({"pattern": "x", "context": 0, "outputMode": "files"})).unwrap();
    assert_eq!(files.output, Output::Files);
}
