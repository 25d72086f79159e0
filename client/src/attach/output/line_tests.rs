//! Lines from bytes: their last state, their colours, and nothing else of a sequence.

use proptest::prelude::*;
use ratatui::style::{Color, Modifier};

use super::*;

fn shown(bytes: &[u8]) -> String {
    let (line, _) = Line::read(0, bytes, Style::new());
    line.runs.iter().map(|run| run.text.as_str()).collect()
}

fn styled(bytes: &[u8]) -> Vec<(String, Style)> {
    let (line, _) = Line::read(0, bytes, Style::new());
    line.runs.into_iter().map(|run| (run.text, run.style)).collect()
}

#[test]
fn a_line_is_shown_in_its_last_state() {
    let cases: [(&[u8], &str); 13] = [
        (b"plain", "plain"),
        (b" 10%\r 20%\r100%", "100%"),
        (b"long line\rshort", "shortline"),
        (b"long line\r\x1b[Kshort", "short"),
        (b"gone\x1b[2K\rnew", "new"),
        (b"abcd\x1b[1D\x1b[1Kx", "    x"),
        (b"ab\x08c", "ac"),
        (b"a\tb", "a       b"),
        ("漢字\r a".as_bytes(), " a字"),
        ("漢字\ra\x08漢\x08b".as_bytes(), " b字"),
        ("e\u{301}".as_bytes(), "e\u{301}"),
        ("\u{301}".as_bytes(), ""),
        (b"\xff\xc3", "\u{fffd}"),
    ];
    for (bytes, text) in cases {
        assert_eq!(shown(bytes), text, "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn colours_are_kept() {
    let red = Style::new().fg(Color::Red);
    assert_eq!(
        styled(b"a\x1b[31mb\x1b[1mc\x1b[0md"),
        [
            ("a".to_owned(), Style::new()),
            ("b".to_owned(), red),
            ("c".to_owned(), red.add_modifier(Modifier::BOLD)),
            ("d".to_owned(), Style::new()),
        ]
    );
    let cases: [(&[u8], Style); 8] = [
        (b"\x1b[38;5;208mx", Style::new().fg(Color::Indexed(208))),
        (b"\x1b[48;2;1;2;3mx", Style::new().bg(Color::Rgb(1, 2, 3))),
        (b"\x1b[38:2::1:2:3mx", Style::new().fg(Color::Rgb(1, 2, 3))),
        (b"\x1b[38:5:9mx", Style::new().fg(Color::Indexed(9))),
        (b"\x1b[97;40mx", Style::new().fg(Color::White).bg(Color::Black)),
        (b"\x1b[5;8mx", Style::new()),
        (b"\x1b[38;5mx", Style::new()),
        (b"\x1b[38;5;300mx", Style::new()),
    ];
    for (bytes, style) in cases {
        assert_eq!(
            styled(bytes),
            [("x".to_owned(), style)],
            "{:?}",
            String::from_utf8_lossy(bytes)
        );
    }
    let (_, style) = Line::read(0, b"\x1b[32mtwo lines", Style::new());
    assert_eq!(shown_in(b"second", style), [("second".to_owned(), Style::new().fg(Color::Green))]);
}

fn shown_in(bytes: &[u8], begins: Style) -> Vec<(String, Style)> {
    Line::read(0, bytes, begins).0.runs.into_iter().map(|run| (run.text, run.style)).collect()
}

#[test]
fn nothing_of_a_sequence_is_left_but_its_colour() {
    let cases: [(&[u8], &str); 14] = [
        (b"a\x1b[2J\x1b[Hb", "ab"),
        (b"a\x1b]0;title\x07b", "ab"),
        (b"a\x1b]52;c;ZXZpbA==\x1b\\b", "ab"),
        (b"a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\b", "alinkb"),
        (b"a\x1bP1$r0m\x1b\\b", "ab"),
        (b"a\x1b_application\x1b\\b", "ab"),
        (b"a\x1b[?1049h\x1b[?2004h\x1b[?25lb", "ab"),
        (b"a\x1b[6n\x1b[cb", "ab"),
        (b"a\x1bc\x1b7\x1b8b", "ab"),
        (b"a\x07\x0e\x0fb", "ab"),
        ("a\u{9b}2Jb".as_bytes(), "a2Jb"),
        (b"a\x9b2Jb", "a2Jb"),
        (b"a\x1b]0;never ended", "a"),
        ("a\u{202e}b\u{2066}c".as_bytes(), "a\\u{202e}b\\u{2066}c"),
    ];
    for (bytes, text) in cases {
        assert_eq!(shown(bytes), text, "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn marks_without_end_stay_in_their_cell() {
    let text = format!("a{}b", "\u{301}".repeat(500));
    assert_eq!(shown(text.as_bytes()), format!("a{}b", "\u{301}".repeat(7)));
}

proptest! {
    #[test]
    fn no_bytes_leave_anything_that_a_terminal_acts_on(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let text = shown(&bytes);
        prop_assert!(text.chars().all(|sign| !sign.is_control() && visible(sign).chars().eq([sign])), "{text:?}");
    }
}
