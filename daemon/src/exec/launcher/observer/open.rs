//! Opening for writing, and cutting off: open(2), creat(2), truncate(2).

use brattice_policy::DeniedOperation;
use brattice_policy::enforce::granted::{AccessFs, Rights};
use brattice_policy::enforce::seccomp::trap::Place;
use brattice_policy::sys::file::{Permission, permits};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::Judge;
use super::caller::{Caller, Look};
use super::resolve::{self, File, Found, LastLink};
use super::verdict::{Answer, Refusal, leave, path_of};
use super::{host, permits as native};

/// The bit of `O_TMPFILE` that is not `O_DIRECTORY`'s.
const TEMPORARY: u32 = 0o20_000_000;

/// What an opening asks for, by its access mode.
#[derive(Clone, Copy)]
struct Wish {
    flags: OFlags,
    reads: bool,
    writes: bool,
    /// The access mode 3: permission to read and write is needed, and neither is had (open(2)).
    is_neither: bool,
}

impl Wish {
    fn new(flags: u32) -> Self {
        let (mode, flags) = (flags & 3, OFlags::from_bits_retain(flags));
        Wish {
            flags,
            reads: mode == 0 || mode == 2,
            writes: mode == 1 || mode == 2,
            is_neither: mode == 3,
        }
    }

    fn has(&self, flags: OFlags) -> bool {
        self.flags.contains(flags)
    }

    /// The rights on the opened file.
    fn rights(&self) -> Rights {
        let mut rights = Rights::empty();
        if self.reads {
            rights |= AccessFs::ReadFile;
        }
        if self.writes {
            rights |= AccessFs::WriteFile;
        }
        rights
    }
}

pub(super) fn open(judge: &Judge, caller: Caller<'_>, place: Place, flags: u32) -> Answer {
    let wish = Wish::new(flags);
    if wish.has(OFlags::PATH) {
        return Answer::Continue;
    }
    let is_temporary = flags & TEMPORARY != 0 && wish.has(OFlags::DIRECTORY);
    let is_new = wish.has(OFlags::CREATE | OFlags::EXCL);
    let last = match wish.has(OFlags::NOFOLLOW) || (is_new && !is_temporary) {
        true => LastLink::Keep,
        false => LastLink::Follow,
    };
    let answer = resolve::place(caller, place, last).and_then(|found| match &found.file {
        Some(folder) if is_temporary => make_unnamed(judge, &wish, folder),
        None if is_temporary => Ok(Answer::Continue),
        Some(_) if is_new => Ok(Answer::Continue),
        Some(file) => open_file(judge, &wish, &found, file),
        None => make_file(judge, &wish, &found),
    });
    answer.unwrap_or_else(leave)
}

/// An unnamed file in a folder (`O_TMPFILE`): Landlock judges it as writing to the folder.
fn make_unnamed(judge: &Judge, wish: &Wish, folder: &File) -> Result<Answer, Look> {
    if folder.kind() != FileType::Directory || !wish.writes {
        return Ok(Answer::Continue);
    }
    let wanted = wish.rights();
    let missing = wanted & !judge.granted_on(folder, None, wanted)?;
    if missing.is_empty()
        || !native::can_create(&folder.fd, &folder.stat)
        || resolve::is_procfs(&folder.fd)?
    {
        return Ok(Answer::Continue);
    }
    Ok(Refusal::of_files(DeniedOperation::Create, path_of(&folder.fd), missing).into())
}

