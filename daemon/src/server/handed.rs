//! Sockets that systemd listens on already and hands over at the daemon's start (sd_listen_fds(3)).
//!
//! Clients that connect before the daemon is up wait in such a socket's queue, and its path is systemd's: made, kept
//! and removed by it. The daemon checks what it is given and takes it in place of a socket of its own; the locks on the
//! folders are taken all the same, by `socket`.

use std::ffi::OsString;
use std::io;
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use brattice_policy::sys::{self, Errno};
use brattice_protocol::hello::Role;
use rustix::net::{AddressFamily, SocketType, sockopt};
use rustix::process::geteuid;

/// The first descriptor that is handed over (`SD_LISTEN_FDS_START`).
const FIRST: RawFd = 3;

/// As many sockets as there are roles.
const MOST: usize = 2;

/// Sockets handed over, by what they are for.
#[derive(Debug, Default)]
pub(crate) struct HandedOver {
    pub(super) client: Option<HandedSocket>,
    pub(super) control: Option<HandedSocket>,
}

/// A listening socket that somebody else bound.
#[derive(Debug)]
pub(super) struct HandedSocket {
    pub(super) path: PathBuf,
    pub(super) listener: UnixListener,
}

/// Why what was handed over cannot be served on.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HandedError {
    /// The count is none.
    #[error("LISTEN_FDS holds {value:?}: expected the number of sockets that are handed over")]
    Count { value: String },
    /// There is no role for a third one.
    #[error(
        "{count} sockets are handed over: expected the agents' and the operators', at most {MOST}"
    )]
    TooMany { count: usize },
    /// The names fit neither rule.
    #[error(
        "the sockets handed over are named {names:?}: expected \"brattice\" and \"control\", each at most once, \
         or other names for all of them, and then the agents' socket first"
    )]
    Names { names: String },
    /// There is no such descriptor.
    #[error("descriptor {number} that LISTEN_FDS announces is not open")]
    NotOpen { number: RawFd, source: Errno },
    /// It is something else.
    #[error(
        "descriptor {number} that LISTEN_FDS announces {found}: expected a listening Unix stream socket"
    )]
    Unfit { number: RawFd, found: Found },
    /// The kernel does not say what it is.
    #[error("cannot look at descriptor {number} that LISTEN_FDS announces")]
    Look { number: RawFd, source: io::Error },
    /// Its path leads nowhere, or to something else.
    #[error("the socket {path} that was handed over is not at its path", path = .path.display())]
    NotThere { path: PathBuf },
    /// Others may connect.
    #[error(
        "others may connect to the socket {path} that was handed over (mode {mode:04o}); \
         its unit needs SocketMode=0600",
        path = .path.display()
    )]
    OpenToOthers { path: PathBuf, mode: u32 },
    /// Its path belongs to somebody else.
    #[error(
        "the socket {path} that was handed over belongs to uid {owner}, and the daemon runs as uid {own}; \
         its unit needs SocketUser=",
        path = .path.display()
    )]
    OtherOwner { path: PathBuf, owner: u32, own: u32 },
}

/// What a descriptor is instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    NoSocket,
    OtherFamily,
    OtherType,
    NotListening,
    WithoutPath,
}

impl std::fmt::Display for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Found::NoSocket => "is no socket",
            Found::OtherFamily => "is a socket of another family",
            Found::OtherType => "is a Unix socket of another type",
            Found::NotListening => "is a Unix stream socket that does not listen",
            Found::WithoutPath => "is a Unix socket without an absolute path",
        })
    }
}

