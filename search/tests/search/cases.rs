//! Cases that people reported about other tools, by number, as far as the engine decides them.

use std::time::{Duration, SystemTime};

use brattice_search::{
    Cancel, GlobQuery, GrepQuery, Ignored, PatternError, QueryError, Stop, Syntax,
};

use crate::tree::Tree;

#[test]
fn b084_fifos_and_sockets_are_skipped_and_stay() {
    let tree = Tree::of(&[("a.txt", "x\n")]);
    tree.run("mkfifo pipe");
    let _socket = std::os::unix::net::UnixListener::bind(tree.path("sock")).unwrap();
    assert_eq!(tree.lines(&tree.query("x")), ["a.txt:1:x"]);
    assert_eq!(tree.glob("*"), ["a.txt"]);
    let query = GrepQuery { root: tree.path("pipe"), ..tree.query("x") };
    let error = brattice_search::grep(&query, &Cancel::new()).unwrap_err();
    let told = format!("cannot search {}: not a regular file or folder", query.root.display());
    assert_eq!(error.to_string(), told);
    assert_eq!(tree.run("stat -c %F pipe sock"), "fifo\nsocket\n");
}

#[test]
fn b093_only_line_feeds_end_lines() {
    let tree = Tree::new();
    let content = b"a = 1\n\x0c\nb\rc = 2\nd\xe2\x80\xa8e\nf\x0bg\x1ch\xc2\x85i\nNEEDLE\n";
    tree.write("ff.py", content);
    assert_eq!(tree.lines(&tree.query("NEEDLE")), ["ff.py:6:NEEDLE"]);
}

#[test]
fn b094_a_byte_order_mark_is_no_character_of_line_1() {
    let tree = Tree::of(&[("bom.py", "\u{feff}import os\nmid\u{feff}dle\n")]);
    let lines = ["bom.py:1:import os", "bom.py:2:mid\u{feff}dle"];
    assert_eq!(tree.lines(&tree.query("^import|^mid")), lines);
}

#[test]
fn b096_a_pattern_may_begin_with_a_dash() {
    let tree = Tree::of(&[("d.c", "p->next = 1;\n-e flag\n--help me\n")]);
    assert_eq!(tree.lines(&tree.query("->next")), ["d.c:1:p->next = 1;"]);
    assert_eq!(tree.lines(&tree.query("-e flag")), ["d.c:2:-e flag"]);
    assert_eq!(tree.lines(&tree.query("--help")), ["d.c:3:--help me"]);
    assert_eq!(tree.glob("-*"), [""; 0]);
    let query = GrepQuery { root: tree.path("-rf"), ..tree.query("x") };
    let error = brattice_search::grep(&query, &Cancel::new()).unwrap_err();
    let QueryError::Root { path, source } = error else { panic!("{error}") };
    assert_eq!((path, source.kind()), (tree.path("-rf"), std::io::ErrorKind::NotFound));
}

#[test]
fn b098_a_bad_pattern_is_an_error_that_points_at_its_fault() {
    let tree = Tree::of(&[("f.c", "call(a);\nint x[3];\n")]);
    let error = |pattern: &str| {
        let error = brattice_search::grep(&tree.query(pattern), &Cancel::new()).unwrap_err();
        assert!(matches!(error, QueryError::Pattern(PatternError::Syntax(_))), "{error:?}");
        error.to_string()
    };
    let told = "regex parse error:\n    call(\n        ^\nerror: unclosed group";
    assert_eq!(error("call("), told);
    let told = "regex parse error:\n    x[\n     ^\nerror: unclosed character class";
    assert_eq!(error("x["), told);
    assert_eq!(tree.lines(&tree.query("zzz")), [""; 0]);
    let literal = GrepQuery { syntax: Syntax::Literal, ..tree.query("call(") };
    assert_eq!(tree.lines(&literal), ["f.c:1:call(a);"]);
}

#[test]
fn b098_nested_repetition_takes_linear_time_and_an_empty_pattern_is_in_every_line() {
    let tree = Tree::of(&[("a.txt", &"a".repeat(60_000)), ("b.txt", "one\n\n")]);
    assert_eq!(tree.files_with("(a+)+$", "", Ignored::Skip), ["a.txt"]);
    assert_eq!(tree.files_with("(a+)+b$", "", Ignored::Skip), [""; 0]);
    let query = GrepQuery { root: tree.path("b.txt"), ..tree.query("") };
    assert_eq!(tree.lines(&query), ["b.txt:1:one", "b.txt:2:"]);
}

#[test]
fn b099_names_may_hold_colons_and_line_breaks() {
    let tree = Tree::of(&[
        ("a:b/c.txt", "k: v::w\n"),
        ("log:7:day.txt", "zed\n"),
        ("new\nline.txt", "zed\n"),
    ]);
    assert_eq!(tree.lines(&tree.query("v::w")), ["a:b/c.txt:1:k: v::w"]);
    let both = ["log:7:day.txt:1:zed", "new\nline.txt:1:zed"];
    assert_eq!(tree.lines(&tree.query("zed")), both);
    assert_eq!(tree.glob("**/*.txt"), ["a:b/c.txt", "log:7:day.txt", "new\nline.txt"]);
}

