//! Bounds: results, bytes, the length of lines, what is held in memory; and that cuts are the same every time.

use brattice_search::{Cause, GrepQuery, Output, Span, Stop, Unreadable};

use crate::tree::Tree;

/// Folders in which a file early in order is slow and those after it are quick.
fn uneven() -> Tree {
    let tree = Tree::new();
    tree.write("a/slow.txt", &[b"filler\n".repeat(2_000_000), b"token\n".to_vec()].concat());
    for folder in 0..40 {
        for file in 0..10 {
            tree.write(&format!("b{folder:02}/{file}.txt"), b"token 1\ntoken 2\n");
        }
    }
    tree
}

#[test]
fn a_cut_takes_the_first_in_the_order_of_paths_whatever_is_done_first() {
    let tree = uneven();
    let all = tree.lines(&tree.query("token"));
    assert_eq!(all.len(), 801);
    assert_eq!(
        all[..3],
        ["a/slow.txt:2000001:token", "b00/0.txt:1:token 1", "b00/0.txt:2:token 2"]
    );
    for max_results in [1, 2, 3, 20, 21, 500, 800] {
        let query = GrepQuery { max_results, ..tree.query("token") };
        assert_eq!(tree.lines(&query), all[..max_results], "{max_results}");
        assert_eq!(tree.grep(&query).stop, Stop::Results);
    }
    let query = GrepQuery { max_results: 801, ..tree.query("token") };
    assert_eq!(tree.grep(&query).stop, Stop::Complete);
}

#[test]
fn a_search_that_has_enough_ends_although_others_are_at_slow_files() {
    let tree = Tree::of(&[("a.txt", "filler\n"), ("z0.txt", "x\n")]);
    // Thousands of names for one file of 64 MB: minutes, were they searched.
    tree.write("big/0", &b"filler\n".repeat(9_000_000));
    (1..2000).for_each(|name| {
        std::fs::hard_link(tree.path("big/0"), tree.path(&format!("big/{name}"))).unwrap();
    });
    let query = GrepQuery { max_results: 1, ..tree.query("filler") };
    assert_eq!(tree.lines(&query), ["a.txt:1:filler"]);
}

#[test]
fn bytes_are_bounded_by_whole_lines() {
    let tree = Tree::of(&[("a", "12345\n12345\n"), ("b", "12345\n12345\n")]);
    let path = tree.path("a").as_os_str().len();
    let lines = |max_bytes| {
        let query = GrepQuery { max_bytes, ..tree.query("1") };
        (tree.lines(&query).len(), tree.grep(&query).stop)
    };
    assert_eq!(lines(2 * path + 20), (4, Stop::Complete));
    assert_eq!(lines(2 * path + 19), (3, Stop::Bytes));
    assert_eq!(lines(2 * path + 14), (2, Stop::Bytes));
    assert_eq!(lines(path + 9), (1, Stop::Bytes));
    assert_eq!(lines(path), (0, Stop::Bytes));
    let files = GrepQuery { max_bytes: path, output: Output::Files, ..tree.query("1") };
    let found = tree.grep(&files);
    assert_eq!((found.files.len(), found.stop), (1, Stop::Bytes));
}

#[test]
fn of_a_long_line_the_part_with_the_match_is_kept() {
    let tree = Tree::new();
    let long = format!("{}ß needle {}", "ä".repeat(5000), "z".repeat(3000));
    tree.write("long.txt", format!("needle {}\n{long}\n", "y".repeat(2500)).as_bytes());
    let found = tree.grep(&tree.query("needle"));
    let [first, second] = &found.files[0].lines[..] else { panic!("{found:?}") };
    assert_eq!(first.text, format!("needle {}", "y".repeat(1993)));
    assert_eq!((first.omitted_before, first.omitted_after), (0, 507));
    let expected: String = long.chars().skip(4802).take(2000).collect();
    assert_eq!(second.text, expected);
    assert_eq!((second.omitted_before, second.omitted_after), (4802, 1207));
    // Where the match is near the end, the text ends with the line.
    let found = tree.grep(&tree.query("zzz$"));
    let line = &found.files[0].lines[0];
    assert_eq!((line.omitted_before, line.omitted_after), (6009, 0));
}

#[test]
fn a_line_or_file_that_does_not_fit_memory_is_told() {
    let tree = Tree::of(&[("a.txt", "x\n")]);
    tree.write("line.txt", &vec![b'x'; 9 << 20]);
    tree.write("fits.txt", &[vec![b'x'; 7 << 20], b"\n".to_vec()].concat());
    let told = |query: &GrepQuery| {
        let found = tree.grep(query);
        let files: Vec<String> = found.files.iter().map(|file| tree.shown(&file.path)).collect();
        (files, found.unreadable.first)
    };
    let too_long = Unreadable { path: tree.path("line.txt"), cause: Cause::TooLong };
    let (files, unreadable) = told(&tree.query("x$"));
    assert_eq!((files, unreadable), (vec!["a.txt".into(), "fits.txt".into()], vec![too_long]));
    tree.write("many.txt", &b"y\n".repeat(5 << 20));
    let spanning = GrepQuery { span: Span::Lines, ..tree.query(r"y\ny") };
    let (files, unreadable) = told(&spanning);
    let paths: Vec<String> = unreadable.iter().map(|one| tree.shown(&one.path)).collect();
    assert_eq!((files, paths), (vec![], vec!["line.txt".to_owned(), "many.txt".to_owned()]));
}
