//! Waiting for children, with what they used (wait4(2)).

use std::time::Duration;

use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::fd::last_errno;

/// How a child ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Exit {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// What a child, and all that it had waited for, used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// CPU time in user mode.
    pub user: Duration,
    /// CPU time in the kernel.
    pub sys: Duration,
    /// Largest resident set of any one of them, in bytes.
    pub max_rss: u64,
}

/// What a wait found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaped {
    /// A child ended and is gone now.
    Child {
        /// Its number, free from now on.
        pid: u32,
        /// How it ended.
        exit: Exit,
        /// What it used.
        usage: Usage,
    },
    /// There are children, and all of them live.
    StillRunning,
    /// There is no child.
    NoChild,
}

/// Reaps one child that has ended, without waiting for one.
///
/// # Errors
/// None that the kernel documents for these arguments.
pub fn reap() -> Result<Reaped, Errno> {
    let mut status = 0;
    // SAFETY: all-zero bytes are a valid `rusage`.
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live, writable values of the types that the call fills.
    let answer =
        unsafe { libc::wait4(-1, &raw mut status, libc::WNOHANG | libc::__WALL, &raw mut used) };
    match answer {
        0 => Ok(Reaped::StillRunning),
        pid if pid > 0 => {
            let exit = if libc::WIFEXITED(status) {
                Exit::Code(libc::WEXITSTATUS(status))
            } else {
                Exit::Signal(libc::WTERMSIG(status))
            };
            Ok(Reaped::Child { pid: pid.unsigned_abs(), exit, usage: usage(&used) })
        }
        _ => match last_errno() {
            Errno::CHILD => Ok(Reaped::NoChild),
            Errno::INTR => Ok(Reaped::StillRunning),
            errno => Err(errno),
        },
    }
}

fn usage(used: &libc::rusage) -> Usage {
    Usage {
        user: duration(used.ru_utime),
        sys: duration(used.ru_stime),
        // Linux counts in units of 1024 bytes (getrusage(2)).
        max_rss: u64::try_from(used.ru_maxrss).unwrap_or(0).saturating_mul(1024),
    }
}

fn duration(time: libc::timeval) -> Duration {
    Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0))
        + Duration::from_micros(u64::try_from(time.tv_usec).unwrap_or(0))
}
