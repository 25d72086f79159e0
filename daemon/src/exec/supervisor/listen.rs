//! The socket by which the next daemon comes to a supervisor: `<session>/socket`.
//!
//! The folder is its user's alone and a confined command has no such sockets. What is left to refuse is another user, and
//! any session's commands: in danger mode they are ordinary processes of the same user. The path may be
//! longer than a socket's address (108 bytes, unix(7)), so both sides name it through a descriptor of its folder.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, sockopt};

use crate::exec::channel::Channel;
use crate::server;

/// The socket's name in a session's folder.
const SOCKET: &str = "socket";

/// Daemons that wait at once. There is one at a time.
const BACKLOG: i32 = 4;

/// Why a supervisor could not be reached.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    /// The socket cannot be connected to.
    #[error("cannot reach the supervisor at {}", path.display())]
    Connect { path: PathBuf, source: io::Error },
    /// Another user's process listens there.
    #[error("the supervisor at {} belongs to another user", path.display())]
    Stranger { path: PathBuf },
}

/// The listening socket.
pub(super) struct Listener(OwnedFd);

impl Listener {
    /// Listens in the folder; a socket that an earlier supervisor left gives way.
    pub(super) fn bind(folder: &Path) -> io::Result<Listener> {
        match std::fs::remove_file(folder.join(SOCKET)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            Ok(()) | Err(_) => {}
        }
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let socket = socket(flags)?;
        let (address, _folder) = address(folder)?;
        rustix::net::bind(&socket, &address)?;
        rustix::net::listen(&socket, BACKLOG)?;
        Ok(Listener(socket))
    }

    /// The next daemon's channel; `None` when none waits. Whoever is none is turned away.
    pub(super) fn accept(&self) -> Option<Channel> {
        loop {
            match rustix::net::accept_with(&self.0, SocketFlags::CLOEXEC) {
                Ok(socket) if is_daemon(&socket) => return Some(Channel::from_fd(socket)),
                Ok(_) | Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(_) => return None,
            }
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Whether the peer is let in as a daemon: as a client is let in by a daemon (`server::peer`).
fn is_daemon(socket: &OwnedFd) -> bool {
    let (Ok(peer), Ok(own)) = (sockopt::socket_peercred(socket), server::Process::own()) else {
        return false;
    };
    let pid = peer.pid.as_raw_nonzero().get().cast_unsigned();
    match server::judge_process(socket, (pid, peer.uid.as_raw()), &own, &Kin) {
        Ok(()) => true,
        Err(refusal) => {
            tracing::warn!(%refusal, "whoever came to the supervisor is no daemon");
            false
        }
    }
}

/// Every supervisor, whichever session it has and whatever version it is of, for no command of any session is a daemon.
struct Kin;

impl server::Descent for Kin {
    fn is_supervisor(&self, pid: u32) -> bool {
        // By how its name begins: a supervisor may be of an earlier program than this one, which was put aside under another
        // name. What cannot be seen is taken for one.
        let name = |process: &str| {
            let path = std::fs::read_link(format!("/proc/{process}/exe")).ok()?;
            let name = path.file_name()?.to_string_lossy().into_owned();
            Some(name.strip_suffix(" (deleted)").map(str::to_owned).unwrap_or(name))
        };
        let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let role = words.split(|byte| *byte == 0).nth(1);
        let other = name(&pid.to_string());
        let is_ours = |other: &String| name("self").is_none_or(|own| other.starts_with(&own));
        role == Some(b"supervise") && other.as_ref().is_none_or(is_ours)
    }
}

/// Connects to the supervisor of a session's folder; tells its process number beside the channel.
///
/// # Errors
/// Nobody listens there, or a stranger does.
pub(crate) fn connect(folder: &Path) -> Result<(Channel, u32), ConnectError> {
    let path = folder.join(SOCKET);
    let fault = |source: io::Error| ConnectError::Connect { path: path.clone(), source };
    // One that hangs lets connections wait until its backlog is full: then there is no waiting here.
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket(flags).map_err(|errno| fault(errno.into()))?;
    let (address, _folder) = address(folder).map_err(fault)?;
    rustix::net::connect(&socket, &address).map_err(|errno| fault(errno.into()))?;
    // The credentials of whoever called listen(2).
    let peer = sockopt::socket_peercred(&socket).map_err(|errno| fault(errno.into()))?;
    if peer.uid != rustix::process::geteuid() {
        return Err(ConnectError::Stranger { path });
    }
    Ok((Channel::from_fd(socket), peer.pid.as_raw_nonzero().get().cast_unsigned()))
}

fn socket(flags: SocketFlags) -> Result<OwnedFd, Errno> {
    rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)
}

/// The socket's address, which is valid while the folder's descriptor is open.
fn address(folder: &Path) -> io::Result<(SocketAddrUnix, OwnedFd)> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let folder = openat(CWD, folder, flags, Mode::empty())?;
    let path = format!("/proc/self/fd/{}/{SOCKET}", folder.as_raw_fd());
    Ok((SocketAddrUnix::new(path)?, folder))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;

    #[test]
    fn a_daemon_reaches_the_supervisor_however_long_the_path_is() {
        let scratch = Scratch::new();
        let folder = scratch.folder(&"long-name/".repeat(20));
        let listener = Listener::bind(&folder).unwrap();
        let (channel, pid) = connect(&folder).unwrap();
        assert_eq!(pid, std::process::id());
        let accepted = listener.accept().unwrap();
        channel.send(&"hello", Vec::new()).unwrap();
        assert_eq!(accepted.receive::<String>().unwrap().message, "hello");
        assert!(listener.accept().is_none());
        // A socket that is left is replaced.
        drop(listener);
        assert!(matches!(connect(&folder), Err(ConnectError::Connect { .. })));
        let _again = Listener::bind(&folder).unwrap();
        connect(&folder).unwrap();
    }
}
