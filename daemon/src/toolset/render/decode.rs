//! A stretch of a stream as characters: UTF-8 with U+FFFD for what is none, cut to the cap on a character's border.
//!
//! The stretch comes in one piece, so a character that a command wrote in two halves is whole here. What the characters
//! do on a terminal is left to `terminal`.

use crate::exec::spec::Chunk;
use crate::toolset::definition::{Nul, OutputRules};

/// How many bytes of a character can be there, or be missing, when it is torn (RFC 3629: at most four in all).
const MAX_TORN_BYTES: usize = 3;

/// Bytes of a stream, and where they stand in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stretch<'a> {
    /// The bytes.
    pub(super) data: &'a [u8],
    /// The offset of the first.
    pub(super) offset: u64,
}

impl Stretch<'_> {
    /// The offset after the last byte.
    pub(super) fn end(self) -> u64 {
        self.offset + self.data.len() as u64
    }
}

impl<'a> From<&'a Chunk> for Stretch<'a> {
    fn from(chunk: &'a Chunk) -> Self {
        Stretch { data: &chunk.data, offset: chunk.offset }
    }
}

/// What is shown of a stream, decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Excerpt {
    text: String,
    cut: usize,
    /// The offset in the stream of the first byte that is shown.
    pub(super) from: u64,
    /// The offset after the last byte that is shown.
    pub(super) to: u64,
    /// Bytes among those shown that are no UTF-8.
    pub(super) invalid: u64,
}

impl Excerpt {
    /// Nothing, of a stream that was read up to there.
    pub(super) fn nothing_at(offset: u64) -> Self {
        Excerpt { from: offset, to: offset, ..Excerpt::default() }
    }

    /// What is shown.
    pub(super) fn shown(&self) -> &str {
        &self.text[self.cut..]
    }

    /// What came just before it, as far as it was read. It is not shown.
    pub(super) fn context(&self) -> &str {
        &self.text[..self.cut]
    }

    /// The line at its end that was begun and not ended, as far as it was read.
    pub(super) fn last_line(&self) -> &str {
        self.text.rsplit('\n').next().unwrap_or_default()
    }

    /// How many bytes are shown.
    pub(super) const fn length(&self) -> u64 {
        self.to - self.from
    }
}

/// One character of the text and the bytes that it stands for.
struct Unit {
    shown: char,
    raw: usize,
    invalid: usize,
}

/// Decodes the end of a stream. The part that is shown begins at `from` or later and is at most `kept_bytes` long, as
/// bytes of the stream and, so that binary output cannot grow by its replacement characters, as text.
pub(super) fn decode_tail(stretch: Stretch<'_>, from: u64, rules: &OutputRules) -> Excerpt {
    let bytes = untorn(stretch);
    let to = stretch.end();
    let mut raw_left = bytes.len();
    let mut text_left: usize = units(bytes, rules.nul).map(|unit| unit.shown.len_utf8()).sum();
    let mut text = String::with_capacity(text_left);
    let mut cut = None;
    let mut invalid = 0;
    for unit in units(bytes, rules.nul) {
        let at = to - raw_left as u64;
        if at >= from && raw_left <= rules.kept_bytes && text_left <= rules.kept_bytes {
            cut.get_or_insert((text.len(), at));
            invalid += unit.invalid as u64;
        }
        text.push(unit.shown);
        raw_left -= unit.raw;
        text_left -= unit.shown.len_utf8();
    }
    let (cut, from) = cut.unwrap_or((text.len(), to));
    Excerpt { text, cut, from, to, invalid }
}

/// Decodes a stream from `from` on. The part that is shown begins there or at the next character, and is capped as by
/// [`decode_tail`].
pub(super) fn decode_head(stretch: Stretch<'_>, from: u64, rules: &OutputRules) -> Excerpt {
    let bytes = untorn(stretch);
    let mut at = stretch.end() - bytes.len() as u64;
    let mut excerpt = Excerpt::default();
    let mut begin = None;
    for unit in units(bytes, rules.nul) {
        if at >= from {
            let (cut, from) = *begin.get_or_insert((excerpt.text.len(), at));
            let text_length = excerpt.text.len() - cut + unit.shown.len_utf8();
            let raw_length = at - from + unit.raw as u64;
            if text_length > rules.kept_bytes || raw_length > rules.kept_bytes as u64 {
                break;
            }
            excerpt.invalid += unit.invalid as u64;
        }
        excerpt.text.push(unit.shown);
        at += unit.raw as u64;
    }
    (excerpt.cut, excerpt.from) = begin.unwrap_or((excerpt.text.len(), at));
    excerpt.to = at;
    excerpt
}

/// Decodes the beginning of a stream: at most so many characters.
pub(super) fn decode_first(stretch: Stretch<'_>, characters: usize, nul: Nul) -> Excerpt {
    let bytes = untorn(stretch);
    let from = stretch.end() - bytes.len() as u64;
    let mut excerpt = Excerpt { from, to: from, ..Excerpt::default() };
    for unit in units(bytes, nul).take(characters) {
        excerpt.text.push(unit.shown);
        excerpt.to += unit.raw as u64;
        excerpt.invalid += unit.invalid as u64;
    }
    excerpt
}

/// How many characters bytes are shown as.
pub(super) fn count_characters(bytes: &[u8]) -> u64 {
    units(bytes, Nul::Verbatim).count() as u64
}

/// How many bytes can be decoded once and for all: all but a character at the end whose rest is still to come.
pub(super) fn settled_length(bytes: &[u8], rest: Rest) -> usize {
    let whole = bytes.len();
    if rest == Rest::None {
        return whole;
    }
    let is_begin = |byte: &u8| *byte & 0b1100_0000 != 0b1000_0000;
    let last = bytes.iter().rev().take(MAX_TORN_BYTES).position(is_begin);
    let Some(begin) = last.and_then(|position| whole.checked_sub(position + 1)) else {
        return whole;
    };
    match std::str::from_utf8(&bytes[begin..]) {
        Err(error) if error.error_len().is_none() => begin,
        Ok(_) | Err(_) => whole,
    }
}

/// Whether more of a stream can come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rest {
    /// It can.
    MayCome,
    /// This was all.
    None,
}

/// The bytes less those at the start that belong to a character whose start is not there.
fn untorn<'a>(stretch: Stretch<'a>) -> &'a [u8] {
    let torn = if stretch.offset == 0 { 0 } else { torn_bytes(stretch.data) };
    &stretch.data[torn..]
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
#[path = "tests/decode.rs"]
mod tests;
