//! Descriptor tables: what a new process may have inherited.

use std::os::fd::{FromRawFd as _, OwnedFd, RawFd};
use std::sync::{Mutex, PoisonError};

use rustix::io::Errno;

/// Marks every open descriptor from `first` on as close-on-exec, so that nothing but what is handed over on purpose
/// survives an exec (close_range(2), `CLOSE_RANGE_CLOEXEC`, Linux 5.11).
///
/// # Errors
/// The kernel's answer; `ENOSYS` before Linux 5.9, `EINVAL` before 5.11.
pub fn close_on_exec_from(first: u32) -> Result<(), Errno> {
    // SAFETY: the call takes three integers and touches no memory; marking a descriptor invalidates none.
    let answer =
        unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) };
    if answer == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Takes over a descriptor that this process was started with, and marks it close-on-exec. Descriptors 0 to 2 are the
/// standard library's and are not given away.
///
/// # Errors
/// `EBADF` when there is none of that number, or when it did not come through exec or was taken already.
pub fn take_inherited(number: RawFd) -> Result<OwnedFd, Errno> {
    static TAKING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = TAKING.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the call takes two integers and touches no memory.
    let flags = unsafe { libc::fcntl(number, libc::F_GETFD) };
    if flags < 0 {
        return Err(last_errno());
    }
    if number <= 2 || flags & libc::FD_CLOEXEC != 0 {
        return Err(Errno::BADF);
    }
    // SAFETY: the call takes three integers and touches no memory; marking a descriptor invalidates none.
    let marked = unsafe { libc::fcntl(number, libc::F_SETFD, flags | libc::FD_CLOEXEC) };
    if marked < 0 {
        return Err(last_errno());
    }
    // SAFETY: the descriptor is open and came through exec, for it was not close-on-exec, and everything that this
    // process opened is; so nobody here owns it. It is marked by now, and no second call takes it.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// The error of the last libc call of this thread.
pub(super) fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::os::fd::{AsRawFd as _, IntoRawFd as _};

    #[test]
    fn only_what_came_through_exec_is_given_away_and_only_once() {
        let own = File::open("/dev/null").unwrap();
        assert_eq!(take_inherited(own.as_raw_fd()).unwrap_err(), Errno::BADF);
        assert_eq!(take_inherited(1).unwrap_err(), Errno::BADF);
        assert_eq!(take_inherited(-1).unwrap_err(), Errno::BADF);

        let inherited = rustix::io::dup(&own).unwrap().into_raw_fd();
        let taken = take_inherited(inherited).unwrap();
        assert_eq!(taken.as_raw_fd(), inherited);
        assert_eq!(take_inherited(inherited).unwrap_err(), Errno::BADF);
    }
}
