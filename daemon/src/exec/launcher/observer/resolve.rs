//! From a caller's path to what it leads to, component by component, as the kernel walks for the caller
//! (path_resolution(7)): what procfs shows of "self" is the caller's.
//!
//! Everything on the way is pinned by a descriptor; no name is judged as text.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use brattice_policy::enforce::seccomp::trap::Place;
use rustix::fs::{FileType, Mode, OFlags, PROC_SUPER_MAGIC, Stat};
use rustix::io::Errno;

use super::caller::{Caller, Look};
use super::host;

/// Most symbolic links on the way (`MAXSYMLINKS`).
const MOST_LINKS: usize = 40;

/// The inode of a procfs's root (`PROC_ROOT_INO`).
const PROC_ROOT: u64 = 1;

/// What becomes of a symbolic link at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LastLink {
    /// It is followed.
    Follow,
    /// It is the file itself, unless a slash follows it.
    Keep,
    /// It is a name that is made, removed or moved, whatever follows it.
    Name,
}

/// What the last component of a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Last {
    /// A name in its folder.
    Name,
    /// `.`, `..`, the root, or whatever a link of procfs leads to: nothing that could be made or removed.
    Other,
}

/// Where a path leads.
#[derive(Debug)]
pub(super) struct Found {
    /// The folder of the last name; for what is no name, the file itself.
    pub(super) folder: OwnedFd,
    /// The last name.
    pub(super) name: Vec<u8>,
    /// What it is.
    pub(super) last: Last,
    /// Whether a slash follows it.
    pub(super) has_slash: bool,
    /// The file, where there is one.
    pub(super) file: Option<File>,
}

/// A pinned file.
#[derive(Debug)]
pub(super) struct File {
    /// It.
    pub(super) fd: OwnedFd,
    /// What it is.
    pub(super) stat: Stat,
}

impl File {
    pub(super) fn new(fd: OwnedFd) -> Result<Self, Look> {
        let stat = rustix::fs::fstat(&fd).map_err(Look::Native)?;
        Ok(File { fd, stat })
    }

    pub(super) fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.stat.st_mode)
    }
}

/// Resolves the path of a call.
pub(super) fn place(caller: Caller<'_>, place: Place, last: LastLink) -> Result<Found, Look> {
    let path = caller.path(place.path)?;
    if path.is_empty() {
        return Err(Look::Native(Errno::NOENT));
    }
    let base = caller.base(place, path)?;
    walk(caller, base, path, last)
}

/// Resolves a path from a pinned folder on.
pub(super) fn walk(
    caller: Caller<'_>,
    base: OwnedFd,
    path: &[u8],
    last: LastLink,
) -> Result<Found, Look> {
    let mut walk = Walk { caller, at: base, names: VecDeque::new(), links: 0, has_slash: false };
    walk.push(path);
    while let Some(name) = walk.names.pop_front() {
        if let Some(found) = walk.step(name, last)? {
            return Ok(found);
        }
    }
    walk.other()
}

struct Walk<'a> {
    caller: Caller<'a>,
    at: OwnedFd,
    names: VecDeque<Vec<u8>>,
    links: usize,
    /// Whether the path as it stands now ends with a slash.
    has_slash: bool,
}

