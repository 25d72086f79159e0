//! Why a request or a connection failed. Displays name the thing; causes are linked, never printed inside.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use brattice_protocol::codec::{DecodeError, MAX_MESSAGE};
use brattice_protocol::{ErrorCode, PROTOCOL, RpcError};

/// A failed connection or request.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// Nothing answers at the socket.
    #[error("cannot connect to the daemon at {}", path.display())]
    Connect {
        /// The socket.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// Something accepted the connection and then said nothing.
    #[error("the daemon at {} did not answer within {seconds} s", path.display())]
    Silent {
        /// The socket.
        path: PathBuf,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The daemon speaks another version of the protocol.
    #[error("the daemon speaks protocol {theirs}, this client {PROTOCOL}")]
    Protocol {
        /// The daemon's version.
        theirs: u32,
    },
    /// The daemon closed the connection without a word.
    #[error("the daemon closed the connection")]
    Closed,
    /// The daemon told why it closes the connection.
    #[error("the daemon refused the connection")]
    Refused(#[source] RpcError),
    /// The socket failed.
    #[error("the connection to the daemon broke")]
    Broken(#[source] Arc<io::Error>),
    /// The daemon sent something that is no message; the connection is given up.
    #[error("the daemon sent a line that is no message")]
    Undecodable(#[source] Arc<DecodeError>),
    /// The daemon answered with an error.
    #[error(transparent)]
    Rpc(RpcError),
    /// The parameters cannot be written as JSON.
    #[error("cannot encode the parameters of {method}")]
    Encode {
        /// The method.
        method: String,
        /// What is wrong with them.
        source: serde_json::Error,
    },
    /// The request is longer than any daemon reads. It was not sent.
    #[error(
        "the request {method} has {bytes} bytes, more than the {MAX_MESSAGE} that a message may have"
    )]
    TooLarge {
        /// The method.
        method: String,
        /// The length of the message.
        bytes: usize,
    },
    /// The result has another shape than the method's.
    #[error("the answer to {method} has an unexpected shape")]
    Decode {
        /// The method.
        method: String,
        /// Where it differs.
        source: serde_json::Error,
    },
}

impl ClientError {
    /// What can be done about it, where something can.
    pub fn hint(&self) -> Option<&str> {
        match self {
            ClientError::Connect { source, .. } => match source.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused => {
                    Some("no daemon runs there: start one with `brattice daemon start`")
                }
                io::ErrorKind::PermissionDenied => Some(
                    "the socket belongs to another user, or a sandbox keeps it from this process",
                ),
                _ => None,
            },
            ClientError::Silent { .. } => Some(
                "the daemon hangs or the socket is another program's: look at the daemon's log",
            ),
            ClientError::Protocol { .. } => Some("use a client and a daemon of the same version"),
            ClientError::Rpc(error) | ClientError::Refused(error) => error.data.hint.as_deref(),
            ClientError::Closed
            | ClientError::Broken(_)
            | ClientError::Undecodable(_)
            | ClientError::Encode { .. }
            | ClientError::TooLarge { .. }
            | ClientError::Decode { .. } => None,
        }
    }

    /// Whether no daemon is there at all, so that starting one can help.
    pub fn is_absent_daemon(&self) -> bool {
        matches!(self, ClientError::Connect { source, .. }
            if matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused))
    }

    /// Whether the daemon is going away, or has gone.
    pub fn is_ending(&self) -> bool {
        match self {
            ClientError::Closed | ClientError::Broken(_) => true,
            ClientError::Rpc(error) => {
                error.is(ErrorCode::ShuttingDown) || error.is(ErrorCode::UnknownSession)
            }
            _ => false,
        }
    }

    /// Whether the connection is over, or will be: one to the next daemon may do what this one did not.
    pub fn is_lost(&self) -> bool {
        match self {
            ClientError::Closed | ClientError::Broken(_) => true,
            ClientError::Refused(error) | ClientError::Rpc(error) => {
                error.is(ErrorCode::ShuttingDown)
            }
            _ => false,
        }
    }

    /// Whether the daemon answered with an error, and the connection goes on.
    pub fn is_answer(&self) -> bool {
        matches!(self, ClientError::Rpc(_))
    }
}
