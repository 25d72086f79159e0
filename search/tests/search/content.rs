//! What matches in a file and how it is told: lines, context, spans, encodings, line ends.

use brattice_search::{
    Cancel, GrepQuery, LetterCase, LineKind, Output, PatternError, QueryError, Span, Syntax,
};

use crate::tree::Tree;

fn content(before: usize, after: usize) -> Output {
    Output::Content { before, after }
}

#[test]
fn lines_around_matches_are_told_once_and_in_order() {
    let tree = Tree::of(&[("a.txt", "1\n2\nx3\n4\nx5\n6\n7\n8\n9\nx10\n")]);
    let query = GrepQuery { output: content(1, 1), ..tree.query("x") };
    let expected = ["2-2", "3:x3", "4-4", "5:x5", "6-6", "9-9", "10:x10"];
    let shown = |lines: Vec<String>| -> Vec<String> {
        lines.iter().map(|line| line["a.txt:".len()..].to_owned()).collect()
    };
    assert_eq!(shown(tree.lines(&query)), expected);
    let cut = GrepQuery { max_results: 1, output: content(0, 1), ..query.clone() };
    assert_eq!(shown(tree.lines(&cut)), ["3:x3", "4-4"]);
    let cut = GrepQuery { max_results: 1, output: content(2, 4), ..query };
    assert_eq!(shown(tree.lines(&cut)), ["1-1", "2-2", "3:x3", "4-4"]);
}

#[test]
fn files_and_counts_tell_a_file_once() {
    let tree = Tree::of(&[("a.txt", "x\nx x\n\n"), ("b.txt", ""), ("c.txt", "x")]);
    let told = |output| {
        let found = tree.grep(&GrepQuery { output, ..tree.query("x") });
        let told = |file: &brattice_search::FileHits| {
            (tree.shown(&file.path), file.matches, file.lines.len())
        };
        found.files.iter().map(told).collect::<Vec<_>>()
    };
    let file = |name: &str, matches, lines| (name.to_owned(), matches, lines);
    assert_eq!(told(content(0, 0)), [file("a.txt", 2, 2), file("c.txt", 1, 1)]);
    assert_eq!(told(Output::Files), [file("a.txt", 1, 0), file("c.txt", 1, 0)]);
    assert_eq!(told(Output::Count), [file("a.txt", 2, 0), file("c.txt", 1, 0)]);
}

#[test]
fn letters_and_literals_are_taken_as_asked() {
    let tree = Tree::of(&[("a.txt", "a.b\nA.B\naxb\nÄ\n")]);
    let query = tree.query("a.b");
    assert_eq!(tree.lines(&query), ["a.txt:1:a.b", "a.txt:3:axb"]);
    let literal = GrepQuery { syntax: Syntax::Literal, ..query.clone() };
    assert_eq!(tree.lines(&literal), ["a.txt:1:a.b"]);
    let both = GrepQuery { letter_case: LetterCase::Insensitive, ..literal };
    assert_eq!(tree.lines(&both), ["a.txt:1:a.b", "a.txt:2:A.B"]);
    let umlaut = GrepQuery { letter_case: LetterCase::Insensitive, ..tree.query("ä") };
    assert_eq!(tree.lines(&umlaut), ["a.txt:4:Ä"]);
}

#[test]
fn a_match_spans_lines_where_it_may() {
    let tree = Tree::of(&[("a.txt", "one {\n  x\n}\nfn b {\n}\nfn c {\n}\n\nend\n")]);
    let query = GrepQuery { span: Span::Lines, ..tree.query(r"\{\n *x?\n?\}") };
    let lines = tree.lines(&query);
    let expected = ["a.txt:1:one {", "a.txt+2+  x", "a.txt+3+}", "a.txt:4:fn b {", "a.txt+5+}"];
    assert_eq!(lines[..5], expected);
    assert_eq!(lines[5..], ["a.txt:6:fn c {", "a.txt+7+}"]);
    let cut = GrepQuery { max_results: 2, ..query.clone() };
    assert_eq!(tree.lines(&cut), lines[..5]);
    let count = GrepQuery { output: Output::Count, ..query };
    assert_eq!(tree.grep(&count).files[0].matches, 3);
    let plain = GrepQuery { span: Span::Lines, ..tree.query("^end$") };
    assert_eq!(tree.lines(&plain), ["a.txt:9:end"]);
}