fn open_file(judge: &Judge, wish: &Wish, found: &Found, file: &File) -> Result<Answer, Look> {
    let kind = file.kind();
    let truncates = wish.has(OFlags::TRUNC);
    let is_refused_anyway = match kind {
        FileType::Symlink | FileType::Directory | FileType::Socket => true,
        _ => wish.has(OFlags::DIRECTORY) || (wish.has(OFlags::CREATE) && found.has_slash),
    };
    // With the access mode 3 nothing is written.
    if is_refused_anyway || (wish.is_neither && !truncates) {
        return Ok(Answer::Continue);
    }
    // Without a reader there is nothing to open, and nobody can tell whether there is one.
    if kind == FileType::Fifo && wish.writes && !wish.reads && wish.has(OFlags::NONBLOCK) {
        return Ok(Answer::Continue);
    }
    let mut wanted = wish.rights();
    if truncates && kind == FileType::RegularFile {
        wanted |= AccessFs::Truncate;
    }
    if !wanted.intersects(AccessFs::WriteFile | AccessFs::Truncate) {
        return Ok(Answer::Continue);
    }
    let missing = wanted & !judge.granted_on(file, Some(found), wanted)?;
    if missing.is_empty() || !may_open(wish, found, file)? {
        return Ok(Answer::Continue);
    }
    Ok(Refusal::of_files(DeniedOperation::Write, path_of(&file.fd), missing).into())
}

/// Whether the kernel would open the file without the sandbox.
fn may_open(wish: &Wish, found: &Found, file: &File) -> Result<bool, Look> {
    let is_regular = file.kind() == FileType::RegularFile;
    let changes = wish.writes || wish.is_neither || wish.has(OFlags::TRUNC);
    let attributes = native::attributes(&file.fd);
    let only_appends = wish.has(OFlags::APPEND) && !wish.has(OFlags::TRUNC);
    if (is_regular && native::is_read_only(&file.fd))
        || (changes && !permits(&file.fd, Permission::Write))
        || ((wish.reads || wish.is_neither) && !permits(&file.fd, Permission::Read))
        || (changes && attributes.is_immutable)
        || (changes && attributes.is_append_only && !only_appends)
    {
        return Ok(false);
    }
    if wish.has(OFlags::CREATE) {
        let folder = rustix::fs::fstat(&found.folder).map_err(Look::Native)?;
        if host::protects_file(&folder, &file.stat) {
            return Ok(false);
        }
    }
    Ok(!(is_regular && wish.writes && is_running(file)))
}

/// Whether the file is being executed, which no permission tells: the kernel asks that before it asks Landlock, which
/// refuses this very opening else.
fn is_running(file: &File) -> bool {
    if file.stat.st_mode & 0o111 == 0 {
        return false;
    }
    let path = link_to(&file.fd);
    let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).err() == Some(Errno::TXTBSY)
}

fn link_to(file: &std::os::fd::OwnedFd) -> String {
    use std::os::fd::AsRawFd as _;
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// A file that is not there yet.
fn make_file(judge: &Judge, wish: &Wish, found: &Found) -> Result<Answer, Look> {
    if !wish.has(OFlags::CREATE) || wish.has(OFlags::DIRECTORY) || found.has_slash {
        return Ok(Answer::Continue);
    }
    let wanted = wish.rights() | AccessFs::MakeReg;
    judge.make(found, wanted, DeniedOperation::Create)
}

pub(super) fn truncate(judge: &Judge, caller: Caller<'_>, place: Place) -> Answer {
    let answer = resolve::place(caller, place, LastLink::Follow).and_then(|found| {
        let Some(file) = &found.file else { return Ok(Answer::Continue) };
        let wanted = Rights::from(AccessFs::Truncate);
        let missing = wanted & !judge.granted_on(file, Some(&found), wanted)?;
        let attributes = native::attributes(&file.fd);
        if file.kind() != FileType::RegularFile
            || missing.is_empty()
            || native::is_read_only(&file.fd)
            || !permits(&file.fd, Permission::Write)
            || attributes.is_immutable
            || attributes.is_append_only
            || is_running(file)
        {
            return Ok(Answer::Continue);
        }
        Ok(Refusal::of_files(DeniedOperation::Write, path_of(&file.fd), missing).into())
    });
    answer.unwrap_or_else(leave)
}
