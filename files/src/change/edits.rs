//! `edit`: places of texts, in one file or several; everything is worked out before anything is written.

use std::path::Path;

use rustix::io::Errno;

use super::{
    ATTEMPTS, Apply, Context, EditFault, Edited, Expected, FileEdits, FileFault, Outcome,
    is_contended, unstable,
};
use crate::cancel::Cancel;
use crate::diff::changes;
use crate::edit::{Resolved, Unresolved, check, resolve};
use crate::fault::{Fault, FaultKind};
use crate::fingerprint::Fingerprint;
use crate::load::{Beyond, MOST_BYTES, load};
use crate::lock::lock;
use crate::place::{Links, Place};
use crate::read::missing;
use crate::replace::{Planned, Replaced, replace};
use crate::text::{Binary, Encoding, probe};

/// Edits files, all of them or none. Each is resolved on the content that it has now, and once more where somebody else changed
/// it in between. Memory: all files together at most 256 MiB, and up to three times that.
///
/// # Errors
/// Every file that cannot be edited, with every edit that cannot be applied; nothing is changed then.
pub fn edit(
    files: &[FileEdits],
    apply: Apply,
    context: Context<'_>,
) -> Result<Vec<Edited>, Vec<FileFault>> {
    let mut last = Vec::new();
    for _ in 0..ATTEMPTS {
        match attempt(files, apply, context) {
            Ok(edited) => return Ok(edited),
            Err(faults) => {
                let contended = |fault: &FileFault| matches!(&fault.fault, EditFault::File(fault) if is_contended(fault));
                if !faults.iter().all(contended) {
                    return Err(faults);
                }
                last = faults;
            }
        }
    }
    for fault in &mut last {
        if let EditFault::File(file) = &fault.fault {
            fault.fault = EditFault::File(unstable(file.clone()));
        }
    }
    Err(last)
}

/// One file with its new text.
struct Work {
    place: Place,
    status: rustix::fs::Stat,
    resolved: Resolved,
    edited: Edited,
}

fn attempt(
    files: &[FileEdits],
    apply: Apply,
    context: Context<'_>,
) -> Result<Vec<Edited>, Vec<FileFault>> {
    let places = places(files, context.links)?;
    let pairs = files.iter().map(|file| file.path.as_path()).zip(&places);
    let locks = lock(pairs, context.lock_wait, context.cancel).map_err(|fault| {
        let file = files.iter().position(|file| file.path == fault.path).unwrap_or(0);
        vec![FileFault { file, fault: fault.into() }]
    })?;
    let mut room = MOST_BYTES;
    let worked = places
        .into_iter()
        .zip(files)
        .map(|(place, file)| work(place, file, &mut room, context.cancel));
    let mut work = all(worked)?;
    if apply == Apply::Write {
        write(files, &mut work, context).map_err(|fault| vec![fault])?;
    }
    drop(locks);
    Ok(work.into_iter().map(|work| work.edited).collect())
}

/// All results, or all faults.
fn all<T>(results: impl Iterator<Item = Result<T, EditFault>>) -> Result<Vec<T>, Vec<FileFault>> {
    let (mut done, mut faults) = (Vec::new(), Vec::new());
    for (file, result) in results.enumerate() {
        match result {
            Ok(result) => done.push(result),
            Err(fault) => faults.push(FileFault { file, fault }),
        }
    }
    if faults.is_empty() { Ok(done) } else { Err(faults) }
}

fn places(files: &[FileEdits], links: Links) -> Result<Vec<Place>, Vec<FileFault>> {
    let mut seen = std::collections::HashSet::new();
    let find = |file: &FileEdits| -> Result<Place, EditFault> {
        let refusals = check(&file.edits);
        if !refusals.is_empty() {
            return Err(EditFault::Refused { path: file.path.clone(), refusals });
        }
        let place =
            Place::find(&file.path, links).map_err(|fault| or_missing(&file.path, fault))?;
        let status = place.status().ok().flatten();
        if !status.is_none_or(|status| seen.insert((status.st_dev, status.st_ino))) {
            return Err(Fault::new(&file.path, FaultKind::NamedTwice).into());
        }
        Ok(place)
    };
    all(files.iter().map(find))
}

