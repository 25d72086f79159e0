//! What the daemon does once: it makes the delegated group ready, and removes what supervisors that were killed left.
//!
//! A group either holds processes or hands controllers on to groups below it (the kernel's "no internal process" rule).
//! The daemon starts in the delegated group itself, so it goes into a leaf of its own first, but only where it is
//! alone: others who are there are not ours to move, and then there are groups without limits. Nothing is tried then:
//! the kernel would hand on `pids` and `cpu` all the same, and make the group one of threads, below which no process
//! can be put.

use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use brattice_policy::enforce::cgroup::{
    Controller, DAEMON, Delegation, Position, ROOT, Standing, Unavailable,
};
use brattice_policy::sys::Errno;
use brattice_policy::sys::lock::{is_write_locked, try_write_lock};

use super::file::{self, FileError};

/// The file of a session's group that is locked; every group has it.
pub(super) const LOCKED: &str = "cgroup.subtree_control";

/// How long what is left in an abandoned group may take to die of its SIGKILL.
const DEATH: Duration = Duration::from_secs(1);

/// Between two looks at that.
const PAUSE: Duration = Duration::from_millis(5);

/// Why there are no control groups, or none with limits.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ClaimError {
    /// No group is the daemon's.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// It is, and cannot be made ready.
    #[error("the daemon's control group cannot be made ready")]
    File(#[from] FileError),
}

/// Makes the delegated group ready: the daemon in a leaf, its controllers handed on. May be done again.
///
/// # Errors
/// See [`ClaimError`]. What could be done stays done; `enforce::probe` tells what there is.
pub(crate) fn claim() -> Result<(), ClaimError> {
    let delegation = Delegation::find()?;
    file::make(&delegation.folder.join(ROOT))?;
    sweep();
    let wanted: Vec<Controller> = delegation
        .standings()
        .into_iter()
        .filter(|(_, standing)| *standing == Standing::Offered)
        .map(|(controller, _)| controller)
        .collect();
    if wanted.is_empty() {
        return Ok(());
    }
    if delegation.position == Position::Below && !is_left(&delegation)? {
        return Ok(());
    }
    for controller in wanted {
        let order = format!("+{}", controller.name());
        file::write(&delegation.folder.join("cgroup.subtree_control"), &order)?;
    }
    Ok(())
}

/// Goes into a leaf, where this process is the only one in the delegated group. Says whether nobody is in that now.
fn is_left(delegation: &Delegation) -> Result<bool, FileError> {
    let procs = delegation.folder.join("cgroup.procs");
    let own = format!("{}\n", std::process::id());
    if delegation.own == delegation.folder && file::read(&procs) == own {
        let leaf = delegation.folder.join(ROOT).join(DAEMON);
        file::make(&leaf)?;
        file::write(&leaf.join("cgroup.procs"), own.trim_end())?;
    }
    Ok(file::read(&procs).is_empty())
}

/// Ends and removes the groups of supervisors that are gone, whichever daemon they had. Waits for what it kills, a
/// second at most for each.
pub(super) fn sweep() {
    let Ok(delegation) = Delegation::find() else { return };
    for folder in file::folders(&delegation.folder.join(ROOT)) {
        if folder.file_name().is_some_and(|name| name != DAEMON) {
            remove_abandoned(&folder);
        }
    }
}

/// Removes a session's groups, unless its supervisor lives: that holds the lock.
fn remove_abandoned(folder: &Path) {
    let lock = match Claim::of(folder) {
        Ok(Claim::Free(lock)) => Some(lock),
        // A lock of readers is no supervisor's.
        Ok(Claim::Crowded) => None,
        Ok(Claim::Held) | Err(_) => return,
    };
    if let Err(errno) = end(folder) {
        tracing::warn!(group = %folder.display(), %errno, "an abandoned control group stays");
    }
    drop(lock);
}

/// Whose a session's group is.
pub(super) enum Claim {
    /// This process's from now on, for as long as the lock lives.
    Free(OwnedFd),
    /// A supervisor's that lives.
    Held,
    /// Nobody's, and somebody who may only read it holds a lock that is in the way of every other.
    Crowded,
}

impl Claim {
    /// Takes a group for this process, where nobody has it. The lock is one that only a writer of the group's file can take,
    /// for a command can read it.
    ///
    /// # Errors
    /// The group cannot be opened, or is gone.
    pub(super) fn of(folder: &Path) -> Result<Claim, FileError> {
        let path = folder.join(LOCKED);
        let lock = file::open(&path)?;
        let fault = |source| FileError::Open { path: path.clone(), source };
        match try_write_lock(&lock) {
            Ok(()) => Ok(Claim::Free(lock)),
            Err(Errno::AGAIN) if is_write_locked(&lock).map_err(fault)? => Ok(Claim::Held),
            Err(Errno::AGAIN) => Ok(Claim::Crowded),
            Err(errno) => Err(fault(errno)),
        }
    }
}

/// Kills all that is in a group and removes it.
pub(super) fn end(folder: &Path) -> Result<(), Errno> {
    let until = Instant::now() + DEATH;
    loop {
        // Again and again, for a fork that was under way is not reached by a kill before it.
        file::write(&folder.join("cgroup.kill"), "1").ok();
        match file::remove(folder) {
            Err(Errno::BUSY) if Instant::now() < until => std::thread::sleep(PAUSE),
            answer => return answer,
        }
    }
}
