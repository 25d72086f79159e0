//! What the sandbox refused, as data: the facts that the observer tells of one refused call.
//!
//! A denial exists only when policy was the cause: what the user could not have done anyway is none. Who was refused
//! (session, task, time) is added by those who know it.

use serde::{Deserialize, Serialize};

use crate::{LayerName, Mode};

/// What was tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeniedOperation {
    /// Change a file's content.
    Write,
    /// Make a file, folder, link, FIFO or socket.
    Create,
    /// Remove a name.
    Remove,
    /// Move a name.
    Rename,
    /// Give a file one more name.
    Link,
    /// Change a mode, an owner, a time or an extended attribute.
    Metadata,
    /// Connect to a socket by its path, or make one of a kind that reaches any path.
    Connect,
    /// Send a signal.
    Signal,
    /// Change a limit or the scheduling of another process.
    Limit,
    /// Another system call that the sandbox refuses; the path is its name.
    Call,
}

impl DeniedOperation {
    /// The name on the wire and in results.
    pub const fn as_str(self) -> &'static str {
        match self {
            DeniedOperation::Write => "write",
            DeniedOperation::Create => "create",
            DeniedOperation::Remove => "remove",
            DeniedOperation::Rename => "rename",
            DeniedOperation::Link => "link",
            DeniedOperation::Metadata => "metadata",
            DeniedOperation::Connect => "connect",
            DeniedOperation::Signal => "signal",
            DeniedOperation::Limit => "limit",
            DeniedOperation::Call => "call",
        }
    }
}

/// One refused call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Denial {
    /// What was tried.
    pub operation: DeniedOperation,
    /// On what: a canonical path; for a signal or a limit `pid N`, for another call its name. Bytes that are no UTF-8
    /// are replaced.
    pub path: String,
    /// Where to, for a rename or a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub second_path: Option<String>,
    /// The layer that refused it.
    pub layer: LayerName,
    /// The name of the error that the call got, such as `EACCES`.
    pub errno: String,
    /// The right that was missing, in the layer's own words (`write_file`, `make_reg`, …).
    pub right: String,
    /// The narrowest mode that would allow it.
    pub needs: Mode,
    /// A setting that would allow it without a wider mode, as it would stand in a configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grant: Option<String>,
    /// The process.
    pub pid: u32,
    /// Its program's name (`comm`, at most 15 bytes).
    pub program: String,
    /// Why it says nothing about the command, where it is one that successful commands have: see [`crate::ambient`]. Such
    /// a denial marks and grounds nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ambient: Option<String>,
}

impl Denial {
    /// Whether another denial is the same but for the process: repeats are counted, not listed.
    pub fn repeats(&self, other: &Denial) -> bool {
        self.operation == other.operation
            && self.path == other.path
            && self.second_path == other.second_path
            && self.layer == other.layer
            && self.errno == other.errno
            && self.ambient == other.ambient
    }
}
