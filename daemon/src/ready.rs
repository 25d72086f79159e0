//! Telling whoever started the daemon that it serves: a line on stdout, and systemd where it waits for that.

use std::ffi::OsStr;
use std::io::{self, Write as _};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};

/// Where systemd listens, by a path or, after `@`, an abstract name (sd_notify(3)).
const NOTIFY_SOCKET: &str = "NOTIFY_SOCKET";

/// Why nobody was told.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadyError {
    /// Standard output is closed.
    #[error("cannot say READY on stdout")]
    Stdout(#[source] io::Error),
}

/// Says that the daemon serves. A variable that names a socket where nobody listens is no reason not to: it is inherited
/// by whatever a service starts, and outlives that service's own start.
pub(crate) fn say() -> Result<(), ReadyError> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "READY").and_then(|()| stdout.flush()).map_err(ReadyError::Stdout)?;
    if let Some(name) = std::env::var_os(NOTIFY_SOCKET).filter(|name| !name.is_empty())
        && let Err(error) = notify(&name)
    {
        tracing::warn!(socket = %name.display(), %error, "systemd is not told that the daemon serves");
    }
    Ok(())
}

fn notify(name: &OsStr) -> io::Result<()> {
    let address = match name.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(name)?,
    };
    UnixDatagram::unbound()?.send_to_addr(b"READY=1\n", &address)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;

    fn received(socket: &UnixDatagram) -> Vec<u8> {
        let mut buffer = [0; 64];
        let length = socket.recv(&mut buffer).unwrap();
        buffer[..length].to_vec()
    }

    #[test]
    fn systemd_is_told_by_path_and_by_abstract_name() {
        let scratch = Scratch::new();
        let path = scratch.path("notify");
        let by_path = UnixDatagram::bind(&path).unwrap();
        notify(path.as_os_str()).unwrap();
        assert_eq!(received(&by_path), b"READY=1\n");

        let name = format!("brattice-test-{}", uuid::Uuid::now_v7());
        let abstract_name = SocketAddr::from_abstract_name(&name).unwrap();
        let by_name = UnixDatagram::bind_addr(&abstract_name).unwrap();
        notify(OsStr::new(&format!("@{name}"))).unwrap();
        assert_eq!(received(&by_name), b"READY=1\n");
    }

    #[test]
    fn a_socket_that_is_not_there_is_an_error() {
        assert!(notify(OsStr::new("/nonexistent/notify")).is_err());
    }
}
