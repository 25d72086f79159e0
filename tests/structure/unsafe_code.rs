//! Unsafe code stands in one module, `policy/src/sys/`, and each piece of it says why it is sound.
//!
//! Read from tokens, so that macro bodies count. What the compiler and clippy check besides (`unsafe_code`,
//! `undocumented_unsafe_blocks`) is left to them; this also holds where somebody allows a lint.

use crate::sources::{self, Source, Token};

const MODULE: &str = "policy/src/sys/";

fn misplaced(sources: &[Source]) -> Vec<String> {
    let outside = sources.iter().filter(|source| !source.path.starts_with(MODULE));
    let found = outside.flat_map(|source| {
        let tokens = source.tokens();
        let lines: Vec<usize> =
            tokens.iter().filter(|token| token.text == "unsafe").map(|token| token.line).collect();
        lines
            .into_iter()
            .map(|line| format!("{}:{line}: unsafe code outside {MODULE}", source.path))
    });
    found.collect()
}

fn unexplained(sources: &[Source]) -> Vec<String> {
    let inside = sources.iter().filter(|source| source.path.starts_with(MODULE));
    let mut violations = Vec::new();
    for source in inside {
        let lines: Vec<&str> = source.text.lines().collect();
        let tokens = source.tokens();
        let places = (0..tokens.len()).filter(|index| asks_for_reason(&tokens[*index..]));
        let silent =
            places.map(|index| tokens[index].line).filter(|line| !explained(&lines, *line));
        violations.extend(
            silent.map(|line| format!("{}:{line}: no `SAFETY:` comment above", source.path)),
        );
    }
    violations
}

/// Whether an `unsafe` begins here that makes a claim of its own: a block, an implementation or a foreign block.
/// Function types and declarations only pass the claim on.
fn asks_for_reason(tokens: &[Token]) -> bool {
    let text = |index: usize| tokens.get(index).map_or("", |token| token.text.as_str());
    match (text(0), text(1)) {
        ("unsafe", "{" | "impl") => true,
        ("unsafe", "extern") => text(2) == "{" || text(3) == "{",
        _ => false,
    }
}

/// Whether the comment above the statement that holds this line (counted from 1) has `SAFETY:`.
fn explained(lines: &[&str], line: usize) -> bool {
    let mut above = lines[..line - 1].iter().rev().map(|text| text.trim());
    let own_statement = |text: &&str| {
        !text.starts_with("//") && !text.is_empty() && !text.ends_with([';', '{', '}'])
    };
    let first = above.find(|text| !own_statement(text));
    let comments = first.into_iter().chain(above).take_while(|text| text.starts_with("//"));
    comments.into_iter().any(|text| text.contains("SAFETY:"))
}

#[test]
fn unsafe_code_stands_in_one_module() {
    assert_eq!(misplaced(&sources::all()), Vec::<String>::new());
}

#[test]
fn unsafe_code_says_why_it_is_sound() {
    let sources = sources::all();
    assert!(sources.iter().any(|source| source.path.starts_with(MODULE)), "{MODULE} has moved");
    assert_eq!(unexplained(&sources), Vec::<String>::new());
}

#[test]
fn misplaced_unsafe_code_is_found_in_macro_bodies_too() {
    let text =
        "//! Says unsafe.\n#![deny(unsafe_code)]\nmacro_rules! a { () => { unsafe { b() } } }\n";
    let allowed = Source::new("policy/src/sys/a.rs", text);
    let misplaced_source = Source::new("daemon/src/a.rs", text);
    assert_eq!(
        misplaced(&[allowed, misplaced_source]),
        ["daemon/src/a.rs:3: unsafe code outside policy/src/sys/"]
    );
}

#[test]
fn unexplained_unsafe_code_is_found() {
    let text = "\
fn good() {
    // SAFETY: nothing is
    // read here.
    let a =
        unsafe { b() };
    unsafe { c() };
    // Says something else.
    unsafe { d() };
    let pointer: unsafe extern \"C\" fn() = e;
}
unsafe impl Send for A {}
unsafe extern \"C\" {
    fn f();
}
";
    assert_eq!(
        unexplained(&[Source::new("policy/src/sys/a.rs", text)]),
        [
            "policy/src/sys/a.rs:6: no `SAFETY:` comment above",
            "policy/src/sys/a.rs:8: no `SAFETY:` comment above",
            "policy/src/sys/a.rs:11: no `SAFETY:` comment above",
            "policy/src/sys/a.rs:12: no `SAFETY:` comment above",
        ]
    );
}
