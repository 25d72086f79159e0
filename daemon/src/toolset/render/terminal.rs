//! Output as a reader wants it: what a terminal would show of it in the end, as far as single lines go.
//!
//! - A line that was redrawn is shown as its last state: new text overwrites old text column by column (a column is
//!   a character), and erasing erases.
//! - One exception, for a reader's sake. Where the last text of a line covers an older one only in part, a terminal
//!   shows a mixture (`done` over `p 500%` is `done0%`). Here the older state keeps a line of its own, and the last
//!   text follows on the next.
//! - CR LF is a line's end like LF. Escape sequences and control characters other than newline and tab are left out.
//!
//! Each character costs constant time, and memory holds one line, whatever a hostile command prints.

use super::escape::{Action, Parser};

/// Cleans a text. `context` is what came just before it: it only tells whether the text begins within a sequence.
pub(super) fn clean(context: &str, text: &str) -> String {
    let mut parser = Parser::default();
    for character in context.chars() {
        // Only the state after it counts; what it asked for concerns a part that is not shown.
        parser.feed(character);
    }
    let mut cleaned = String::with_capacity(text.len());
    let mut line = Line::default();
    for character in text.chars() {
        match parser.feed(character) {
            Action::Nothing => {}
            Action::Print(character) => line.print(character),
            Action::Return => line.go_to_start(),
            Action::Back(columns) => line.go_back(columns),
            Action::EraseToEnd => line.erase_to_end(),
            Action::EraseLine => line.erase(),
            Action::LineFeed => {
                line.finish(&mut cleaned);
                cleaned.push('\n');
            }
        }
    }
    line.finish(&mut cleaned);
    cleaned
}

/// A line while it is being drawn.
///
/// ```text
///   covered  p 50        what the pass that began at the last return has overwritten so far
///   cells    done0%      the line as it stands
///                ▲ reached
/// ```
#[derive(Debug, Default)]
struct Line {
    cells: Vec<char>,
    cursor: usize,
    /// What this pass overwrote, from column 0 on.
    covered: Vec<char>,
    /// How many cells there were when this pass began.
    older: usize,
    /// The column after the last one that this pass wrote to.
    reached: usize,
    redrawn: bool,
}

impl Line {
    fn print(&mut self, character: char) {
        if let Some(cell) = self.cells.get_mut(self.cursor) {
            if self.cursor == self.covered.len() && self.cursor < self.older {
                self.covered.push(*cell);
            }
            *cell = character;
            self.redrawn = true;
        } else {
            self.cells.push(character);
        }
        self.cursor += 1;
        self.reached = self.reached.max(self.cursor);
    }

    fn go_to_start(&mut self) {
        self.cursor = 0;
        self.covered.clear();
        self.older = self.cells.len();
        self.reached = 0;
    }

    fn go_back(&mut self, columns: usize) {
        self.cursor = self.cursor.saturating_sub(columns);
    }

    fn erase_to_end(&mut self) {
        self.redrawn |= self.cursor < self.cells.len();
        self.cells.truncate(self.cursor);
        self.covered.truncate(self.cursor);
        self.older = self.older.min(self.cursor);
        self.reached = self.reached.min(self.cursor);
    }

    /// Erases the line and goes to its start: programs that erase a whole line return before they draw it anew.
    fn erase(&mut self) {
        self.cursor = 0;
        self.erase_to_end();
    }

    /// Appends what the line shows, without its end, and begins the next one.
    fn finish(&mut self, text: &mut String) {
        let (last, rest) = self.cells.split_at(self.reached);
        if last.is_empty() || is_blank(rest) {
            push(text, self.cells.iter(), self.redrawn);
        } else {
            push(text, self.covered.iter().chain(rest), true);
            text.push('\n');
            push(text, last.iter(), true);
        }
        self.cells.clear();
        self.covered.clear();
        (self.cursor, self.older, self.reached, self.redrawn) = (0, 0, 0, false);
    }
}

fn is_blank(cells: &[char]) -> bool {
    cells.iter().all(|cell| is_blank_cell(*cell))
}

const fn is_blank_cell(cell: char) -> bool {
    matches!(cell, ' ' | '\t')
}

