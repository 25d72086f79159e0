//! Which part of a stream a read shows, and what it says of the rest.

use std::path::PathBuf;

use brattice_protocol::session::ToolsetName;
use proptest::prelude::*;

use super::super::body::shown;
use super::super::samples::Spool;
use super::super::terminal::clean;
use super::*;

/// One read of a spool that is known to be so long.
struct Read<'a> {
    spool: &'a Spool,
    length: u64,
    cursor: u64,
    dropped: (u64, u64),
    lost: Option<Lost>,
    rest: Rest,
}

/// What came of it: the text, the range, what was skipped, where it ended, and the lines.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    text: String,
    range: (u64, u64),
    skipped: u64,
    end: u64,
    lines: Vec<String>,
}

impl<'a> Read<'a> {
    fn of(spool: &'a Spool) -> Self {
        Read {
            spool,
            length: spool.data.len() as u64,
            cursor: 0,
            dropped: (0, 0),
            lost: None,
            rest: Rest::MayCome,
        }
    }

    fn part(&self, toolset: &Toolset, part: Part) -> Seen {
        let chunks = self.spool.chunks(part.span(toolset, self.cursor, self.length));
        let stream = StreamReading {
            cursor: self.cursor,
            length: self.length,
            chunks: &chunks,
            file: self.spool.file.as_deref(),
            dropped: self.dropped,
            lost: self.lost.as_ref(),
        };
        let seen = Shown::of(&stream, part, self.rest, &toolset.output);
        let task::StreamRead { from, to, skipped } = seen.facts();
        Seen {
            text: shown(&toolset.output, &seen.excerpt),
            range: (from, to),
            skipped,
            end: seen.end(),
            lines: seen.lines("stdout", &stream, part),
        }
    }

    fn dsh(&self, part: Part) -> Seen {
        self.part(dsh(), part)
    }
}

fn dsh() -> &'static Toolset {
    Toolset::of(ToolsetName::Dsh)
}

fn standard() -> &'static Toolset {
    Toolset::of(ToolsetName::Standard)
}

fn seen(text: &str, range: (u64, u64), lines: &[&str]) -> Seen {
    Seen {
        text: text.to_owned(),
        range,
        skipped: 0,
        end: range.1,
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
    }
}

fn span(part: Part, cursor: u64, length: u64) -> (u64, u64) {
    let Span { offset, end } = part.span(dsh(), cursor, length);
    (offset, end)
}

#[test]
fn a_read_needs_no_more_than_it_can_show_and_a_little_before_it() {
    assert_eq!(span(Part::New, 0, 0), (0, 0));
    assert_eq!(span(Part::New, 5000, 6000), (904, 6000));
    assert_eq!(span(Part::New, 0, 1_000_000), (931_904, 1_000_000));
    assert_eq!(span(Part::New, 990_000, 1_000_000), (985_904, 1_000_000));
    assert_eq!(span(Part::TailLines(5), 990_000, 1_000_000), (931_904, 1_000_000));
    assert_eq!(span(Part::From(10_000), 990_000, 1_000_000), (5904, 74_000));
    assert_eq!(span(Part::From(u64::MAX), 0, 1_000_000), (995_904, 1_000_000));
}

#[test]
fn b057_only_what_is_new_is_shown() {
    let spool = Spool::of("one\ntwo\nthree");
    let mut read = Read { length: 4, ..Read::of(&spool) };
    assert_eq!(read.dsh(Part::New), seen("one\n", (0, 4), &[]));
    (read.cursor, read.length) = (4, 8);
    assert_eq!(read.dsh(Part::New), seen("two\n", (4, 8), &[]));
    read.cursor = 8;
    assert_eq!(read.dsh(Part::New), seen("", (8, 8), &[]));
    read.length = 13;
    assert_eq!(read.dsh(Part::New), seen("three", (8, 13), &[]));
}

