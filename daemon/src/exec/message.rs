//! What Brattice's processes say to each other. One enum a direction; the state machines that send and expect them
//! are described where they live (`supervisor`, `launcher`, `launcher::keeper`).

use std::error::Error;
use std::fmt::Display;
use std::path::PathBuf;
use std::time::Duration;

use brattice_policy::enforce::privileges::ProcessLimits;
use brattice_policy::layer::LayerReport;
use brattice_policy::namespaces::Unheld;
use brattice_policy::sys::spawn::ControllingTerminal;
use brattice_policy::sys::wait::{Exit, Usage};
use brattice_policy::{Denial, Limits, Profile};
use brattice_protocol::TaskId;
use brattice_protocol::outcome::ProcessFacts;
use brattice_protocol::task::TaskKind;
use serde::{Deserialize, Serialize};

use super::denials::{DenialRecord, Tally};
use super::spec::{Shell, TaskEnd, TaskUsage, Timestamp, Urgency};

mod task;

pub(crate) use task::{ResumedTask, RunRequest, Spooled};

/// Daemon to supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToSupervisor {
    /// First of all. Beside it: the base environment.
    Setup {
        /// Where spools and the lock live.
        folder: PathBuf,
        /// bash's path.
        bash: PathBuf,
        /// Limits of its commands.
        limits: Limits,
    },
    /// Set up the launcher of this profile ahead of the first command.
    Prepare {
        /// Echoed in the answer.
        sequence: u64,
        /// What its commands may do.
        profile: Profile,
    },
    /// Start a task. Beside it: its text or arguments.
    Run(Box<RunRequest>),
    /// Stop a task's whole tree.
    Stop {
        /// The task.
        task: TaskId,
        /// Who asked.
        by: String,
        /// How much time is left to it.
        #[serde(default, skip_serializing_if = "Urgency::is_graceful")]
        urgency: Urgency,
    },
    /// Stop every task, tell how each ended, and end.
    Close,
    /// No more input comes: close the task's standard input.
    CloseInput {
        /// The task.
        task: TaskId,
    },
    /// Set the size of the task's terminal.
    Resize {
        /// The task.
        task: TaskId,
        /// Lines.
        rows: u16,
        /// Columns.
        cols: u16,
    },
    /// Tell how far the task's streams have grown: all that it has printed by now counts.
    Measure {
        /// Echoed in the answer.
        sequence: u64,
        /// The task.
        task: TaskId,
    },
    /// Tell what the running tasks use.
    Inspect {
        /// Echoed in the answer.
        sequence: u64,
    },
    /// Tell once, as soon as the task's streams are longer than this.
    Notify {
        /// The task.
        task: TaskId,
        /// Bytes of standard output that are known.
        stdout: u64,
        /// Bytes of standard error that are known.
        stderr: u64,
    },
}

/// Supervisor to daemon.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromSupervisor {
    /// It serves.
    Ready,
    /// It cannot serve; it ends.
    Unfit(Failure),
    /// First of all to a daemon that came by the listening socket. As many `Resumed` as there are tasks follow, then `Ready`.
    Adopted {
        /// The highest number that a task of the session was given.
        highest: u64,
    },
    /// A task that an earlier daemon started. Beside it: its spools, then the writing end of its standard input.
    Resumed(Box<ResumedTask>),
    /// The answer to `Prepare`.
    Prepared {
        /// Of the request.
        sequence: u64,
        /// The layers that hold, or why they do not.
        result: Result<LayerReport, Failure>,
    },
    /// The program was exec'd. Beside it: the writing end of its standard input, if it has a pipe.
    Started {
        /// The task.
        task: TaskId,
    },
    /// The program did not run.
    StartFailed {
        /// The task.
        task: TaskId,
        /// Why.
        failure: Failure,
    },
    /// The answer to `Notify`, and before that to `Measure` where there is news. Beside it: the spools that are new to the daemon, in the order of `spools`.
    Grew {
        /// The task.
        task: TaskId,
        /// Bytes of standard output.
        stdout: u64,
        /// Bytes of standard error.
        stderr: u64,
        /// Which spools are beside it.
        spools: Vec<Spooled>,
        /// How often it was denied something, by now; `None` where nobody counts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        denied: Option<Tally>,
    },
    /// The sandbox refused something to a task that it had not refused it before. Told while it runs; the task's end has
    /// all of it.
    Denied {
        /// The task.
        task: TaskId,
        /// What.
        record: Box<DenialRecord>,
    },
    /// A foreground task's program has ended, and what it left goes on as the same task in the background. Beside it: the
    /// spools that are new to the daemon.
    Returned {
        /// The task.
        task: TaskId,
        /// How the program ended, and what it left.
        end: Box<TaskEnd>,
        /// Which spools are beside it.
        spools: Vec<Spooled>,
    },
    /// The answer to `Measure`: all that the task has printed by then was told before, by a `Grew` or its `Ended`.
    Measured {
        /// Of the request.
        sequence: u64,
        /// How long ago it last printed something; `None` where it never did, or has ended.
        idle: Option<Duration>,
    },
    /// A part of the answer to `Inspect`.
    Inspected {
        /// Of the request.
        sequence: u64,
        /// Some of the tasks.
        tasks: Vec<TaskUsage>,
        /// Whether another part follows.
        more: bool,
    },
    /// The task is over and nothing of it is left. Beside it: the spools that are new to the daemon.
    Ended {
        /// The task.
        task: TaskId,
        /// When.
        at: Timestamp,
        /// How.
        end: Box<TaskEnd>,
        /// Which spools are beside it.
        spools: Vec<Spooled>,
    },
}

