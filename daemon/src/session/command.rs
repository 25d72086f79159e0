//! What a session is asked to start, and why it does not.

use std::path::PathBuf;
use std::time::Duration;

use brattice_policy::Mode;
use brattice_policy::layer::LayerReport;
use brattice_protocol::{SessionId, TaskId};

use crate::exec::RunError;
use crate::exec::spec::{Program, Stdin, Streams};

use super::tasks::TooManyTasks;

/// A command to start. What the session decides, its profile and base environment, is not in it.
#[derive(Debug)]
pub(crate) struct Command {
    /// What runs.
    pub(crate) program: Program,
    /// Where, an absolute path.
    pub(crate) cwd: PathBuf,
    /// Its standard input.
    pub(crate) stdin: Stdin,
    /// Its output streams.
    pub(crate) streams: Streams,
    /// Its time limit, if it has one.
    pub(crate) timeout: Option<Duration>,
}

/// Why a command did not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// As many run as may.
    #[error(transparent)]
    Busy(#[from] TooManyTasks),
    /// The session has no supervisor any more.
    #[error("the supervisor of session {0} has ended, and with it what it ran")]
    Lost(SessionId),
    /// The session is being closed.
    #[error("session {0} is being closed")]
    Closing(SessionId),
    /// The supervisor could not start it. Nothing ran.
    #[error("{task} was not started in mode {mode}")]
    NotStarted {
        /// The number that it had been given.
        task: TaskId,
        /// The mode that it would have had.
        mode: Mode,
        /// The layers of that mode.
        layers: LayerReport,
        /// The step that failed.
        source: RunError,
    },
}

/// Why a session's mode was not changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum UpdateError {
    /// The operator does not allow it.
    #[error("mode {mode} is beyond this daemon's ceiling, {ceiling}")]
    BeyondCeiling {
        /// The mode asked for.
        mode: Mode,
        /// The widest there is.
        ceiling: Mode,
    },
    /// The session has no supervisor any more.
    #[error("the supervisor of session {0} has ended, and with it what it ran")]
    Lost(SessionId),
}