/// A path that goes on through a file leads nowhere.
fn or_missing(path: &Path, fault: Fault) -> Fault {
    match fault.kind {
        FaultKind::Kernel { errno: Errno::NOENT | Errno::NOTDIR, .. } => missing(path),
        _ => fault,
    }
}

fn work(
    place: Place,
    file: &FileEdits,
    room: &mut u64,
    cancel: &Cancel,
) -> Result<Work, EditFault> {
    let path = file.path.as_path();
    let loaded = load(&place, path, *room, Beyond::Refuse, cancel)?;
    let Some((loaded, bytes)) = loaded.and_then(|mut loaded| {
        let bytes = loaded.bytes.take()?;
        Some((loaded, bytes))
    }) else {
        return Err(missing(path).into());
    };
    match file.expected {
        Expected::Any => {}
        Expected::Fingerprint(print) if print == loaded.fingerprint => {}
        Expected::Fingerprint(_) | Expected::Absent => {
            return Err(Fault::new(path, FaultKind::Unexpected).into());
        }
    }
    *room = room.saturating_sub(bytes.len() as u64);
    let old = text(path, bytes)?;
    let resolved = resolve(&old, &file.edits, file.order, cancel).map_err(|error| match error {
        Unresolved::Refused(refusals) => EditFault::Refused { path: path.to_owned(), refusals },
        Unresolved::Cancelled(cancelled) => Fault::new(path, cancelled.into()).into(),
    })?;
    let fingerprint = Fingerprint::of(resolved.text.as_bytes());
    let is_same = fingerprint == loaded.fingerprint;
    let edited = Edited {
        path: place.path.clone(),
        outcome: if is_same { Outcome::Unchanged } else { Outcome::Planned },
        before: loaded.fingerprint,
        fingerprint,
        replaced: resolved.replaced,
        changes: changes(&old, &resolved.text, &resolved.hunks),
        lost_attributes: Vec::new(),
    };
    Ok(Work { place, status: loaded.status, resolved, edited })
}

/// The bytes as text that can be edited.
fn text(path: &Path, bytes: Vec<u8>) -> Result<String, Fault> {
    let size = bytes.len() as u64;
    match probe(&bytes) {
        Ok(Encoding::Utf8 | Encoding::Utf8WithMark) => {}
        Ok(Encoding::Utf16Little | Encoding::Utf16Big) => {
            return Err(Fault::new(path, FaultKind::Utf16));
        }
        Err(kind) => {
            return Err(Fault::new(path, FaultKind::Binary(Binary { kind: kind.into(), size })));
        }
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + memchr::memchr_iter(b'\n', valid).count() as u64;
        Fault::new(path, FaultKind::NotUtf8 { line })
    })
}

/// Writes what differs.
fn write(files: &[FileEdits], work: &mut [Work], context: Context<'_>) -> Result<(), FileFault> {
    let changed: Vec<usize> =
        (0..work.len()).filter(|number| work[*number].edited.outcome == Outcome::Planned).collect();
    let planned: Vec<Planned<'_>> = changed
        .iter()
        .map(|number| Planned {
            path: &files[*number].path,
            place: &work[*number].place,
            old: Some(work[*number].status),
            content: work[*number].resolved.text.as_bytes(),
        })
        .collect();
    if planned.is_empty() {
        return Ok(());
    }
    let replaced: Vec<Replaced> = replace(&planned, context.journal, context.cancel)
        .map_err(|failed| FileFault { file: changed[failed.number], fault: failed.fault.into() })?;
    for (number, replaced) in changed.into_iter().zip(replaced) {
        work[number].edited.outcome = Outcome::of(&replaced);
        work[number].edited.lost_attributes = replaced.lost;
    }
    Ok(())
}
