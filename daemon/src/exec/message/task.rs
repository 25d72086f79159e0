//! A task in the messages between daemon and supervisor: as it is asked for, and as it is handed over.

use std::path::PathBuf;
use std::time::Duration;

use brattice_policy::{LeftoverRule, Profile};
use brattice_protocol::TaskId;
use brattice_protocol::task::TaskKind;
use serde::{Deserialize, Serialize};

use crate::exec::denials::Denials;
use crate::exec::spec::{
    Placement, Shell, Stdin, Streams, TaskEnd, TaskFacts, TextDigest, Timestamp,
};

/// A task to start, as the supervisor needs it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RunRequest {
    /// The task.
    pub(crate) task: TaskId,
    /// What it may do.
    pub(crate) profile: Profile,
    /// What the memory file beside the message holds.
    pub(crate) kind: TaskKind,
    /// The kind of shell that runs a text.
    #[serde(default, skip_serializing_if = "Shell::is_plain")]
    pub(crate) shell: Shell,
    /// The line or the arguments, cut, for its record.
    pub(crate) title: String,
    /// Of the whole line, where it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) digest: Option<TextDigest>,
    /// When it was asked for.
    pub(crate) started: Timestamp,
    /// Where it runs.
    pub(crate) cwd: PathBuf,
    /// Variables beyond the base environment.
    pub(crate) environment: Vec<(String, String)>,
    /// Its standard input.
    pub(crate) stdin: Stdin,
    /// Its output.
    pub(crate) streams: Streams,
    /// When it is stopped as timed out.
    pub(crate) timeout: Option<Duration>,
    /// After which without output it is.
    pub(crate) idle_timeout: Option<Duration>,
    /// Between SIGTERM and SIGKILL.
    pub(crate) grace: Duration,
    /// Who waits for it.
    pub(crate) placement: Placement,
    /// What becomes of its leftovers, where a call waits for it.
    pub(crate) leftovers: LeftoverRule,
}

/// A task as a supervisor hands it to a daemon that did not start it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ResumedTask {
    /// What it is.
    pub(crate) facts: TaskFacts,
    /// Who waits for it; of those that a call waited for, only such as are being stopped are left.
    pub(crate) placement: Placement,
    /// Whether its end was asked for.
    pub(crate) is_stopping: bool,
    /// How its program ended, where what it left goes on.
    pub(crate) returned: Option<Box<TaskEnd>>,
    /// Bytes of standard output.
    pub(crate) stdout: u64,
    /// Bytes of standard error.
    pub(crate) stderr: u64,
    /// Which spools are beside it.
    pub(crate) spools: Vec<Spooled>,
    /// What it was denied so far; `None` where nobody counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) denials: Option<Denials>,
}

/// Which stream's spool a descriptor is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Spooled {
    /// Standard output, or both streams.
    Stdout,
    /// Standard error.
    Stderr,
}
