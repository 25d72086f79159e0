//! A session's groups, as its supervisor has them.
//!
//! A file of the session's folder is locked for as long as the supervisor lives: who can lock it knows that nobody lives
//! there. Only who may write to it can take that lock; what readers lock is removed and made again.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use super::claim::{self, Claim, LOCKED};
use super::file::{self, FileError};
use super::group::Group;
use brattice_policy::Limits;
use brattice_policy::enforce::cgroup::{Controller, Delegation, ROOT, Standing, Unavailable};
use brattice_policy::sys::Errno;

/// How often the folder is made again when another session's end has removed it meanwhile.
const ATTEMPTS: usize = 8;

/// Why a session has no control groups.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TreeError {
    /// No group is the daemon's.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// The session's cannot be made.
    #[error("the session's control group cannot be made")]
    File(#[from] FileError),
    /// Another supervisor has it.
    #[error("the session's control group {path} is another supervisor's")]
    Held {
        /// Its folder.
        path: PathBuf,
    },
}

/// The groups of one session. Dropping it removes the folder, which is empty by then or stays for a sweep.
#[derive(Debug)]
pub(crate) struct Tree {
    folder: PathBuf,
    controllers: Vec<Controller>,
    /// Held for life.
    #[cfg_attr(not(test), expect(dead_code, reason = "it is held, never used"))]
    lock: OwnedFd,
}

impl Tree {
    /// Makes the session's folder, or takes over the one that a dead supervisor of this session left, without what was
    /// in it.
    ///
    /// # Errors
    /// See [`TreeError`]: commands run without groups then.
    pub(crate) fn open(session: &str) -> Result<Tree, TreeError> {
        let delegation = Delegation::find()?;
        let controllers: Vec<Controller> = delegation
            .standings()
            .into_iter()
            .filter(|(_, standing)| *standing == Standing::Enabled)
            .map(|(controller, _)| controller)
            .collect();
        let root = delegation.folder.join(ROOT);
        let folder = root.join(session);
        let mut last = Errno::NOENT;
        for _ in 0..ATTEMPTS {
            match lock(&root, &folder, &controllers) {
                Ok(lock) => return Ok(Tree { folder, controllers, lock }),
                Err(TreeError::File(
                    FileError::Make { source, .. }
                    | FileError::Open { source, .. }
                    | FileError::Write { source, .. },
                )) if matches!(source, Errno::NOENT | Errno::NODEV) => last = source,
                Err(error) => return Err(error),
            }
        }
        Err(FileError::Make { path: folder, source: last }.into())
    }

    /// Makes the group of one command. The name is unlike any other of this supervisor's.
    ///
    /// # Errors
    /// It cannot be made, or takes a limit not; nothing is left of it then.
    pub(crate) fn group(&self, name: &str, limits: &Limits) -> Result<Group, FileError> {
        Group::new(self.folder.join(name), &self.controllers, limits)
    }

    /// Whether its groups limit a command's memory.
    pub(crate) fn limits_memory(&self) -> bool {
        self.controllers.contains(&Controller::Memory)
    }

    /// Unlocks the session's folder, as the end of a supervisor that was killed does.
    #[cfg(test)]
    pub(super) fn abandon(&self) {
        brattice_policy::sys::lock::unlock(&self.lock).unwrap();
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // The last session's end removes the folder of all of them; while another is there it is not empty.
        if file::remove(&self.folder).is_ok() {
            self.folder.parent().map(rustix::fs::rmdir);
        }
    }
}

/// Makes the folders, locks the session's, and hands the controllers on to its groups.
fn lock(root: &Path, folder: &Path, controllers: &[Controller]) -> Result<OwnedFd, TreeError> {
    file::make(root)?;
    file::make(folder)?;
    let path = folder.join(LOCKED);
    let gone = |source| FileError::Open { path: path.clone(), source };
    let lock = match Claim::of(folder)? {
        Claim::Free(lock) => lock,
        Claim::Held => return Err(TreeError::Held { path: folder.to_owned() }),
        Claim::Crowded => {
            // Locks go with what they lock: the next attempt finds a group that nobody has opened.
            claim::end(folder).map_err(gone)?;
            return Err(gone(Errno::NOENT).into());
        }
    };
    // A sweep may have removed it between its making and its lock.
    let identity = |stat: rustix::fs::Stat| (stat.st_dev, stat.st_ino);
    let (named, locked) =
        (rustix::fs::stat(&path).map(identity), rustix::fs::fstat(&lock).map(identity));
    if named.map_err(gone)? != locked.map_err(gone)? {
        return Err(gone(Errno::NOENT).into());
    }
    for left in file::folders(folder) {
        claim::end(&left).map_err(|source| FileError::Make { path: left, source })?;
    }
    for folder in [root, folder] {
        for controller in controllers {
            let order = format!("+{}", controller.name());
            file::write(&folder.join("cgroup.subtree_control"), &order)?;
        }
    }
    Ok(lock)
}
