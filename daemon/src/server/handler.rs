//! The seam between the connections and what the daemon does: a [`Handler`] answers requests.
//!
//! The server decides what is a request and when it may be made; what a method means, and which
//! methods a role may call, is left to the handler.

use std::pin::Pin;
use std::sync::Arc;

use brattice_policy::layer::LayerReport;
use brattice_protocol::hello::{Peer, Role};
use brattice_protocol::{ErrorCode, RpcError};
use serde_json::Value;

use super::body::Body;
use super::connection::Connection;

/// A future that a trait object can return.
pub(crate) type BoxFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A peer that was not let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    /// The socket that it connected to.
    pub(crate) role: Role,
    /// Its process, where the kernel says.
    pub(crate) pid: Option<u32>,
    /// Its user, likewise.
    pub(crate) uid: Option<u32>,
    /// Why.
    pub(crate) reason: String,
}

/// Answers what clients ask.
pub(crate) trait Handler: Send + Sync + 'static {
    /// A connection said a valid `hello`: who the daemon is and what it can enforce. The
    /// connection's role and what it watches are known; its first [`Handler::call`] comes after.
    /// Runs on the connection's own task and must not block.
    fn hello(&self, from: &Arc<Connection>) -> (Peer, LayerReport);

    /// Answers one request. Runs as a task of its own: requests of one connection run side by side
    /// and are answered in any order. The task goes on when its connection closes (a dropped
    /// connection cancels nothing). A panic is answered `unavailable`. A method that does not
    /// exist is answered with [`method_not_found`].
    fn call(
        self: Arc<Self>,
        from: Arc<Connection>,
        method: String,
        params: Value,
    ) -> BoxFuture<Result<Body, RpcError>>;

    /// Somebody connected and was not let in, and is about to be told. Must not block.
    fn refused(&self, peer: Refused);

    /// A connection that had said `hello` is gone; told once. Calls of it may still be running: who
    /// registers something under a connection asks [`Connection::is_open`] after registering, for
    /// that is false from before this call on. Must not block.
    fn closed(&self, from: &Connection);
}

/// The answer to a method that does not exist. A long name is cut: it is the client's to choose.
pub(crate) fn method_not_found(name: &str) -> RpcError {
    const SHOWN: usize = 64;
    let shown: String = name.chars().take(SHOWN).collect();
    let cut = if shown.len() < name.len() { "..." } else { "" };
    let error = format!("unknown method \"{}{cut}\"", shown.escape_debug());
    RpcError::numbered(RpcError::METHOD_NOT_FOUND, ErrorCode::Invalid, error)
}