impl HandedOver {
    /// Takes the sockets that the environment announces to this process. Variables that name another process were
    /// inherited from it and count for nothing.
    ///
    /// Called once, before anything is started: what is not taken by then is closed for every child.
    ///
    /// # Errors
    /// See [`HandedError`]: what is announced and cannot be served on is no reason to bind another socket.
    pub(crate) fn take(
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<HandedOver, HandedError> {
        let own = std::process::id().to_string();
        if environment("LISTEN_PID").is_none_or(|pid| pid != own.as_str()) {
            return Ok(HandedOver::default());
        }
        let roles = announced(environment("LISTEN_FDS"), environment("LISTEN_FDNAMES"))?;
        let mut handed = HandedOver::default();
        for (number, role) in (FIRST..).zip(roles) {
            let fd = sys::fd::take_inherited(number)
                .map_err(|source| HandedError::NotOpen { number, source })?;
            let socket = HandedSocket::check(fd, number)?;
            match role {
                Role::Client => handed.client = Some(socket),
                Role::Operator => handed.control = Some(socket),
            }
        }
        Ok(handed)
    }

    /// Where the socket of a role is, if it was handed over.
    pub(crate) fn path(&self, role: Role) -> Option<&Path> {
        let socket = match role {
            Role::Client => self.client.as_ref(),
            Role::Operator => self.control.as_ref(),
        };
        socket.map(|socket| socket.path.as_path())
    }
}

/// What each descriptor is for: by its name, or by the order where no name is one of ours.
fn announced(count: Option<OsString>, names: Option<OsString>) -> Result<Vec<Role>, HandedError> {
    let value = count.unwrap_or_default().to_string_lossy().into_owned();
    let Ok(count) = value.parse::<usize>() else { return Err(HandedError::Count { value }) };
    if count > MOST {
        return Err(HandedError::TooMany { count });
    }
    let in_order = || [Role::Client, Role::Operator].into_iter().take(count).collect();
    let Some(names) = names.filter(|names| !names.is_empty()) else { return Ok(in_order()) };
    let names = names.to_string_lossy().into_owned();
    let by_name: Vec<Option<Role>> = names.split(':').map(named).collect();
    if by_name.iter().all(Option::is_none) && by_name.len() == count {
        return Ok(in_order());
    }
    let roles: Vec<Role> = by_name.iter().copied().flatten().collect();
    let once = |role: &Role| roles.iter().filter(|other| *other == role).count() == 1;
    match roles.len() == count && by_name.len() == count && roles.iter().all(once) {
        true => Ok(roles),
        false => Err(HandedError::Names { names }),
    }
}

fn named(name: &str) -> Option<Role> {
    match name {
        "brattice" => Some(Role::Client),
        "control" => Some(Role::Operator),
        _ => None,
    }
}

impl HandedSocket {
    fn check(fd: OwnedFd, number: RawFd) -> Result<HandedSocket, HandedError> {
        let unfit = |found| HandedError::Unfit { number, found };
        let look = |source: io::Error| HandedError::Look { number, source };
        match sockopt::socket_domain(&fd) {
            Ok(AddressFamily::UNIX) => {}
            Ok(_) => return Err(unfit(Found::OtherFamily)),
            Err(Errno::NOTSOCK) => return Err(unfit(Found::NoSocket)),
            Err(errno) => return Err(look(errno.into())),
        }
        if sockopt::socket_type(&fd).map_err(|errno| look(errno.into()))? != SocketType::STREAM {
            return Err(unfit(Found::OtherType));
        }
        if !sockopt::socket_acceptconn(&fd).map_err(|errno| look(errno.into()))? {
            return Err(unfit(Found::NotListening));
        }
        let listener = UnixListener::from(fd);
        // It is shared with systemd, which does not mind; the runtime needs it.
        listener.set_nonblocking(true).map_err(look)?;
        let address = listener.local_addr().map_err(look)?;
        match address.as_pathname().filter(|path| path.is_absolute()) {
            Some(path) => {
                is_private(path)?;
                Ok(HandedSocket { path: path.to_owned(), listener })
            }
            None => Err(unfit(Found::WithoutPath)),
        }
    }
}

/// A socket of the daemon's own would be its user's and nobody else's to connect to; so is this one.
fn is_private(path: &Path) -> Result<(), HandedError> {
    let found = path.symlink_metadata().ok().filter(|found| found.file_type().is_socket());
    let path = path.to_owned();
    let Some(found) = found else { return Err(HandedError::NotThere { path }) };
    let (own, owner, mode) = (geteuid().as_raw(), found.uid(), found.mode() & 0o7777);
    if owner != own {
        return Err(HandedError::OtherOwner { path, owner, own });
    }
    if mode & 0o077 != 0 {
        return Err(HandedError::OpenToOthers { path, mode });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;
    use std::fs::Permissions;
    use std::net::TcpListener;
    use std::os::linux::net::SocketAddrExt as _;
    use std::os::unix::fs::PermissionsExt as _;
    use std::os::unix::net::{SocketAddr, UnixDatagram, UnixStream};

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    fn told(fd: impl Into<OwnedFd>) -> String {
        HandedSocket::check(fd.into(), 7).unwrap_err().to_string()
    }

    #[test]
    fn names_decide_where_they_are_ours_and_the_order_where_they_are_not() {
        const NAMES: &str = "expected \"brattice\" and \"control\", each at most once, or other names for all of \
                             them, and then the agents' socket first";
        let roles = |count: &str, names: Option<&str>| {
            let roles = announced(Some(count.into()), names.map(OsString::from));
            roles.map_err(|error| error.to_string())
        };
        let (client, control) = (Role::Client, Role::Operator);
        assert_eq!(roles("2", None), Ok(vec![client, control]));
        assert_eq!(roles("2", Some("brattice.socket:brattice.socket")), Ok(vec![client, control]));
        assert_eq!(roles("2", Some("control:brattice")), Ok(vec![control, client]));
        assert_eq!(roles("1", Some("control")), Ok(vec![control]));
        assert_eq!(roles("1", Some("unknown")), Ok(vec![client]));
        assert_eq!(roles("0", None), Ok(vec![]));
        for names in ["control:control", "brattice:other", "brattice", "a:b:c"] {
            let expected = format!("the sockets handed over are named {names:?}: {NAMES}");
            assert_eq!(roles("2", Some(names)), Err(expected));
        }
        assert_eq!(
            roles("3", None),
            Err("3 sockets are handed over: expected the agents' and the operators', at most 2"
                .to_owned())
        );
        assert_eq!(
            roles("two", None),
            Err("LISTEN_FDS holds \"two\": expected the number of sockets that are handed over"
                .to_owned())
        );
    }

    #[test]
    fn variables_of_another_process_count_for_nothing() {
        for pid in [None, Some("1"), Some("")] {
            let environment = |name: &str| match name {
                "LISTEN_PID" => pid.map(OsString::from),
                _ => Some("2".into()),
            };
            let handed = HandedOver::take(environment).unwrap();
            assert!(handed.client.is_none() && handed.control.is_none());
        }
    }

    #[test]
    fn a_listening_unix_stream_socket_is_taken_and_nothing_else() {
        let scratch = Scratch::new();
        let path = scratch.path("b.sock");
        let listener = UnixListener::bind(&path).unwrap();
        set_mode(&path, 0o600);
        let taken = HandedSocket::check(listener.into(), 7).unwrap();
        assert_eq!(taken.path, path);
        // Nobody has connected, and the runtime must not be held up by that.
        assert_eq!(taken.listener.accept().unwrap_err().kind(), io::ErrorKind::WouldBlock);

        let unfit = |found: &str| {
            format!(
                "descriptor 7 that LISTEN_FDS announces {found}: expected a listening Unix stream socket"
            )
        };
        let file = std::fs::File::open("/dev/null").unwrap();
        assert_eq!(told(file), unfit("is no socket"));
        let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(told(tcp), unfit("is a socket of another family"));
        let datagrams = UnixDatagram::bind(scratch.path("d.sock")).unwrap();
        assert_eq!(told(datagrams), unfit("is a Unix socket of another type"));
        let (connected, _other) = UnixStream::pair().unwrap();
        assert_eq!(told(connected), unfit("is a Unix stream socket that does not listen"));
        let name = format!("brattice-test-{}", uuid::Uuid::now_v7());
        let address = SocketAddr::from_abstract_name(name).unwrap();
        let nameless = UnixListener::bind_addr(&address).unwrap();
        assert_eq!(told(nameless), unfit("is a Unix socket without an absolute path"));
    }

    #[test]
    fn one_that_others_reach_or_that_has_gone_is_refused() {
        let scratch = Scratch::new();
        let path = scratch.path("b.sock");
        let listener = UnixListener::bind(&path).unwrap();
        set_mode(&path, 0o666);
        assert_eq!(
            told(listener.try_clone().unwrap()),
            format!(
                "others may connect to the socket {} that was handed over (mode 0666); its unit needs \
                 SocketMode=0600",
                path.display()
            )
        );
        std::fs::remove_file(&path).unwrap();
        assert_eq!(
            told(listener),
            format!("the socket {} that was handed over is not at its path", path.display())
        );
    }
}
