//! A session's folder, `<state>/sessions/<id>`: made at opening, removed at closing.
//!
//! ```text
//! <id>/            0700
//!   session.json   what it was opened with, the daemon's (`saved`); `closed` once its closing has begun
//!   reads          what its client was told, the daemon's (`reads`)
//!   calls          which call ids were taken, the daemon's (`taken`)
//!   todos          the to-do list, the daemon's (`todos`)
//!   lock           the supervisor's, held for as long as it lives, as only a writer of the file can (`sys::lock`)
//!   socket         where the supervisor listens for the next daemon
//!   retired        the word of one that ended in order without a daemon
//!   tasks/         records of background tasks, and spools that outgrew memory: the supervisor's
//!   changes/       the journal of file changes in `workspace-write`: writable there, to the file worker and to commands
//!   files/         that of `danger-full-access`, made when it is first needed; no confined command reaches it
//!   tmp/           0700, TMPDIR of confined commands, and the journal of `read-only`. Confined, nothing but this and `changes/` is written
//! ```
//!
//! A folder whose lock nobody holds has no supervisor, so nothing is left that writes to it. That makes it safe to
//! remove, and to change permissions in it on the way (a read-only package cache must not outlive its session). How a
//! tree is removed is `removal`'s part, what the next daemon makes of it `restore`'s.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use crate::exec::LOCK;
use crate::exec::record::TASKS;
use brattice_policy::profile::JOURNAL;
use brattice_policy::sys::lock::is_write_locked;
use brattice_protocol::SessionId;
use rustix::fs::OFlags;

use super::removal::remove_tree;
use crate::regular;
use crate::workers::Interrupted;

/// Below the state folder.
const SESSIONS: &str = "sessions";

/// The folder of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SessionFolder(PathBuf);

/// Why a session's folder cannot be made or removed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FolderError {
    /// It cannot be made.
    #[error("cannot make the session folder {}", path.display())]
    Make { path: PathBuf, source: io::Error },
    /// It cannot be removed, or only in part.
    #[error("cannot remove the session folder {}", path.display())]
    Remove { path: PathBuf, source: io::Error },
    /// The folder of all sessions cannot be read.
    #[error("cannot list the sessions in {}", path.display())]
    List { path: PathBuf, source: io::Error },
    /// A thread of the daemon's ended early.
    #[error("listing the sessions was interrupted")]
    Interrupted(#[from] Interrupted),
}

impl SessionFolder {
    /// Where the folder of a session will be.
    pub(super) fn at(state: &Path, session: &SessionId) -> SessionFolder {
        SessionFolder(state.join(SESSIONS).join(session.as_str()))
    }

    /// Makes the folder of a new session, and those in it.
    pub(super) fn create(state: &Path, session: &SessionId) -> Result<SessionFolder, FolderError> {
        let SessionFolder(path) = SessionFolder::at(state, session);
        let make = |recursive: bool, path: &Path| {
            DirBuilder::new().recursive(recursive).mode(0o700).create(path)
        };
        make(true, &state.join(SESSIONS))
            .and_then(|()| make(false, &path))
            .and_then(|()| make(false, &path.join("tmp")))
            .and_then(|()| make(false, &path.join(JOURNAL)))
            .and_then(|()| make(false, &path.join(TASKS)))
            .map_err(|source| FolderError::Make { path: path.clone(), source })?;
        Ok(SessionFolder(path))
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// The private folder for temporary files.
    pub(super) fn temp(&self) -> PathBuf {
        self.0.join("tmp")
    }

    /// Removes it with all that is in it. The session's supervisor is gone.
    pub(super) fn remove(&self) -> Result<(), FolderError> {
        remove_tree(&self.0).map_err(|source| FolderError::Remove { path: self.0.clone(), source })
    }
}

/// The folders of all sessions.
///
/// # Errors
/// They cannot be listed.
pub(super) fn all(state: &Path) -> Result<Vec<SessionFolder>, FolderError> {
    let sessions = state.join(SESSIONS);
    let list = |source| FolderError::List { path: sessions.clone(), source };
    match std::fs::read_dir(&sessions) {
        Ok(entries) => entries
            .map(|entry| entry.map(|entry| SessionFolder(entry.path())).map_err(list))
            .collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(source) => Err(list(source)),
    }
}

/// Whether a folder's supervisor is alive.
#[derive(Debug)]
pub(super) enum Liveness {
    Alive,
    Gone,
}

impl SessionFolder {
    /// Whether its supervisor is alive.
    ///
    /// # Errors
    /// The lock cannot be looked at.
    pub(super) fn liveness(&self) -> io::Result<Liveness> {
        lock(&self.0.join(LOCK))
    }
}

fn lock(path: &Path) -> io::Result<Liveness> {
    let file = match regular::open(path, OFlags::RDONLY) {
        Ok(file) => file,
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            return Ok(Liveness::Gone);
        }
        Err(error) => return Err(error),
    };
    match is_write_locked(&file)? {
        true => Ok(Liveness::Alive),
        false => Ok(Liveness::Gone),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;
    use std::fs::{File, Permissions};
    use std::os::unix::fs::PermissionsExt as _;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    #[test]
    fn a_folder_is_private_made_once_and_removed_whole() {
        let scratch = Scratch::new();
        let id = SessionId::new("one");
        let folder = SessionFolder::create(&scratch.path(""), &id).unwrap();
        assert_eq!(folder.path(), scratch.path("sessions/one"));
        assert_eq!((mode(folder.path()), mode(&folder.temp())), (0o700, 0o700));
        assert!(matches!(
            SessionFolder::create(&scratch.path(""), &id),
            Err(FolderError::Make { .. })
        ));

        let locked = scratch.folder("sessions/one/tmp/cache/deep");
        scratch.file("sessions/one/tmp/cache/deep/file", "");
        for path in [locked.as_path(), locked.parent().unwrap()] {
            std::fs::set_permissions(path, Permissions::from_mode(0o500)).unwrap();
        }
        folder.remove().unwrap();
        assert!(!scratch.path("sessions/one").exists());
    }

    #[test]
    fn a_folder_tells_whether_its_supervisor_lives() {
        let scratch = Scratch::new();
        assert_eq!(all(&scratch.path("")).unwrap(), []);
        for name in ["alive", "dead", "young"] {
            SessionFolder::create(&scratch.path(""), &SessionId::new(name)).unwrap();
        }
        scratch.file("sessions/stray", "");
        scratch.file("sessions/dead/lock", "");
        let held =
            File::options().write(true).open(scratch.file("sessions/alive/lock", "")).unwrap();
        brattice_policy::sys::lock::try_write_lock(&held).unwrap();
        let mut alive: Vec<_> = all(&scratch.path(""))
            .unwrap()
            .into_iter()
            .map(|folder| {
                let name = folder.path().file_name().unwrap().to_owned();
                (name, matches!(folder.liveness().unwrap(), Liveness::Alive))
            })
            .collect();
        alive.sort();
        let expected = [("alive", true), ("dead", false), ("stray", false), ("young", false)];
        assert_eq!(alive, expected.map(|(name, alive)| (name.into(), alive)));
    }
}
