//! Who is let in: judges the process at the other end of a fresh connection.
//!
//! Let in is a process of the daemon's own user that is neither confined nor descends from a task.
//! What cannot be found out is refused. Which processes are supervisors is the [`Descent`]'s to
//! know; answering the refused peer is `accept`'s.

use std::os::fd::{AsFd, OwnedFd};
use std::{fmt, io};

use brattice_policy::sys;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, geteuid, pidfd_open};
use tokio::net::UnixStream;

use super::process::{Process, ProcessError};

/// Longest chain of parents that is followed; a longer one is refused.
const MAX_ANCESTORS: usize = 1024;

/// How often a chain that changed while it was read is read again.
const ATTEMPTS: usize = 3;

/// Knows the processes below which everything is a task.
pub(crate) trait Descent: Send + Sync + 'static {
    /// Whether `pid` is the supervisor of a session.
    fn is_supervisor(&self, pid: u32) -> bool;
}

/// Why a peer is not let in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    /// The kernel does not say who it is.
    #[error("cannot tell who is calling")]
    NoCredentials(#[source] io::Error),
    /// Its process id means nothing in the daemon's pid namespace.
    #[error("the calling process is outside the daemon's process namespace")]
    Invisible,
    /// It runs as somebody else.
    #[error("process {pid} runs as uid {uid}, and only uid {own} may connect")]
    OtherUser {
        /// The peer.
        pid: u32,
        /// Its user.
        uid: u32,
        /// The daemon's user.
        own: u32,
    },
    /// It ended before it could be judged.
    #[error("process {pid} is gone")]
    Gone {
        /// The peer.
        pid: u32,
    },
    /// Nothing holds on to the process, so what is read of it may be another's.
    #[error("cannot hold on to process {pid}")]
    NoPidfd {
        /// The peer.
        pid: u32,
        /// The kernel's answer.
        #[source]
        source: Errno,
    },
    /// Its state, or that of a parent, cannot be read.
    #[error("cannot tell where process {pid} comes from")]
    Unreadable {
        /// The peer.
        pid: u32,
        /// What could not be read.
        #[source]
        source: ProcessError,
    },
    /// It runs inside a sandbox.
    #[error("process {pid} is confined, and a confined command may not talk to the daemon")]
    Confined {
        /// The peer.
        pid: u32,
    },
    /// It belongs to a task.
    #[error("process {pid} belongs to a task (supervisor {supervisor})")]
    Task {
        /// The peer.
        pid: u32,
        /// The supervisor above it.
        supervisor: u32,
    },
    /// Its parents have no end.
    #[error("process {pid} has more than {MAX_ANCESTORS} parents above it")]
    TooDeep {
        /// The peer.
        pid: u32,
    },
}

/// A peer that was let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Caller {
    /// Its process.
    pub(super) pid: u32,
    /// Its user, the daemon's own.
    pub(super) uid: u32,
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "pid {}, uid {}", self.pid, self.uid)
    }
}

/// Judges the peer of a connection. `own` is the daemon's own process.
pub(super) fn judge(
    stream: &UnixStream,
    own: &Process,
    descent: &dyn Descent,
) -> Result<Caller, Refusal> {
    let credentials = stream.peer_cred().map_err(Refusal::NoCredentials)?;
    let pid = credentials
        .pid()
        .and_then(|pid| u32::try_from(pid).ok())
        .filter(|pid| *pid != 0)
        .ok_or(Refusal::Invisible)?;
    let caller = Caller { pid, uid: credentials.uid() };
    judge_process(stream, (pid, caller.uid), own, descent)?;
    Ok(caller)
}

/// Judges the process at the other end of a socket, whose credentials name this process and user.
pub(crate) fn judge_process(
    socket: impl AsFd,
    (pid, uid): (u32, u32),
    own: &Process,
    descent: &dyn Descent,
) -> Result<(), Refusal> {
    same_user(pid, uid)?;
    let pidfd = hold_peer(socket, pid)?;
    let peer = match Process::read(pid) {
        Err(ProcessError::Gone { .. }) => return Err(Refusal::Gone { pid }),
        read => read.map_err(|source| Refusal::Unreadable { pid, source })?,
    };
    same_user(pid, peer.uid)?;
    if peer.is_confined_beyond(own) {
        return Err(Refusal::Confined { pid });
    }
    descends_from_no_task(&peer, descent)?;
    // While the process lives, its number is nobody else's: all that was read is about it.
    if has_ended(&pidfd) { Err(Refusal::Gone { pid }) } else { Ok(()) }
}

