//! Files that are read: what is told of lines that a cap cut away.

use brattice_files::Fingerprint;
use brattice_files::text::LineEnds;
use brattice_policy::Limits;
use brattice_protocol::session::{Options, ToolsetName};

use super::*;
use crate::toolset::Toolset;

fn reading(lines: &[&str]) -> Reading {
    let line = |(number, text): (u64, &&str)| Line { number, text: (*text).to_owned(), omitted: 0 };
    let characters = lines.iter().map(|line| line.chars().count() as u64).sum();
    let total_lines = lines.len() as u64;
    Reading {
        lines: (1..).zip(lines).map(line).collect(),
        stop: Stop::End,
        total_lines,
        total_bytes: 9,
        characters,
        encoding: Encoding::Utf8,
        line_ends: LineEnds { lf: total_lines, crlf: 0 },
        last_line: LastLine::Ended,
        invalid: 0,
        replaced: 0,
        fingerprint: Fingerprint::of(b""),
    }
}

/// What `minimal` says of a file under a cap, and which lines it tells, and what they lack.
fn minimal(most: u64, numbers: LineNumbers, reading: &Reading) -> (String, Option<[u64; 2]>, u64) {
    let options = Options { max_output: Some(most), edit_tools: Some(true), ..Options::default() };
    let tools = SessionTools::of(Toolset::of(ToolsetName::Minimal), &[], &Limits::default());
    let window = Window::range(0, 0).unwrap();
    let tools = tools.opened_with(&options);
    let said = render_read(tools, Path::new("/ws/f"), (window, numbers), reading);
    (said.text, said.facts.lines, said.facts.cut)
}

#[test]
fn lines_that_the_cap_cut_away_are_not_told() {
    let file = reading(&["aé", "", "bcd"]);
    let cases = [
        (0, "", None, 0),
        (1, "a", Some([1, 1]), 1),
        (2, "aé", Some([1, 1]), 0),
        (3, "aé\n", Some([1, 1]), 0),
        (4, "aé\n\n", Some([1, 2]), 0),
        (5, "aé\n\nb", Some([1, 3]), 2),
        (7, "aé\n\nbcd", Some([1, 3]), 0),
    ];
    for (most, kept, lines, cut) in cases {
        let (text, told, lacks) = minimal(most, LineNumbers::Hidden, &file);
        let end = if kept.is_empty() || kept.ends_with('\n') { "" } else { "\n" };
        let omitted = 8 - most;
        let marker = format!("{end}[output truncated: {omitted} characters omitted]");
        assert_eq!((text, told, lacks), (format!("{kept}{marker}"), lines, cut), "{most}");
    }
    assert_eq!(minimal(8, LineNumbers::Hidden, &file), ("aé\n\nbcd\n".to_owned(), Some([1, 3]), 0));
}

#[test]
fn a_number_alone_is_no_line() {
    let file = reading(&["ab", "c"]);
    let lines = |most| minimal(most, LineNumbers::Shown, &file).1;
    assert_eq!(
        [2, 3, 5, 7, 8].map(lines),
        [None, Some([1, 1]), Some([1, 1]), Some([1, 1]), Some([1, 2])]
    );
}

#[test]
fn what_a_line_lacks_already_is_counted_with_what_the_cap_takes() {
    let mut file = reading(&["abc", "def"]);
    (file.lines[0].omitted, file.lines[1].omitted) = (7, 9);
    (file.characters, file.last_line) = (22, LastLine::Open);
    let (_, lines, cut) = minimal(2, LineNumbers::Hidden, &file);
    assert_eq!((lines, cut), (Some([1, 1]), 8));
    let (_, lines, cut) = minimal(7, LineNumbers::Hidden, &file);
    assert_eq!((lines, cut), (Some([1, 2]), 16));
}

#[test]
fn glrs_tells_the_lines_that_it_shows() {
    let long = "x".repeat(20_000);
    let file = reading(&[&long, &long, "y"]);
    let tools = SessionTools::of(Toolset::of(ToolsetName::Glrs), &[], &Limits::default());
    let window = Window::range(0, 0).unwrap();
    let said = render_read(tools, Path::new("/ws/f"), (window, LineNumbers::Hidden), &file);
    assert_eq!((said.facts.lines, said.facts.cut), (Some([1, 2]), 10_005));
    let shown = SessionTools::of(Toolset::of(ToolsetName::Standard), &[], &Limits::default());
    let said = render_read(shown, Path::new("/ws/f"), (window, LineNumbers::Hidden), &file);
    assert_eq!((said.facts.lines, said.facts.cut), (Some([1, 3]), 0));
}

#[test]
fn digits_are_those_of_all_numbers() {
    for last in [0, 1, 9, 10, 11, 99, 100, 12_345] {
        let counted: usize = (1..=last).map(|number: u64| number.to_string().len()).sum();
        assert_eq!(digits(last), counted as u64, "{last}");
    }
    assert_eq!(digits(u64::MAX), u64::MAX, "there are more than can be counted");
}

#[test]
fn a_range_may_begin_wherever_a_number_reaches() {
    let mut file = reading(&["a"]);
    (file.lines, file.characters) = (Vec::new(), 0);
    let tools = SessionTools::of(Toolset::of(ToolsetName::Minimal), &[], &Limits::default());
    let options = Options { edit_tools: Some(true), ..Options::default() };
    for start in [2, 1_000_000_000_000_000_001, u64::MAX] {
        let window = (Window::range(start, 0).unwrap(), LineNumbers::Shown);
        let said = render_read(tools.opened_with(&options), Path::new("/ws/f"), window, &file);
        assert_eq!(said.text, format!("(Line {start} is past the end: the file has 1 line.)"));
        assert_eq!(said.facts.lines, None);
    }
}
