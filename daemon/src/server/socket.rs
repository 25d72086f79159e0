//! Owning the two sockets: their folders' locks, their names, and nothing of anybody else's.
//!
//! A name is removed only under its folder's lock: a stale one (nobody listens) before binding,
//! the own one at the end, and that only while it still is the own socket. One that was handed over keeps its name.
//! What may be handed over is `handed`'s to judge, accepting is `accept`'s.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use brattice_protocol::hello::Role;
use rustix::fs::{Mode, chmod};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketAddrUnix, SocketFlags, SocketType, bind, connect, listen, socket_with,
};

use super::handed::{HandedOver, HandedSocket};
use super::lock::{FolderLock, LockError};

/// Longest path of a socket in bytes: `sun_path` of unix(7) less its closing NUL.
const MAX_PATH: usize = 107;

/// Connections that wait to be accepted; more are made to wait by the kernel.
const BACKLOG: i32 = 512;

/// Where the sockets are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SocketPaths {
    /// The socket of agent runtimes, `brattice.sock`.
    pub(crate) client: PathBuf,
    /// The socket of operators, `control.sock`.
    pub(crate) control: PathBuf,
}

/// Why the sockets cannot be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BindError {
    /// The kernel takes no path of that length.
    #[error(
        "the socket path {path} is {length} bytes long, and a socket's path has at most {MAX_PATH}; \
         set {variable} to a shorter one",
        path = .path.display()
    )]
    PathTooLong {
        /// The path.
        path: PathBuf,
        /// Its length in bytes.
        length: usize,
        /// The variable that moves it.
        variable: &'static str,
    },
    /// The path has no folder and no name, or cannot be made absolute.
    #[error("{path} cannot be the path of a socket", path = .path.display())]
    NoPath {
        /// The path.
        path: PathBuf,
    },
    /// Both sockets would have one name.
    #[error("the client's and the control socket cannot both be {path}", path = .path.display())]
    SamePath {
        /// The path.
        path: PathBuf,
    },
    /// The folder cannot be owned.
    #[error("cannot own the folder of the socket {path}", path = .path.display())]
    Folder {
        /// The socket.
        path: PathBuf,
        /// Why not.
        #[source]
        source: LockError,
    },
    /// Something that is no socket has the name.
    #[error("{path} exists and is no socket; remove it or choose another path", path = .path.display())]
    NoSocket {
        /// The path.
        path: PathBuf,
    },
    /// Somebody without the lock listens there.
    #[error("another process already listens on {path}", path = .path.display())]
    Live {
        /// The path.
        path: PathBuf,
    },
    /// The socket cannot be made; `step` is the system call that failed.
    #[error("cannot listen on {path}: {step} failed", path = .path.display())]
    Listen {
        /// The path.
        path: PathBuf,
        /// The system call.
        step: &'static str,
        /// The kernel's answer.
        #[source]
        source: io::Error,
    },
}

/// Locks on the folders of the sockets. While they are held, no other daemon starts there.
#[derive(Debug)]
#[must_use = "dropping the locks lets another daemon start"]
pub(crate) struct FolderLocks {
    _held: Vec<FolderLock>,
}

/// Both sockets, listening. Dropped, those bound here are removed before the locks are let go.
#[derive(Debug)]
pub(super) struct SocketPair {
    pub(super) client: BoundSocket,
    pub(super) control: BoundSocket,
    pub(super) locks: FolderLocks,
}

/// A listening socket and its name.
#[derive(Debug)]
pub(super) struct BoundSocket {
    pub(super) role: Role,
    pub(super) name: SocketName,
    pub(super) listener: UnixListener,
}

/// The name of a socket.
#[derive(Debug)]
pub(super) enum SocketName {
    /// Made by this process; removed when dropped, unless it is another's by then.
    Own { path: PathBuf, device: u64, inode: u64 },
    /// Whoever handed the socket over made it and removes it.
    HandedOver,
}

impl SocketPair {
    /// Locks the folders and binds the sockets that were not handed over, the client's last: whoever finds it finds
    /// both. The paths of those handed over are theirs.
    pub(super) fn bind(paths: &SocketPaths, handed: HandedOver) -> Result<Self, BindError> {
        let client = Place::new(&paths.client, Role::Client)?;
        let control = Place::new(&paths.control, Role::Operator)?;
        if client.path == control.path {
            return Err(BindError::SamePath { path: client.path });
        }
        let mut locks = vec![client.lock()?];
        if !client.is_beside(&control) {
            locks.push(control.lock()?);
        }
        let locks = FolderLocks { _held: locks };
        let control = control.open(handed.control)?;
        Ok(SocketPair { client: client.open(handed.client)?, control, locks })
    }
}

