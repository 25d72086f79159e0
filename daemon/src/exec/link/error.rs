//! Why a supervisor or a task could not be started, in whole sentences: they end up in results that people read.

use std::fmt;
use std::path::PathBuf;

use brattice_policy::layer::LayerName;

use crate::exec::channel::ChannelError;
use crate::exec::message::{FailedStep, Failure};
use crate::workers::Interrupted;

/// Why a session's supervisor could not be started.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SupervisorError {
    /// There is no bash.
    #[error("bash is not installed: looked for it in PATH, /bin and /usr/bin")]
    NoBash,
    /// A thread of the daemon's ended early.
    #[error("starting the session's supervisor was interrupted")]
    Interrupted(#[source] Interrupted),
    /// The socket pair or the memory file could not be made.
    #[error("cannot set up the session's supervisor")]
    Descriptors(#[source] std::io::Error),
    /// The process could not be started.
    #[error("cannot start the session's supervisor")]
    Spawn(#[source] std::io::Error),
    /// It could not be talked to.
    #[error("the session's supervisor does not answer")]
    Channel(#[source] ChannelError),
    /// It started and could not serve.
    #[error("the session's supervisor in {folder} cannot serve: {detail}")]
    Unfit {
        /// The session's folder.
        folder: PathBuf,
        /// Its own words.
        detail: String,
    },
}

/// Why a task did not run, or a mode could not be set up. Nothing ran.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RunError {
    /// A layer of the sandbox, or a process that sets it up, failed.
    #[error("the sandbox cannot be set up here: {step}: {detail}; nothing ran")]
    Setup {
        /// The step.
        step: FailedStep,
        /// The kernel's answer and what to do.
        detail: String,
    },
    /// A step between the sandbox and the program failed; the detail names the thing.
    #[error("{detail}")]
    Start {
        /// What failed, in words.
        detail: String,
    },
    /// It is to go on without its call, and its record cannot be written.
    #[error("{detail}; nothing ran")]
    Record {
        /// Why, in words.
        detail: String,
    },
    /// The request could not be written down or sent.
    #[error("cannot hand the command over: {detail}")]
    Request {
        /// The kernel's answer.
        detail: String,
    },
    /// The session's supervisor is gone.
    #[error("the session's supervisor has ended; close this session and open a new one")]
    Gone,
}

impl RunError {
    /// The layer of the sandbox that failed, where it was one.
    pub(crate) fn layer(&self) -> Option<LayerName> {
        match self {
            RunError::Setup { step, .. } => match step {
                FailedStep::Privileges => Some(LayerName::Privileges),
                FailedStep::Landlock => Some(LayerName::Landlock),
                FailedStep::Domain => Some(LayerName::LandlockScopes),
                FailedStep::Seccomp => Some(LayerName::Seccomp),
                FailedStep::Namespaces => Some(LayerName::Namespaces),
                FailedStep::Observer => Some(LayerName::Observer),
                FailedStep::Supervisor
                | FailedStep::Launcher
                | FailedStep::Fork
                | FailedStep::Record
                | FailedStep::Descriptors
                | FailedStep::Directory
                | FailedStep::Process
                | FailedStep::Exec => None,
            },
            RunError::Start { .. }
            | RunError::Record { .. }
            | RunError::Request { .. }
            | RunError::Gone => None,
        }
    }
}

impl From<ChannelError> for RunError {
    fn from(error: ChannelError) -> Self {
        RunError::Request { detail: crate::fault::chain(&error) }
    }
}

impl From<Failure> for RunError {
    fn from(Failure { step, detail }: Failure) -> Self {
        match step {
            FailedStep::Directory | FailedStep::Exec => RunError::Start { detail },
            FailedStep::Record => RunError::Record { detail },
            FailedStep::Supervisor
            | FailedStep::Launcher
            | FailedStep::Privileges
            | FailedStep::Landlock
            | FailedStep::Seccomp
            | FailedStep::Namespaces
            | FailedStep::Observer
            | FailedStep::Fork
            | FailedStep::Descriptors
            | FailedStep::Domain
            | FailedStep::Process => RunError::Setup { step, detail },
        }
    }
}

impl fmt::Display for FailedStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FailedStep::Supervisor => "supervisor",
            FailedStep::Launcher => "launcher",
            FailedStep::Privileges => "privileges",
            FailedStep::Landlock => "landlock",
            FailedStep::Seccomp => "seccomp",
            FailedStep::Namespaces => "namespaces",
            FailedStep::Observer => "observer",
            FailedStep::Fork => "starting a process",
            FailedStep::Record => "record",
            FailedStep::Descriptors => "descriptors",
            FailedStep::Directory => "working directory",
            FailedStep::Domain => "landlock scopes",
            FailedStep::Process => "process",
            FailedStep::Exec => "exec",
        })
    }
}
