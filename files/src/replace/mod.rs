//! Giving files new contents, one or several at once: all of them or none, whatever fails and whenever the process dies.
//!
//! ```text
//!  record ─▶ stage, file by file: a temporary beside the target, whole and on the disk (or both contents saved)
//!         ─▶ apply: names exchanged (or overwritten in place), each after a look whether the file is still the one that was read
//!         ─▶ commit ─▶ clean-up            any failure before the commit: undone from the record
//! ```
//!
//! The names are exchanged rather than one renamed over the other, so that what was moved aside can be looked at: if it is not
//! the file that was read, it is put back, and nothing of somebody else's is lost.

mod attributes;
mod set;
mod stage;

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{self, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::cancel::Cancel;
use crate::fault::{Fault, Operation};
use crate::journal::{Entry, Method};
use crate::place::Place;

/// One file that gets a new content.
pub(crate) struct Planned<'a> {
    /// The path that faults bear.
    pub(crate) path: &'a Path,
    pub(crate) place: &'a Place,
    /// The file as it was read; none is expected there otherwise.
    pub(crate) old: Option<Stat>,
    pub(crate) content: &'a [u8],
}

/// How a file got its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replaced {
    pub(crate) method: Method,
    /// Extended attributes that could not be kept.
    pub(crate) lost: Vec<String>,
}

/// A file of the set that failed; the others are as they were.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) number: usize,
    pub(crate) fault: Fault,
}

/// Gives all files their content. A file that a temporary cannot stand in for is written in place: one with several names, one
/// whose owner would be lost, one in a folder that takes no new file, one that is a mount point.
pub(crate) fn replace(
    planned: &[Planned<'_>],
    journal: &Path,
    cancel: &Cancel,
) -> Result<Vec<Replaced>, Failed> {
    let mut methods = Vec::new();
    for (number, plan) in planned.iter().enumerate() {
        methods.push(method(plan).map_err(|fault| Failed { number, fault })?);
    }
    loop {
        match set::attempt(planned, &methods, journal, cancel) {
            Ok(replaced) => return Ok(replaced),
            Err(set::Stopped::Failed(failed)) => return Err(failed),
            // Each turn makes one more of them so, and it ends when all are.
            Err(set::Stopped::OnlyInPlace(number)) => methods[number] = Method::InPlace,
        }
    }
}

/// How a file is best replaced. It must be writable itself, as for any other program, though a rename would not ask for that.
fn method(plan: &Planned<'_>) -> Result<Method, Fault> {
    let Some(old) = &plan.old else {
        return Ok(Method::Create);
    };
    let is_busy = match open_for_writing(plan.place) {
        Ok(_) => false,
        // A program that runs: its bytes cannot be changed, its name can.
        Err(Errno::TXTBSY) => true,
        Err(errno) => return Err(Fault::kernel(plan.path, Operation::Write, errno)),
    };
    let in_place = old.st_nlink > 1 || !attributes::can_own(old);
    Ok(if in_place && !is_busy { Method::InPlace } else { Method::Exchange })
}

fn open_for_writing(place: &Place) -> Result<OwnedFd, Errno> {
    let flags =
        OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    fs::openat(&place.folder, &place.name, flags, Mode::empty())
}

/// What the journal is told of a file.
fn entry(plan: &Planned<'_>, method: Method) -> Entry {
    Entry {
        method,
        inode: plan.old.as_ref().map_or(0, |status| status.st_ino),
        steps: plan.place.steps.clone(),
        missing: plan.place.missing.clone(),
        name: plan.place.name.clone(),
    }
}
