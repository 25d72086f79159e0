//! A file that one daemon at a time holds, for as long as it lives.
//!
//! A command may read the file, and a lock that readers can take would let it keep every later daemon from starting. So the
//! lock is one that only a writer of the file can take (`sys::lock`), and what readers can do, to be in its way, is seen
//! for what it is: the file is put aside and a new one made, which nobody has open. The file stays behind when its holder
//! ends, for a lock on a removed file excludes nobody.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use brattice_policy::sys::lock::{is_write_locked, try_write_lock};
use rustix::fs::{CWD, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;

/// How often a file that was replaced, or that readers lock, is opened again.
const ATTEMPTS: usize = 8;

/// How long the lock may outlive its holder: a child that it was just starting has a copy until its exec.
const LINGERING: Duration = Duration::from_millis(500);

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(5);

/// Why the lock was not taken.
#[derive(Debug)]
pub(crate) enum LockFault {
    /// Another daemon holds it; what it wrote into the file can be read.
    Held(File),
    /// The kernel's answer.
    Failed(io::Error),
}

impl From<io::Error> for LockFault {
    fn from(error: io::Error) -> Self {
        LockFault::Failed(error)
    }
}

/// Makes the file if there is none, and locks it, without waiting for a holder that lives. The lock lives as long as the
/// file is open.
///
/// # Errors
/// See [`LockFault`].
pub(crate) fn take(path: &Path) -> Result<File, LockFault> {
    let until = Instant::now() + LINGERING;
    loop {
        match try_take(path) {
            Err(LockFault::Held(_)) if Instant::now() < until => std::thread::sleep(PAUSE),
            answer => return answer,
        }
    }
}

fn try_take(path: &Path) -> Result<File, LockFault> {
    for _ in 0..ATTEMPTS {
        let file = open(path)?;
        match try_write_lock(&file) {
            Ok(()) if is_at(&file, path)? => return Ok(file),
            Ok(()) => {}
            Err(Errno::AGAIN) if is_write_locked(&file).map_err(io::Error::from)? => {
                return Err(LockFault::Held(file));
            }
            Err(Errno::AGAIN) => put_aside(&file, path)?,
            Err(errno) => return Err(LockFault::Failed(errno.into())),
        }
    }
    Err(LockFault::Failed(io::Error::other("the file is being replaced again and again")))
}

fn open(path: &Path) -> io::Result<File> {
    crate::regular::open(path, OFlags::RDWR | OFlags::CREATE)
}

/// Takes the file that readers lock out of the way. If it is another one by now, that one is put back.
fn put_aside(file: &File, path: &Path) -> io::Result<()> {
    let aside = path.with_extension(format!("aside-{}", uuid::Uuid::now_v7()));
    match std::fs::rename(path, &aside) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    }
    if is_at(file, &aside)? {
        tracing::warn!(path = %path.display(), "a process that may only read the lock file had locked it");
        return std::fs::remove_file(aside);
    }
    match renameat_with(CWD, &aside, CWD, path, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        // A third one has made another: what was taken away has lost its place.
        Err(Errno::EXIST) => std::fs::remove_file(aside),
        Err(errno) => Err(errno.into()),
    }
}

/// Whether the path still leads to the open file.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let open = file.metadata()?;
    match path.symlink_metadata() {
        Ok(named) => Ok((named.dev(), named.ino()) == (open.dev(), open.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use rustix::fs::{FlockOperation, flock};

    use super::*;
    use crate::session::testing::Scratch;

    #[test]
    fn one_at_a_time() {
        let scratch = Scratch::new();
        let path = scratch.path("lock");
        let held = take(&path).unwrap();
        assert!(matches!(take(&path), Err(LockFault::Held(_))));
        drop(held);
        take(&path).unwrap();
    }

    #[test]
    fn whoever_may_only_read_the_file_holds_up_nobody() {
        let scratch = Scratch::new();
        let path = scratch.file("lock", "7\n");
        let reader = File::open(&path).unwrap();
        flock(&reader, FlockOperation::LockExclusive).unwrap();
        rustix::fs::fcntl_lock(&reader, FlockOperation::LockShared).unwrap();
        let held = take(&path).unwrap();
        assert!(matches!(take(&path), Err(LockFault::Held(_))));
        assert_eq!(
            std::fs::read_dir(scratch.path("")).unwrap().count(),
            1,
            "nothing is left aside"
        );
        drop(held);
    }
}
