//! `tests/CASES.md` maps cases to tests; every test that it names exists.
//!
//! A test is named as inline code, `path::function`, the path from the root of the repository or from `tests/`; modules
//! between the two are passed over. Whether each case is mapped is left to the file's reader.

use std::collections::BTreeMap;

use crate::documents::inline_code;
use crate::sources::{self, Source};

/// Functions of every file, by path.
fn functions(sources: &[Source]) -> BTreeMap<&str, Vec<String>> {
    let names = |source: &Source| {
        let tokens = source.tokens();
        tokens
            .windows(2)
            .filter(|pair| pair[0].text == "fn")
            .map(|pair| pair[1].text.clone())
            .collect()
    };
    sources.iter().map(|source| (source.path.as_str(), names(source))).collect()
}

fn missing_tests(text: &str, functions: &BTreeMap<&str, Vec<String>>) -> Vec<String> {
    let mut violations = Vec::new();
    for piece in inline_code(text) {
        let Some((path, rest)) = piece.split_once(".rs::") else {
            continue;
        };
        let name = rest.rsplit("::").next().unwrap_or(rest);
        let paths = [format!("{path}.rs"), format!("tests/{path}.rs")];
        let found = paths
            .iter()
            .filter_map(|path| functions.get(path.as_str()))
            .flatten()
            .any(|known| known == name);
        if !found {
            violations.push(format!("{piece} does not exist"));
        }
    }
    violations
}

#[test]
fn every_test_that_the_case_list_names_exists() {
    let sources = sources::all();
    let text = sources::read("tests/CASES.md");
    assert!(text.contains(".rs::"), "tests/CASES.md names no test");
    assert_eq!(missing_tests(&text, &functions(&sources)), Vec::<String>::new());
}

#[test]
fn a_test_that_is_gone_is_found() {
    let sources = [
        Source::new("tests/commands/a.rs", "//! A.\nfn b001_here() {}\n"),
        Source::new("daemon/src/a.rs", "//! A.\nmod tests {\n    twin! { fn b003_here() {} }\n}\n"),
    ];
    let text = "| B001 | `tests/commands/a.rs::b001_here`, `commands/a.rs::b001_here` |\n\
                | B002 | `tests/commands/a.rs::b002_gone` |\n\
                | B003 | `daemon/src/a.rs::tests::b003_here`, `tests/gone.rs::b001_here` |\n\
                | B004 | a later version |\n";
    assert_eq!(
        missing_tests(text, &functions(&sources)),
        [
            "tests/commands/a.rs::b002_gone does not exist",
            "tests/gone.rs::b001_here does not exist"
        ]
    );
}
