//! The two Landlock calls that the `landlock` crate does not offer as they are needed here: the ABI number, and
//! restricting a thread by a ruleset that another process made (landlock(7)).

use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;

use super::fd::last_errno;

const CREATE_RULESET_VERSION: u32 = 1;

/// The running kernel's Landlock ABI.
///
/// # Errors
/// `ENOSYS` when the kernel was built without Landlock, `EOPNOTSUPP` when it was switched off at boot.
pub fn abi() -> Result<u32, Errno> {
    // SAFETY: with a null attribute, size 0 and this flag the call reads no memory (landlock_create_ruleset(2)).
    let answer = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            std::ptr::null::<u8>(),
            0usize,
            CREATE_RULESET_VERSION,
        )
    };
    if answer < 0 { Err(last_errno()) } else { Ok(u32::try_from(answer).unwrap_or(0)) }
}

/// Puts the calling thread, and all that it starts from now on, below this ruleset. It cannot be undone.
///
/// # Errors
/// `EPERM` without `no_new_privs`, `E2BIG` below 16 nested domains.
pub fn restrict_self(ruleset: BorrowedFd<'_>) -> Result<(), Errno> {
    restrict_self_raw(ruleset.as_raw_fd())
}

/// [`restrict_self`] by number; async-signal-safe, for the child of a vfork.
pub(super) fn restrict_self_raw(ruleset: i32) -> Result<(), Errno> {
    // SAFETY: the call takes two integers and touches no memory; a wrong number is EBADF.
    let answer = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0u32) };
    if answer == 0 { Ok(()) } else { Err(last_errno()) }
}
