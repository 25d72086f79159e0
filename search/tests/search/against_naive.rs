//! `grep` and `glob` against a few lines that do the same one file after the other, over trees and queries at random.

use std::collections::BTreeMap;
use std::path::PathBuf;

use brattice_search::{
    FileHits, GlobQuery, GrepQuery, LetterCase, Line, LineKind, Output, Stop, Syntax,
};
use proptest::prelude::*;

use crate::tree::Tree;

/// Files by path. A path that goes through another file is left out.
fn files() -> impl Strategy<Value = BTreeMap<PathBuf, Vec<String>>> {
    let name = prop::sample::select(vec!["a", "a b", "a.txt", "aa", "b", "B", "ö"]);
    let path =
        prop::collection::vec(name, 1..4).prop_map(|names| names.iter().collect::<PathBuf>());
    let line = prop::sample::select(vec!["", "a", "b", "ab", "xAbx", "öa", "aab\tb"]);
    let content = prop::collection::vec(line.prop_map(str::to_owned), 0..8);
    prop::collection::btree_map(path, content, 0..30).prop_map(|files| {
        let through =
            |path: &PathBuf| path.ancestors().skip(1).any(|above| files.contains_key(above));
        files
            .iter()
            .filter(|(path, _)| !through(path))
            .map(|(p, c)| (p.clone(), c.clone()))
            .collect()
    })
}

fn output() -> impl Strategy<Value = Output> {
    let content =
        (0..3_usize, 0..3_usize).prop_map(|(before, after)| Output::Content { before, after });
    prop_oneof![3 => content, 1 => Just(Output::Files), 1 => Just(Output::Count)]
}

fn matches(query: &GrepQuery, line: &str) -> bool {
    match query.letter_case {
        LetterCase::Sensitive => line.contains(&query.pattern),
        LetterCase::Insensitive => line.to_lowercase().contains(&query.pattern.to_lowercase()),
    }
}

/// A file's hits of which at most so many count, and whether there are more.
fn of_file(query: &GrepQuery, path: PathBuf, content: &[String], room: usize) -> (FileHits, Stop) {
    let all: Vec<usize> =
        (0..content.len()).filter(|&index| matches(query, &content[index])).collect();
    let Output::Content { before, after } = query.output else {
        let count = if query.output == Output::Files { all.len().min(1) } else { all.len() };
        let stop = if count > 0 && room == 0 { Stop::Results } else { Stop::Complete };
        let matches = if room == 0 { 0 } else { count as u64 };
        return (FileHits { path, matches, lines: Vec::new() }, stop);
    };
    let taken = &all[..all.len().min(room)];
    let near = |index: usize| taken.iter().any(|&at| index + before >= at && index <= at + after);
    let lines = (0..content.len()).filter(|&index| near(index)).filter(|index| {
        // The first match that was not taken ends what is told.
        all.get(room).is_none_or(|next| index < next)
    });
    let lines = lines.map(|index| Line {
        number: index as u64 + 1,
        kind: if taken.contains(&index) { LineKind::Match } else { LineKind::Context },
        text: content[index].clone(),
        omitted_before: 0,
        omitted_after: 0,
    });
    let stop = if all.len() > room { Stop::Results } else { Stop::Complete };
    (FileHits { path, matches: taken.len() as u64, lines: lines.collect() }, stop)
}

fn naive(query: &GrepQuery, files: &BTreeMap<PathBuf, Vec<String>>) -> (Vec<FileHits>, Stop) {
    let mut found = Vec::new();
    let mut taken = 0;
    for (path, content) in files {
        let room = query.max_results - taken;
        let (hits, stop) = of_file(query, query.root.join(path), content, room);
        if hits.matches > 0 {
            let by_file = !matches!(query.output, Output::Content { .. });
            taken += if by_file {
                1
            } else {
                hits.lines.iter().filter(|line| line.kind == LineKind::Match).count()
            };
            found.push(hits);
        }
        if stop != Stop::Complete {
            return (found, stop);
        }
    }
    (found, Stop::Complete)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn grep_finds_what_a_naive_search_finds(
        files in files(),
        output in output(),
        pattern in prop::sample::select(vec!["a", "b", "ab", "B", "öA", "zz"]),
        letter_case in prop::sample::select(vec![LetterCase::Sensitive, LetterCase::Insensitive]),
        max_results in 1..12_usize,
    ) {
        let tree = Tree::new();
        for (path, lines) in &files {
            let content: String = lines.iter().map(|line| format!("{line}\n")).collect();
            tree.write(path.to_str().unwrap(), content.as_bytes());
        }
        let syntax = Syntax::Literal;
        let query = GrepQuery { output, letter_case, max_results, syntax, ..tree.query(pattern) };
        let found = tree.grep(&query);
        prop_assert_eq!((found.files, found.stop), naive(&query, &files));
    }

    #[test]
    fn glob_lists_what_a_naive_walk_lists(
        files in files(),
        ages in prop::collection::vec(0..4_u64, 30),
        pattern in prop::sample::select(vec!["*", "a*", "*.txt", "a/*", "**/a/*", "a/**", "{a,b}/*", "B"]),
        max_results in 1..12_usize,
    ) {
        let tree = Tree::new();
        let time = |age: u64| std::time::UNIX_EPOCH + std::time::Duration::new(1_700_000_000, age as u32);
        let matches = |path: &PathBuf| {
            let text = path.to_str().unwrap();
            let (folder, name) = text.rsplit_once('/').unwrap_or(("", text));
            match pattern {
                "*" => true,
                "a*" => name.starts_with('a'),
                "*.txt" => name.ends_with(".txt"),
                "a/*" => folder == "a",
                "**/a/*" => folder == "a" || folder.ends_with("/a"),
                "a/**" => text.starts_with("a/"),
                "{a,b}/*" => folder == "a" || folder == "b",
                _ => name == pattern,
            }
        };
        let mut expected = Vec::new();
        for (path, age) in files.keys().zip(ages) {
            tree.write(path.to_str().unwrap(), b"");
            let file = std::fs::File::options().write(true).open(tree.path("").join(path)).unwrap();
            file.set_modified(time(age)).unwrap();
            if matches(path) {
                expected.push((std::cmp::Reverse(age), tree.path("").join(path)));
            }
        }
        expected.sort();
        let total = expected.len() as u64;
        let expected: Vec<PathBuf> =
            expected.into_iter().take(max_results).map(|(_, path)| path).collect();
        let query = GlobQuery { max_results, ..tree.glob_query(pattern) };
        let listed = tree.list(&query).unwrap();
        prop_assert_eq!((listed.files, listed.total), (expected, total));
    }
}
