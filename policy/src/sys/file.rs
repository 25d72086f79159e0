//! Calls on a pinned file (an `O_PATH` descriptor) that have no path: what the user may do with it, and changes of its
//! metadata. `rustix` has these by path only.

use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd as _};

use rustix::io::Errno;

use super::fd::last_errno;

/// What is asked of a file: access(2)'s bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Read it.
    Read,
    /// Write to it.
    Write,
    /// Make and remove names in a folder: write and search.
    Names,
}

/// What the file's permissions say to this process (faccessat2(2), Linux 5.8). No security module is asked.
pub fn permits(file: impl AsFd, permission: Permission) -> bool {
    let mode = match permission {
        Permission::Read => libc::R_OK,
        Permission::Write => libc::W_OK,
        Permission::Names => libc::W_OK | libc::X_OK,
    };
    let flags = libc::AT_EMPTY_PATH | libc::AT_EACCESS;
    let fd = file.as_fd().as_raw_fd();
    // SAFETY: the path is a static, empty text; the descriptor is borrowed for the call.
    unsafe { libc::syscall(libc::SYS_faccessat2, fd, c"".as_ptr(), mode, flags) == 0 }
}

/// Changes the mode (fchmodat2(2), Linux 6.6).
///
/// # Errors
/// The kernel's answer.
pub fn change_mode(file: impl AsFd, mode: u32) -> Result<(), Errno> {
    const FCHMODAT2: libc::c_long = 452;
    let fd = file.as_fd().as_raw_fd();
    // SAFETY: the path is a static, empty text; the descriptor is borrowed for the call.
    result(unsafe { libc::syscall(FCHMODAT2, fd, c"".as_ptr(), mode, libc::AT_EMPTY_PATH) })
}

/// Changes owner and group; `u32::MAX` leaves one as it is (fchownat(2)).
///
/// # Errors
/// The kernel's answer.
pub fn change_owner(file: impl AsFd, owner: u32, group: u32) -> Result<(), Errno> {
    let fd = file.as_fd().as_raw_fd();
    let empty = c"".as_ptr();
    // SAFETY: as in `change_mode`.
    result(unsafe {
        libc::syscall(libc::SYS_fchownat, fd, empty, owner, group, libc::AT_EMPTY_PATH)
    })
}

/// Seconds and nanoseconds, or one of the marks of utimensat(2) in the latter.
pub type Time = [i64; 2];

/// Changes the times of access and change; `None` sets both to now (utimensat(2), on a pinned file since Linux 5.8).
///
/// # Errors
/// The kernel's answer.
pub fn change_times(file: impl AsFd, times: Option<&[Time; 2]>) -> Result<(), Errno> {
    let fd = file.as_fd().as_raw_fd();
    let times = times.map_or(std::ptr::null(), |times| times.as_ptr());
    // SAFETY: as in `change_mode`; `times` is null or points to two live `struct timespec` (two 64-bit numbers each).
    result(unsafe {
        libc::syscall(libc::SYS_utimensat, fd, c"".as_ptr(), times, libc::AT_EMPTY_PATH)
    })
}

/// Sets an extended attribute of the file that a path leads to (setxattr(2)).
///
/// # Errors
/// The kernel's answer.
pub fn set_attribute(path: &CStr, name: &CStr, value: &[u8], flags: i32) -> Result<(), Errno> {
    // SAFETY: both texts end with NUL; `value` is borrowed through the call with its length.
    result(unsafe {
        libc::syscall(
            libc::SYS_setxattr,
            path.as_ptr(),
            name.as_ptr(),
            value.as_ptr(),
            value.len(),
            flags,
        )
    })
}

/// Removes an extended attribute of the file that a path leads to (removexattr(2)).
///
/// # Errors
/// The kernel's answer.
pub fn remove_attribute(path: &CStr, name: &CStr) -> Result<(), Errno> {
    // SAFETY: both texts end with NUL and live through the call.
    result(unsafe { libc::syscall(libc::SYS_removexattr, path.as_ptr(), name.as_ptr()) })
}

/// Connects a socket to an address as the caller wrote it (connect(2)).
///
/// # Errors
/// The kernel's answer; `EINVAL` for an address longer than any is.
pub fn connect(socket: impl AsFd, address: &[u8]) -> Result<(), Errno> {
    let length = libc::socklen_t::try_from(address.len()).map_err(|_| Errno::INVAL)?;
    let fd = socket.as_fd().as_raw_fd();
    // SAFETY: the kernel reads `length` bytes at `address`, which is borrowed through the call, and checks their form.
    let answer = unsafe { libc::connect(fd, address.as_ptr().cast(), length) };
    result(answer.into())
}

fn result(answer: libc::c_long) -> Result<(), Errno> {
    if answer == 0 { Ok(()) } else { Err(last_errno()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, Mode, OFlags};

    #[test]
    fn metadata_of_a_pinned_file_changes() {
        let path = std::env::temp_dir().join(format!("brattice-file-{}", std::process::id()));
        std::fs::write(&path, "x").unwrap();
        let pinned = rustix::fs::openat(CWD, &path, OFlags::PATH, Mode::empty()).unwrap();
        assert!(permits(&pinned, Permission::Read) && permits(&pinned, Permission::Write));
        change_mode(&pinned, 0o640).unwrap();
        change_times(&pinned, Some(&[[1, 0], [2, 5]])).unwrap();
        change_owner(&pinned, u32::MAX, u32::MAX).unwrap();
        let stat = rustix::fs::fstat(&pinned).unwrap();
        std::fs::remove_file(path).unwrap();
        assert_eq!((stat.st_mode & 0o777, stat.st_mtime, stat.st_mtime_nsec), (0o640, 2, 5));
    }
}