/// Why a step between the request and the program failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    /// The step.
    pub(crate) step: FailedStep,
    /// The kernel's answer, or what else there is to say.
    pub(crate) detail: String,
}

/// Longest text of a failure in characters: it may quote what a client sent, and must fit a message.
const LONGEST_DETAIL: usize = 4096;

impl Failure {
    /// A step and what is to be said of it.
    pub(crate) fn new(step: FailedStep, detail: &dyn Display) -> Self {
        let mut detail = detail.to_string();
        if detail.len() > LONGEST_DETAIL {
            detail = detail.chars().take(LONGEST_DETAIL).chain(['…']).collect();
        }
        Failure { step, detail }
    }

    /// A step and the error that ended it, with its causes.
    pub(crate) fn caused(step: FailedStep, error: &dyn Error) -> Self {
        Failure::new(step, &crate::fault::chain(error))
    }
}

/// The steps, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum FailedStep {
    /// The supervisor's own start.
    Supervisor,
    /// Starting the launcher.
    Launcher,
    /// Dropping privileges.
    Privileges,
    /// Building or entering the mode's domain.
    Landlock,
    /// Making the mode's namespaces, and what is seen in them.
    Namespaces,
    /// Installing the filter.
    Seccomp,
    /// Starting the observer.
    Observer,
    /// Forking the zygote or a keeper.
    Fork,
    /// The record of a background task.
    Record,
    /// Pipes and memory files.
    Descriptors,
    /// The working directory.
    Directory,
    /// A keeper's or a command's own domain.
    Domain,
    /// A new session, the signal mask.
    Process,
    /// The exec.
    Exec,
}

/// Supervisor to launcher: its only message. Beside it: the zygote's channel, the base environment, then the session's
/// loopback where an earlier launcher has made one. When the channel closes the launcher kills everything of its mode and
/// ends.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ToLauncher {
    /// What its commands may do.
    pub(crate) profile: Profile,
    /// Limits of each process of its commands.
    pub(crate) limits: ProcessLimits,
    /// bash's path.
    pub(crate) bash: PathBuf,
    /// The supervisor's process, outside every domain: what the broadcast's guard is tried on.
    pub(crate) supervisor: u32,
}

/// Launcher, or zygote, to supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromLauncher {
    /// Set up. Beside a launcher's: the session's loopback, where it has made one.
    Ready {
        /// Which process says it.
        pid: u32,
        /// Protected paths that the launcher's namespaces do not hold.
        unheld: Vec<Unheld>,
    },
    /// Not set up; it ends.
    Failed(Failure),
    /// The launcher's observer refused a call; the caller still waits for its answer. Whatever a command was denied is
    /// told before it can end.
    Denied {
        /// The keeper above the caller.
        keeper: u32,
        /// What was refused.
        denial: Box<Denial>,
    },
    /// A call could not be looked into; it went on, under the layers that the kernel enforces, or was refused.
    Unobserved {
        /// The keeper above the caller.
        keeper: u32,
    },
}

/// Zygote to launcher: the filter is installed. Beside it: the listener, where it hands calls over.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ToObserver;

/// Supervisor to zygote: fork a keeper. Beside it: the keeper's channel; then, where its command has a control group, that
/// group's `cgroup.procs` and `cgroup.kill`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ForkKeeper;

/// Supervisor to keeper.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum ToKeeper {
    /// Start the program. Beside it: standard input, output, error, and the text or arguments; then, where it is to wait, what
    /// tells it its task.
    Run {
        /// What runs.
        kind: TaskKind,
        /// The kind of shell that runs a text.
        shell: Shell,
        /// When it begins with its text.
        beginning: Beginning,
        /// Where.
        cwd: PathBuf,
        /// Variables beyond the base environment.
        environment: Vec<(String, String)>,
        /// Whether the first three descriptors are the terminal of its session.
        terminal: ControllingTerminal,
    },
    /// Tell what the program left.
    Look,
    /// SIGTERM to the tree, SIGKILL after the grace. Said again, the shorter grace counts.
    Stop {
        /// Between the two.
        grace: Duration,
    },
}

/// When a shell begins with its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Beginning {
    /// At once.
    Now,
    /// Once it was told which task it is.
    WhenTold,
}

/// Keeper to supervisor.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum FromKeeper {
    /// The program was exec'd.
    Started {
        /// The keeper's own process.
        keeper: u32,
        /// The program's.
        program: u32,
    },
    /// The program did not run; nothing is left and the keeper ends.
    Failed(Failure),
    /// The program itself ended, and something is left.
    ProgramEnded(ProgramEnd),
    /// What is left when a stop begins after the program's end, or when it was asked for.
    Leftovers {
        /// How many.
        count: u64,
        /// The first of them.
        processes: Vec<ProcessFacts>,
    },
    /// Nothing is left, or only what cannot be killed. The keeper ends.
    Gone {
        /// How the program ended, where that was not told before.
        program: Option<ProgramEnd>,
        /// What everything that was reaped beside the program used.
        usage: Usage,
        /// What survived SIGKILL.
        unkillable: Vec<ProcessFacts>,
        /// Whether a stop had begun before.
        stopping: bool,
    },
}

/// How a task's program ended.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct ProgramEnd {
    /// By code or signal.
    pub(crate) exit: Exit,
    /// What it, and all that it waited for, used.
    pub(crate) usage: Usage,
    /// From its start.
    pub(crate) duration: Duration,
    /// Whether a stop had begun before.
    pub(crate) stopping: bool,
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