fn same_user(pid: u32, uid: u32) -> Result<(), Refusal> {
    let own = geteuid().as_raw();
    if uid == own { Ok(()) } else { Err(Refusal::OtherUser { pid, uid, own }) }
}

/// Holds on to the peer itself; where the kernel cannot hand it over (before Linux 6.5), to whoever has its number now.
fn hold_peer(socket: impl AsFd, pid: u32) -> Result<OwnedFd, Refusal> {
    match sys::peer::pidfd(socket) {
        Ok(pidfd) => Ok(pidfd),
        Err(Errno::NOPROTOOPT) => hold(pid),
        Err(Errno::SRCH | Errno::INVAL) => Err(Refusal::Gone { pid }),
        Err(source) => Err(Refusal::NoPidfd { pid, source }),
    }
}

fn hold(pid: u32) -> Result<OwnedFd, Refusal> {
    let raw = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(Refusal::Invisible)?;
    pidfd_open(raw, PidfdFlags::empty()).map_err(|source| match source {
        Errno::SRCH => Refusal::Gone { pid },
        source => Refusal::NoPidfd { pid, source },
    })
}

/// A pidfd is readable once its process has ended (pidfd_open(2)).
fn has_ended(pidfd: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(pidfd, PollFlags::IN)];
    !matches!(poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(0))
}

/// Walks from the peer up to the first process. A parent that ends meanwhile hands its children to
/// the next subreaper above, so the walk starts again.
fn descends_from_no_task(peer: &Process, descent: &dyn Descent) -> Result<(), Refusal> {
    let mut attempt = 1;
    loop {
        match walk(peer.pid, descent) {
            Err(Refusal::Unreadable { source: ProcessError::Gone { .. }, .. })
                if attempt < ATTEMPTS =>
            {
                attempt += 1;
            }
            verdict => return verdict,
        }
    }
}

fn walk(pid: u32, descent: &dyn Descent) -> Result<(), Refusal> {
    let mut at = pid;
    for _ in 0..MAX_ANCESTORS {
        if descent.is_supervisor(at) {
            return Err(Refusal::Task { pid, supervisor: at });
        }
        if at <= 1 {
            return Ok(());
        }
        at = Process::read(at).map_err(|source| Refusal::Unreadable { pid, source })?.parent;
    }
    Err(Refusal::TooDeep { pid })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn another_user_is_refused_root_included() {
        let own = geteuid().as_raw();
        assert!(same_user(7, own).is_ok());
        let other = if own == 0 { 1000 } else { 0 };
        assert_eq!(
            same_user(7, other).unwrap_err().to_string(),
            format!("process 7 runs as uid {other}, and only uid {own} may connect")
        );
    }

    #[test]
    fn a_process_that_is_gone_cannot_be_held() {
        // Above the largest pid_max there can be.
        assert!(matches!(hold(1 << 23), Err(Refusal::Gone { pid: 8_388_608 })));
    }

    #[test]
    fn an_end_is_seen_through_the_pidfd() {
        assert!(!has_ended(&hold(std::process::id()).unwrap()));
        let mut child = Command::new("sleep").arg("60").spawn().unwrap();
        let pidfd = hold(child.id()).unwrap();
        assert!(!has_ended(&pidfd));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(has_ended(&pidfd));
    }

    #[test]
    fn what_is_held_is_the_peer_whoever_has_its_number_by_now() {
        let scratch = crate::session::testing::Scratch::new();
        let path = scratch.path("socket");
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let connect =
            "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])";
        let mut peer = Command::new("python3").args(["-c", connect]).arg(&path).spawn().unwrap();
        let (socket, _) = listener.accept().unwrap();
        peer.wait().unwrap();
        // This process lives; the peer does not.
        let held = hold_peer(&socket, std::process::id());
        assert!(held.is_err() || held.is_ok_and(|pidfd| has_ended(&pidfd)));
        assert!(!has_ended(&hold(std::process::id()).unwrap()));
    }
}
