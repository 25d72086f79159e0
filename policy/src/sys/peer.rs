//! Who is at the other end of a socket (unix(7), `SO_PEERPIDFD`): the process itself, not its number, which may be another's by
//! the time that it is looked up.

use std::os::fd::{AsFd, AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};

use rustix::io::Errno;

use super::fd::last_errno;

/// Linux 6.5, `asm-generic/socket.h`, the same number on x86_64 and aarch64.
const SO_PEERPIDFD: libc::c_int = 77;

/// A pidfd of the process that connected, or that made the pair. It stays that process's, ended or not.
///
/// # Errors
/// `ENOPROTOOPT` before Linux 6.5, `ESRCH` or `EINVAL` where the process has ended and was waited for, or is none that this
/// process can see.
pub fn pidfd(socket: impl AsFd) -> Result<OwnedFd, Errno> {
    let mut pidfd: RawFd = -1;
    // The size of an int.
    let mut length = size_of::<RawFd>() as libc::socklen_t;
    // SAFETY: the descriptor is borrowed for the call; the kernel writes at most `length` bytes, which is the size of `pidfd`, and
    // the length itself; both live through it and are exclusively borrowed.
    let answer = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            SO_PEERPIDFD,
            (&raw mut pidfd).cast(),
            &raw mut length,
        )
    };
    if answer != 0 {
        return Err(last_errno());
    }
    if pidfd < 0 {
        return Err(Errno::INVAL);
    }
    // SAFETY: the kernel has just made the descriptor for this process, so that nobody else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(pidfd) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::{UnixListener, UnixStream};
    use std::process::{Command, Stdio};

    #[test]
    fn a_pair_is_of_whoever_made_it() {
        let (near, _far) = UnixStream::pair().unwrap();
        let pidfd = pidfd(&near).unwrap();
        let told = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", pidfd.as_raw_fd()));
        assert!(told.unwrap().contains(&format!("Pid:\t{}\n", std::process::id())));
    }

    #[test]
    fn a_peer_that_has_ended_is_nobody_else() {
        let name = std::env::temp_dir().join(format!("brattice-peer-{}", std::process::id()));
        let listener = UnixListener::bind(&name).unwrap();
        let connect =
            "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])";
        let mut peer = Command::new("python3");
        let mut peer = peer.args(["-c", connect]).arg(&name).stdin(Stdio::null()).spawn().unwrap();
        let (socket, _) = listener.accept().unwrap();
        peer.wait().unwrap();
        std::fs::remove_file(&name).unwrap();
        // Since Linux 6.16 an ended process has one as well.
        if let Ok(pidfd) = pidfd(&socket) {
            let told = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", pidfd.as_raw_fd()));
            assert!(told.unwrap().contains("Pid:\t-1\n"));
        }
    }
}
