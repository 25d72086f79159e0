//! Signals: dispositions, masks, a descriptor that tells of dead children, and the broadcast that ends a domain.

use std::os::fd::{FromRawFd, OwnedFd};

use rustix::io::Errno;

use super::fd::last_errno;

/// A signal that Brattice sends to trees of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TreeSignal {
    /// `SIGTERM`.
    Terminate,
    /// `SIGCONT`, so that stopped processes can act on a `SIGTERM`.
    Continue,
    /// `SIGKILL`.
    Kill,
}

impl TreeSignal {
    const fn number(self) -> i32 {
        match self {
            TreeSignal::Terminate => libc::SIGTERM,
            TreeSignal::Continue => libc::SIGCONT,
            TreeSignal::Kill => libc::SIGKILL,
        }
    }
}

/// Gives every signal its default action. Ignored signals survive an exec, and the Rust runtime ignores `SIGPIPE`.
pub fn reset_dispositions() {
    for signal in 1..=libc::SIGRTMAX() {
        if signal != libc::SIGKILL && signal != libc::SIGSTOP {
            // SAFETY: SIG_DFL runs no code of ours. The only failure is EINVAL, for the numbers that libc keeps to
            // itself (32 and 33), whose action nobody has changed.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
    }
}

/// Lets the kernel reap children at once (`SIGCHLD` ignored, wait(2), NOTES).
pub fn discard_children() {
    // SAFETY: SIG_IGN runs no code of ours, and the number is valid.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
}

/// Gives `SIGCHLD` its default action back: children are kept until they are waited for.
pub fn keep_children() {
    // SAFETY: SIG_DFL runs no code of ours, and the number is valid.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Blocks every signal that can be blocked. A process that waits on descriptors alone is then ended by SIGKILL only.
///
/// # Errors
/// None that the kernel documents for these arguments.
pub fn block_all() -> Result<(), Errno> {
    let mut set = empty_set();
    // SAFETY: `set` is a valid signal set.
    unsafe { libc::sigfillset(&raw mut set) };
    set_mask(&set)
}

/// Sets the calling thread's mask to nothing; async-signal-safe.
pub(super) fn unblock_all() -> Result<(), Errno> {
    set_mask(&empty_set())
}

/// A descriptor that becomes readable when a child has changed state (signalfd(2)). `SIGCHLD` must be blocked.
///
/// # Errors
/// `EMFILE`, `ENFILE`, `ENOMEM`.
pub fn child_events() -> Result<OwnedFd, Errno> {
    let mut set = empty_set();
    // SAFETY: `set` is a valid signal set and the number a valid signal.
    unsafe { libc::sigaddset(&raw mut set, libc::SIGCHLD) };
    // SAFETY: `set` is initialised and only read.
    let fd = unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
    if fd < 0 {
        return Err(last_errno());
    }
    // SAFETY: the kernel just made this descriptor and nobody else knows its number.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Sends a signal of any number to a pinned process; 0 only asks whether that would be allowed (pidfd_send_signal(2)).
///
/// # Errors
/// The kernel's answer.
pub fn send(process: impl std::os::fd::AsFd, number: i32) -> Result<(), Errno> {
    use std::os::fd::AsRawFd as _;
    let fd = process.as_fd().as_raw_fd();
    let nothing: *const libc::siginfo_t = std::ptr::null();
    // SAFETY: the descriptor is borrowed for the call, and the pointer is null, which the call documents.
    let answer = unsafe { libc::syscall(libc::SYS_pidfd_send_signal, fd, number, nothing, 0u32) };
    if answer == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Proof that a broadcast from this process reaches its own domain and nothing else: it is below Landlock's signal
/// scope. Made only by [`Broadcast::check`]; a broadcast without it would reach every process of the user.
#[derive(Clone, Copy, Debug)]
pub struct Broadcast(());

impl Broadcast {
    /// Asks the kernel whether `outsider`, a process of the same user outside the domain, is out of reach.
    ///
    /// # Errors
    /// The signal could be sent, or failed for another reason than `EPERM`: no broadcast may be made.
    pub fn check(outsider: u32) -> Result<Self, NotScoped> {
        let pid = i32::try_from(outsider).ok().filter(|pid| *pid > 1).ok_or(NotScoped(outsider))?;
        // SAFETY: signal 0 is never delivered; the call takes two integers (kill(2)).
        let answer = unsafe { libc::kill(pid, 0) };
        if answer == -1 && last_errno() == Errno::PERM {
            Ok(Broadcast(()))
        } else {
            Err(NotScoped(outsider))
        }
    }

    /// Sends the signal to every process of this domain and of those nested in it, but not to this process. The
    /// kernel holds the task list for the whole walk, so no fork escapes it.
    ///
    /// # Errors
    /// `ESRCH` when there is none, `EPERM` when none may be signalled.
    pub fn send(self, signal: TreeSignal) -> Result<(), Errno> {
        // SAFETY: the call takes two integers. `self` proves that Landlock's scope filters the broadcast.
        let answer = unsafe { libc::kill(-1, signal.number()) };
        if answer == 0 { Ok(()) } else { Err(last_errno()) }
    }
}

/// This process can signal processes outside its domain, or it cannot be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("signals from this process to process {0} are not refused by a Landlock scope")]
pub struct NotScoped(pub u32);

fn empty_set() -> libc::sigset_t {
    // SAFETY: all-zero bytes are a valid (empty) signal set on Linux.
    unsafe { std::mem::zeroed() }
}

fn set_mask(set: &libc::sigset_t) -> Result<(), Errno> {
    // SAFETY: `set` is initialised; the old mask is not asked for.
    let answer = unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, set, std::ptr::null_mut()) };
    if answer == 0 { Ok(()) } else { Err(Errno::from_raw_os_error(answer)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unscoped_process_gets_no_broadcast() {
        let own = std::process::id();
        assert_eq!(Broadcast::check(own).map(|_| ()), Err(NotScoped(own)));
        assert_eq!(Broadcast::check(1).map(|_| ()), Err(NotScoped(1)));
        assert_eq!(Broadcast::check(u32::MAX).map(|_| ()), Err(NotScoped(u32::MAX)));
    }
}
