//! Why the log cannot be written or read.

use std::io;
use std::path::PathBuf;

use brattice_protocol::{ErrorCode, RpcError};

use crate::fault::chain;

/// A step that failed. Each is tried again with the next event.
#[derive(Debug, thiserror::Error)]
pub(crate) enum AuditError {
    /// Its folder cannot be made.
    #[error("cannot make the folder of the audit log, {}", path.display())]
    Make { path: PathBuf, source: io::Error },
    /// Something else has the folder's name.
    #[error("the audit log needs the folder {}, and that is none", path.display())]
    NoFolder { path: PathBuf },
    /// Its folder cannot be read.
    #[error("cannot list the files of the audit log in {}", path.display())]
    List { path: PathBuf, source: io::Error },
    /// Rights of others on it cannot be taken away.
    #[error("cannot make {} of the audit log private", path.display())]
    Close { path: PathBuf, source: io::Error },
    /// A file cannot be opened, or made.
    #[error("cannot open the audit log's file {}", path.display())]
    Open { path: PathBuf, source: io::Error },
    /// A file cannot be looked at.
    #[error("cannot look at the audit log's file {}", path.display())]
    Look { path: PathBuf, source: io::Error },
    /// A file cannot be read.
    #[error("cannot read the audit log's file {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    /// A line cannot be written. Nothing of it is left.
    #[error("cannot write the audit log {}", path.display())]
    Write { path: PathBuf, source: io::Error },
    /// What is left of a line that could not be written cannot be removed.
    #[error("cannot remove a line that was not wholly written from the audit log {}", path.display())]
    Trim { path: PathBuf, source: io::Error },
    /// An event has no JSON form.
    #[error("cannot put an event of the audit log into JSON")]
    Encode(#[source] serde_json::Error),
}

impl From<&AuditError> for RpcError {
    fn from(error: &AuditError) -> Self {
        RpcError::new(ErrorCode::Unavailable, chain(error))
            .hint("commands are refused until it can be written again; see to its disk and rights")
    }
}

impl From<AuditError> for RpcError {
    fn from(error: AuditError) -> Self {
        RpcError::from(&error)
    }
}
