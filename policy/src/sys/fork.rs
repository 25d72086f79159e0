//! fork(2), for processes that have one thread.

use rustix::io::Errno;

use super::errno;
use super::fd::last_errno;

/// Which side of a fork this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fork {
    /// The child.
    Child,
    /// The parent, with the child's number. It stays valid until this process waits for it.
    Parent(u32),
}

/// Why a process cannot fork.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForkError {
    /// The process has other threads: a child of it may hang on locks that they held.
    #[error("a process with {0} threads must not fork")]
    Threads(usize),
    /// The number of threads could not be found.
    #[error("cannot count the threads of this process: is /proc mounted?")]
    Uncounted,
    /// The kernel refused.
    #[error("fork: {}", errno::explain(*.0))]
    Refused(Errno),
}

/// Proof that this process has one thread. A process with one thread gets more only by its own doing, so whoever
/// holds this must start none.
#[derive(Debug)]
pub struct SingleThreaded(());

impl SingleThreaded {
    /// Counts this process's threads.
    ///
    /// # Errors
    /// There is more than one, or `/proc` does not say.
    pub fn check() -> Result<Self, ForkError> {
        match std::fs::read_dir("/proc/self/task").map(Iterator::count) {
            Ok(1) => Ok(SingleThreaded(())),
            Ok(count) => Err(ForkError::Threads(count)),
            Err(_) => Err(ForkError::Uncounted),
        }
    }

    /// Forks. Both sides go on with this process's memory as it is now.
    ///
    /// # Errors
    /// [`ForkError::Refused`] with the kernel's answer.
    pub fn fork(&self) -> Result<Fork, ForkError> {
        // SAFETY: `self` proves that no other thread exists, so no lock of libc or std is held by a thread that the
        // child lacks, and the child may run any code.
        match unsafe { libc::fork() } {
            0 => Ok(Fork::Child),
            -1 => Err(ForkError::Refused(last_errno())),
            pid => Ok(Fork::Parent(pid.unsigned_abs())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_with_threads_does_not_fork() {
        let (stop, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || wait.recv());
        assert!(matches!(SingleThreaded::check(), Err(ForkError::Threads(count)) if count >= 2));
        drop(stop);
        assert!(thread.join().unwrap().is_err());
    }
}
