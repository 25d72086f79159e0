//! Where a path really leads: links followed by hand, folder by folder, on descriptors, so that nothing that is renamed
//! meanwhile moves a write elsewhere.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use rustix::fs::{self, AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::fault::{At as _, Fault, FaultKind, FileType, Operation};

/// Links that are followed, as many as the kernel does (path_resolution(7)).
const MOST_LINKS: usize = 40;

/// Flags of a step: what it is, without opening it.
const STEP: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A regular file, or a name where one can be made.
pub(crate) struct Place {
    /// The folder that holds the name, or would hold the first of the missing folders.
    pub(crate) folder: OwnedFd,
    /// The way from the root to that folder, without links.
    pub(crate) steps: Vec<Step>,
    /// Folders that have to be made on the way to the name.
    pub(crate) missing: Vec<OsString>,
    pub(crate) name: OsString,
    /// The file's path without links.
    pub(crate) path: PathBuf,
}

/// What becomes of a link on the way to a file, its own name included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Links {
    /// It is followed.
    Follow,
    /// It is a fault: the path is without links, and leads there or nowhere. This is what openat2(2) calls
    /// RESOLVE_NO_SYMLINKS, by steps: a sandbox that cannot see into openat2 refuses it.
    Refuse,
}

/// One folder on a way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    pub(crate) name: OsString,
    pub(crate) inode: u64,
}

/// The path of a regular file, or of one that could be made there, with links followed as [`crate::write`] follows them. By this
/// two names of one file can be told to be the same.
///
/// # Errors
/// It leads to what is no regular file, to nowhere by a loop of links, or the kernel's answer.
pub fn resolved(path: &Path) -> Result<PathBuf, Fault> {
    match is_resolved(path) {
        true => Ok(path.to_owned()),
        false => Place::find(path, Links::Follow).map(|place| place.path),
    }
}

/// Whether it is a regular file's own path as the kernel would tell it (proc_pid_fd(5)): the common case, in four calls.
fn is_resolved(path: &Path) -> bool {
    let Ok(found) = fs::openat(fs::CWD, path, STEP, Mode::empty()) else { return false };
    let is_regular = fs::fstat(&found).is_ok_and(|status| FileType::of(status.st_mode).is_ok());
    let link = format!("/proc/self/fd/{}", found.as_raw_fd());
    is_regular
        && fs::readlink(link, Vec::new())
            .is_ok_and(|told| told.as_bytes() == path.as_os_str().as_bytes())
}

impl Place {
    /// Follows a path.
    pub(crate) fn find(path: &Path, links: Links) -> Result<Place, Fault> {
        let bytes = path.as_os_str().as_bytes();
        if !path.is_absolute() || bytes.contains(&0) {
            return Err(Fault::new(path, FaultKind::NoPath));
        }
        if bytes.ends_with(b"/") {
            return Err(Fault::new(path, FaultKind::NotRegular(FileType::Directory)));
        }
        Walk::new(path, links)?.walk()
    }

    /// What stands at the name now.
    pub(crate) fn status(&self) -> Result<Option<Stat>, Errno> {
        if !self.missing.is_empty() {
            return Ok(None);
        }
        match fs::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(status) => Ok(Some(status)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }
}

struct Walk<'a> {
    path: &'a Path,
    folder: OwnedFd,
    steps: Vec<Step>,
    left: VecDeque<OsString>,
    links: Links,
    followed: usize,
}

impl<'a> Walk<'a> {
    fn new(path: &'a Path, links: Links) -> Result<Self, Fault> {
        let folder = root(path)?;
        let (steps, left) = (Vec::new(), VecDeque::new());
        let mut walk = Walk { path, folder, steps, left, links, followed: 0 };
        walk.go_first(path);
        Ok(walk)
    }

    /// Puts a path's components before those that are left.
    fn go_first(&mut self, path: &Path) {
        for component in path.components().rev() {
            match component {
                Component::Normal(name) => self.left.push_front(name.to_owned()),
                Component::ParentDir => self.left.push_front(OsString::from("..")),
                Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            }
        }
    }

    fn failed(&self, errno: Errno) -> Fault {
        Fault::kernel(self.path, Operation::Find, errno)
    }

    fn walk(mut self) -> Result<Place, Fault> {
        let not_regular = |kind| Fault::new(self.path, FaultKind::NotRegular(kind));
        while let Some(name) = self.left.pop_front() {
            let is_last = self.left.is_empty();
            if name == ".." {
                self.folder = fs::openat(&self.folder, "..", STEP, Mode::empty())
                    .map_err(|errno| self.failed(errno))?;
                self.steps.pop();
                continue;
            }
            let found = match fs::openat(&self.folder, &name, STEP, Mode::empty()) {
                Ok(found) => found,
                Err(Errno::NOENT) => return self.ends_missing(name),
                Err(errno) => return Err(self.failed(errno)),
            };
            let status = fs::fstat(&found).map_err(|errno| self.failed(errno))?;
            match fs::FileType::from_raw_mode(status.st_mode) {
                fs::FileType::Symlink => self.follow(&found)?,
                fs::FileType::Directory => {
                    self.steps.push(Step { name, inode: status.st_ino });
                    self.folder = found;
                }
                _ if !is_last => return Err(self.failed(Errno::NOTDIR)),
                _ => {
                    FileType::of(status.st_mode).map_err(not_regular)?;
                    return Ok(self.ends(Vec::new(), name));
                }
            }
        }
        Err(not_regular(FileType::Directory))
    }

    fn follow(&mut self, link: &OwnedFd) -> Result<(), Fault> {
        if self.links == Links::Refuse {
            return Err(Fault::new(self.path, FaultKind::Link));
        }
        self.followed += 1;
        if self.followed > MOST_LINKS {
            return Err(self.failed(Errno::LOOP));
        }
        let target = fs::readlinkat(link, "", Vec::new()).map_err(|errno| self.failed(errno))?;
        let target = PathBuf::from(OsStr::from_bytes(target.as_bytes()));
        if target.is_absolute() {
            self.folder = root(self.path)?;
            self.steps.clear();
        }
        self.go_first(&target);
        Ok(())
    }

    /// The name is not there: it and all that is left would have to be made.
    fn ends_missing(mut self, name: OsString) -> Result<Place, Fault> {
        let mut missing = vec![name];
        missing.extend(self.left.drain(..));
        if missing.iter().any(|name| name == "..") {
            return Err(self.failed(Errno::NOENT));
        }
        let name = missing.pop().unwrap_or_default();
        Ok(self.ends(missing, name))
    }

    fn ends(self, missing: Vec<OsString>, name: OsString) -> Place {
        let way = self.steps.iter().map(|step| &step.name).chain(&missing).chain([&name]);
        let path = Path::new("/").join(way.collect::<PathBuf>());
        Place { folder: self.folder, steps: self.steps, missing, name, path }
    }
}

fn root(path: &Path) -> Result<OwnedFd, Fault> {
    fs::open("/", STEP, Mode::empty()).at(path, Operation::Find)
}

/// Opens a folder in a folder, which must be none by a link.
pub(crate) fn enter(folder: &OwnedFd, name: &OsStr) -> Result<OwnedFd, Errno> {
    fs::openat(folder, name, STEP | OFlags::DIRECTORY, Mode::empty())
}

/// The same folder, opened so that it can be locked and synced; only where it may be listed.
pub(crate) fn listed(folder: &OwnedFd) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    fs::openat(folder, ".", flags, Mode::empty())
}
