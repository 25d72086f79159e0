//! What events are told with: who did something, what runs, how the daemon ended, and what became of the log's own files.

use serde::{Deserialize, Serialize};

use super::{Digest, FileNumber};
use crate::hello::Role;

/// What a task was denied, in numbers. The kinds have lines of their own, the first 64 of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DenialCounts {
    /// Refusals, the repeated ones included.
    pub total: u64,
    /// Refusals that say nothing about the command; not among the others.
    #[serde(default)]
    pub ambient: u64,
    /// Calls that could not be looked into.
    #[serde(default)]
    pub unobserved: u64,
    /// Those that happened more than once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repeated: Vec<Repeated>,
}

/// How often something was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repeated {
    /// The number of its line's record.
    pub number: u64,
    /// How often.
    pub count: u64,
}

/// How a daemon ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DaemonEnd {
    /// All that it answers for was seen to.
    InOrder,
    /// Somebody could not wait for that.
    AtOnce,
}

/// Who did something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Actor {
    /// A client on the agents' socket.
    Client,
    /// Somebody on the operators' socket.
    Operator,
    /// A tool call, which a model wrote.
    Model,
    /// The daemon itself, by a limit or at its end.
    Daemon,
}

impl Actor {
    /// Its name in the log.
    pub const fn as_str(self) -> &'static str {
        match self {
            Actor::Client => "client",
            Actor::Operator => "operator",
            Actor::Model => "model",
            Actor::Daemon => "daemon",
        }
    }
}

impl From<Role> for Actor {
    fn from(role: Role) -> Self {
        match role {
            Role::Client => Actor::Client,
            Role::Operator => Actor::Operator,
        }
    }
}

/// What a task runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum CommandText {
    /// A line for bash.
    Line(String),
    /// A program and its arguments, without a shell.
    Words(Vec<String>),
}

/// A part of a line at the end of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TornTail {
    /// The file.
    pub file: FileNumber,
    /// How long the part is.
    pub bytes: u64,
    /// Of these bytes.
    pub sha256: Digest,
}

/// What somebody else did to a file of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It is no longer there.
    Removed,
    /// Another file has its name.
    Replaced,
    /// It is shorter or longer than the daemon left it.
    Resized,
    /// It ends in something that is no line.
    Damaged,
}
