//! The tail of a stream as characters: UTF-8 with U+FFFD for what is none, cut to the cap on a character's border.
//!
//! The tail comes in one piece, so a character that a command wrote in two halves is whole here. What the characters
//! do on a terminal is left to `terminal`.

use crate::exec::spec::Chunk;
use crate::toolset::definition::{Nul, OutputRules};

/// How many bytes of a character can be left when its first one was cut off (RFC 3629: at most four in all).
const MAX_TORN_BYTES: usize = 3;

/// The decoded end of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Tail {
    text: String,
    cut: usize,
    /// The offset in the stream of the first byte that is shown.
    pub(super) from: u64,
    /// The offset after the last byte that is shown.
    pub(super) to: u64,
    /// Bytes among those shown that are no UTF-8.
    pub(super) invalid: u64,
}

impl Tail {
    /// What is shown.
    pub(super) fn shown(&self) -> &str {
        &self.text[self.cut..]
    }

    /// What came just before it, as far as it was read. It is not shown.
    pub(super) fn context(&self) -> &str {
        &self.text[..self.cut]
    }
}

/// One character of the text and the bytes that it stands for.
struct Unit {
    shown: char,
    raw: usize,
    invalid: usize,
}

/// Decodes the end of a stream. The part that is shown is at most `kept_bytes` long, as bytes of the stream and, so
/// that binary output cannot grow by its replacement characters, as text.
pub(super) fn decode_tail(chunk: &Chunk, rules: &OutputRules) -> Tail {
    let torn = if chunk.offset == 0 { 0 } else { torn_bytes(&chunk.data) };
    let bytes = &chunk.data[torn..];
    let mut raw_left = bytes.len();
    let mut text_left: usize = units(bytes, rules.nul).map(|unit| unit.shown.len_utf8()).sum();
    let to = chunk.offset + chunk.data.len() as u64;
    let mut text = String::with_capacity(text_left);
    let mut cut = None;
    let mut invalid = 0;
    for unit in units(bytes, rules.nul) {
        if raw_left <= rules.kept_bytes && text_left <= rules.kept_bytes {
            cut.get_or_insert((text.len(), to - raw_left as u64));
            invalid += unit.invalid as u64;
        }
        text.push(unit.shown);
        raw_left -= unit.raw;
        text_left -= unit.shown.len_utf8();
    }
    let (cut, from) = cut.unwrap_or((text.len(), to));
    Tail { text, cut, from, to, invalid }
}

/// How many bytes at the start belong to a character whose start is not there.
fn torn_bytes(bytes: &[u8]) -> usize {
    bytes.iter().take(MAX_TORN_BYTES).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count()
}

fn units(bytes: &[u8], nul: Nul) -> impl Iterator<Item = Unit> {
    bytes.utf8_chunks().flat_map(move |chunk| {
        let valid = chunk.valid().chars().map(move |character| Unit {
            shown: match (character, nul) {
                ('\0', Nul::Symbol) => '␀',
                _ => character,
            },
            raw: character.len_utf8(),
            invalid: 0,
        });
        let bad = chunk.invalid().len();
        let replaced = (bad > 0).then_some(Unit {
            shown: char::REPLACEMENT_CHARACTER,
            raw: bad,
            invalid: bad,
        });
        valid.chain(replaced)
    })
}

#[cfg(test)]
mod tests {
    use brattice_protocol::session::ToolsetName;
    use proptest::prelude::*;

    use super::*;
    use crate::toolset::Toolset;

    fn rules(kept_bytes: usize, nul: Nul) -> OutputRules {
        OutputRules { kept_bytes, nul, ..Toolset::of(ToolsetName::Standard).output }
    }

    fn decode(data: &[u8], offset: u64, kept_bytes: usize) -> (String, u64, u64, u64) {
        let chunk = Chunk { data: data.to_vec(), offset, skipped: 0 };
        let tail = decode_tail(&chunk, &rules(kept_bytes, Nul::Symbol));
        (tail.shown().to_owned(), tail.from, tail.to, tail.invalid)
    }

