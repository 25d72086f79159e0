//! The end of what a command has printed, as plain text for one line of progress. Pure, and bounded.

use brattice_client::protocol::bytes;
use brattice_client::protocol::tools::CallOutput;

/// Characters that are shown.
const SHOWN: usize = 1_000;

/// Bytes that are kept: what is shown, were each character four of them, and room for what is left out.
const KEPT: usize = 8 << 10;

/// The last bytes of both streams, in the order in which they were told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tail(Vec<u8>);

impl Tail {
    /// Takes in what was told.
    pub(crate) fn add(&mut self, output: &CallOutput) {
        // What cannot be read is not shown.
        let Ok(data) = bytes::decode(&output.data, output.encoding) else { return };
        self.0.extend_from_slice(&data);
        let excess = self.0.len().saturating_sub(KEPT);
        self.0.drain(..excess);
    }

    /// The text, less what acts on a terminal and less lines that were redrawn. None where there is nothing to show.
    pub(crate) fn text(&self) -> Option<String> {
        let text = plain(&String::from_utf8_lossy(&self.0));
        let lines = text.trim_end().lines().map(|line| line.rsplit('\r').next().unwrap_or(line));
        let text = lines.collect::<Vec<_>>().join("\n");
        let from = text.char_indices().rev().nth(SHOWN - 1).map_or(0, |(at, _)| at);
        (!text.is_empty()).then(|| text[from..].to_owned())
    }
}

/// A text without escape sequences and control characters, but for line ends, tabs, and returns within a line.
fn plain(text: &str) -> String {
    let mut shown = String::new();
    let mut signs = text.chars().peekable();
    while let Some(sign) = signs.next() {
        match sign {
            '\u{1b}' => match signs.next() {
                Some('[') => while signs.next().is_some_and(|sign| !('@'..='~').contains(&sign)) {},
                Some(']') => {
                    while signs.next_if(|sign| !"\u{7}\u{1b}\n".contains(*sign)).is_some() {}
                    signs.next_if(|sign| *sign == '\u{7}');
                }
                Some(_) | None => {}
            },
            '\r' if signs.peek() == Some(&'\n') => {}
            '\n' | '\t' | '\r' => shown.push(sign),
            sign if sign.is_control() => {}
            sign => shown.push(sign),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use brattice_client::protocol::bytes::Encoding;
    use brattice_client::protocol::tools::Stream;
    use brattice_client::protocol::{CallId, SessionId};

    use super::*;

    fn shown(pieces: &[&str]) -> Option<String> {
        let mut tail = Tail::default();
        for piece in pieces {
            tail.add(&CallOutput {
                session: SessionId::new("s"),
                call: CallId::new("c"),
                stream: Stream::Stdout,
                offset: 0,
                data: (*piece).to_owned(),
                encoding: Encoding::Utf8,
            });
        }
        tail.text()
    }

    #[test]
    fn nothing_of_it_acts_on_a_terminal() {
        let told = shown(&[
            "\u{1b}[2J\u{1b}[31mred\u{1b}[0m\u{8}\n",
            "\u{1b}]0;title\u{7}10 %\r20 %\r\n",
            "\tdone\n",
        ]);
        assert_eq!(told.as_deref(), Some("red\n20 %\n\tdone"));
        assert_eq!(shown(&["\u{1b}[", "\n\u{1b}"]), None);
    }

    #[test]
    fn the_end_of_much_is_shown_in_whole_characters() {
        let told = shown(&["begin", &"é".repeat(KEPT)]).unwrap();
        assert_eq!(told, "é".repeat(SHOWN));
    }
}
