//! Calls of `web_fetch`.

use brattice_policy::Limits;
use brattice_protocol::session::ToolsetName;
use serde_json::json;

use super::*;
use crate::toolset::Toolset;

fn parsed(toolset: ToolsetName, arguments: Value) -> Result<Vec<String>, String> {
    let tools = SessionTools::of(Toolset::of(toolset), &[], &Limits::default());
    let arguments = arguments.as_object().unwrap();
    parse_web_fetch(tools, arguments).map_err(|fault| fault.to_string())
}

#[test]
fn one_to_ten_urls_are_taken_as_they_are() {
    let urls: Vec<String> = (0..10).map(|number| format!("http://{number}.example/")).collect();
    for toolset in [ToolsetName::Standard, ToolsetName::Glrs] {
        assert_eq!(parsed(toolset, json!({"urls": urls})), Ok(urls.clone()));
        assert_eq!(parsed(toolset, json!({"urls": ["no url"]})), Ok(vec!["no url".to_owned()]));
    }
}

#[test]
fn what_is_no_list_of_urls_is_named() {
    let cases = [
        (json!({}), "`urls`: expected an array of 1 to 10 texts, got nothing"),
        (
            json!({"urls": "http://a/"}),
            "`urls`: expected an array of 1 to 10 texts, got \"http://a/\"",
        ),
        (json!({"urls": []}), "`urls`: expected an array of 1 to 10 texts, got 0"),
        (
            json!({"urls": vec!["http://a/"; 11]}),
            "`urls`: expected an array of 1 to 10 texts, got 11",
        ),
        (json!({"urls": ["http://a/", 7]}), "`urls[1]`: expected text, got 7"),
        (
            json!({"urls": ["http://a/"], "url": 1}),
            "`url`: unknown to this tool, expected only `urls`, got 1",
        ),
        (
            json!({"urls": ["x".repeat(65_537)]}),
            "`urls[0]`: expected text of at most 65536 bytes, got 65537 bytes",
        ),
    ];
    for (arguments, fault) in cases {
        assert_eq!(parsed(ToolsetName::Standard, arguments), Err(format!("argument {fault}")));
    }
}
