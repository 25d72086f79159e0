//! Exact edits of one text, as a pure function: from a text and what is to be replaced to the new text, or to every reason why
//! not.
//!
//! ```text
//!  text ──▶ find: places of each old text ──▶ checks: once, no overlap ──▶ weave: new text, line ends kept ──▶ Resolved
//!              └─ nowhere ──▶ hint: what looks alike
//! ```
//!
//! LF and CRLF are the same to the search; nothing else is. What an edit does not touch stays byte for byte, and a replacement
//! is taken as it stands, but for its line ends: they follow those that they replace or stand beside.

mod find;
mod hint;
mod hunk;
mod refusal;
mod weave;

use serde::{Deserialize, Serialize};
use std::borrow::Cow;

pub use hint::{Difference, Hint};
pub(crate) use hunk::{Hunk, difference};
pub use refusal::{Counted, Places, Reason, Refusal};

use crate::cancel::{Cancel, Cancelled};
use find::{Haystack, Place};

/// Places that one call may replace; it bounds memory.
pub const MOST_PLACES: usize = 2_000_000;

/// The mark that a UTF-8 text may begin with.
pub(crate) const MARK: char = '\u{feff}';

/// Replace one text by another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// What stands there.
    pub old: String,
    /// What shall stand there, literally.
    pub new: String,
    /// How often.
    pub rule: Rule,
}

/// How often an old text may occur.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rule {
    /// Exactly once, where places that overlap count separately.
    Once,
    /// At least once; all are replaced, from the start, without overlap.
    All,
}

/// What an edit is resolved against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// All against the original: no overlap, no nesting, no old text twice.
    Original,
    /// Each against the result of the one before.
    Sequence,
}

/// The new text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The whole text, with the byte-order mark that the original had.
    pub text: String,
    /// Places that were replaced.
    pub replaced: usize,
    pub(crate) hunks: Vec<Hunk>,
}

/// No new text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    /// All that is wrong, in the order of the edits.
    #[error("{}", refusal::listed(.0))]
    Refused(Vec<Refusal>),
    /// The caller's flag was raised.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// What is wrong with the edits whatever the text is.
#[must_use]
pub fn check(edits: &[Edit]) -> Vec<Refusal> {
    let of = |(index, edit): (usize, &Edit)| {
        let reason = if edit.old.is_empty() {
            Reason::Empty
        } else if with_lf(&edit.old) == with_lf(&edit.new) {
            Reason::Identical
        } else {
            return None;
        };
        Some(Refusal { edit: index, reason })
    };
    edits.iter().enumerate().filter_map(of).collect()
}

/// Resolves all edits of one text. Memory: the text twice, a third time where it has CRLF.
///
/// # Errors
/// Every edit that cannot be applied, or cancelled.
pub fn resolve(
    original: &str,
    edits: &[Edit],
    order: Order,
    cancel: &Cancel,
) -> Result<Resolved, Unresolved> {
    let refusals = check(edits);
    if !refusals.is_empty() {
        return Err(Unresolved::Refused(refusals));
    }
    match order {
        Order::Original => pass(original, edits, 0, cancel),
        Order::Sequence => sequence(original, edits, cancel),
    }
}

fn sequence(original: &str, edits: &[Edit], cancel: &Cancel) -> Result<Resolved, Unresolved> {
    let mut text = Cow::Borrowed(original);
    let mut hunks = Vec::new();
    let mut replaced = 0;
    let mut refusals = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        match pass(&text, std::slice::from_ref(edit), index, cancel) {
            Ok(resolved) => {
                hunks = hunk::composed(&hunks, &resolved.hunks);
                replaced += resolved.replaced;
                text = Cow::Owned(resolved.text);
            }
            Err(Unresolved::Refused(of_this)) => refusals.extend(of_this),
            Err(cancelled) => return Err(cancelled),
        }
    }
    if refusals.is_empty() {
        Ok(Resolved { text: text.into_owned(), replaced, hunks })
    } else {
        Err(Unresolved::Refused(refusals))
    }
}

/// All edits against one text. `first` is the number of the first one.
fn pass(text: &str, edits: &[Edit], first: usize, cancel: &Cancel) -> Result<Resolved, Unresolved> {
    let body = text.strip_prefix(MARK).unwrap_or(text);
    let haystack = Haystack::new(body);
    let mut refusals = repeated(edits);
    let mut places = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        cancel.check()?;
        if refusals.iter().any(|refusal| refusal.edit == index) {
            continue;
        }
        let room = MOST_PLACES.saturating_sub(places.len());
        match haystack.places(index, &with_lf(&edit.old), edit.rule, room, cancel)? {
            Ok(found) => places.extend(found),
            Err(reason) => refusals.push(Refusal { edit: index, reason }),
        }
    }
    places.sort_unstable_by_key(|place: &Place| (place.start, place.edit));
    refusals.extend(overlaps(&places, &haystack));
    if !refusals.is_empty() {
        refusals.sort_by_key(|refusal| refusal.edit);
        for refusal in &mut refusals {
            refusal.edit += first;
        }
        return Err(Unresolved::Refused(refusals));
    }
    let replaced = places.len();
    let (text, hunks) = weave::weave(text, &haystack, edits, &places, cancel)?;
    Ok(Resolved { text, replaced, hunks })
}

/// Edits whose old text an earlier one has already.
fn repeated(edits: &[Edit]) -> Vec<Refusal> {
    let mut seen = std::collections::HashMap::new();
    let mut refusals = Vec::new();
    for (index, edit) in edits.iter().enumerate() {
        let first = *seen.entry(with_lf(&edit.old)).or_insert(index);
        if first != index {
            refusals.push(Refusal { edit: index, reason: Reason::Repeated { first } });
        }
    }
    refusals
}

/// Edits that reach into another's place; each pair of edits is told once. Places are sorted.
fn overlaps(places: &[Place], haystack: &Haystack<'_>) -> Vec<Refusal> {
    let mut refusals: Vec<Refusal> = Vec::new();
    let mut furthest: Option<&Place> = None;
    let mut told = std::collections::HashSet::new();
    for place in places {
        if let Some(other) = furthest.filter(|other| other.end > place.start) {
            let (edit, other) = (place.edit.max(other.edit), place.edit.min(other.edit));
            let is_new = edit != other && told.insert((edit, other));
            if is_new {
                let line = haystack.line(place.start);
                refusals.push(Refusal { edit, reason: Reason::Overlap { other, line } });
            }
        }
        if furthest.is_none_or(|other| other.end < place.end) {
            furthest = Some(place);
        }
    }
    refusals
}

/// A text with LF for each CRLF.
fn with_lf(text: &str) -> Cow<'_, str> {
    if memchr::memmem::find(text.as_bytes(), b"\r\n").is_some() {
        Cow::Owned(text.replace("\r\n", "\n"))
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests;
