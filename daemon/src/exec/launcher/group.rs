//! A command's control group as its keeper holds it: two files that the supervisor opened, for no process below the
//! launcher can open them. The keeper itself stays outside.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// The control group that a command is started in.
#[derive(Debug)]
pub(super) enum Group {
    /// The keeper's.
    None,
    /// One that holds the command and nothing else.
    Own {
        /// `cgroup.procs`: who writes "0" to it is moved there.
        procs: OwnedFd,
        /// `cgroup.kill`: "1" kills all that is in it, in one call that no fork outruns.
        kill: OwnedFd,
    },
}

impl Group {
    /// What the command's process enters by.
    pub(super) fn procs(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Group::None => None,
            Group::Own { procs, .. } => Some(procs.as_fd()),
        }
    }

    /// Sends SIGKILL to all that is in it.
    pub(super) fn kill(&self) {
        if let Group::Own { kill, .. } = self {
            // A group that is gone held nothing; what is left anywhere is found by reaping.
            rustix::io::write(kill, b"1").ok();
        }
    }
}
