//! Putting a file back, and cleaning up after one that was replaced: what a writer does that failed, and what a recovery does
//! for one that died. Both act on names that only one record has, and on a target only while it is what the record made.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;

use rustix::fs::{self, AtFlags, Mode, OFlags, RenameFlags, Stat};
use rustix::io::Errno;

use super::content::{self, Stage, overwrite};
use super::entry::{FoundFile, Method, temporary};
use super::record::{Saved, saved_name};
use crate::load::Identity;
use crate::place::enter;

/// What was found of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Undone {
    /// It is as it was.
    Old,
    /// The new content stands.
    New,
    /// Others have changed it since; it was left alone.
    Foreign,
}

/// Where the files of a record are: the journal's folder, its id, and the folder in which the entry's way begins.
#[derive(Clone, Copy)]
pub(crate) struct Where<'a> {
    pub(crate) journal: &'a OwnedFd,
    pub(crate) id: &'a str,
    pub(crate) number: usize,
    pub(crate) base: &'a OwnedFd,
}

/// Puts one file back and takes away what was made beside it.
pub(crate) fn undo(file: &FoundFile, at: Where<'_>) -> Result<Undone, Errno> {
    let undone = match container(file.entry.missing.iter(), at.base)? {
        None => Undone::Old,
        Some(folder) => {
            let name = file.entry.name.as_os_str();
            match file.entry.method {
                Method::Create => undo_create(file, &folder, name, at)?,
                Method::Exchange => undo_exchange(file, &folder, name, at)?,
                Method::InPlace => undo_in_place(file, &folder, name, at)?,
            }
        }
    };
    remove_folders(file, at.base)?;
    Ok(undone)
}

/// After the commit: takes away what is left beside the file, which stays new.
pub(crate) fn clean_up(file: &FoundFile, at: Where<'_>) -> Result<(), Errno> {
    if let Some(folder) = container(file.entry.missing.iter(), at.base)? {
        for kind in ["new", "old"] {
            unlink(&folder, temporary(at.id, at.number, kind))?;
        }
    }
    Ok(())
}

/// The folder that holds the name; None while one on the way to it is missing.
pub(crate) fn container<'a>(
    missing: impl Iterator<Item = &'a std::ffi::OsString>,
    base: &OwnedFd,
) -> Result<Option<OwnedFd>, Errno> {
    let mut folder =
        base.try_clone().map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    for name in missing {
        folder = match enter(&folder, name) {
            Ok(folder) => folder,
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(None),
            Err(errno) => return Err(errno),
        };
    }
    Ok(Some(folder))
}

fn status(folder: &OwnedFd, name: &OsStr) -> Result<Option<Stat>, Errno> {
    match fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(status) => Ok(Some(status)),
        Err(Errno::NOENT) => Ok(None),
        Err(errno) => Err(errno),
    }
}

fn unlink(folder: &OwnedFd, name: impl AsRef<OsStr>) -> Result<(), Errno> {
    match fs::unlinkat(folder, name.as_ref(), AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        // Where nothing can be taken away nothing was made; the kernel looks at that before it looks for the name.
        Err(Errno::ROFS) if status(folder, name.as_ref())?.is_none() => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Whether this is the temporary that the record made, with the content that it wrote.
fn is_made(file: &FoundFile, status: Option<&Stat>) -> bool {
    status.is_some_and(|status| file.made == Some(Identity::of(status)))
}

fn undo_create(
    file: &FoundFile,
    folder: &OwnedFd,
    name: &OsStr,
    at: Where<'_>,
) -> Result<Undone, Errno> {
    unlink(folder, temporary(at.id, at.number, "new"))?;
    let target = status(folder, name)?;
    if is_made(file, target.as_ref()) {
        unlink(folder, name)?;
        return Ok(Undone::Old);
    }
    Ok(if target.is_some() { Undone::Foreign } else { Undone::Old })
}

fn undo_exchange(
    file: &FoundFile,
    folder: &OwnedFd,
    name: &OsStr,
    at: Where<'_>,
) -> Result<Undone, Errno> {
    let [new, old] = ["new", "old"].map(|kind| temporary(at.id, at.number, kind));
    let target = status(folder, name)?;
    let is_ours = is_made(file, target.as_ref());
    let beside = status(folder, OsStr::new(&new))?;
    let inode = target.as_ref().map(|status| status.st_ino);
    // What the exchange moved aside, be it the file that was known or one that took its place.
    let moved_aside =
        beside.is_some_and(|beside| file.made.is_some_and(|made| beside.st_ino != made.inode));
    let undone = if is_ours && moved_aside {
        fs::renameat_with(folder, &new, folder, name, RenameFlags::EXCHANGE)?;
        Undone::Old
    } else if is_ours && status(folder, OsStr::new(&old))?.is_some() {
        fs::renameat(folder, &old, folder, name)?;
        Undone::Old
    } else if is_ours {
        Undone::New
    } else if inode == Some(file.entry.inode) {
        Undone::Old
    } else {
        Undone::Foreign
    };
    unlink(folder, &new)?;
    unlink(folder, &old)?;
    Ok(undone)
}

fn undo_in_place(
    file: &FoundFile,
    folder: &OwnedFd,
    name: &OsStr,
    at: Where<'_>,
) -> Result<Undone, Errno> {
    if !file.is_saved {
        return Ok(Undone::Old);
    }
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let target = match fs::openat(folder, name, OFlags::RDWR | flags, Mode::empty()) {
        Ok(target) => target,
        Err(Errno::NOENT | Errno::LOOP | Errno::ISDIR | Errno::NXIO) => return Ok(Undone::Foreign),
        Err(errno) => return Err(errno),
    };
    let status = fs::fstat(&target)?;
    if status.st_ino != file.entry.inode {
        return Ok(Undone::Foreign);
    }
    let saved = |which| {
        let name = saved_name(at.id, at.number, which);
        content::all(&fs::openat(at.journal, name, OFlags::RDONLY | flags, Mode::empty())?)
    };
    let (old, new) = match (saved(Saved::Old), saved(Saved::New)) {
        (Ok(old), Ok(new)) => (old, new),
        // They are taken away only when the file is whole.
        (Err(Errno::NOENT), _) | (_, Err(Errno::NOENT)) => return Ok(Undone::New),
        (Err(errno), _) | (_, Err(errno)) => return Err(errno),
    };
    match content::stage(&content::all(&target)?, &old, &new) {
        Stage::Old => Ok(Undone::Old),
        Stage::Foreign => Ok(Undone::Foreign),
        Stage::New | Stage::Between => {
            overwrite(&target, &old)?;
            fs::fchmod(&target, Mode::from_raw_mode(status.st_mode))?;
            Ok(Undone::Old)
        }
    }
}

/// Takes away the folders that were made for the file, the innermost first, as far as nothing is in them.
fn remove_folders(file: &FoundFile, base: &OwnedFd) -> Result<(), Errno> {
    let missing = &file.entry.missing;
    for depth in (0..missing.len()).rev() {
        let Some(folder) = container(missing[..depth].iter(), base)? else {
            continue;
        };
        match fs::unlinkat(&folder, &missing[depth], AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::BUSY) => return Ok(()),
            Err(Errno::ROFS) if status(&folder, &missing[depth])?.is_none() => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}
