//! Names that are made and removed: mkdir(2), mknod(2), symlink(2), unlink(2), rmdir(2), and the file that bind(2) makes.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use brattice_policy::DeniedOperation;
use brattice_policy::enforce::granted::{AccessFs, Rights};
use brattice_policy::enforce::seccomp::trap::{Folder, Place};
use rustix::fs::{FileType, Mode, OFlags};

use super::Judge;
use super::address::Address;
use super::caller::{Caller, Look};
use super::permits;
use super::resolve::{self, Found, Last, LastLink};
use super::verdict::{Answer, Refusal, leave, path_in};

/// `AT_REMOVEDIR`.
const FOLDER: u32 = 0x200;

/// Whether a slash may follow a name that is made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slash {
    Allowed,
    Refused,
}

pub(super) fn make_folder(judge: &Judge, caller: Caller<'_>, place: Place) -> Answer {
    make(judge, caller, place, AccessFs::MakeDir, Slash::Allowed)
}

pub(super) fn make_link(judge: &Judge, caller: Caller<'_>, place: Place) -> Answer {
    make(judge, caller, place, AccessFs::MakeSym, Slash::Refused)
}

pub(super) fn make_node(judge: &Judge, caller: Caller<'_>, place: Place, mode: u32) -> Answer {
    let right = match FileType::from_raw_mode(mode) {
        FileType::Fifo => AccessFs::MakeFifo,
        FileType::Socket => AccessFs::MakeSock,
        FileType::RegularFile => AccessFs::MakeReg,
        // No type at all is a regular file (mknod(2)). Nodes of devices are root's to make, and it lost that.
        _ if mode & 0o170_000 == 0 => AccessFs::MakeReg,
        _ => return Answer::Continue,
    };
    make(judge, caller, place, right, Slash::Refused)
}

fn make(judge: &Judge, caller: Caller<'_>, place: Place, right: AccessFs, slash: Slash) -> Answer {
    let answer = resolve::place(caller, place, LastLink::Name).and_then(|found| {
        if found.has_slash && slash == Slash::Refused {
            return Ok(Answer::Continue);
        }
        judge.make(&found, right.into(), DeniedOperation::Create)
    });
    answer.unwrap_or_else(leave)
}

/// A Unix socket's address that is a path makes a file; every other address is the kernel's alone to judge.
pub(super) fn bind(judge: &Judge, caller: Caller<'_>) -> Answer {
    let answer = Address::read(caller).and_then(|address| match address.path() {
        None => Ok(Answer::Continue),
        Some(path) => {
            let place = Place { folder: Folder::Current, path: 1 };
            let base = caller.base(place, &path)?;
            let found = resolve::walk(caller, base, &path, LastLink::Name)?;
            if found.has_slash {
                return Ok(Answer::Continue);
            }
            judge.make(&found, AccessFs::MakeSock.into(), DeniedOperation::Create)
        }
    });
    answer.unwrap_or_else(leave)
}

pub(super) fn remove(judge: &Judge, caller: Caller<'_>, place: Place, flags: u32) -> Answer {
    if flags & !FOLDER != 0 {
        return Answer::Continue;
    }
    let is_folder = flags & FOLDER != 0;
    let answer = resolve::place(caller, place, LastLink::Name).and_then(|found| {
        let Some(file) = &found.file else { return Ok(Answer::Continue) };
        let fits = is_folder == (file.kind() == FileType::Directory);
        if found.last != Last::Name || !fits || (found.has_slash && !is_folder) {
            return Ok(Answer::Continue);
        }
        let right = if is_folder { AccessFs::RemoveDir } else { AccessFs::RemoveFile };
        let wanted = Rights::from(right);
        let missing = wanted & !judge.granted_in(&found.folder, wanted)?;
        if missing.is_empty() {
            return Ok(Answer::Continue);
        }
        let folder = rustix::fs::fstat(&found.folder).map_err(Look::Native)?;
        let is_mount = permits::mount(&file.fd) != permits::mount(&found.folder);
        if is_mount
            || !permits::can_remove(&found.folder, &folder, file)
            || (is_folder && !is_empty(&found))
        {
            return Ok(Answer::Continue);
        }
        let path = path_in(&found.folder, &found.name);
        Ok(Refusal::of_files(DeniedOperation::Remove, path, missing).into())
    });
    answer.unwrap_or_else(leave)
}

/// Whether a folder holds nothing; one that cannot be read is taken for empty.
pub(super) fn is_empty(found: &Found) -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let name = OsStr::from_bytes(&found.name);
    let Ok(folder) = rustix::fs::openat(&found.folder, name, flags, Mode::empty()) else {
        return true;
    };
    let Ok(entries) = rustix::fs::Dir::new(folder) else { return true };
    entries.flatten().all(|entry| matches!(entry.file_name().to_bytes(), b"." | b".."))
}