impl Walk<'_> {
    /// Puts the components of a path before those that are left.
    fn push(&mut self, path: &[u8]) {
        if self.names.is_empty() {
            self.has_slash |= path.last() == Some(&b'/');
        }
        let names = path.split(|byte| *byte == b'/').filter(|name| !name.is_empty());
        names.rev().for_each(|name| self.names.push_front(name.to_vec()));
    }

    /// Goes one component further; an answer when it was the last.
    fn step(&mut self, name: Vec<u8>, last: LastLink) -> Result<Option<Found>, Look> {
        let is_last = self.names.is_empty();
        if name == b"." || name == b".." {
            let fd = open(&self.at, &name, OFlags::DIRECTORY).map_err(Look::Native)?;
            self.at = fd;
            return if is_last { self.other().map(Some) } else { Ok(None) };
        }
        let file = match open(&self.at, &name, OFlags::NOFOLLOW) {
            Ok(fd) => File::new(fd)?,
            Err(Errno::NOENT) if is_last => return self.found(name, None).map(Some),
            Err(errno) => return Err(Look::Native(errno)),
        };
        let is_followed = !is_last
            || match last {
                LastLink::Follow => true,
                LastLink::Keep => self.has_slash,
                LastLink::Name => false,
            };
        if file.kind() == FileType::Symlink && is_followed {
            self.follow(&name, &file)?;
            // A link to `/`, or one of procfs that led to a file at once.
            return if self.names.is_empty() { self.other().map(Some) } else { Ok(None) };
        }
        if is_last {
            let is_no_folder = self.has_slash && file.kind() != FileType::Directory;
            if is_no_folder && last != LastLink::Name {
                return Err(Look::Native(Errno::NOTDIR));
            }
            return self.found(name, Some(file)).map(Some);
        }
        self.at = file.fd;
        Ok(None)
    }

    fn follow(&mut self, name: &[u8], link: &File) -> Result<(), Look> {
        self.links += 1;
        if self.links > MOST_LINKS {
            return Err(Look::Native(Errno::LOOP));
        }
        let folder = rustix::fs::fstat(&self.at).map_err(Look::Native)?;
        if host::protects_link(&folder, &link.stat) {
            return Err(Look::Native(Errno::ACCESS));
        }
        let text = if is_procfs(&link.fd)? {
            match (folder.st_ino == PROC_ROOT, name) {
                (true, b"self") => self.caller.numbers()?.0.to_string().into_bytes(),
                (true, b"thread-self") => {
                    let (process, thread) = self.caller.numbers()?;
                    format!("{process}/task/{thread}").into_bytes()
                }
                (true, _) => text_of(link)?,
                // Such a link leads to a file and not to a text.
                (false, _) => {
                    self.at = open(&self.at, name, OFlags::empty()).map_err(Look::Native)?;
                    return Ok(());
                }
            }
        } else {
            text_of(link)?
        };
        if text.first() == Some(&b'/') {
            self.at = open(&self.at, b"/", OFlags::DIRECTORY).map_err(Look::Native)?;
        }
        self.push(&text);
        Ok(())
    }

    /// The path ended where it stands: at a dot, at the root, or behind a link of procfs.
    fn other(&mut self) -> Result<Found, Look> {
        let file = File::new(self.at.try_clone().map_err(|_| Look::Blind)?)?;
        if self.has_slash && file.kind() != FileType::Directory {
            return Err(Look::Native(Errno::NOTDIR));
        }
        let mut found = self.found(Vec::new(), Some(file))?;
        found.last = Last::Other;
        Ok(found)
    }

    fn found(&mut self, name: Vec<u8>, file: Option<File>) -> Result<Found, Look> {
        let folder = self.at.try_clone().map_err(|_| Look::Blind)?;
        Ok(Found { folder, name, last: Last::Name, has_slash: self.has_slash, file })
    }
}

fn open(at: &OwnedFd, name: &[u8], more: OFlags) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | more;
    rustix::fs::openat(at, OsStr::from_bytes(name), flags, Mode::empty())
}

fn text_of(link: &File) -> Result<Vec<u8>, Look> {
    rustix::fs::readlinkat(&link.fd, c"", Vec::new())
        .map(std::ffi::CString::into_bytes)
        .map_err(Look::Native)
}

/// Whether a file is procfs's.
pub(super) fn is_procfs(file: impl AsFd) -> Result<bool, Look> {
    rustix::fs::fstatfs(file).map(|facts| facts.f_type == PROC_SUPER_MAGIC).map_err(Look::Native)
}
