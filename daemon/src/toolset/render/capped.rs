//! A result under its toolset's cap: what was found or done, which may be cut, and what the tool says of it, which stays.

use super::characters::StreamLength;
use super::cut::{cut, kept};
use super::lines::push_line;
use crate::toolset::wording::ResultCap;

/// A text in the making.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Capped {
    /// What may be cut.
    pub(super) body: String,
    /// Lines that stay.
    pub(super) closing: Vec<String>,
}

impl Capped {
    /// How many bytes of the body stay.
    pub(super) fn kept(&self, cap: ResultCap) -> usize {
        kept(cap, &self.body)
    }

    /// The whole text. `length` is that of the body, where only its beginning is there.
    pub(super) fn finish(self, cap: ResultCap, length: StreamLength) -> String {
        let Capped { body: mut text, closing } = self;
        let told = cut(cap, &mut text, length);
        for line in told.iter().chain(&closing) {
            push_line(&mut text, line);
        }
        text
    }
}

/// A text of which all may be cut.
pub(crate) fn capped(cap: ResultCap, body: String) -> String {
    Capped { body, closing: Vec::new() }.finish(cap, StreamLength::AsRead)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolset::wording::CutLine;

    #[test]
    fn what_is_said_survives_every_cut() {
        let text = Capped { body: "abc\ndef".to_owned(), closing: vec!["[x]".to_owned()] };
        let cap = |most| ResultCap::Characters(most, CutLine::Truncated);
        let cases = [
            (ResultCap::None, "abc\ndef\n[x]"),
            (cap(7), "abc\ndef\n[x]"),
            (cap(2), "ab\n[truncated, 5 chars omitted]\n[x]"),
            (cap(4), "abc\n[truncated, 3 chars omitted]\n[x]"),
        ];
        for (cap, expected) in cases {
            assert!(expected.starts_with(&text.body[..text.kept(cap)]), "{expected}");
            assert_eq!(text.clone().finish(cap, StreamLength::AsRead), expected);
        }
    }
}