#[test]
fn b100_a_negation_holds_wherever_the_search_begins() {
    let rules = "out/\n!/pkg/deep/out/\n*.gen\n!keep.gen\n";
    let tree = Tree::of(&[
        (".gitignore", rules),
        ("out/f.txt", "token\n"),
        ("pkg/deep/out/f.txt", "token\n"),
        ("pkg/out/f.txt", "token\n"),
        ("a.gen", "token\n"),
        ("keep.gen", "token\n"),
    ]);
    tree.run("git init -q . && git add -A");
    let files = |folder| tree.files_with("token", folder, Ignored::Skip);
    assert_eq!(files(""), ["keep.gen", "pkg/deep/out/f.txt"]);
    assert_eq!(files("pkg"), ["pkg/deep/out/f.txt"]);
    assert_eq!(files("pkg/deep"), ["pkg/deep/out/f.txt"]);
    assert_eq!(tree.glob("**/*.txt"), ["pkg/deep/out/f.txt"]);
    assert_eq!(tree.run("git ls-files"), ".gitignore\nkeep.gen\npkg/deep/out/f.txt\n");
}

#[test]
fn b102_links_are_neither_followed_nor_listed() {
    let tree = Tree::of(&[("ws/a/b/n.txt", "needle\n"), ("ext/secret.txt", "needle\n")]);
    tree.link("ws/a/self", ".");
    tree.link("ws/a/b/up", "../../a");
    tree.link("ws/a/out", tree.path("ext"));
    tree.link("ws/a/flink.txt", "b/n.txt");
    assert_eq!(tree.files_with("needle", "ws", Ignored::Include), ["ws/a/b/n.txt"]);
    assert_eq!(tree.glob_in("ws", "**/*.txt", Ignored::Include), ["ws/a/b/n.txt"]);
}

#[test]
fn b104_the_newest_come_first_and_the_cut_comes_after_the_sort() {
    let tree = Tree::new();
    let write = |name: &str, time: Duration| {
        tree.write(name, b"");
        let file = std::fs::File::options().write(true).open(tree.path(name)).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + time).unwrap();
    };
    for index in 1..=250 {
        write(&format!("f{index:03}.txt"), Duration::from_secs(1_704_067_200 + 60 * index));
    }
    write("z_old.txt", Duration::new(1_717_243_200, 1));
    write("a_new.txt", Duration::new(1_717_243_200, 2));
    write("b_new.txt", Duration::new(1_717_243_200, 2));
    let listed = |pattern: &str, max_results| {
        let query = GlobQuery { max_results, ..tree.glob_query(pattern) };
        let listed = tree.list(&query).unwrap();
        let names: Vec<String> = listed.files.iter().map(|path| tree.shown(path)).collect();
        (names, listed.total)
    };
    let mut all = vec!["a_new.txt".to_owned(), "b_new.txt".to_owned(), "z_old.txt".to_owned()];
    all.extend((1..=250).rev().map(|index| format!("f{index:03}.txt")));
    assert_eq!(listed("*.txt", 200), (all[..200].to_vec(), 253));
    assert_eq!(listed("*.txt", 253), (all.clone(), 253));
    let nine: Vec<String> = (1..=9).rev().map(|index| format!("f00{index}.txt")).collect();
    assert_eq!(listed("f00*.txt", 9), (nine, 9));
    assert_eq!(listed("nope*", 9), (Vec::new(), 0));
}

#[test]
fn b104_a_cut_is_not_claimed_at_exactly_the_limit() {
    let tree = Tree::of(&[("a.txt", "x\ny\n"), ("b.txt", "x\n")]);
    let found = |max_results| tree.grep(&GrepQuery { max_results, ..tree.query("x") });
    assert_eq!((found(2).files.len(), found(2).stop), (2, Stop::Complete));
    assert_eq!((found(1).files.len(), found(1).stop), (1, Stop::Results));
}

#[test]
fn b105_hidden_and_ignored_files_are_the_same_to_both_tools() {
    let tree = Tree::of(&[
        ("README.md", "TOKEN\n"),
        (".github/workflows/ci.yml", "TOKEN\n"),
        (".env", "TOKEN\n"),
        ("sub/s.txt", "TOKEN\n"),
    ]);
    tree.run("git init -q . && git add -f README.md .github sub");
    tree.write(".gitignore", b"/*\n!/*/\n.env\n");
    // `!/*/` brings folders back by name, hidden ones too; `.git` is none of them. Rules win over git's index.
    let skip = [".github/workflows/ci.yml", "sub/s.txt"];
    assert_eq!(tree.files_with("TOKEN", "", Ignored::Skip), skip);
    assert_eq!(tree.glob("**/*"), skip);
    let all = [".env", ".github/workflows/ci.yml", "README.md", "sub/s.txt"];
    assert_eq!(tree.files_with("TOKEN", "", Ignored::Include), all);
    assert_eq!(tree.glob(".github/**/*.yml"), [".github/workflows/ci.yml"]);
    assert_eq!(tree.files_with("ref: ", "", Ignored::Include), [""; 0]);
}

#[test]
fn b105_a_dot_in_the_glob_reaches_hidden_names_that_no_rule_skips() {
    let tree = Tree::of(&[
        (".gitignore", ".env\n"),
        (".github/workflows/ci.yml", ""),
        (".env", ""),
        (".env.example", ""),
        ("sub/.env.example", ""),
        ("sub/.hidden/.env.example", ""),
    ]);
    assert_eq!(tree.glob("**/*"), [""; 0]);
    assert_eq!(tree.glob(".github/**/*.yml"), [".github/workflows/ci.yml"]);
    assert_eq!(tree.glob("{.github,src}/**"), [".github/workflows/ci.yml"]);
    assert_eq!(tree.glob(".env*"), [".env.example", "sub/.env.example"]);
    assert_eq!(tree.glob("sub/.*/.*"), ["sub/.hidden/.env.example"]);
    assert_eq!(tree.glob("sub/*/*"), [""; 0]);
}
