//! What globs mean, and what is said of those that mean nothing.

use brattice_search::{Cancel, GlobFault, GrepQuery, Ignored, QueryError};

use crate::tree::Tree;

fn sources() -> Tree {
    let names =
        ["a.rs", "b.c", "src/a.rs", "src/deep/b.rs", "src/deep/b.c", "docs/a.md", "x/src/c.rs"];
    Tree::of(&names.map(|name| (name, "x\n")))
}

#[test]
fn a_glob_without_a_slash_is_about_names_at_any_depth_and_others_begin_at_the_root() {
    let tree = sources();
    let rust = ["a.rs", "src/a.rs", "src/deep/b.rs", "x/src/c.rs"];
    assert_eq!(tree.glob("*.rs"), rust);
    assert_eq!(tree.glob("**/*.rs"), rust);
    assert_eq!(tree.glob("src/*.rs"), ["src/a.rs"]);
    assert_eq!(tree.glob("src/**/*.rs"), ["src/a.rs", "src/deep/b.rs"]);
    assert_eq!(tree.glob("**/src/*.rs"), ["src/a.rs", "x/src/c.rs"]);
    assert_eq!(tree.glob("./*.rs"), ["a.rs"]);
    assert_eq!(tree.glob("src/"), ["src/a.rs", "src/deep/b.c", "src/deep/b.rs"]);
    assert_eq!(tree.glob("src"), [""; 0]);
    assert_eq!(tree.glob_in("src", "*.rs", Ignored::Skip), ["src/a.rs", "src/deep/b.rs"]);
    assert_eq!(tree.glob_in("src", "src/*.rs", Ignored::Skip), [""; 0]);
}

#[test]
fn braces_classes_and_escapes() {
    let tree = sources();
    assert_eq!(tree.glob("{*.md,src/*.rs}"), ["docs/a.md", "src/a.rs"]);
    assert_eq!(tree.glob("src/{a,deep/{b,c}}.rs"), ["src/a.rs", "src/deep/b.rs"]);
    assert_eq!(tree.glob("[ab].[!r]*"), ["b.c", "docs/a.md", "src/deep/b.c"]);
    assert_eq!(tree.glob("?.md"), ["docs/a.md"]);
    assert_eq!(tree.glob("A.rs"), [""; 0]);
    let tree =
        Tree::of(&[("{a}.txt", ""), ("[b].txt", ""), ("*.txt", ""), ("c,d", ""), ("!e", "")]);
    assert_eq!(tree.glob(r"\{a\}.txt"), ["{a}.txt"]);
    assert_eq!(tree.glob("[{]a[}].txt"), ["{a}.txt"]);
    assert_eq!(tree.glob("[[]b].txt"), ["[b].txt"]);
    assert_eq!(tree.glob(r"\*.txt"), ["*.txt"]);
    assert_eq!(tree.glob("c,d"), ["c,d"]);
    assert_eq!(tree.glob(r"\!e"), ["!e"]);
}

#[test]
fn an_exclamation_mark_takes_all_others() {
    let tree = sources();
    assert_eq!(tree.glob("!*.rs"), ["b.c", "docs/a.md", "src/deep/b.c"]);
    assert_eq!(tree.glob("!{src,x}/**"), ["a.rs", "b.c", "docs/a.md"]);
}

#[test]
fn an_absolute_glob_must_begin_with_the_root() {
    let tree = sources();
    let below = |glob: &str| tree.path(glob).to_str().unwrap().to_owned();
    assert_eq!(tree.glob(&below("src/*.rs")), ["src/a.rs"]);
    assert_eq!(tree.glob(&below("*.rs")), ["a.rs"]);
    let error = tree.list(&tree.glob_query("/etc/*.conf")).unwrap_err();
    let QueryError::Glob(error) = error else { panic!("{error}") };
    assert_eq!((error.at, error.fault), (0, GlobFault::Elsewhere(tree.path(""))));
}

#[test]
fn a_bad_glob_is_an_error_that_points_at_its_fault() {
    let tree = sources();
    let error = |glob: &str| {
        let query = GrepQuery { glob: Some(glob.to_owned()), ..tree.query("x") };
        match brattice_search::grep(&query, &Cancel::new()).unwrap_err() {
            QueryError::Glob(error) => error,
            error => panic!("{error}"),
        }
    };
    let at = |glob: &str| (error(glob).at, error(glob).fault);
    assert_eq!(at(""), (0, GlobFault::Empty));
    assert_eq!(at("ä[bc"), (1, GlobFault::UnclosedClass));
    assert_eq!(at("a{b,{c}"), (1, GlobFault::UnclosedBrace));
    assert_eq!(at("a}b"), (1, GlobFault::UnopenedBrace));
    assert_eq!(at(r"ab\"), (2, GlobFault::DanglingEscape));
    assert_eq!(at("ä[z-b]"), (2, GlobFault::Range('z', 'b')));
    assert_eq!(at("src/../../*"), (4, GlobFault::Upwards));
    assert_eq!(at(&"{a,b}".repeat(10)), (45, GlobFault::Alternatives));
    let told = "glob parse error:\n    src/[ab\n        ^\n\
                error: unclosed character class; write `[[]` for a bracket";
    assert_eq!(error("src/[ab").to_string(), told);
}

#[test]
fn a_glob_narrows_and_never_brings_back() {
    let tree = Tree::of(&[
        (".gitignore", "skipped.rs\nbuild/\n"),
        ("skipped.rs", "x\n"),
        ("build/a.rs", "x\n"),
        (".hidden.rs", "x\n"),
        ("a.rs", "x\n"),
        ("a.c", "x\n"),
    ]);
    for (glob, ignored, expected) in [
        ("*.rs", Ignored::Skip, &["a.rs"][..]),
        ("skipped.rs", Ignored::Skip, &[]),
        ("build/**", Ignored::Skip, &[]),
        ("!*.c", Ignored::Skip, &["a.rs"]),
        (".hidden.rs", Ignored::Skip, &[".hidden.rs"]),
        ("*.rs", Ignored::Include, &[".hidden.rs", "a.rs", "build/a.rs", "skipped.rs"]),
    ] {
        let query = GrepQuery { glob: Some(glob.to_owned()), ignored, ..tree.query("x") };
        let found = tree.grep(&query);
        let files: Vec<String> = found.files.iter().map(|file| tree.shown(&file.path)).collect();
        assert_eq!(files, expected, "{glob}");
        assert_eq!(tree.glob_in("", glob, ignored), expected, "{glob}");
    }
}
