//! Characters to lines: those of a selection are kept, all are counted. Only LF and CRLF end a line, as for grep and editors
//! of lines; a lone CR, a form feed or a Unicode separator is a character of its line. A final line end adds no line.

use super::decode::Sink;
use serde::{Deserialize, Serialize};

/// Which lines are kept, from 1, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Selection {
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Characters of a line that are kept.
    pub(crate) line_characters: usize,
    /// Bytes of all lines that are kept, a line end counted as one.
    pub(crate) bytes: usize,
}

/// One line, without its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// From 1.
    pub number: u64,
    /// What is shown of it. Places without a character, and NULs, are U+FFFD.
    pub text: String,
    /// Characters that were cut from its end.
    pub omitted: u64,
}

/// What ended a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    /// The file is over: its last line is shown, or the selection begins after it.
    End,
    /// The window is over.
    Window,
    /// The selection has as many bytes as may be shown.
    Bytes,
}

/// How many line ends of which kind the file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LineEnds {
    /// LF alone.
    pub lf: u64,
    /// CR and LF.
    pub crlf: u64,
}

/// Collects the lines of a selection.
pub(crate) struct Lines {
    selection: Selection,
    kept: Vec<Line>,
    bytes: usize,
    characters: u64,
    is_full: bool,
    number: u64,
    line: Begun,
    ends: LineEnds,
    invalid: u64,
    shown_replaced: u64,
}

/// The line that is being read.
#[derive(Default)]
struct Begun {
    text: String,
    characters: usize,
    omitted: u64,
    replaced: u64,
    is_empty: bool,
    /// A CR that is the line's so far: part of its end, or a character.
    held_cr: bool,
}

/// All that was found.
pub(crate) struct Found {
    pub(crate) lines: Vec<Line>,
    pub(crate) stop: Stop,
    pub(crate) total: u64,
    /// Characters of all selected lines, whether they are kept or not.
    pub(crate) characters: u64,
    pub(crate) ends: LineEnds,
    /// Places of the whole file without a character.
    pub(crate) invalid: u64,
    /// U+FFFD that stand in the lines for something else.
    pub(crate) replaced: u64,
    /// Whether the last line has an end.
    pub(crate) is_ended: bool,
}

impl Begun {
    fn new() -> Self {
        Begun { is_empty: true, ..Begun::default() }
    }
}

impl Lines {
    pub(crate) fn new(selection: Selection) -> Self {
        Lines {
            selection,
            kept: Vec::new(),
            bytes: 0,
            characters: 0,
            is_full: false,
            number: 1,
            line: Begun::new(),
            ends: LineEnds::default(),
            invalid: 0,
            shown_replaced: 0,
        }
    }

    fn is_selected(&self) -> bool {
        (self.selection.first..=self.selection.last).contains(&self.number)
    }

    fn is_wanted(&self) -> bool {
        !self.is_full && self.is_selected()
    }

    /// Characters of the line that is being read; `text` holds no LF and no CR that could be part of a line end.
    fn add(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.line.is_empty = false;
        if self.is_selected() {
            self.characters += text.chars().count() as u64;
        }
        if !self.is_wanted() {
            return;
        }
        let line = &mut self.line;
        let room = self.selection.line_characters - line.characters;
        let cut = text.char_indices().nth(room).map_or(text.len(), |(place, _)| place);
        let (kept, rest) = text.split_at(cut);
        line.omitted += rest.chars().count() as u64;
        line.characters += kept.chars().count();
        for (index, piece) in kept.split('\0').enumerate() {
            if index > 0 {
                line.text.push('\u{fffd}');
                line.replaced += 1;
            }
            line.text.push_str(piece);
        }
    }

    fn release_cr(&mut self) {
        if std::mem::take(&mut self.line.held_cr) {
            self.add("\r");
        }
    }

