//! Ignore rules: which files they are read from, how far they reach, and which goes before which.

use std::process::Command;

use brattice_search::{GlobQuery, Ignored, UserRules};

use crate::tree::Tree;

#[test]
fn rules_hold_with_and_without_a_repository_and_from_folders_above() {
    let tree = Tree::of(&[
        (".gitignore", "*.log\n/top.txt\n"),
        ("a.log", ""),
        ("top.txt", ""),
        ("sub/top.txt", ""),
        ("sub/a.log", ""),
        ("sub/.ignore", "quiet\n"),
        ("sub/deep/quiet", ""),
        ("sub/deep/a.txt", ""),
    ]);
    assert_eq!(tree.glob("**"), ["sub/deep/a.txt", "sub/top.txt"]);
    assert_eq!(tree.glob_in("sub/deep", "**", Ignored::Skip), ["sub/deep/a.txt"]);
    tree.run("git init -q .");
    assert_eq!(tree.glob("**"), ["sub/deep/a.txt", "sub/top.txt"]);
    let all = tree.glob_in("", "**", Ignored::Include);
    assert_eq!(all.len(), 8);
    assert!(!all.iter().any(|path| path.contains(".git/")), "{all:?}");
}

#[test]
fn ignore_goes_before_gitignore_which_goes_before_exclude_and_the_nearest_goes_first() {
    let tree = Tree::of(&[
        (".ignore", "!a.log\n"),
        (".gitignore", "*.log\nc.txt\n"),
        ("a.log", ""),
        ("b.log", ""),
        ("c.txt", ""),
        ("d.txt", ""),
        ("e.txt", ""),
        ("sub/.gitignore", "!*.log\n"),
        ("sub/b.log", ""),
    ]);
    tree.run("git init -q . && printf '!c.txt\\nd.txt\\n' > .git/info/exclude");
    assert_eq!(tree.glob("**"), ["a.log", "e.txt", "sub/b.log"]);
}

#[test]
fn a_gitignore_does_not_reach_into_another_repository_and_an_ignore_does() {
    let tree = Tree::of(&[
        (".gitignore", "*.log\n"),
        (".ignore", "*.tmp\n"),
        ("inner/a.log", ""),
        ("inner/a.tmp", ""),
        ("inner/a.txt", ""),
    ]);
    tree.run("git init -q inner");
    assert_eq!(tree.glob("**"), ["inner/a.log", "inner/a.txt"]);
    assert_eq!(tree.glob_in("inner", "**", Ignored::Skip), ["inner/a.log", "inner/a.txt"]);
}

#[test]
fn a_linked_worktree_has_the_exclude_file_of_its_repository() {
    let tree = Tree::new();
    tree.run(
        "git init -q main && cd main && git -c user.name=a -c user.email=a@example.test \
         commit -q --allow-empty -m a && git worktree add -q ../linked && echo quiet > .git/info/exclude",
    );
    tree.write("linked/quiet", b"");
    tree.write("linked/a.txt", b"");
    assert_eq!(tree.glob_in("linked", "**", Ignored::Skip), ["linked/a.txt"]);
    assert_eq!(tree.glob_in("linked", ".git", Ignored::Include), [""; 0]);
}

#[test]
fn a_root_is_searched_although_rules_skip_it() {
    let tree = Tree::of(&[(".gitignore", "build/\n*.o\n"), ("build/a.txt", ""), ("build/a.o", "")]);
    assert_eq!(tree.glob("**"), [""; 0]);
    assert_eq!(tree.glob_in("build", "**", Ignored::Skip), ["build/a.txt"]);
}

#[test]
fn a_rule_file_may_have_a_mark_carriage_returns_and_lines_that_are_no_rules() {
    let tree = Tree::of(&[("a.log", ""), ("b.log", ""), ("c.txt", "")]);
    tree.write(".gitignore", b"\xef\xbb\xbfa.log\r\n\xff\xfe\r\n[z-a]\r\nb.log\r\n");
    assert_eq!(tree.glob("**"), ["c.txt"]);
}

/// Where the user's rules are comes from the environment, which is set for this test's second process.
const INNER: &str = "BRATTICE_SEARCH_TEST_ROOT";

#[test]
fn the_users_own_rules_hold_where_they_are_asked_for() {
    if let Some(root) = std::env::var_os(INNER) {
        return print_listed(root.into());
    }
    let tree = Tree::of(&[
        ("home/.config/git/ignore", "*.bak\n/top\n"),
        ("ws/a.bak", ""),
        ("ws/a.txt", ""),
        ("ws/top", ""),
        ("ws/sub/top", ""),
    ]);
    tree.run("git init -q ws");
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "rules::the_users_own_rules_hold_where_they_are_asked_for",
            "--nocapture",
        ])
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("GIT_CONFIG_GLOBAL")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .env("HOME", tree.path("home"))
        .env(INNER, tree.path("ws"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let listed = text.lines().filter(|line| line.starts_with("listed")).collect::<Vec<_>>();
    assert_eq!(listed, ["listed Apply a.txt sub/top", "listed Leave a.bak a.txt sub/top top"]);
}

fn print_listed(root: std::path::PathBuf) {
    for user_rules in [UserRules::Apply, UserRules::Leave] {
        let query = GlobQuery {
            root: root.clone(),
            pattern: "**".to_owned(),
            ignored: Ignored::Skip,
            user_rules,
            max_results: 10,
        };
        let mut files =
            brattice_search::glob(&query, &brattice_search::Cancel::new()).unwrap().files;
        files.sort();
        let name = |path: &std::path::PathBuf| {
            path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned()
        };
        println!("listed {user_rules:?} {}", files.iter().map(name).collect::<Vec<_>>().join(" "));
    }
}
