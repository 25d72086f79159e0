//! Diffs as people see them, and their bounds.

use super::*;
use crate::edit::difference;

fn shown(changes: &Changes) -> Vec<String> {
    let sign = |sign| match sign {
        Sign::Kept => ' ',
        Sign::Added => '+',
        Sign::Deleted => '-',
        Sign::Gap => '~',
    };
    changes
        .lines
        .iter()
        .map(|line| format!("{}{}|{}", sign(line.sign), line.number, line.text))
        .collect()
}

fn numbers(range: std::ops::RangeInclusive<u32>) -> String {
    range.map(|number| format!("{number}\n")).collect()
}

#[test]
fn a_change_is_shown_with_three_lines_around() {
    let old = numbers(1..=20);
    let new = old.replace("\n10\n", "\nten\n10b\n");
    let changes = changes(&old, &new, &difference(&old, &new));
    assert_eq!(
        shown(&changes),
        [" 7|7", " 8|8", " 9|9", "-10|10", "+10|ten", "+11|10b", " 12|11", " 13|12", " 14|13"]
    );
    let counts = (changes.added, changes.deleted, changes.first_line, changes.omitted);
    assert_eq!(counts, (2, 1, Some(10), 0));
    assert_eq!(changes.precision, Precision::Fine);
}

#[test]
fn hunks_far_apart_have_a_gap_between_them() {
    let old = numbers(1..=40);
    let new = old.replace("\n5\n", "\n").replace("\n30\n", "\nthirty\n");
    let hunks = difference(&old, &new);
    let expected = [
        " 2|2",
        " 3|3",
        " 4|4",
        "-5|5",
        " 5|6",
        " 6|7",
        " 7|8",
        "~26|",
        " 26|27",
        " 27|28",
        " 28|29",
        "-30|30",
        "+29|thirty",
        " 30|31",
        " 31|32",
        " 32|33",
    ];
    assert_eq!(shown(&changes(&old, &new, &hunks)), expected);
    let at = |text: &str, part: &str| text.find(part).unwrap();
    let apart = [
        Hunk { old: at(&old, "5\n")..at(&old, "6\n"), new: at(&new, "6\n")..at(&new, "6\n") },
        Hunk {
            old: at(&old, "30")..at(&old, "31") - 1,
            new: at(&new, "thirty")..at(&new, "31") - 1,
        },
    ];
    assert_eq!(shown(&changes(&old, &new, &apart)), expected);
}

#[test]
fn marks_and_line_ends_are_not_shown() {
    let (old, new) = ("\u{feff}a\r\nb\r\n", "\u{feff}A\r\nb\r\n");
    let changes = changes(old, new, &difference(old, new));
    assert_eq!(shown(&changes), ["-1|a", "+1|A", " 2|b"]);
    assert_eq!(changes.new.as_deref(), Some("A\r\nb\r\n"));
}

#[test]
fn new_and_emptied_files_have_diffs() {
    let made = changes("", "a\nb", &difference("", "a\nb"));
    assert_eq!(
        (shown(&made), made.first_line),
        (vec!["+1|a".to_owned(), "+2|b".to_owned()], Some(1))
    );
    let emptied = changes("a\n", "", &difference("a\n", ""));
    assert_eq!((shown(&emptied), emptied.added), (vec!["-1|a".to_owned()], 0));
}

#[test]
fn huge_differences_are_coarse_and_bounded() {
    let old: String = (0..150_000).map(|number| format!("old {number}\n")).collect();
    let new: String = (0..150_000).map(|number| format!("new {number}\n")).collect();
    let changes = changes(&old, &new, &difference(&old, &new));
    assert_eq!(changes.precision, Precision::Coarse);
    assert_eq!((changes.added, changes.deleted, changes.lines.len()), (150_000, 150_000, LINES));
    assert_eq!(changes.omitted, 300_000 - LINES as u64);
    assert_eq!((changes.old, changes.new), (None, None));
}

#[test]
fn a_text_is_whole_up_to_its_bound_and_none_beyond() {
    let (old, new) = ("x".repeat(WHOLE), "x".repeat(WHOLE + 1));
    let changes = changes(&old, &new, &difference(&old, &new));
    assert_eq!((changes.old.as_deref(), changes.new), (Some(old.as_str()), None));
}

#[test]
fn the_end_of_a_line_and_a_mark_are_part_of_a_change() {
    let of = |old: &str, new: &str| {
        let changes = changes(old, new, &difference(old, new));
        let parts = |line: &DiffLine| (line.sign, line.text.clone(), line.end);
        changes.lines.iter().map(parts).collect::<Vec<_>>()
    };
    let (gone, new) = (Sign::Deleted, Sign::Added);
    let cases = [
        ("a\r\n", "a\n", [(gone, "a", LineEnd::CrLf), (new, "a", LineEnd::Lf)]),
        ("a\n", "a", [(gone, "a", LineEnd::Lf), (new, "a", LineEnd::None)]),
        ("\u{feff}a\n", "a\n", [(gone, "\u{feff}a", LineEnd::Lf), (new, "a", LineEnd::Lf)]),
        ("a\n", "\u{feff}a\n", [(gone, "a", LineEnd::Lf), (new, "\u{feff}a", LineEnd::Lf)]),
        ("\u{feff}a\n", "\u{feff}b\n", [(gone, "a", LineEnd::Lf), (new, "b", LineEnd::Lf)]),
    ];
    for (old, text, expected) in cases {
        let expected = expected.map(|(sign, text, end)| (sign, text.to_owned(), end));
        assert_eq!(of(old, text), expected, "{old:?} to {text:?}");
    }
}

#[test]
fn a_mark_that_came_or_went_stands_in_the_whole_texts() {
    let of = |old: &str, new: &str| {
        let changes = changes(old, new, &difference(old, new));
        (changes.old.unwrap(), changes.new.unwrap())
    };
    let pair = |old: &str, new: &str| (old.to_owned(), new.to_owned());
    assert_eq!(of("\u{feff}a", "\u{feff}b"), pair("a", "b"));
    assert_eq!(of("\u{feff}a", "a"), pair("\u{feff}a", "a"));
    assert_eq!(of("a", "\u{feff}a"), pair("a", "\u{feff}a"));
}
