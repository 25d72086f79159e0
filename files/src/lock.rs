//! One writer at a time: locks on folders, and on files that have more names than one. They exclude the writers of this program,
//! in any process, and leave nothing behind; what others do is found out by looking before and after.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{self, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::cancel::Cancel;
use crate::fault::{Fault, FaultKind, On as _};
use crate::place::{Place, listed};

/// How long a held lock is left alone before it is tried again: flock(2) that waits cannot be cancelled.
const PAUSE: Duration = Duration::from_millis(2);

/// Locks that are held; they end with the value, or with the process.
pub(crate) struct Locks(Vec<OwnedFd>);

/// Whose lock: folders come before files, and each kind in the order of its inodes, so that two writers never wait for each
/// other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Folder,
    File,
}

/// Locks all folders of the places, and files with several names. Folders that may not be listed, and file systems without
/// locks, go without.
pub(crate) fn lock<'a>(
    places: impl Iterator<Item = (&'a Path, &'a Place)>,
    wait: Duration,
    cancel: &Cancel,
) -> Result<Locks, Fault> {
    let mut wanted = BTreeMap::new();
    for (path, place) in places {
        let open = [(Class::Folder, listed(&place.folder).ok()), (Class::File, linked(place))];
        for (class, file) in open {
            let Some(file) = file else {
                continue;
            };
            if let Ok(status) = fs::fstat(&file) {
                wanted.entry((class, status.st_dev, status.st_ino)).or_insert((path, file));
            }
        }
    }
    let deadline = Instant::now() + wait;
    let mut locks = Locks(Vec::new());
    for (path, file) in wanted.into_values() {
        if hold(&file, path, deadline, cancel)? {
            locks.0.push(file);
        }
    }
    Ok(locks)
}

/// The file itself, if it can be changed by another name of another folder.
fn linked(place: &Place) -> Option<OwnedFd> {
    place.status().ok()?.filter(|status| status.st_nlink > 1)?;
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    fs::openat(&place.folder, &place.name, flags, Mode::empty()).ok()
}

/// Whether the lock is held now; otherwise there are none here.
fn hold(file: &OwnedFd, path: &Path, deadline: Instant, cancel: &Cancel) -> Result<bool, Fault> {
    loop {
        cancel.check().on(path)?;
        match fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(true),
            Err(Errno::INTR) => {}
            Err(Errno::WOULDBLOCK) if Instant::now() >= deadline => {
                return Err(Fault::new(path, FaultKind::Busy));
            }
            Err(Errno::WOULDBLOCK) => std::thread::sleep(PAUSE),
            Err(_) => return Ok(false),
        }
    }
}