    /// A piece of a line; a CR at its very end waits for what follows.
    fn add_piece(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.release_cr();
        match text.strip_suffix('\r') {
            Some(before) => {
                self.add(before);
                self.line.held_cr = true;
            }
            None => self.add(text),
        }
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.line.held_cr) {
            self.ends.crlf += 1;
        } else {
            self.ends.lf += 1;
        }
        self.keep();
        self.number += 1;
    }

    fn keep(&mut self) {
        let wanted = self.is_wanted();
        let mut line = std::mem::replace(&mut self.line, Begun::new());
        if !wanted {
            return;
        }
        if self.bytes + line.text.len() + 1 > self.selection.bytes {
            self.is_full = true;
            if !self.kept.is_empty() {
                return;
            }
            // One line that is too long alone is cut rather than hidden.
            let cut = line.text.floor_char_boundary_at(self.selection.bytes.saturating_sub(1));
            line.omitted += line.text[cut..].chars().count() as u64;
            line.text.truncate(cut);
        }
        self.bytes += line.text.len() + 1;
        self.shown_replaced += line.replaced;
        self.kept.push(Line { number: self.number, text: line.text, omitted: line.omitted });
    }

    pub(crate) fn finish(mut self) -> Found {
        self.release_cr();
        let is_ended = self.line.is_empty;
        if !is_ended {
            self.keep();
        }
        let total = self.number - u64::from(is_ended);
        let stop = if self.is_full && self.kept.last().is_none_or(|line| line.number < total) {
            Stop::Bytes
        } else if self.selection.last < total {
            Stop::Window
        } else {
            Stop::End
        };
        Found {
            lines: self.kept,
            stop,
            total,
            characters: self.characters,
            ends: self.ends,
            invalid: self.invalid,
            replaced: self.shown_replaced,
            is_ended: is_ended && total > 0,
        }
    }
}

impl Sink for Lines {
    fn text(&mut self, text: &str) {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', text.as_bytes()) {
            self.add_piece(&text[start..end]);
            self.end_line();
            start = end + 1;
        }
        self.add_piece(&text[start..]);
    }

    fn replaced(&mut self) {
        self.invalid += 1;
        self.release_cr();
        let shown = self.is_wanted() && self.line.characters < self.selection.line_characters;
        self.line.replaced += u64::from(shown);
        self.add("\u{fffd}");
    }
}

/// The nearest border between characters at or before a byte.
trait Boundary {
    fn floor_char_boundary_at(&self, place: usize) -> usize;
}

impl Boundary for str {
    fn floor_char_boundary_at(&self, place: usize) -> usize {
        (0..=place.min(self.len())).rev().find(|place| self.is_char_boundary(*place)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, first: u64, last: u64) -> Found {
        let mut lines = Lines::new(Selection { first, last, line_characters: 5, bytes: 20 });
        lines.text(text);
        lines.finish()
    }

    fn shown(found: &Found) -> Vec<(u64, &str, u64)> {
        found.lines.iter().map(|line| (line.number, line.text.as_str(), line.omitted)).collect()
    }

    #[test]
    fn a_final_line_end_adds_no_line() {
        for (text, total, is_ended) in
            [("", 0, false), ("a", 1, false), ("a\n", 1, true), ("a\n\n", 2, true), ("\n", 1, true)]
        {
            let found = found(text, 1, u64::MAX);
            assert_eq!(
                (found.total, found.is_ended, found.stop),
                (total, is_ended, Stop::End),
                "{text:?}"
            );
        }
    }

    #[test]
    fn line_ends_are_hidden_and_lone_returns_are_not() {
        let found = found("a\r\nb\rc\n\r\r\nd\r", 1, u64::MAX);
        assert_eq!(shown(&found), [(1, "a", 0), (2, "b\rc", 0), (3, "\r", 0), (4, "d\r", 0)]);
        assert_eq!(found.ends, LineEnds { lf: 1, crlf: 2 });
    }

    #[test]
    fn cuts_count_what_they_hide() {
        let found = found("äöüäöüä\nb\0\n", 1, 2);
        assert_eq!(shown(&found), [(1, "äöüäö", 2), (2, "b\u{fffd}", 0)]);
        assert_eq!((found.replaced, found.invalid, found.stop), (1, 0, Stop::End));
        assert_eq!(found.characters, 9);
    }

    #[test]
    fn a_selection_ends_by_window_or_by_bytes() {
        let text = "11111\n22222\n33333\n44444\n";
        let window = found(text, 2, 3);
        assert_eq!(
            (shown(&window), window.stop),
            (vec![(2, "22222", 0), (3, "33333", 0)], Stop::Window)
        );
        let bytes = found(text, 1, 4);
        assert_eq!((bytes.lines.len(), bytes.stop, bytes.total), (3, Stop::Bytes, 4));
        let past = found(text, 5, 9);
        assert_eq!((shown(&past), past.stop), (vec![], Stop::End));
    }

    #[test]
    fn one_line_that_is_too_long_alone_is_cut() {
        let mut lines =
            Lines::new(Selection { first: 1, last: 9, line_characters: 2000, bytes: 6 });
        lines.text("ääää\nb\n");
        let found = lines.finish();
        assert_eq!((shown(&found), found.stop), (vec![(1, "ää", 2)], Stop::Bytes));
    }
}
