//! What a session is asked to start, and why it does not.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use brattice_policy::Mode;
use brattice_policy::layer::LayerReport;
use brattice_protocol::{CallId, SessionId, TaskId};

use crate::approval::{ClaimRefused, Permit};
use crate::audit::AuditError;
use crate::exec::spec::{Placement, Program, Stdin, Streams};
use crate::exec::{RunError, SupervisorError};
use crate::workers::{Lane, Workers};

use super::rules::RuleError;
use super::space::Full;
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
    /// How long it may be silent, if that is limited.
    pub(crate) idle_timeout: Option<Duration>,
    /// Who waits for it.
    pub(crate) placement: Placement,
    /// The call that it is for, if it is for one.
    pub(crate) call: Option<CallId>,
    /// By what it may run.
    pub(crate) authority: Authority,
}

/// By what a command may run.
#[derive(Debug)]
pub(crate) enum Authority {
    /// The session's mode.
    Session,
    /// What a person allowed.
    Permit {
        /// Their word, for this one command.
        permit: Permit,
        /// The mode that the call asked for.
        to: Mode,
    },
}

/// Why a command did not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// As many run as may.
    #[error(transparent)]
    Busy(#[from] TooManyTasks),
    /// Those that run fill the disk as far as they may.
    #[error(transparent)]
    Full(#[from] Full),
    /// A command rule keeps it from starting.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// A root of the session holds what this daemon lives on.
    #[error("nothing starts in this session any more: {0}")]
    Unfit(String),
    /// What a person allowed was something else.
    #[error("what was to run is no longer what was approved: {0}; nothing ran")]
    NotPermitted(#[source] ClaimRefused),
    /// The operator has narrowed the ceiling since it was approved.
    #[error("{to} was approved and is now beyond this machine's ceiling, {ceiling}; nothing ran")]
    BeyondCeiling {
        /// The mode that was approved.
        to: Mode,
        /// The widest that there is now.
        ceiling: Mode,
    },
    /// The session only plans.
    #[error("plan mode is on: nothing is done in {to} mode before the plan is approved")]
    Planning {
        /// The mode that it was to have.
        to: Mode,
    },
    /// That it starts cannot be written down.
    #[error(transparent)]
    Unrecorded(#[from] AuditError),
    /// Its supervisor had ended in order, and another does not start.
    #[error("cannot start the session's supervisor")]
    Supervisor(#[source] SupervisorError),
    /// The session has no supervisor any more.
    #[error("the supervisor of session {0} has ended, and with it what it ran")]
    Lost(SessionId),
    /// The session is being closed.
    #[error("session {0} is being closed")]
    Closing(SessionId),
    /// The daemon is about to end.
    #[error("the daemon is shutting down and starts nothing more")]
    Stopping,
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
    /// The operator lets nobody be asked.
    #[error("approval \"ask\" is beyond this daemon's ceiling, \"never\"")]
    NobodyAsked,
    /// The session has no supervisor any more.
    #[error("the supervisor of session {0} has ended, and with it what it ran")]
    Lost(SessionId),
    /// The session is being closed.
    #[error("session {0} is being closed")]
    Closing(SessionId),
    /// There is no supervisor to set the mode up.
    #[error(transparent)]
    Supervisor(StartError),
    /// That it changes cannot be written down.
    #[error(transparent)]
    Unrecorded(#[from] AuditError),
    /// The next daemon would not know of it.
    #[error("the mode cannot be written down in the session's folder")]
    Save(#[source] io::Error),
}

/// Why a command did not start, as its caller can mend it: no sandbox can be set up on a workspace that is gone, and
/// where the command was to run in it, that is the fault to tell.
pub(super) async fn blame(workers: &Workers, source: RunError, cwd: PathBuf) -> RunError {
    if !matches!(source, RunError::Setup { .. }) {
        return source;
    }
    let path = cwd.display().to_string();
    let looked = workers.run(Lane::Elsewhere, move || cwd.metadata()).await;
    let fault = match looked {
        Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => "does not exist",
        Ok(Err(error)) if error.kind() == io::ErrorKind::NotADirectory => "is not a directory",
        Ok(Ok(found)) if !found.is_dir() => "is not a directory",
        Ok(_) | Err(_) => return source,
    };
    RunError::Start { detail: format!("working directory {path} {fault}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;

    #[tokio::test]
    async fn a_folder_that_is_gone_is_blamed_before_the_sandbox() {
        let scratch = Scratch::new();
        let setup =
            || RunError::Setup { step: crate::exec::FailedStep::Landlock, detail: "no".to_owned() };
        let workers = Workers::start().unwrap();
        let (gone, file) = (scratch.path("gone"), scratch.file("file", ""));
        let cases = [
            (gone.clone(), format!("working directory {} does not exist", gone.display())),
            (file.clone(), format!("working directory {} is not a directory", file.display())),
            (scratch.path(""), setup().to_string()),
        ];
        for (cwd, expected) in cases {
            assert_eq!(blame(&workers, setup(), cwd).await.to_string(), expected);
        }
        let blamed = blame(&workers, RunError::Gone, gone).await;
        assert_eq!(blamed.to_string(), RunError::Gone.to_string());
    }
}