    #[test]
    fn b041_bytes_that_are_no_utf8_are_shown_and_counted() {
        assert_eq!(
            decode(b"caf\xe9 r\xe9sum\xe9\nend\n", 0, 100),
            ("caf\u{fffd} r\u{fffd}sum\u{fffd}\nend\n".to_owned(), 0, 16, 3)
        );
        assert_eq!(decode(b"\xe2\x82", 0, 100), ("\u{fffd}".to_owned(), 0, 2, 2));
    }

    #[test]
    fn t047_a_character_that_was_written_in_halves_is_whole() {
        let halves = [b"\xe2".as_slice(), b"\x82\xac\n"].concat();
        assert_eq!(decode(&halves, 0, 100), ("€\n".to_owned(), 0, 4, 0));
    }

    #[test]
    fn t049_nul_is_a_symbol_or_stays() {
        assert_eq!(decode(b"a\0b\n", 0, 100).0, "a␀b\n");
        let chunk = Chunk { data: b"a\0b\n".to_vec(), ..Chunk::default() };
        assert_eq!(decode_tail(&chunk, &rules(100, Nul::Verbatim)).shown(), "a\0b\n");
    }

    #[test]
    fn t045_a_cut_never_splits_a_character() {
        let euros = "€€€".as_bytes();
        assert_eq!(decode(euros, 0, 9), ("€€€".to_owned(), 0, 9, 0));
        assert_eq!(decode(euros, 0, 8), ("€€".to_owned(), 3, 9, 0));
        assert_eq!(decode(euros, 0, 6), ("€€".to_owned(), 3, 9, 0));
        assert_eq!(decode(euros, 0, 2), (String::new(), 9, 9, 0));
    }

    #[test]
    fn a_torn_first_character_is_left_out_and_not_counted_as_invalid() {
        assert_eq!(decode(&"€€".as_bytes()[1..], 101, 100), ("€".to_owned(), 103, 106, 0));
        assert_eq!(decode(&"𝄞a".as_bytes()[1..], 1, 100), ("a".to_owned(), 4, 5, 0));
        assert_eq!(decode(b"\x80\x80\x80\x80", 1, 100), ("\u{fffd}".to_owned(), 4, 5, 1));
        assert_eq!(decode(b"\x80a", 0, 100), ("\u{fffd}a".to_owned(), 0, 2, 1));
    }

    #[test]
    fn the_cap_holds_for_the_text_too() {
        let (text, from, to, invalid) = decode(&[0xff; 64_000], 0, 64_000);
        assert_eq!((text.len(), from, to, invalid), (63_999, 64_000 - 21_333, 64_000, 21_333));
        assert_eq!(decode(&[0; 10], 0, 9), ("␀␀␀".to_owned(), 7, 10, 0));
    }

    #[test]
    fn an_empty_stream_shows_nothing() {
        assert_eq!(decode(b"", 0, 100), (String::new(), 0, 0, 0));
        assert_eq!(decode(b"", 7, 100), (String::new(), 7, 7, 0));
    }

    proptest! {
        #[test]
        fn any_bytes_decode_within_the_cap(
            data in proptest::collection::vec(any::<u8>(), 0..300),
            offset in prop_oneof![Just(0u64), 1u64..1_000_000],
            kept in 0usize..300,
        ) {
            let (text, from, to, invalid) = decode(&data, offset, kept);
            prop_assert!(text.len() <= kept);
            prop_assert!(offset <= from && from <= to);
            prop_assert!(to - from <= kept as u64);
            prop_assert_eq!(to, offset + data.len() as u64);
            prop_assert!(invalid <= to - from);
            prop_assert!(!text.contains('\0'));
            let shown = &data[(from - offset) as usize..];
            let whole = String::from_utf8_lossy(shown).replace('\0', "␀");
            prop_assert_eq!(text, whole);
        }

        #[test]
        fn any_text_survives_and_its_tail_is_as_long_as_the_cap_allows(
            text in "\\PC{0,120}",
            kept in 0usize..200,
        ) {
            let (shown, from, _, invalid) = decode(text.as_bytes(), 0, kept);
            prop_assert!(text.ends_with(&shown));
            prop_assert_eq!(from as usize, text.len() - shown.len());
            prop_assert_eq!(invalid, 0);
            prop_assert!(shown.len() == text.len() || shown.len() + 4 > kept);
        }
    }
}
