//! Where an old text stands. The search sees LF for every line end; places are translated back to the text as it is.

use std::borrow::Cow;

use memchr::memmem::{self, Finder};

use super::refusal::{Counted, Places, Reason};
use super::{Rule, hint, with_lf};
use crate::cancel::{Cancel, Cancelled};

/// Lines that an ambiguous text's refusal names.
const LISTED: usize = 10;
/// Places that are counted of an ambiguous text.
const COUNTED: usize = 1000;
/// Bytes that counting may compare: long texts that overlap themselves would take for ever.
const COMPARED: usize = 64 << 20;
/// Places between two looks at the flag.
const STRIDE: usize = 1024;

/// A text, and the same with LF alone.
pub(super) struct Haystack<'a> {
    original: &'a str,
    text: Cow<'a, str>,
}

/// A place of an old text: bytes of the text with LF alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) edit: usize,
}

impl<'a> Haystack<'a> {
    pub(super) fn new(original: &'a str) -> Self {
        Haystack { original, text: with_lf(original) }
    }

    pub(super) fn original(&self) -> &'a str {
        self.original
    }

    pub(super) fn has_crlf(&self) -> bool {
        matches!(self.text, Cow::Owned(_))
    }

    /// The line of a byte, from 1.
    pub(super) fn line(&self, place: usize) -> u64 {
        1 + memchr::memchr_iter(b'\n', &self.text.as_bytes()[..place]).count() as u64
    }

    /// Translates bytes that come in ascending order.
    pub(super) fn to_original(&self) -> ToOriginal<'a> {
        let bytes: &'a [u8] = if self.has_crlf() { self.original.as_bytes() } else { b"" };
        ToOriginal { bytes, passed: 0, next: memmem::find(bytes, b"\r\n") }
    }

    /// All places that one edit replaces. `room` bounds their number.
    pub(super) fn places(
        &self,
        edit: usize,
        old: &str,
        rule: Rule,
        room: usize,
        cancel: &Cancel,
    ) -> Result<Result<Vec<Place>, Reason>, Cancelled> {
        let finder = Finder::new(old);
        let bytes = self.text.as_bytes();
        let at = |start| Place { start, end: start + old.len(), edit };
        let Some(first) = finder.find(bytes) else {
            return Ok(Err(Reason::NotFound { hint: hint::hint(&self.text, old, cancel)? }));
        };
        match rule {
            Rule::Once => match self.next(&finder, old, first) {
                Some(_) => Ok(Err(Reason::Ambiguous { places: self.counted(&finder, old, first) })),
                None => Ok(Ok(vec![at(first)])),
            },
            Rule::All => {
                let mut places = Vec::new();
                for start in finder.find_iter(bytes) {
                    if places.len() % STRIDE == 0 {
                        cancel.check()?;
                    }
                    if places.len() == room {
                        return Ok(Err(Reason::TooMany));
                    }
                    places.push(at(start));
                }
                Ok(Ok(places))
            }
        }
    }

    /// The next place after one, which it may overlap.
    fn next(&self, finder: &Finder<'_>, old: &str, place: usize) -> Option<usize> {
        let from = place + old.chars().next().map_or(1, char::len_utf8);
        finder.find(&self.text.as_bytes()[from..]).map(|found| from + found)
    }

    fn counted(&self, finder: &Finder<'_>, old: &str, first: usize) -> Places {
        let most = (COMPARED / old.len()).clamp(2, COUNTED);
        let mut places = Places { lines: Vec::new(), count: 0, counted: Counted::All };
        let (mut line, mut looked) = (1, 0);
        let mut place = Some(first);
        while let Some(start) = place {
            if places.count == most {
                places.counted = Counted::AtLeast;
                break;
            }
            places.count += 1;
            if places.lines.len() < LISTED {
                line += memchr::memchr_iter(b'\n', &self.text.as_bytes()[looked..start]).count();
                looked = start;
                places.lines.push(line as u64);
            }
            place = self.next(finder, old, start);
        }
        places
    }
}

/// From the text with LF alone to the text as it is, for ascending places: a place before a line end is before its CR, one
/// behind it is behind its LF.
pub(super) struct ToOriginal<'a> {
    bytes: &'a [u8],
    /// CRs before the place.
    passed: usize,
    /// The next CRLF, in the text as it is.
    next: Option<usize>,
}

impl ToOriginal<'_> {
    pub(super) fn place(&mut self, place: usize) -> usize {
        while let Some(next) = self.next.filter(|next| next - self.passed < place) {
            self.passed += 1;
            let from = next + 2;
            self.next = memmem::find(&self.bytes[from..], b"\r\n").map(|found| from + found);
        }
        place + self.passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_translated_around_line_ends() {
        let haystack = Haystack::new("a\r\nb\n\r\nc\r");
        assert_eq!(haystack.text, "a\nb\n\nc\r");
        let mut to = haystack.to_original();
        let places: Vec<usize> = (0..=7).map(|place| to.place(place)).collect();
        assert_eq!(places, [0, 1, 3, 4, 5, 7, 8, 9]);
    }
}
