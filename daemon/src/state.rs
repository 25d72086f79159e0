//! The state folder: one daemon's at a time, and nobody else's to write to.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::lock::LockFault;

/// The daemon's lock in its state folder, which goes with the process, however that ends.
const LOCK: &str = "state.lock";

/// A state folder that this daemon holds.
#[derive(Debug)]
pub(crate) struct StateFolder {
    path: PathBuf,
    _lock: File,
}

/// Why the state folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StateError {
    /// It cannot be made, or its path leads through something that is no folder.
    #[error("cannot make the state folder {}", path.display())]
    Make { path: PathBuf, source: io::Error },
    /// It cannot be looked at.
    #[error("cannot look at the state folder {}", path.display())]
    Look { path: PathBuf, source: io::Error },
    /// Paths in it are told to clients, in JSON.
    #[error("the path of the state folder {} is not UTF-8", path.display())]
    NotUtf8 { path: PathBuf },
    /// It is another user's.
    #[error("the state folder {} belongs to uid {owner}, and the daemon runs as uid {own}", path.display())]
    OtherOwner { path: PathBuf, owner: u32, own: u32 },
    /// Others could change what the daemon relies on.
    #[error("others may write to the state folder {} (mode {mode:04o}); run chmod 700 on it", path.display())]
    OpenToOthers { path: PathBuf, mode: u32 },
    /// Another daemon uses it.
    #[error("another daemon uses the state folder {}: it holds {LOCK} in it", path.display())]
    Held { path: PathBuf },
    /// The lock cannot be taken.
    #[error("cannot lock the state folder {}", path.display())]
    Lock { path: PathBuf, source: io::Error },
}

impl StateFolder {
    /// Makes the folder if there is none, checks whose it is, and locks it without waiting.
    pub(crate) fn take(path: &Path) -> Result<StateFolder, StateError> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(path)
            .map_err(|source| StateError::Make { path: path.to_owned(), source })?;
        let look = |source| StateError::Look { path: path.to_owned(), source };
        let path = path.canonicalize().map_err(look)?;
        if path.to_str().is_none() {
            return Err(StateError::NotUtf8 { path });
        }
        let found = path.metadata().map_err(look)?;
        let (owner, own, mode) = (found.uid(), geteuid().as_raw(), found.mode() & 0o7777);
        if owner != own {
            return Err(StateError::OtherOwner { path, owner, own });
        }
        if mode & 0o022 != 0 {
            return Err(StateError::OpenToOthers { path, mode });
        }
        let lock = lock(&path)?;
        Ok(StateFolder { path, _lock: lock })
    }

    /// Its canonical path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

fn lock(folder: &Path) -> Result<File, StateError> {
    crate::lock::take(&folder.join(LOCK)).map_err(|fault| match fault {
        LockFault::Held(_) => StateError::Held { path: folder.to_owned() },
        LockFault::Failed(source) => StateError::Lock { path: folder.to_owned(), source },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    #[test]
    fn it_is_made_private_and_held_by_one_at_a_time() {
        let scratch = Scratch::new();
        let path = scratch.path("a/state");
        let held = StateFolder::take(&path).unwrap();
        assert_eq!((held.path(), path.metadata().unwrap().mode() & 0o777), (path.as_path(), 0o700));
        assert!(matches!(StateFolder::take(&path), Err(StateError::Held { .. })));
        drop(held);
        StateFolder::take(&path).unwrap();
    }

    #[test]
    fn one_that_others_may_write_to_is_refused() {
        let scratch = Scratch::new();
        let path = scratch.folder("state");
        std::fs::set_permissions(&path, Permissions::from_mode(0o775)).unwrap();
        let message = StateFolder::take(&path).unwrap_err().to_string();
        let expected = format!(
            "others may write to the state folder {} (mode 0775); run chmod 700 on it",
            path.display()
        );
        assert_eq!(message, expected);
    }

    #[test]
    fn a_file_is_no_state_folder() {
        let scratch = Scratch::new();
        let file = scratch.file("file", "");
        assert!(matches!(StateFolder::take(&file), Err(StateError::Make { .. })));
    }
}