/// Appends cells. Blanks at the end of a redrawn line only covered older text; those of any other line stay.
fn push<'a>(text: &mut String, cells: impl Iterator<Item = &'a char>, redrawn: bool) {
    let start = text.len();
    text.extend(cells);
    if redrawn {
        let kept = text[start..].trim_end_matches(is_blank_cell).len();
        text.truncate(start + kept);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cleaned(text: &str) -> String {
        clean("", text)
    }

    #[test]
    fn b042_a_progress_bar_is_its_last_frame() {
        let mut text = String::new();
        for layer in 0..3000 {
            text.push_str(&format!("\r\x1b[K\x1b[?25lunpacking layer {layer}"));
        }
        text.push_str("\x1b[?25h\nRESULT-MARK\none\r\ntwo\r\n");
        text.push_str("\x1b[31mred\x1b[0m \x1b]8;;http://x\x07link\x1b]8;;\x07\n");
        assert_eq!(cleaned(&text), "unpacking layer 2999\nRESULT-MARK\none\ntwo\nred link\n");
        assert_eq!(cleaned("Fetching\rFetched!\nnext step\n"), "Fetched!\nnext step\n");
    }

    #[test]
    fn t051_frames_are_neither_kept_nor_glued() {
        let frames: String = (1..=500).map(|i| format!("p {i}%\r")).collect();
        assert_eq!(cleaned(&format!("{frames}done\n")), "p 500%\ndone\n");
        assert_eq!(cleaned("first\rsecond\n"), "second\n");
        assert_eq!(cleaned("p 5%\rp 6%\r"), "p 6%");
        assert_eq!(cleaned("p 5%\rp 6%\rdone\n"), "done\n");
    }

    #[test]
    fn cr_lf_is_a_plain_line_end() {
        assert_eq!(cleaned("one\r\ntwo\r\r\n\r\nthree\r"), "one\ntwo\n\nthree");
        assert_eq!(cleaned("trailing  \r\n"), "trailing  \n");
    }

    #[test]
    fn a_mixture_of_two_states_becomes_two_lines() {
        assert_eq!(cleaned("Downloading 100%\rDone\n"), "Downloading 100%\nDone\n");
        assert_eq!(cleaned("- Installing\r\\\r|\n"), "\\ Installing\n|\n");
        assert_eq!(cleaned("Downloading\r           \rDone\n"), "Done\n");
        assert_eq!(cleaned("Downloading\rDone       \n"), "Done\n");
        assert_eq!(cleaned("Downloading\rDone\x1b[K\n"), "Done\n");
        assert_eq!(cleaned("Downloading\x1b[2K\x1b[1GDone\n"), "Done\n");
    }

    #[test]
    fn columns_are_overwritten() {
        assert_eq!(cleaned("[    ]\r[#\r[##\r\n"), "[##  ]\n");
        assert_eq!(cleaned("10 left\r9 left \r8 left \n"), "8 left\n");
    }

    #[test]
    fn backspaces_go_back() {
        assert_eq!(cleaned("N\x08NA\x08AM\x08ME\x08E\n"), "NAME\n");
        assert_eq!(cleaned("wait |\x08/\x08-\x08 \x08\n"), "wait\n");
        assert_eq!(cleaned("\x08\x08a\x1b[9Db"), "b");
    }

    #[test]
    fn what_was_not_redrawn_stays() {
        let text = "a  \n\tb\t\n\n  c ␀ é €  ";
        assert_eq!(cleaned(text), text);
    }

    #[test]
    fn a_tail_that_begins_within_a_sequence_shows_nothing_of_it() {
        assert_eq!(clean("x\x1b[3", "1mred\n"), "red\n");
        assert_eq!(clean("\x1b]8;;http://", "x\x07link\n"), "link\n");
        assert_eq!(clean("old text", "\rnew\n"), "new\n");
    }

    #[test]
    fn hostile_output_costs_linear_time() {
        let long = "x".repeat(32_000);
        for part in
            ["\r", "\ry", "\r\x1b[2Ky", "\x08", "\x1b[999999999Dy", "\ra\x1b[K", "\x1b[", "\x1b]"]
        {
            let text = format!("{long}{}", part.repeat(50_000));
            assert!(cleaned(&text).chars().count() <= text.chars().count());
        }
    }

    fn hostile() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            Just("\r"),
            Just("\n"),
            Just("\r\n"),
            Just("\x08"),
            Just("\t"),
            Just(" "),
            Just("\x1b"),
            Just("\x1b[K"),
            Just("\x1b[2K"),
            Just("\x1b[1G"),
            Just("\x1b[3D"),
            Just("\x1b[31m"),
            Just("\x1b]0;"),
            Just("\x07"),
            Just("\x1b\\"),
            Just("\x1b(B"),
            Just("a"),
            Just("bcd"),
            Just("é"),
            Just("\u{9b}"),
            Just("\u{7f}"),
        ];
        proptest::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
    }

    fn is_clean(character: char) -> bool {
        matches!(character, '\n' | '\t') || !character.is_control()
    }

    proptest! {
        #[test]
        fn nothing_but_text_is_left(context in hostile(), text in hostile()) {
            let cleaned = clean(&context, &text);
            prop_assert!(cleaned.chars().all(is_clean), "{:?}", cleaned);
            prop_assert!(cleaned.chars().count() <= text.chars().count());
            prop_assert!(cleaned.len() <= text.len());
            prop_assert_eq!(clean("", &cleaned), cleaned.clone());
        }

        #[test]
        fn lines_do_not_touch_each_other(first in hostile(), second in "[a-z \r]{0,20}") {
            // A newline ends every sequence, so what came before it cannot matter after it.
            let both = cleaned(&format!("{first}\n{second}"));
            prop_assert_eq!(both, format!("{}\n{}", cleaned(&first), cleaned(&second)));
        }

        #[test]
        fn text_without_controls_is_untouched(text in "[ -~éß€\n\t]{0,200}") {
            prop_assert_eq!(cleaned(&text), text);
        }
    }
}
