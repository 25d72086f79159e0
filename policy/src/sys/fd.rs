//! Descriptor tables: what a new process may have inherited.

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

/// The error of the last libc call of this thread.
pub(super) fn last_errno() -> Errno {
    Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO)
}
