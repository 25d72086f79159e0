//! Files and folders of a cgroup file system.

use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use brattice_policy::sys::Errno;
use rustix::fs::{Mode, OFlags};

/// What could not be done to a group, and the kernel's answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FileError {
    /// Making it.
    #[error("cannot make the control group {path}")]
    Make {
        /// Its folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: Errno,
    },
    /// Opening it or one of its files.
    #[error("cannot open {path}")]
    Open {
        /// The folder or file.
        path: PathBuf,
        /// Why.
        #[source]
        source: Errno,
    },
    /// Writing one of its files.
    #[error("cannot write {text:?} to {path}")]
    Write {
        /// The file.
        path: PathBuf,
        /// What was written.
        text: String,
        /// Why.
        #[source]
        source: Errno,
    },
}

/// Makes a group; one that is there already is as good.
pub(super) fn make(path: &Path) -> Result<(), FileError> {
    match rustix::fs::mkdir(path, Mode::from_raw_mode(0o755)) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(source) => Err(FileError::Make { path: path.to_owned(), source }),
    }
}

/// Opens a file for writing. It is neither made nor emptied: the kernel has made it.
pub(super) fn open(path: &Path) -> Result<OwnedFd, FileError> {
    rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())
        .map_err(|source| FileError::Open { path: path.to_owned(), source })
}

/// Writes a file: one write, which the kernel takes for one order.
pub(super) fn write(path: &Path, text: &str) -> Result<(), FileError> {
    let mut file = std::fs::File::from(open(path)?);
    file.write_all(text.as_bytes()).map_err(|error| FileError::Write {
        path: path.to_owned(),
        text: text.to_owned(),
        source: Errno::from_io_error(&error).unwrap_or(Errno::IO),
    })
}

/// What a file holds; nothing where it is not there, as without its controller.
pub(super) fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// The number behind a key of a file such as `memory.events` (a key and a number a line).
pub(super) fn number(content: &str, key: &str) -> Option<u64> {
    content.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.parse().ok())
}

/// Removes a group and what was made below it.
///
/// # Errors
/// `EBUSY` while a process lives in any of them. A zombie is none (cgroups(7)).
pub(super) fn remove(path: &Path) -> Result<(), Errno> {
    match rustix::fs::rmdir(path) {
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(Errno::BUSY) => {}
        Err(errno) => return Err(errno),
    }
    for below in folders(path) {
        remove(&below)?;
    }
    rustix::fs::rmdir(path)
}

/// The groups right below a group.
pub(super) fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_behind_its_whole_key() {
        let events = "low 0\nhigh 0\nmax 7\noom 2\noom_kill 3\noom_group_kill 1\n";
        let found = ["oom", "oom_kill", "oom_group_kill", "oom_k", "usage"];
        assert_eq!(found.map(|key| number(events, key)), [Some(2), Some(3), Some(1), None, None]);
        assert_eq!(number("", "oom"), None);
    }
}
