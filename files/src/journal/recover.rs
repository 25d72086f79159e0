//! What dead writers left, put in order: each file whole, old or new, and nothing beside it.

use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{self, AtFlags, Dir, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::content;
use super::entry::{self, Found, FoundFile, Method};
use super::record::{self, RECORD, Saved, saved_name};
use super::undo::{Undone, Where, clean_up, undo};
use crate::fault::{Fault, FaultKind, Operation};
use crate::place::{Step, enter, listed};

/// Names of a folder that are looked through for one that was renamed.
const LOOKED_AT: usize = 10_000;

/// Bytes that a record has at most: some thousand files, with their paths.
const LARGEST_RECORD: u64 = 16 << 20;

/// What a recovery found.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Recovery {
    /// Files of dead writers, by record.
    pub files: Vec<Recovered>,
    /// Records whose writers live; they were left alone.
    pub live: usize,
}

/// One file of a dead writer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovered {
    /// Its path when it was written, without links.
    #[serde(serialize_with = "crate::shown::path")]
    pub path: PathBuf,
    /// What it is now.
    pub state: State,
}

/// What a file is after a recovery. Nothing is left beside it, unless it is [`State::Unfinished`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum State {
    /// As it was before the write.
    Old,
    /// As it was to become.
    New,
    /// Somebody changed it since its writer died, so that it was left as it is. Where it had been written in place, its old
    /// content is kept in the journal's folder.
    Foreign {
        /// That copy; it is nobody's to take away but the caller's.
        kept: Option<PathBuf>,
    },
    /// Its folder was not found where it was nor under another name beside that, or the kernel refused. The record is kept, and
    /// the next recovery tries again. The path is the record's where that is what cannot be read.
    Unfinished {
        /// The kernel's answer.
        #[serde(with = "crate::shown::errno")]
        errno: Errno,
    },
}

/// Puts in order what dead writers left by the records of a journal's folder. Writers that live are told by a lock on their
/// record. A second recovery at the same time does no harm.
///
/// # Errors
/// The journal's folder cannot be listed. What is wrong with one file is in its state.
pub fn recover(journal: &Path) -> Result<Recovery, Fault> {
    let failed =
        |errno| Fault::new(journal, FaultKind::Journal { operation: Operation::List, errno });
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = fs::open(journal, flags, Mode::empty()).map_err(failed)?;
    let mut recovery = Recovery::default();
    for id in ids(&folder).map_err(failed)? {
        // What cannot be read keeps no other record from its turn, and is kept itself.
        if let Err(errno) = one(journal, &folder, &id, &mut recovery) {
            let path = journal.join(record::file_name(&id));
            recovery.files.push(Recovered { path, state: State::Unfinished { errno } });
        }
    }
    Ok(recovery)
}

fn ids(folder: &OwnedFd) -> Result<Vec<String>, Errno> {
    let mut ids = Vec::new();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy();
        if let Some(id) = name.strip_suffix(RECORD) {
            ids.push(id.to_owned());
        }
    }
    ids.sort_unstable();
    Ok(ids)
}

fn one(journal: &Path, folder: &OwnedFd, id: &str, recovery: &mut Recovery) -> Result<(), Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match fs::openat(folder, record::file_name(id), flags, Mode::empty()) {
        Ok(file) => file,
        // Its writer ended meanwhile.
        Err(Errno::NOENT) => return Ok(()),
        Err(errno) => return Err(errno),
    };
    match fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => {
            recovery.live += 1;
            return Ok(());
        }
        Err(errno) => return Err(errno),
    }
    let status = fs::fstat(&file)?;
    if status.st_nlink == 0 {
        return Ok(());
    }
    // What is larger is no record of ours, and is not read.
    let is_possible = u64::try_from(status.st_size).is_ok_and(|size| size <= LARGEST_RECORD);
    let text = if is_possible { content::all(&file)? } else { Vec::new() };
    let Some(found) = entry::found(&text) else {
        return record::remove(folder, id, 0);
    };
    let states = put_in_order(journal, folder, id, &found)?;
    let is_finished = states.iter().all(|state| !matches!(state.state, State::Unfinished { .. }));
    recovery.files.extend(states);
    if is_finished { record::remove(folder, id, found.files.len()) } else { Ok(()) }
}

/// The files of one record, in its order. They are put back from the last to the first, as they were changed.
fn put_in_order(
    journal: &Path,
    folder: &OwnedFd,
    id: &str,
    found: &Found,
) -> Result<Vec<Recovered>, Errno> {
    let mut states = Vec::new();
    for (number, file) in found.files.iter().enumerate().rev() {
        let state = match find(&file.entry.steps) {
            Ok(base) => {
                let at = Where { journal: folder, id, number, base: &base };
                state(journal, found, file, at)
            }
            Err(errno) => State::Unfinished { errno },
        };
        states.push(Recovered { path: file.entry.path(), state });
    }
    states.reverse();
    Ok(states)
}

fn state(journal: &Path, found: &Found, file: &FoundFile, at: Where<'_>) -> State {
    // Other writers wait while the names are exchanged; one that holds the folder for long is not waited for.
    let held = listed(at.base);
    if let Ok(held) = &held
        && fs::flock(held, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK)
    {
        return State::Unfinished { errno: Errno::WOULDBLOCK };
    }
    let done =
        if found.is_committed { clean_up(file, at).map(|()| Undone::New) } else { undo(file, at) };
    match done {
        Ok(Undone::Old) => State::Old,
        Ok(Undone::New) => State::New,
        Ok(Undone::Foreign) => kept(journal, file, at),
        Err(errno) => State::Unfinished { errno },
    }
}

/// Gives a saved content a name that no recovery takes away.
fn kept(journal: &Path, file: &FoundFile, at: Where<'_>) -> State {
    if file.entry.method != Method::InPlace || !file.is_saved {
        return State::Foreign { kept: None };
    }
    let name = format!("{}-{}.kept", at.id, at.number);
    match fs::renameat(at.journal, saved_name(at.id, at.number, Saved::Old), at.journal, &name) {
        Ok(()) => State::Foreign { kept: Some(journal.join(name)) },
        Err(errno) => State::Unfinished { errno },
    }
}

/// The folder at the end of a way. Where a folder of the way has another inode or none, it is looked for by its inode among its
/// neighbours: it may have been renamed.
fn find(steps: &[Step]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder = fs::open("/", flags, Mode::empty())?;
    for step in steps {
        folder = match enter(&folder, &step.name) {
            Ok(next) if fs::fstat(&next)?.st_ino == step.inode => next,
            Ok(_) | Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => {
                let name = renamed(&folder, step.inode)?.ok_or(Errno::NOENT)?;
                enter(&folder, &name)?
            }
            Err(errno) => return Err(errno),
        };
    }
    Ok(folder)
}

fn renamed(folder: &OwnedFd, inode: u64) -> Result<Option<OsString>, Errno> {
    for entry in Dir::read_from(listed(folder)?)?.take(LOOKED_AT) {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        let status = fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
        if name != ".." && name != "." && status.is_ok_and(|status| status.st_ino == inode) {
            return Ok(Some(name.to_owned()));
        }
    }
    Ok(None)
}
