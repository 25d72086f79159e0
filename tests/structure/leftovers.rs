//! Nothing unfinished is left lying about: no `todo!`, `unimplemented!` or `dbg!`, and no code that was commented out.

use crate::sources::{self, Kind, Source};

const MACROS: [&str; 3] = ["todo", "unimplemented", "dbg"];

fn unfinished(sources: &[Source]) -> Vec<String> {
    let mut violations = Vec::new();
    for source in sources {
        for pair in source.tokens().windows(2) {
            if MACROS.contains(&pair[0].text.as_str()) && pair[1].text == "!" {
                violations.push(format!("{}:{}: {}!", source.path, pair[0].line, pair[0].text));
            }
        }
    }
    violations
}

fn commented_out(sources: &[Source]) -> Vec<String> {
    let mut violations = Vec::new();
    for source in sources {
        let tokens = source.tokens();
        let literals: Vec<_> = tokens
            .iter()
            .filter(|token| token.kind == Kind::Literal && token.last_line > token.line)
            .collect();
        for (number, line) in (1..).zip(source.text.lines()) {
            let in_literal =
                literals.iter().any(|token| token.line < number && number <= token.last_line);
            if !in_literal && comment(line).is_some_and(is_code) {
                violations.push(format!(
                    "{}:{number}: commented-out code: {}",
                    source.path,
                    line.trim()
                ));
            }
        }
    }
    violations
}

/// The text of a line that is nothing but a comment; documentation is none.
fn comment(line: &str) -> Option<&str> {
    let text = line.trim().strip_prefix("//")?;
    (!text.starts_with(['/', '!'])).then(|| text.trim())
}

/// Whether a comment's line is Rust: it ends as a statement or an opened block does, and parses as one. A lone word
/// with a semicolon is taken for prose.
fn is_code(text: &str) -> bool {
    let parses = |text: &str| {
        let block = syn::parse_str::<syn::Block>(&format!("{{{text}}}"));
        block.is_ok_and(|block| !block.stmts.is_empty())
    };
    if let Some(statement) = text.strip_suffix(';') {
        return syn::parse_str::<syn::Ident>(statement).is_err() && parses(text);
    }
    text.ends_with('{')
        && (parses(&format!("{text}}}")) || parses(&format!("if true {{ {text}}}}}")))
}

#[test]
fn nothing_is_unfinished() {
    assert_eq!(unfinished(&sources::all()), Vec::<String>::new());
}

#[test]
fn no_code_is_commented_out() {
    assert_eq!(commented_out(&sources::all()), Vec::<String>::new());
}

#[test]
fn unfinished_code_is_found() {
    let text =
        "//! Says todo!().\nfn a() { b(dbg!(1)); }\nfn c() { todo!() }\nfn d(todo: u8) { todo }\n";
    assert_eq!(unfinished(&[Source::new("a.rs", text)]), ["a.rs:2: dbg!", "a.rs:3: todo!"]);
}

#[test]
fn commented_out_code_is_found_and_prose_is_not() {
    let text = "\
//! let a = 1;
// The kernel answers EPERM; what follows is ours;
// so;
// let a = call(1);
fn a() {
    // if a == b {
    // self.run()?;
    let text = \"
    // let b = 2;
    \";
    /// let c = 3;
    // } else if a {
    // A set is written {a, b}, a block begins with {
}
";
    assert_eq!(
        commented_out(&[Source::new("a.rs", text)]),
        [
            "a.rs:4: commented-out code: // let a = call(1);",
            "a.rs:6: commented-out code: // if a == b {",
            "a.rs:7: commented-out code: // self.run()?;",
        ]
    );
}
