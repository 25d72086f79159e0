//! The repository as text: finding and reading its files, their tokens, and which of their lines count as tests.
//! What a rule makes of them is left to the rules.

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// One Rust file: its path from the root of the repository, with `/`, and its text.
pub(crate) struct Source {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl Source {
    pub(crate) fn new(path: &str, text: &str) -> Self {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    /// Whether the whole file is a test or belongs to one: anything below a folder `tests`, and files `tests.rs`.
    pub(crate) fn is_test(&self) -> bool {
        self.path.split('/').any(|part| part == "tests" || part == "tests.rs")
    }

    /// Whether the file is a table of data, which may be as long as what it lists: files `table.rs`.
    pub(crate) fn is_table(&self) -> bool {
        self.path.ends_with("/table.rs")
    }

    pub(crate) fn parsed(&self) -> syn::File {
        syn::parse_file(&self.text).unwrap_or_else(|error| panic!("{}: {error}", self.path))
    }

    /// Every token, groups opened, in order. Unlike syntax trees these reach into macro calls; comments are no tokens,
    /// and documentation is a literal.
    pub(crate) fn tokens(&self) -> Vec<Token> {
        let stream = self.text.parse::<TokenStream>();
        let mut tokens = Vec::new();
        flatten(stream.unwrap_or_else(|error| panic!("{}: {error}", self.path)), &mut tokens);
        tokens
    }

    /// The lines, counted from 1, of items under `#[cfg(test)]` or `#[test]`.
    pub(crate) fn test_lines(&self) -> Vec<RangeInclusive<usize>> {
        let mut finder = TestItems(Vec::new());
        finder.visit_file(&self.parsed());
        finder.0
    }
}

/// A token as text, with its line counted from 1. A brace that opens a group is `{`; closing ones are left out.
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) line: usize,
    pub(crate) last_line: usize,
    pub(crate) kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Word,
    Literal,
    Sign,
}

fn flatten(stream: TokenStream, tokens: &mut Vec<Token>) {
    for tree in stream {
        let (line, last_line) = (tree.span().start().line, tree.span().end().line);
        let mut push = |text: String, kind| tokens.push(Token { text, line, last_line, kind });
        match tree {
            TokenTree::Ident(word) => push(word.to_string(), Kind::Word),
            TokenTree::Literal(literal) => push(literal.to_string(), Kind::Literal),
            TokenTree::Punct(sign) => push(sign.as_char().to_string(), Kind::Sign),
            TokenTree::Group(group) => {
                let open = match group.delimiter() {
                    Delimiter::Brace => "{",
                    Delimiter::Parenthesis => "(",
                    Delimiter::Bracket => "[",
                    Delimiter::None => "",
                };
                push(open.to_owned(), Kind::Sign);
                flatten(group.stream(), tokens);
            }
        }
    }
}

/// Whether these attributes make an item a test.
pub(crate) fn marks_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        let cfg_test = path.is_ident("cfg")
            && attribute
                .parse_args::<syn::Path>()
                .is_ok_and(|condition| condition.is_ident("test"));
        cfg_test || path.segments.last().is_some_and(|segment| segment.ident == "test")
    })
}

struct TestItems(Vec<RangeInclusive<usize>>);

impl<'ast> Visit<'ast> for TestItems {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        let attributes = match item {
            syn::Item::Fn(item) => &item.attrs,
            syn::Item::Impl(item) => &item.attrs,
            syn::Item::Mod(item) => &item.attrs,
            syn::Item::Struct(item) => &item.attrs,
            syn::Item::Use(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if marks_test(attributes) {
            self.0.push(item.span().start().line..=item.span().end().line);
        } else {
            visit::visit_item(self, item);
        }
    }
}

/// The root of the repository. Read when the test runs: the sources may have been moved since they were compiled.
pub(crate) fn root() -> PathBuf {
    let package =
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or(env!("CARGO_MANIFEST_DIR").into());
    Path::new(&package).parent().unwrap().to_owned()
}

/// The text of a file of the repository.
pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Every Rust file of the repository, by path.
pub(crate) fn all() -> Vec<Source> {
    let files = files();
    files
        .iter()
        .filter(|path| path.ends_with(".rs"))
        .map(|path| Source::new(path, &read(path)))
        .collect()
}

/// Every file of the repository, sorted; what git ignores by this project's rules is left out.
pub(crate) fn files() -> Vec<String> {
    let mut found = Vec::new();
    walk(&root(), "", &mut found);
    found.sort();
    found
}

fn walk(folder: &Path, prefix: &str, found: &mut Vec<String>) {
    for entry in
        fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
    {
        let entry = entry.unwrap();
        let path = format!("{prefix}{}", entry.file_name().to_string_lossy());
        match entry.file_type().unwrap() {
            kind if kind.is_dir() && !matches!(path.as_str(), ".git" | "target") => {
                walk(&entry.path(), &format!("{path}/"), found);
            }
            kind if kind.is_file() => found.push(path),
            _ => {}
        }
    }
}

#[test]
fn finds_the_sources_of_every_package() {
    let files = files();
    for package in ["client", "daemon", "policy", "protocol", "tests"] {
        let sources =
            files.iter().filter(|path| path.starts_with(package) && path.ends_with(".rs"));
        assert!(sources.count() > 0, "{package}");
    }
    assert!(!files.iter().any(|path| path.starts_with("target/")));
}

#[test]
fn knows_test_lines_and_test_files() {
    let source = Source::new(
        "a/src/b.rs",
        "//! A.\nfn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() {}\n}\n",
    );
    assert_eq!(source.test_lines(), [3..=6]);
    assert!(!source.is_test() && Source::new("a/src/b/tests.rs", "").is_test());
    assert!(Source::new("tests/commands/main.rs", "").is_test());
    assert!(Source::new("policy/src/seccomp/table.rs", "").is_table());
}
