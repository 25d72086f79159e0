//! The server as a whole: both sockets from binding to the last answer.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use brattice_protocol::hello::Role;
use tokio::net::UnixListener;
use tokio::sync::watch;

use super::accept::{Reception, accept_all, drain};
use super::handed::HandedOver;
use super::handler::Handler;
use super::limits::ConnectionLimits;
use super::lock::LockError;
use super::peer::Descent;
use super::process::{Process, ProcessError};
use super::socket::{BindError, BoundSocket, FolderLocks, SocketName, SocketPair, SocketPaths};

/// Why the server cannot start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServerError {
    /// The sockets cannot be had.
    #[error("cannot open the daemon's sockets")]
    Bind(#[source] BindError),
    /// Peers cannot be compared with the daemon.
    #[error("cannot tell how the daemon itself is confined; is /proc mounted?")]
    Own(#[source] ProcessError),
    /// The runtime does not take a listener.
    #[error("cannot wait for connections")]
    Register(#[source] std::io::Error),
}

impl ServerError {
    /// Whether another daemon has the sockets.
    pub(crate) fn is_taken(&self) -> bool {
        matches!(
            self,
            ServerError::Bind(BindError::Folder {
                source: LockError::Held { .. } | LockError::HeldBy { .. },
                ..
            })
        )
    }
}

/// Bound sockets that nobody is accepted on yet; clients that connect meanwhile wait.
#[derive(Debug)]
pub(crate) struct Server {
    client: Socket,
    control: Socket,
    locks: FolderLocks,
    own: Process,
}

#[derive(Debug)]
struct Socket {
    name: SocketName,
    listener: UnixListener,
    role: Role,
}

impl Socket {
    fn new(BoundSocket { role, name, listener }: BoundSocket) -> Result<Self, ServerError> {
        let listener = UnixListener::from_std(listener).map_err(ServerError::Register)?;
        Ok(Socket { name, listener, role })
    }

    /// Accepts until the shutdown, then removes the own name; returns with the last connection.
    async fn run(self, reception: Arc<Reception>, shutdown: watch::Receiver<bool>) {
        let Socket { name, listener, role } = self;
        let connections = accept_all(listener, role, reception, shutdown).await;
        drop(name);
        drain(connections).await;
    }
}

impl Server {
    /// Owns both sockets, and binds those that were not handed over. Called inside the tokio runtime that will serve
    /// them.
    pub(crate) fn bind(paths: &SocketPaths, handed: HandedOver) -> Result<Self, ServerError> {
        let SocketPair { client, control, locks } =
            SocketPair::bind(paths, handed).map_err(ServerError::Bind)?;
        Ok(Server {
            client: Socket::new(client)?,
            control: Socket::new(control)?,
            locks,
            own: Process::own().map_err(ServerError::Own)?,
        })
    }

    /// Serves until `shutdown` is true or its sender is gone: then accepts nobody, refuses new
    /// requests, and returns when all requests in flight are answered. How long that may take is
    /// the caller's to limit. The locks returned keep other daemons out until they are dropped.
    pub(crate) async fn serve(
        self,
        handler: Arc<dyn Handler>,
        descent: Arc<dyn Descent>,
        limits: ConnectionLimits,
        shutdown: watch::Receiver<bool>,
    ) -> FolderLocks {
        let Server { client, control, locks, own } = self;
        let numbers = AtomicU64::new(1);
        let reception = Arc::new(Reception { handler, descent, limits, own, numbers });
        tokio::join!(
            client.run(Arc::clone(&reception), shutdown.clone()),
            control.run(reception, shutdown)
        );
        locks
    }
}
