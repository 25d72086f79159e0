//! `write`: one whole content.

use std::borrow::Cow;
use std::path::Path;

use super::{ATTEMPTS, Apply, Context, Expected, Outcome, Written, is_contended, unstable};
use crate::diff::{Changes, changes};
use crate::edit::{MARK, difference};
use crate::fault::{Fault, FaultKind};
use crate::fingerprint::Fingerprint;
use crate::load::{Beyond, Loaded, MOST_BYTES, load};
use crate::lock::lock;
use crate::place::Place;
use crate::replace::{Planned, replace};

/// Writes a whole file. Folders on the way are made, links are written through, a byte-order mark of the old content is kept.
/// A content that is there already is not written again.
///
/// # Errors
/// It is not what was expected, no regular file, or the kernel refuses; nothing is changed then.
pub fn write(
    path: &Path,
    content: &str,
    expected: Expected,
    apply: Apply,
    context: Context<'_>,
) -> Result<Written, Fault> {
    let mut last = None;
    for _ in 0..ATTEMPTS {
        match attempt(path, content, expected, apply, context) {
            Err(Stopped::Between(fault)) => last = Some(fault),
            Err(Stopped::Failed(fault)) => return Err(fault),
            Ok(written) => return Ok(written),
        }
    }
    let fault = last.unwrap_or_else(|| Fault::new(path, FaultKind::Unstable));
    Err(unstable(fault))
}

enum Stopped {
    Failed(Fault),
    /// The file changed between reading and writing.
    Between(Fault),
}

impl From<Fault> for Stopped {
    fn from(fault: Fault) -> Self {
        Stopped::Failed(fault)
    }
}

fn attempt(
    path: &Path,
    content: &str,
    expected: Expected,
    apply: Apply,
    context: Context<'_>,
) -> Result<Written, Stopped> {
    let place = Place::find(path, context.links)?;
    let locks = lock([(path, &place)].into_iter(), context.lock_wait, context.cancel)?;
    let old = load(&place, path, MOST_BYTES, Beyond::Hash, context.cancel)?;
    check(path, expected, old.as_ref())?;
    let content = with_mark(content, old.as_ref());
    let fingerprint = Fingerprint::of(content.as_bytes());
    let mut written = Written {
        path: place.path.clone(),
        outcome: Outcome::Unchanged,
        before: old.as_ref().map(|old| old.fingerprint),
        fingerprint,
        changes: compared(old.as_ref(), &content),
        lost_attributes: Vec::new(),
    };
    if old.as_ref().is_some_and(|old| old.fingerprint == fingerprint) {
        return Ok(written);
    }
    if apply == Apply::DryRun {
        written.outcome = Outcome::Planned;
        return Ok(written);
    }
    let old = old.map(|old| old.status);
    let plan = Planned { path, place: &place, old, content: content.as_bytes() };
    let replaced = replace(&[plan], context.journal, context.cancel).map_err(|failed| {
        if is_contended(&failed.fault) {
            Stopped::Between(failed.fault)
        } else {
            Stopped::Failed(failed.fault)
        }
    })?;
    drop(locks);
    for replaced in replaced {
        written.outcome = Outcome::of(&replaced);
        written.lost_attributes = replaced.lost;
    }
    Ok(written)
}

fn check(path: &Path, expected: Expected, old: Option<&Loaded>) -> Result<(), Fault> {
    match (expected, old) {
        (Expected::Any, _) | (Expected::Absent, None) => Ok(()),
        (Expected::Absent, Some(_)) => Err(Fault::new(path, FaultKind::Exists)),
        (Expected::Fingerprint(print), Some(old)) if old.fingerprint == print => Ok(()),
        (Expected::Fingerprint(_), _) => Err(Fault::new(path, FaultKind::Changed)),
    }
}

/// The content with the mark of the old one, once.
fn with_mark<'a>(content: &'a str, old: Option<&Loaded>) -> Cow<'a, str> {
    let bytes = old.and_then(|old| old.bytes.as_deref()).unwrap_or_default();
    let is_marked = bytes.starts_with("\u{feff}".as_bytes());
    if is_marked && !content.starts_with(MARK) {
        Cow::Owned(format!("{MARK}{content}"))
    } else {
        Cow::Borrowed(content)
    }
}

fn compared(old: Option<&Loaded>, content: &str) -> Option<Changes> {
    let old = match old {
        None => "",
        Some(old) => std::str::from_utf8(old.bytes.as_deref()?).ok()?,
    };
    Some(changes(old, content, &difference(old, content)))
}