#[test]
fn t047_half_a_character_waits_for_its_rest() {
    let spool = Spool::of("a€\n");
    let mut read = Read { length: 2, ..Read::of(&spool) };
    assert_eq!(read.dsh(Part::New), seen("a", (0, 1), &[]));
    (read.cursor, read.length) = (1, 3);
    assert_eq!(read.dsh(Part::New), seen("", (1, 1), &[]));
    read.length = 5;
    assert_eq!(read.dsh(Part::New), seen("€\n", (1, 5), &[]));
    (read.length, read.rest) = (3, Rest::None);
    assert_eq!(read.dsh(Part::New), seen("\u{fffd}", (1, 3), &[]));
}

#[test]
fn half_a_character_before_a_gap_waits_for_nothing() {
    let spool =
        Spool { holes: vec![(3, 10)], ..Spool::of([b"a\xe2\x82".as_slice(), &[0; 7]].concat()) };
    let lost = Some(Lost { bytes: 7, error: "ENOSPC".to_owned() });
    let read = Read { lost, ..Read::of(&spool) };
    let expected = Seen { skipped: 7, end: 10, ..seen("a\u{fffd}", (0, 3), &[]) };
    assert_eq!(read.dsh(Part::New), expected);
}

#[test]
fn b043_a_long_read_shows_its_end_and_names_the_file() {
    let mut spool = Spool::of("x".repeat(100_000));
    let mut read = Read { cursor: 10_000, ..Read::of(&spool) };
    let line = "[stdout truncated: 26000 bytes omitted; file unavailable]";
    let expected =
        Seen { skipped: 26_000, ..seen(&"x".repeat(64_000), (36_000, 100_000), &[line]) };
    assert_eq!(read.dsh(Part::New), expected);
    spool.file = Some(PathBuf::from("/s/bash-1.stdout"));
    read = Read { cursor: 10_000, ..Read::of(&spool) };
    let line = "[stdout truncated: 26000 bytes omitted; full output: /s/bash-1.stdout]";
    assert_eq!(read.dsh(Part::New).lines, [line]);
    read.cursor = 36_000;
    assert_eq!(read.dsh(Part::New).lines, [""; 0]);
}

#[test]
fn t040_what_was_dropped_is_said_and_no_text_spans_it() {
    let spool = Spool { holes: vec![(4, 8)], ..Spool::of("headmiddtail") };
    let lines = [
        "[stdout truncated: 8 bytes omitted; file unavailable]",
        "[stdout dropped: 4 bytes from the middle, offsets 4-8]",
    ];
    let expected = Seen { skipped: 8, ..seen("tail", (8, 12), &lines) };
    let mut read = Read { dropped: (4, 8), ..Read::of(&spool) };
    assert_eq!(read.dsh(Part::New), expected);
    read.dropped = (0, 0);
    assert_eq!(read.dsh(Part::New), expected, "the gap alone tells it");

    read.cursor = 6;
    let lines = [
        "[stdout truncated: 2 bytes omitted; file unavailable]",
        "[stdout dropped: 2 bytes from the middle, offsets 6-8]",
    ];
    assert_eq!(read.dsh(Part::New), Seen { skipped: 2, ..seen("tail", (8, 12), &lines) });
    (read.cursor, read.dropped) = (8, (4, 8));
    assert_eq!(read.dsh(Part::New), seen("tail", (8, 12), &[]), "told before");

    let head = "[stdout: bytes 0-4 of 12; go on with offset 4]";
    assert_eq!(read.dsh(Part::From(0)), seen("head", (0, 4), &[head]));
    let dropped = "[stdout dropped: 4 bytes from the middle, offsets 4-8]";
    let expected = Seen { skipped: 4, ..seen("tail", (8, 12), &[dropped]) };
    assert_eq!(read.dsh(Part::From(4)), expected);
}

#[test]
fn t041_what_was_lost_is_not_called_truncated() {
    let spool = Spool { holes: vec![(2, 5)], ..Spool::of("ab???cd") };
    let lost = Some(Lost { bytes: 3, error: "ENOSPC".to_owned() });
    let read = Read { lost, ..Read::of(&spool) };
    let line = "[stdout truncated: 2 bytes omitted; file unavailable]";
    assert_eq!(read.dsh(Part::New), Seen { skipped: 5, ..seen("cd", (5, 7), &[line]) });
}

