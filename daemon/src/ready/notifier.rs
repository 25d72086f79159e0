//! Messages to systemd (sd_notify(3)).

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::Arc;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Where systemd listens, by a path or, after `@`, an abstract name.
const NOTIFY_SOCKET: &str = "NOTIFY_SOCKET";

/// How long a message may wait for a reader that is busy.
const PATIENCE: Duration = Duration::from_secs(1);

/// Tells systemd how the daemon is, where it asked for that. Clones tell the same.
///
/// A variable that names a socket where nobody listens is no fault of the daemon's: it is inherited by whatever a service
/// starts, and outlives that service's own start.
#[derive(Clone, Debug)]
pub(crate) struct Notifier(Option<Arc<OsString>>);

/// What is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum News {
    /// It serves, for the first time or again.
    Ready,
    /// It reads its configuration again; [`News::Ready`] says that it has.
    Reloading,
    /// It stops what runs, and ends.
    Stopping,
    /// Its runtime still gets round to things.
    Alive,
}

impl Notifier {
    /// Asks the environment where to.
    pub(crate) fn new(environment: impl Fn(&str) -> Option<OsString>) -> Self {
        Notifier(environment(NOTIFY_SOCKET).filter(|name| !name.is_empty()).map(Arc::new))
    }

    /// Whether anybody asked.
    pub(super) fn is_asked(&self) -> bool {
        self.0.is_some()
    }

    /// Tells it.
    pub(crate) fn tell(&self, news: News) {
        let Some(name) = &self.0 else { return };
        if let Err(error) = send(name, &news.message()) {
            tracing::warn!(socket = %name.display(), %error, ?news, "systemd is not told");
        }
    }
}

impl News {
    fn message(self) -> String {
        match self {
            News::Ready => "READY=1\nSTATUS=serving\n".to_owned(),
            News::Reloading => {
                let now = clock_gettime(ClockId::Monotonic);
                let microseconds = now.tv_sec * 1_000_000 + now.tv_nsec / 1_000;
                format!("RELOADING=1\nMONOTONIC_USEC={microseconds}\n")
            }
            News::Stopping => "STOPPING=1\nSTATUS=stopping foreground calls\n".to_owned(),
            News::Alive => "WATCHDOG=1\n".to_owned(),
        }
    }
}

fn send(name: &OsStr, message: &str) -> io::Result<()> {
    let address = match name.as_bytes().strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(name)?,
    };
    let socket = UnixDatagram::unbound()?;
    socket.set_write_timeout(Some(PATIENCE))?;
    socket.send_to_addr(message.as_bytes(), &address)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;

    fn notifier(name: &OsStr) -> Notifier {
        Notifier::new(|variable| (variable == NOTIFY_SOCKET).then(|| name.to_owned()))
    }

    fn received(socket: &UnixDatagram) -> String {
        let mut buffer = [0; 128];
        let length = socket.recv(&mut buffer).unwrap();
        String::from_utf8(buffer[..length].to_vec()).unwrap()
    }

    #[test]
    fn systemd_is_told_by_path_and_by_abstract_name() {
        let scratch = Scratch::new();
        let path = scratch.path("notify");
        let by_path = UnixDatagram::bind(&path).unwrap();
        notifier(path.as_os_str()).tell(News::Ready);
        assert_eq!(received(&by_path), "READY=1\nSTATUS=serving\n");

        let name = format!("brattice-test-{}", uuid::Uuid::now_v7());
        let abstract_name = SocketAddr::from_abstract_name(&name).unwrap();
        let by_name = UnixDatagram::bind_addr(&abstract_name).unwrap();
        notifier(OsStr::new(&format!("@{name}"))).tell(News::Stopping);
        assert_eq!(received(&by_name), "STOPPING=1\nSTATUS=stopping foreground calls\n");
    }

    #[test]
    fn nobody_is_told_where_nobody_asked() {
        assert!(!Notifier::new(|_| None).is_asked());
        assert!(!notifier(OsStr::new("")).is_asked());
    }

    #[test]
    fn a_socket_that_is_not_there_is_passed_over() {
        let gone = OsStr::new("/nonexistent/notify");
        assert!(send(gone, "READY=1\n").is_err());
        notifier(gone).tell(News::Ready);
    }
}
