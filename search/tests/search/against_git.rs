//! Ignore rules against git itself, over trees and rules at random, from the top and from below.

use std::collections::{BTreeMap, BTreeSet};

use brattice_search::Ignored;
use proptest::prelude::*;

use crate::tree::Tree;

const NAMES: [&str; 5] = ["a", "b", "out", "x.rs", "y.rs"];

fn path(most: usize) -> impl Strategy<Value = String> {
    let name = prop::sample::select(NAMES.to_vec());
    prop::collection::vec(name, 1..=most).prop_map(|names| names.join("/"))
}

/// Lines of the kinds that people write; a few have no effect.
fn rule() -> impl Strategy<Value = String> {
    let core = prop_oneof![
        3 => prop::sample::select(NAMES.to_vec()).prop_map(str::to_owned),
        2 => path(2),
        1 => Just("*.rs".to_owned()),
        1 => Just("*".to_owned()),
        1 => Just("**/out".to_owned()),
        1 => Just("a/**".to_owned()),
        1 => Just("[ab]".to_owned()),
        1 => Just("# b".to_owned()),
    ];
    let sign = prop::sample::select(vec!["", "", "!"]);
    let start = prop::sample::select(vec!["", "", "/"]);
    let end = prop::sample::select(vec!["", "", "/"]);
    (sign, start, core, end)
        .prop_map(|(sign, start, core, end)| format!("{sign}{start}{core}{end}"))
}

fn rules() -> impl Strategy<Value = String> {
    prop::collection::vec(rule(), 1..5).prop_map(|lines| lines.join("\n"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_skipped_is_what_git_skips(
        files in prop::collection::btree_set(path(4), 1..25),
        top in rules(),
        exclude in rules(),
        nested in prop::collection::btree_map(path(2), rules(), 0..3),
    ) {
        let tree = Tree::new();
        tree.run("git init -q .");
        tree.write(".gitignore", top.as_bytes());
        tree.write(".git/info/exclude", exclude.as_bytes());
        let through = |path: &str| files.iter().any(|file| path.starts_with(&format!("{file}/")));
        let files: BTreeSet<&String> = files.iter().filter(|path| !through(path)).collect();
        files.iter().for_each(|path| tree.write(path, b"token\n"));
        let nested: BTreeMap<_, _> =
            nested.into_iter().filter(|(folder, _)| tree.path(folder).is_dir()).collect();
        for (folder, rules) in &nested {
            tree.write(&format!("{folder}/.gitignore"), rules.as_bytes());
        }
        let left = tree.run("git -c core.quotePath=off ls-files --others --exclude-standard");
        let mut left: Vec<&str> = left.lines().filter(|path| !path.ends_with(".gitignore")).collect();
        left.sort_unstable();
        prop_assert_eq!(&sorted(tree.glob("**")), &left);
        prop_assert_eq!(&sorted(tree.files_with("token", "", Ignored::Skip)), &left);
        // From below the answer is the same; but a folder that git skips would be searched as a root.
        for folder in ["a", "b", "out", "a/b"].into_iter().filter(|folder| tree.path(folder).is_dir()) {
            if !tree.run(&format!("git check-ignore {folder} || true")).is_empty() {
                continue;
            }
            let below = |path: &&&str| path.starts_with(&format!("{folder}/"));
            let expected: Vec<&str> = left.iter().filter(below).copied().collect();
            prop_assert_eq!(sorted(tree.glob_in(folder, "**", Ignored::Skip)), expected, "{}", folder);
        }
    }
}

/// Without the files of rules: `!*` brings those back, as it does any hidden name.
fn sorted(mut paths: Vec<String>) -> Vec<String> {
    paths.retain(|path| !path.ends_with(".gitignore"));
    paths.sort_unstable();
    paths
}
