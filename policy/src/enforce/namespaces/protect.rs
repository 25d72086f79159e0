//! Protected paths: mounted read-only on themselves, with every folder between root and path mounted on itself, so that
//! neither `mv .git x` nor a new folder in its place leads around them: the kernel answers EBUSY.
//!
//! A path that does not exist is not held, for nothing is made in a workspace. Where a file stands in its way (the `.git`
//! of a linked worktree) that is mounted read-only instead: as long as it stands, the path cannot come to be.

use std::collections::HashSet;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, fstat};
use rustix::io::Errno;

use super::NamespaceError;
use super::mounts::{As, pin, pin_in, put_on_itself};
use crate::namespaces::{Unheld, UnheldReason};
use crate::protect::Protected;

/// Holds the paths; returns those that it does not.
pub(super) fn hold(paths: &[Protected]) -> Result<Vec<Unheld>, NamespaceError> {
    let mut held = Held::default();
    let mut unheld = Vec::new();
    for protected in paths {
        let path = protected.path();
        match held.hold(protected) {
            Ok(()) => {}
            Err(Errno::NOENT) => unheld.push(Unheld { path, why: UnheldReason::Missing }),
            Err(Errno::LOOP) => unheld.push(Unheld { path, why: UnheldReason::Link }),
            Err(errno) => return Err(NamespaceError::Mount { what: "protect", path, errno }),
        }
    }
    Ok(unheld)
}

/// What is mounted on itself already.
#[derive(Default)]
struct Held {
    folders: HashSet<PathBuf>,
    read_only: HashSet<PathBuf>,
}

impl Held {
    fn hold(&mut self, protected: &Protected) -> Result<(), Errno> {
        let mut path = protected.root.clone();
        let mut at = pin(&path)?;
        let names: Vec<_> = protected.below.components().collect();
        for (index, name) in names.iter().enumerate() {
            let name: &Path = name.as_ref();
            path.push(name);
            if self.read_only.contains(&path) {
                return Ok(());
            }
            let found = pin_in(at.as_fd(), name)?;
            if index + 1 == names.len() || !is_folder(&found)? {
                put_on_itself(found.as_fd(), As::ReadOnly)?;
                self.read_only.insert(path);
                return Ok(());
            }
            if self.folders.insert(path.clone()) {
                put_on_itself(found.as_fd(), As::Same)?;
            }
            // By its name again: what is pinned lies below the new mount.
            at = pin_in(at.as_fd(), name)?;
        }
        Ok(())
    }
}

fn is_folder(fd: &OwnedFd) -> Result<bool, Errno> {
    Ok(FileType::from_raw_mode(fstat(fd)?.st_mode).is_dir())
}
