//! What one connection, and all connections of a socket together, may take.

use std::time::Duration;

use brattice_protocol::codec::{MAX_DEPTH, MAX_MESSAGE};
use brattice_protocol::hello::WireLimits;

/// Longest text of a result in bytes; the handler keeps it, `hello` tells it.
pub(super) const INLINE_BYTES: usize = 256 << 10;

/// Longest text id of a request in bytes: it is echoed in every answer, refusals too.
pub(super) const MAX_ID: usize = 256;

/// Limits of the server. [`Default`] is what the protocol promises; tests use shorter ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ConnectionLimits {
    /// A client says `hello` within this time of connecting.
    pub(crate) handshake: Duration,
    /// A client that reads nothing for this long, while there is something to read, is dropped.
    pub(crate) stall: Duration,
    /// How long an idle connection is kept while the daemon shuts down: a client between two reads of what it waits for.
    pub(crate) linger: Duration,
    /// Requests in flight on one connection; one more is answered `busy`.
    pub(crate) in_flight: usize,
    /// Bytes of notifications that wait for one client; what does not fit is dropped.
    pub(crate) notification_bytes: usize,
    /// Connections of one socket; one more is answered `busy` and closed. Each socket has its own
    /// count, so that clients never lock an operator out.
    pub(crate) connections: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        ConnectionLimits {
            handshake: Duration::from_secs(10),
            stall: Duration::from_secs(30),
            linger: Duration::from_millis(300),
            in_flight: 64,
            notification_bytes: 4 << 20,
            connections: 256,
        }
    }
}

impl ConnectionLimits {
    /// The limits that a client must know, as `hello` tells them.
    pub(super) fn on_the_wire(&self) -> WireLimits {
        WireLimits {
            message_bytes: MAX_MESSAGE,
            message_depth: MAX_DEPTH,
            in_flight: self.in_flight,
            inline_bytes: INLINE_BYTES,
        }
    }
}
