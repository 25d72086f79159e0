//! Owning a folder of sockets: the folder itself and the lock file in it.
//!
//! How the file is locked, and that no command can be in the way, is `crate::lock`'s.

use std::fs::{DirBuilder, File};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

use crate::lock::{self, LockFault};

/// The lock file's name in each folder of sockets.
const LOCK_FILE: &str = "brattice.lock";

/// Why a folder cannot be owned.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LockError {
    /// The folder cannot be made.
    #[error("cannot create the folder {path}", path = .path.display())]
    Create {
        /// The folder.
        path: PathBuf,
        /// The kernel's answer.
        #[source]
        source: io::Error,
    },
    /// The folder's state cannot be read.
    #[error("cannot look at the folder {path}", path = .path.display())]
    Look {
        /// The folder.
        path: PathBuf,
        /// The kernel's answer.
        #[source]
        source: io::Error,
    },
    /// The path leads to something else.
    #[error("{path} is no folder; remove it or choose another one", path = .path.display())]
    NoFolder {
        /// The path.
        path: PathBuf,
    },
    /// Somebody else could put a socket of his own there.
    #[error(
        "the folder {path} belongs to uid {owner}, and the daemon runs as uid {own}; \
         choose a folder of your own",
        path = .path.display()
    )]
    OtherOwner {
        /// The folder.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// The daemon's user.
        own: u32,
    },
    /// Others may write to the folder.
    #[error(
        "others may write to the folder {path} (mode {mode:04o}); run chmod 700 on it, \
         or choose a folder of its own for the sockets",
        path = .path.display()
    )]
    OpenToOthers {
        /// The folder.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// The lock file cannot be opened, locked or written.
    #[error("cannot take the lock {path}", path = .path.display())]
    Lock {
        /// The lock file.
        path: PathBuf,
        /// The kernel's answer.
        #[source]
        source: io::Error,
    },
    /// Another daemon runs on this folder, and says who it is.
    #[error(
        "another daemon (pid {pid}) already runs on {folder}: it holds {path}",
        folder = .folder.display(), path = .path.display()
    )]
    HeldBy {
        /// The folder.
        folder: PathBuf,
        /// The lock file.
        path: PathBuf,
        /// What the lock file says.
        pid: u32,
    },
    /// Another daemon runs on this folder.
    #[error(
        "another daemon already runs on {folder}: it holds {path}",
        folder = .folder.display(), path = .path.display()
    )]
    Held {
        /// The folder.
        folder: PathBuf,
        /// The lock file.
        path: PathBuf,
    },
}

/// A folder that this process owns until the value is dropped.
#[derive(Debug)]
pub(super) struct FolderLock {
    /// The lock lives as long as this open file.
    _file: File,
}

impl FolderLock {
    /// Makes the folder if there is none, checks whose it is, and locks it without waiting.
    pub(super) fn take(folder: &Path) -> Result<Self, LockError> {
        make_private(folder)?;
        let path = folder.join(LOCK_FILE);
        let fault = |source| LockError::Lock { path: path.clone(), source };
        match lock::take(&path) {
            Ok(mut file) => {
                sign(&mut file).map_err(fault)?;
                Ok(FolderLock { _file: file })
            }
            Err(LockFault::Held(mut file)) => Err(held(folder, path, &mut file)),
            Err(LockFault::Failed(source)) => Err(fault(source)),
        }
    }
}

fn make_private(folder: &Path) -> Result<(), LockError> {
    let path = || folder.to_path_buf();
    match DirBuilder::new().recursive(true).mode(0o700).create(folder) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(LockError::NoFolder { path: path() });
        }
        Err(source) => {
            return Err(LockError::Create { path: path(), source });
        }
    }
    let found = folder.metadata().map_err(|source| LockError::Look { path: path(), source })?;
    let (own, owner, mode) = (geteuid().as_raw(), found.uid(), found.mode() & 0o7777);
    if owner != own {
        return Err(LockError::OtherOwner { path: path(), owner, own });
    }
    if mode & 0o022 != 0 {
        return Err(LockError::OpenToOthers { path: path(), mode });
    }
    Ok(())
}

/// Leaves this process's number, for the message that a second daemon gives.
fn sign(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())
}

fn held(folder: &Path, path: PathBuf, file: &mut File) -> LockError {
    let folder = folder.to_path_buf();
    let mut text = String::new();
    let read = file.take(32).read_to_string(&mut text);
    match read.ok().and_then(|_length| text.trim().parse().ok()) {
        Some(pid) => LockError::HeldBy { folder, path, pid },
        None => LockError::Held { folder, path },
    }
}
