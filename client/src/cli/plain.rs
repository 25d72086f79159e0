//! Text of others, made fit for a terminal: labels, commands, paths and reasons are whatever somebody chose them to be.
//!
//! Everything that people are shown and that is not this program's own goes through here. What a command printed is passed
//! on byte for byte by `brattice run` and `brattice task output` alone.

/// Signs that escaping would touch though they are harmless.
const QUOTES: [char; 3] = ['"', '\'', '\\'];

/// A text on one line, without signs that a terminal acts on, that reorder what is around them, or that are not seen.
pub(crate) fn plain(text: &str) -> String {
    let mut shown = String::new();
    for piece in text.split_inclusive(QUOTES) {
        let body = piece.strip_suffix(QUOTES).unwrap_or(piece);
        shown.extend(body.escape_debug());
        shown.push_str(&piece[body.len()..]);
    }
    shown
}

/// The same for a text of several lines, which keep their ends and their tabs.
pub(crate) fn plain_lines(text: &str) -> String {
    let mut shown = String::new();
    for piece in text.split_inclusive(['\n', '\t']) {
        let body = piece.strip_suffix(['\n', '\t']).unwrap_or(piece);
        shown.push_str(&plain(body));
        shown.push_str(&piece[body.len()..]);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_is_shown_instead() {
        let cases = [
            ("make -j 'a b' \"c\" \\d", "make -j 'a b' \"c\" \\d"),
            ("\u{1b}[2J\u{1b}]0;t\u{7}", "\\u{1b}[2J\\u{1b}]0;t\\u{7}"),
            ("a\r\nb\tc\0", "a\\r\\nb\\tc\\0"),
            ("\u{9b}1m\u{202e}\u{200b}", "\\u{9b}1m\\u{202e}\\u{200b}"),
            ("größe 漢字 e\u{301}", "größe 漢字 e\u{301}"),
            ("", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(plain(text), expected);
        }
    }

    #[test]
    fn lines_stay_lines() {
        assert_eq!(plain_lines("a\tb\n\u{1b}c\r\n"), "a\tb\n\\u{1b}c\\r\n");
        assert_eq!(plain_lines("no end"), "no end");
    }
}