#[test]
fn a_pattern_that_needs_lines_or_memory_that_it_does_not_get_is_refused() {
    let tree = Tree::of(&[("a.txt", "x\n")]);
    let error = |pattern: &str| match brattice_search::grep(&tree.query(pattern), &Cancel::new())
        .unwrap_err()
    {
        QueryError::Pattern(error) => error,
        error => panic!("{error}"),
    };
    assert!(matches!(error(r"a\nb"), PatternError::LineBreak));
    assert!(matches!(error(r"a\x00b"), PatternError::Nul));
    assert!(matches!(error(r"\w{1000}{100}"), PatternError::TooLarge));
    let literal = GrepQuery { syntax: Syntax::Literal, ..tree.query("a\nb") };
    let error = brattice_search::grep(&literal, &Cancel::new()).unwrap_err();
    assert!(matches!(error, QueryError::Pattern(PatternError::LineBreak)), "{error}");
}

#[test]
fn either_line_end_is_a_line_end_and_is_not_told() {
    let tree = Tree::of(&[("crlf.txt", "a;\r\nb\r\n"), ("lf.txt", "a;\nb;c\n")]);
    assert_eq!(tree.lines(&tree.query(";$")), ["crlf.txt:1:a;", "lf.txt:1:a;"]);
    // A pattern that speaks of carriage returns finds them.
    assert_eq!(tree.lines(&tree.query(r";\r$")), ["crlf.txt:1:a;"]);
    let spanning = GrepQuery { span: Span::Lines, ..tree.query(r"a;\s+b$") };
    assert_eq!(tree.lines(&spanning), ["crlf.txt:1:a;", "crlf.txt+2+b"]);
}

#[test]
fn utf_16_with_its_mark_is_text_and_other_bytes_are_shown_as_such() {
    let tree = Tree::new();
    let wide = |mark: &str, bytes: fn(u16) -> [u8; 2]| {
        format!("{mark}eins\nzwei ä\n").encode_utf16().flat_map(bytes).collect::<Vec<u8>>()
    };
    tree.write("be.txt", &wide("\u{feff}", u16::to_be_bytes));
    tree.write("le.txt", &wide("\u{feff}", u16::to_le_bytes));
    tree.write("latin.txt", b"zwei \xe4\n");
    let lines = ["be.txt:2:zwei ä", "latin.txt:1:zwei \u{fffd}", "le.txt:2:zwei ä"];
    assert_eq!(tree.lines(&tree.query("zwei")), lines);
}

#[test]
fn large_files_are_searched_as_small_ones_are() {
    let tree = Tree::new();
    let mut large = String::from("\u{feff}first\r\n");
    (0..60_000).for_each(|number| large.push_str(&format!("line {number}\n")));
    large.push_str("last");
    tree.write("large.txt", large.as_bytes());
    let query = GrepQuery { output: content(1, 0), ..tree.query("^first$|^last$|line 41234$") };
    let expected = [
        "large.txt:1:first",
        "large.txt-41235-line 41233",
        "large.txt:41236:line 41234",
        "large.txt-60001-line 59999",
        "large.txt:60002:last",
    ];
    assert_eq!(tree.lines(&query), expected);
}

#[test]
fn files_with_nul_are_binary_and_counted() {
    let tree = Tree::of(&[("a.txt", "token\n")]);
    tree.write("head.bin", b"token\n\0");
    let late = [b"token\n".as_slice(), &b"x\n".repeat(40_000), b"\0\ntoken\n"].concat();
    tree.write("late.txt", &late);
    let later = [b"token\n".as_slice(), &b"x\n".repeat(400_000), b"\0\ntoken\n"].concat();
    tree.write("later.txt", &later);
    let huge = [b"token\n\0".as_slice(), &b"x\n".repeat(400_000)].concat();
    tree.write("zero.bin", &huge);
    let found = tree.grep(&tree.query("token"));
    let files: Vec<(String, u64)> =
        found.files.iter().map(|file| (tree.shown(&file.path), file.matches)).collect();
    let expected = ["a.txt", "late.txt", "later.txt"].map(|name| (name.to_owned(), 1));
    assert_eq!((files, found.binary), (expected.to_vec(), 4));
}

#[test]
fn a_single_file_is_searched_whatever_rules_and_glob_say() {
    let tree = Tree::of(&[(".gitignore", "*\n"), (".env", "x\n")]);
    let query =
        GrepQuery { root: tree.path(".env"), glob: Some("*.rs".to_owned()), ..tree.query("x") };
    let found = tree.grep(&query);
    assert_eq!(found.files.len(), 1);
    assert_eq!(found.files[0].path, tree.path(".env"));
    assert_eq!(found.files[0].lines[0].kind, LineKind::Match);
    assert_eq!(tree.glob_in(".env", "*.rs", brattice_search::Ignored::Skip), [".env"]);
}