#[test]
fn an_offset_reads_on_from_there_and_says_where_to_go_on() {
    let spool = Spool::of("0123456789".repeat(10_000));
    let read = Read { cursor: 100_000, ..Read::of(&spool) };
    let first = read.dsh(Part::From(3));
    assert_eq!((first.range, first.text.len(), &first.text[..4]), ((3, 64_003), 64_000, "3456"));
    assert_eq!(first.lines, ["[stdout: bytes 3-64003 of 100000; go on with offset 64003]"]);
    let second = read.dsh(Part::From(64_003));
    assert_eq!((second.range, second.lines), ((64_003, 100_000), Vec::new()));
    assert_eq!(read.dsh(Part::From(100_000)), seen("", (100_000, 100_000), &[]));
    assert_eq!(read.dsh(Part::From(u64::MAX)), seen("", (100_000, 100_000), &[]));
}

#[test]
fn an_offset_within_a_character_begins_with_the_next() {
    let spool = Spool::of("a€b");
    let expected = Seen { skipped: 2, ..seen("b", (4, 5), &[]) };
    assert_eq!(Read::of(&spool).dsh(Part::From(2)), expected);
}

#[test]
fn the_last_lines_are_counted_from_the_end() {
    let spool = Spool::of("one\ntwo\n\nfour");
    let read = Read { cursor: 13, ..Read::of(&spool) };
    let lines = |lines| read.dsh(Part::TailLines(lines));
    assert_eq!(lines(1), seen("four", (9, 13), &[]));
    assert_eq!(lines(2), seen("\nfour", (8, 13), &[]));
    assert_eq!(lines(3), seen("two\n\nfour", (4, 13), &[]));
    for more in [4, 5, u64::MAX] {
        assert_eq!(lines(more), seen("one\ntwo\n\nfour", (0, 13), &[]), "{more}");
    }
    let ended = Spool::of("one\ntwo\n");
    assert_eq!(Read::of(&ended).dsh(Part::TailLines(1)), seen("two\n", (4, 8), &[]));
    let nothing = Spool::default();
    assert_eq!(Read::of(&nothing).dsh(Part::TailLines(1)), seen("", (0, 0), &[]));
}

#[test]
fn lines_that_do_not_fit_are_cut() {
    let spool = Spool::of(format!("short\n{}\nlast\n", "x".repeat(100_000)));
    let read = Read::of(&spool);
    assert_eq!(read.dsh(Part::TailLines(1)), seen("last\n", (100_007, 100_012), &[]));
    let cut = read.dsh(Part::TailLines(2));
    assert_eq!((cut.range, cut.skipped), ((36_012, 100_012), 36_012));
    assert_eq!(cut.lines, ["[stdout truncated: 36012 bytes omitted; file unavailable]"]);
}

#[test]
fn t051_a_sequence_that_is_split_over_two_reads_shows_nothing_of_it() {
    let spool = Spool::of("\x1b[31mred\x1b[0m\r\nnext");
    let mut read = Read { length: 3, ..Read::of(&spool) };
    assert_eq!(read.part(standard(), Part::New).text, "");
    (read.cursor, read.length) = (3, 13);
    assert_eq!(read.part(standard(), Part::New).text, "red");
    (read.cursor, read.length) = (13, 18);
    assert_eq!(read.part(standard(), Part::New).text, "\nnext");
}

/// Reads all of it while it grows by steps, and joins what was shown.
fn joined(toolset: &Toolset, data: &[u8], steps: &[usize]) -> (String, u64) {
    let spool = Spool::of(data);
    let mut read = Read { length: 0, ..Read::of(&spool) };
    let (mut text, mut skipped) = (String::new(), 0);
    let lengths = steps.iter().scan(0, |length: &mut usize, step| {
        *length = (*length + step).min(data.len());
        Some((*length, Rest::MayCome))
    });
    for (length, rest) in lengths.chain([(data.len(), Rest::None)]) {
        (read.length, read.rest) = (length as u64, rest);
        let seen = read.part(toolset, Part::New);
        assert!(seen.end >= read.cursor && seen.end <= read.length);
        assert_eq!(seen.end - read.cursor, seen.range.1 - seen.range.0 + seen.skipped);
        read.cursor = seen.end;
        text.push_str(&seen.text);
        skipped += seen.skipped;
    }
    assert_eq!(read.cursor, data.len() as u64);
    (text, skipped)
}