/// Where one socket goes.
struct Place {
    path: PathBuf,
    folder: PathBuf,
    role: Role,
}

impl Place {
    fn new(path: &Path, role: Role) -> Result<Self, BindError> {
        let no_path = || BindError::NoPath { path: path.to_path_buf() };
        let path = std::path::absolute(path).map_err(|_cwd| no_path())?;
        let length = path.as_os_str().as_bytes().len();
        if length > MAX_PATH {
            let variable = match role {
                Role::Client => "BRATTICE_SOCKET",
                Role::Operator => "BRATTICE_CONTROL_SOCKET (or BRATTICE_SOCKET, which moves both)",
            };
            return Err(BindError::PathTooLong { path, length, variable });
        }
        match (path.parent(), path.file_name()) {
            (Some(folder), Some(_)) => {
                Ok(Place { folder: folder.to_path_buf(), path: path.clone(), role })
            }
            _ => Err(no_path()),
        }
    }

    fn lock(&self) -> Result<FolderLock, BindError> {
        FolderLock::take(&self.folder)
            .map_err(|source| BindError::Folder { path: self.path.clone(), source })
    }

    /// Whether the other place's folder, by whatever name, is this one's.
    fn is_beside(&self, other: &Place) -> bool {
        match (self.folder.metadata(), other.folder.metadata()) {
            (Ok(this), Ok(that)) => (this.dev(), this.ino()) == (that.dev(), that.ino()),
            _ => false,
        }
    }

    fn open(self, handed: Option<HandedSocket>) -> Result<BoundSocket, BindError> {
        match handed {
            Some(HandedSocket { listener, .. }) => {
                Ok(BoundSocket { role: self.role, name: SocketName::HandedOver, listener })
            }
            None => self.bind(),
        }
    }

    /// Permissions are set between bind and listen: until then connecting is refused.
    fn bind(self) -> Result<BoundSocket, BindError> {
        let fault = |step| {
            let path = self.path.clone();
            move |errno: Errno| BindError::Listen { path, step, source: errno.into() }
        };
        let address = SocketAddrUnix::new(&self.path).map_err(fault("the address"))?;
        self.clear(&address)?;
        let socket = stream_socket().map_err(fault("socket"))?;
        bind(&socket, &address).map_err(fault("bind"))?;
        let found = self.path.symlink_metadata().map_err(|source| BindError::Listen {
            path: self.path.clone(),
            step: "stat",
            source,
        })?;
        let (path, device, inode) = (self.path.clone(), found.dev(), found.ino());
        let name = SocketName::Own { path, device, inode };
        chmod(&self.path, Mode::RUSR | Mode::WUSR).map_err(fault("chmod"))?;
        listen(&socket, BACKLOG).map_err(fault("listen"))?;
        Ok(BoundSocket { role: self.role, name, listener: UnixListener::from(socket) })
    }

    /// Removes a socket that nobody listens on; anything else that has the name is an error.
    fn clear(&self, address: &SocketAddrUnix) -> Result<(), BindError> {
        let path = || self.path.clone();
        match self.path.symlink_metadata() {
            Ok(found) if found.file_type().is_socket() => {}
            Ok(_) => return Err(BindError::NoSocket { path: path() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(source) => {
                return Err(BindError::Listen { path: path(), step: "stat", source });
            }
        }
        let fault = |step| {
            move |errno: Errno| BindError::Listen { path: path(), step, source: errno.into() }
        };
        let probe = stream_socket().map_err(fault("socket"))?;
        match connect(&probe, address) {
            Err(Errno::CONNREFUSED) => {
                rustix::fs::unlink(&self.path).map_err(fault("unlink of the stale socket"))
            }
            // EAGAIN: somebody listens, and his queue is full (unix(7)).
            Ok(()) | Err(Errno::AGAIN) => Err(BindError::Live { path: path() }),
            Err(errno) => Err(fault("connect, to see whether somebody listens,")(errno)),
        }
    }
}

fn stream_socket() -> Result<OwnedFd, Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)
}

impl Drop for SocketName {
    fn drop(&mut self) {
        let SocketName::Own { path, device, inode } = self else { return };
        let is_own = |found: std::fs::Metadata| (found.dev(), found.ino()) == (*device, *inode);
        if !path.symlink_metadata().is_ok_and(is_own) {
            return;
        }
        if let Err(error) = std::fs::remove_file(&path) {
            tracing::warn!(path = %path.display(), %error, "cannot remove the socket");
        }
    }
}
