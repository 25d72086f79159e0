//! Locks that belong to an open file (fcntl_locking(2), "Open file description locks"): they end with the process, however it
//! ends, and unlike flock(2) a file that was opened for reading only cannot take one that excludes others.

use std::os::fd::{AsFd, AsRawFd as _};

use rustix::io::Errno;

use super::fd::last_errno;

/// Takes the lock that excludes every other on the whole file, without waiting. The file was opened for writing.
///
/// # Errors
/// `EAGAIN` while anybody holds a lock of any kind on it, `EBADF` on a file that was opened for reading.
pub fn try_write_lock(file: impl AsFd) -> Result<(), Errno> {
    let lock = whole_file(libc::F_WRLCK);
    let fd = file.as_fd().as_raw_fd();
    // SAFETY: the descriptor is borrowed for the call, and the kernel only reads the structure, which lives through it.
    let answer = unsafe { libc::fcntl(fd, libc::F_OFD_SETLK, &raw const lock) };
    if answer == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Gives up whatever lock this open file has, as its end does.
///
/// # Errors
/// The kernel's answer.
pub fn unlock(file: impl AsFd) -> Result<(), Errno> {
    let lock = whole_file(libc::F_UNLCK);
    let fd = file.as_fd().as_raw_fd();
    // SAFETY: the descriptor is borrowed for the call, and the kernel only reads the structure, which lives through it.
    let answer = unsafe { libc::fcntl(fd, libc::F_OFD_SETLK, &raw const lock) };
    if answer == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Whether somebody else holds that lock. A lock that only excludes writers does not count: whoever can read the file
/// can take one.
///
/// # Errors
/// The kernel's answer.
pub fn is_write_locked(file: impl AsFd) -> Result<bool, Errno> {
    let mut lock = whole_file(libc::F_RDLCK);
    let fd = file.as_fd().as_raw_fd();
    // SAFETY: the descriptor is borrowed for the call; the structure lives through it, is exclusively borrowed, and has the
    // layout that the call writes (fcntl_locking(2)).
    let answer = unsafe { libc::fcntl(fd, libc::F_OFD_GETLK, &raw mut lock) };
    if answer != 0 {
        return Err(last_errno());
    }
    Ok(i32::from(lock.l_type) != libc::F_UNLCK)
}

/// From the first byte to wherever the end may be. The field for a process must be 0.
fn whole_file(kind: i32) -> libc::flock {
    libc::flock {
        // The kinds are 0 to 2.
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: 0,
        l_len: 0,
        l_pid: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{File, OpenOptions};

    fn file() -> (File, File, File) {
        let path = std::env::temp_dir().join(format!("brattice-lock-{}", std::process::id()));
        let open =
            || OpenOptions::new().create(true).truncate(false).read(true).write(true).open(&path);
        let (one, other) = (open().unwrap(), open().unwrap());
        let reader = File::open(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        (one, other, reader)
    }

    #[test]
    fn one_at_a_time_holds_it_and_every_reader_can_see_that() {
        let (one, other, reader) = file();
        assert_eq!(is_write_locked(&reader), Ok(false));
        try_write_lock(&one).unwrap();
        assert_eq!(try_write_lock(&other), Err(Errno::AGAIN));
        assert_eq!((is_write_locked(&reader), is_write_locked(&other)), (Ok(true), Ok(true)));
        unlock(&one).unwrap();
        assert_eq!(is_write_locked(&reader), Ok(false));
        try_write_lock(&one).unwrap();
        drop(one);
        assert_eq!(is_write_locked(&reader), Ok(false));
        try_write_lock(&other).unwrap();
    }

    #[test]
    fn whoever_can_only_read_the_file_is_not_taken_for_a_holder() {
        let (one, _, reader) = file();
        assert_eq!(try_write_lock(&reader), Err(Errno::BADF));
        // What such a process can do: hold up whoever wants to exclude it, which is no lock that counts.
        let shared = whole_file(libc::F_RDLCK);
        // SAFETY: as in `try_write_lock`.
        let answer =
            unsafe { libc::fcntl(reader.as_raw_fd(), libc::F_OFD_SETLK, &raw const shared) };
        assert_eq!(answer, 0);
        assert_eq!(try_write_lock(&one), Err(Errno::AGAIN));
        assert_eq!(is_write_locked(&one), Ok(false));
        rustix::fs::flock(&reader, rustix::fs::FlockOperation::LockExclusive).unwrap();
        assert_eq!(is_write_locked(&one), Ok(false));
    }
}
