//! The new text: what stays, copied as it is, and the replacements with the line ends that belong there.

use std::borrow::Cow;
use std::ops::Range;

use super::find::{Haystack, Place};
use super::hunk::{self, Hunk, common_prefix, common_suffix};
use super::{Edit, MARK, with_lf};
use crate::cancel::{Cancel, Cancelled};

/// Places between two looks at the flag.
const STRIDE: usize = 1024;

/// What an edit changes of its old text: what both have in common at the ends stays as it stands in the file, so that its line
/// ends do.
struct Change<'a> {
    prefix: usize,
    suffix: usize,
    middle: Cow<'a, str>,
}

impl<'a> Change<'a> {
    fn of(edit: &'a Edit) -> Self {
        let (old, new) = (with_lf(&edit.old), with_lf(&edit.new));
        let prefix = common_prefix(&old, &new);
        let suffix = common_suffix(&old[prefix..], &new[prefix..]);
        let middle = prefix..new.len() - suffix;
        let middle = match new {
            Cow::Borrowed(new) => Cow::Borrowed(&new[middle]),
            Cow::Owned(new) => Cow::Owned(new[middle].to_owned()),
        };
        Change { prefix, suffix, middle }
    }
}

/// The new text of `text`, whose body is the haystack, and how the two differ. Places are sorted and apart.
pub(super) fn weave(
    text: &str,
    haystack: &Haystack<'_>,
    edits: &[Edit],
    places: &[Place],
    cancel: &Cancel,
) -> Result<(String, Vec<Hunk>), Cancelled> {
    let body = haystack.original();
    let mark = text.len() - body.len();
    let changes: Vec<Change<'_>> = edits.iter().map(Change::of).collect();
    let mut to_original = haystack.to_original();
    let mut ends = haystack.has_crlf().then(|| Neighbours::new(body));
    let mut woven = String::with_capacity(text.len());
    woven.push_str(&text[..mark]);
    let mut hunks = Vec::new();
    let mut copied = 0;
    for (index, place) in places.iter().enumerate() {
        if index % STRIDE == 0 {
            cancel.check()?;
        }
        let change = &changes[place.edit];
        let start = to_original.place(place.start + change.prefix);
        let end = to_original.place(place.end - change.suffix);
        woven.push_str(&body[copied..start]);
        let from = woven.len();
        match &mut ends {
            Some(ends) => ends.push(&mut woven, &change.middle, start..end),
            None => woven.push_str(&change.middle),
        }
        if from == mark {
            remove_second_mark(&mut woven, mark);
        }
        let hunk = Hunk { old: mark + start..mark + end, new: from..woven.len() };
        hunk::push(&mut hunks, hunk);
        copied = end;
    }
    woven.push_str(&body[copied..]);
    Ok((woven, hunks))
}

/// A replacement at the very beginning of a marked text may bring a mark of its own.
fn remove_second_mark(woven: &mut String, mark: usize) {
    if mark > 0 && woven[mark..].starts_with(MARK) {
        woven.drain(mark..mark + MARK.len_utf8());
    }
}

/// The line ends of a text that has CRLF, for places in ascending order.
struct Neighbours<'a> {
    body: &'a str,
    /// The next LF at or behind the last place, and whether there is one.
    next: Next,
}

enum Next {
    Unknown,
    At(usize),
    None,
}

impl<'a> Neighbours<'a> {
    fn new(body: &'a str) -> Self {
        Neighbours { body, next: Next::Unknown }
    }

    /// Adds a replacement for `range`: its n-th line end becomes that which is replaced n-th, further ones the last of these; if
    /// none is replaced, that of the line it stands in, or of the line before.
    fn push(&mut self, woven: &mut String, middle: &str, range: Range<usize>) {
        let mut pieces = middle.split('\n');
        woven.push_str(pieces.next().unwrap_or_default());
        let replaced = &self.body[range.clone()];
        let mut old_ends = memchr::memchr_iter(b'\n', replaced.as_bytes())
            .map(|place| end_at(self.body, range.start + place));
        let mut last = None;
        for piece in pieces {
            let end = old_ends.next().or(last);
            let end = match end {
                Some(end) => end,
                None => around(self.body, &mut self.next, &range),
            };
            last = Some(end);
            woven.push_str(end);
            woven.push_str(piece);
        }
    }
}

fn around(body: &str, next: &mut Next, range: &Range<usize>) -> &'static str {
    let known = match next {
        Next::At(place) => *place >= range.end,
        Next::None => true,
        Next::Unknown => false,
    };
    if !known {
        *next = memchr::memchr(b'\n', &body.as_bytes()[range.end..])
            .map_or(Next::None, |place| Next::At(range.end + place));
    }
    match next {
        Next::At(place) => end_at(body, *place),
        // The last line of the file has no end: the one before tells.
        _ => memchr::memrchr(b'\n', &body.as_bytes()[..range.start])
            .map_or("\n", |place| end_at(body, place)),
    }
}

/// The line end whose LF stands there.
fn end_at(body: &str, place: usize) -> &'static str {
    if body[..place].ends_with('\r') { "\r\n" } else { "\n" }
}
