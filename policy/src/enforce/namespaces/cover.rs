//! Hidden paths: an empty folder or an empty file without any permission is mounted over each of them.
//!
//! Both lie in a file system in memory that is mounted on `/dev/shm` first and then covered by the private one. A path that
//! does not exist hides nothing; it is looked for again before each command. Not hidden is the same file by another name
//! (a hard link, another mount of its file system), which nobody can find.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, fchmod, fstat, mkdirat, open, openat};
use rustix::io::Errno;

use super::NamespaceError;
use super::mounts::{As, copy, memory, pin, pin_in, put};
use crate::Profile;
use crate::profile::SHARED_MEMORY;

const FOLDER: &str = "folder";
const FILE: &str = "file";

/// What is put over hidden paths.
pub(super) struct Cover {
    folder: OwnedFd,
    file: OwnedFd,
}

impl Cover {
    /// Makes it, where anything is to be hidden.
    pub(super) fn make(profile: &Profile) -> Result<Option<Cover>, NamespaceError> {
        if profile.hidden().is_empty() {
            return Ok(None);
        }
        let path = Path::new(SHARED_MEMORY);
        make(path).map(Some).map_err(|errno| NamespaceError::Mount {
            what: "mount a cover on",
            path: path.to_owned(),
            errno,
        })
    }

    /// Hides what the profile hides.
    pub(super) fn hide(&self, profile: &Profile) -> Result<(), NamespaceError> {
        for path in profile.hidden() {
            match self.put_over(path) {
                Ok(()) | Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(errno) => {
                    let path = path.clone();
                    return Err(NamespaceError::Mount { what: "hide", path, errno });
                }
            }
        }
        Ok(())
    }

    /// Links are followed: what they lead to is what is to be hidden.
    fn put_over(&self, path: &Path) -> Result<(), Errno> {
        let at = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
        let cover = match FileType::from_raw_mode(fstat(&at)?.st_mode) {
            FileType::Directory => &self.folder,
            _ => &self.file,
        };
        put(copy(cover.as_fd(), As::ReadOnly)?.as_fd(), at.as_fd())
    }
}

fn make(path: &Path) -> Result<Cover, Errno> {
    let mount = memory(&[("mode", "0700"), ("size", "4096"), ("nr_inodes", "8")])?;
    mkdirat(&mount, FOLDER, Mode::empty())?;
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
    fchmod(openat(&mount, FILE, flags, Mode::empty())?, Mode::empty())?;
    put(mount.as_fd(), open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?.as_fd())?;
    // By path, for a copy can be made only of what is mounted.
    let mounted = pin(path)?;
    let found = |name: &str| pin_in(mounted.as_fd(), Path::new(name));
    Ok(Cover { folder: found(FOLDER)?, file: found(FILE)? })
}