fn pieces(pieces: &'static [&'static str]) -> impl Strategy<Value = Vec<u8>> {
    let piece = proptest::sample::select(pieces).prop_map(str::as_bytes);
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn t063_reads_join_to_the_whole_whatever_was_printed(
        data in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..200),
            pieces(&["€", "𝄞", "é", "a\n", "\r", "\x1b[31m"]),
        ],
        steps in proptest::collection::vec(0usize..12, 0..40),
    ) {
        let (text, skipped) = joined(dsh(), &data, &steps);
        prop_assert_eq!(text, String::from_utf8_lossy(&data));
        prop_assert_eq!(skipped, 0);
    }

    #[test]
    fn t063_cleaned_reads_join_to_the_cleaned_whole_where_no_line_is_redrawn(
        data in pieces(&["€", "𝄞", "text ", "\n", "\r\n", "\x1b[31m", "\x1b[0m", "\x1b]8;;http://x\x07", "\0"]),
        steps in proptest::collection::vec(0usize..12, 0..40),
    ) {
        let (text, _) = joined(standard(), &data, &steps);
        let whole = String::from_utf8_lossy(&data).replace('\0', "␀");
        prop_assert_eq!(text, clean("", &whole));
    }

    #[test]
    fn nothing_but_text_is_left_of_any_read(
        data in pieces(&["a", "b\n", "\r", "\x08", "\x1b", "[", "31", "m", "\x1b[K", "\x1b]", "\x07", "é"]),
        steps in proptest::collection::vec(0usize..5, 0..40),
    ) {
        let (text, _) = joined(standard(), &data, &steps);
        prop_assert!(text.chars().all(|sign| sign == '\n' || !sign.is_control()), "{:?}", text);
    }

    #[test]
    fn pages_from_offset_to_offset_join_to_the_whole(
        data in pieces(&["€", "a", "𝄞", "\n"]),
        kept in 4usize..30,
    ) {
        let rules = OutputRules { kept_bytes: kept, ..dsh().output };
        let (mut text, mut at) = (String::new(), 0);
        loop {
            let length = data.len() as u64;
            let end = (at as usize + kept).min(data.len());
            let chunks = [Chunk { data: data[..end].to_vec(), offset: 0, skipped: 0 }];
            let stream = StreamReading {
                cursor: 0, length, chunks: &chunks, file: None, dropped: (0, 0), lost: None,
            };
            let seen = Shown::of(&stream, Part::From(at), Rest::None, &rules);
            text.push_str(seen.excerpt.shown());
            at = seen.end();
            if seen.after == After::Nothing {
                break;
            }
        }
        prop_assert_eq!(text.as_bytes(), data);
    }

    #[test]
    fn holes_never_make_a_read_fail_or_stall(
        length in 0u64..300,
        holes in proptest::collection::vec((0u64..300, 0u64..80), 0..4),
        cursor in 0u64..320,
        part in prop_oneof![
            Just(Part::New),
            (0u64..320).prop_map(Part::From),
            (1u64..9).prop_map(Part::TailLines),
        ],
        lost in any::<bool>(),
    ) {
        let data = "line\n€€\n".bytes().cycle().take(length as usize).collect::<Vec<u8>>();
        let holes = holes.into_iter().map(|(from, size)| (from, from + size)).collect();
        let spool = Spool { holes, ..Spool::of(data) };
        let lost = lost.then(|| Lost { bytes: 5, error: "ENOSPC".to_owned() });
        let read = Read { cursor, lost, rest: Rest::None, ..Read::of(&spool) };
        let seen = read.dsh(part);
        prop_assert!(seen.range.0 <= seen.range.1 && seen.range.1 <= length);
        if part == Part::New {
            prop_assert_eq!(seen.end, length);
        }
    }
}
