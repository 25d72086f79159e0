//! What is said at once about a task: that it was started in the background, that it is being ended, that it was sent
//! input, and that there is none of that name.

use brattice_protocol::TaskId;
use brattice_protocol::task::{TaskFed, TaskState, TaskStatus};

use super::lines::{count, short_line};
use super::status::{EndFacts, Ending};
use crate::exec::InputEnd;
use crate::toolset::tool::SessionTools;

/// How many characters of an id that is none are repeated.
const ID_CHARS: usize = 64;

/// Something said about a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Said<F> {
    /// What the model reads.
    pub(crate) text: String,
    /// The same as data.
    pub(crate) facts: F,
}

/// What a kill met.
#[derive(Clone, Copy, Debug)]
pub(crate) enum KillEffect<'a> {
    /// A task that ran, and is stopping now.
    Stops,
    /// A task whose end had been asked for.
    WasStopping,
    /// A task that had ended.
    HadEnded(Ending<'a>),
}

/// There is no such task to read, to end or to feed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no task `{task}` in this session: expected one that runs or ended not too long ago; task_list shows those"
)]
pub(crate) struct UnknownTask {
    /// What was named, shortened.
    task: String,
}

impl UnknownTask {
    /// The fault of this id.
    pub(crate) fn named(task: &TaskId) -> Self {
        UnknownTask { task: short_line(task.as_str(), ID_CHARS) }
    }
}

/// A command runs in the background.
pub(crate) fn render_started(task: &TaskId) -> Said<TaskState> {
    let text = format!("started background task {task}");
    Said { text, facts: TaskState { task: task.clone(), status: TaskStatus::Running } }
}

/// A task's end was asked for.
pub(crate) fn render_task_kill(
    tools: SessionTools<'_>,
    task: &TaskId,
    effect: KillEffect<'_>,
) -> Said<TaskState> {
    let grace = tools.times().grace_in_words();
    let (text, status) = match effect {
        KillEffect::Stops => (
            format!(
                "stopping {task}: SIGTERM was sent to everything that it started, SIGKILL follows {grace} later \
                 to what is left"
            ),
            TaskStatus::Stopping,
        ),
        KillEffect::WasStopping => (
            format!("{task} is being stopped already; SIGKILL follows SIGTERM by {grace}"),
            TaskStatus::Stopping,
        ),
        KillEffect::HadEnded(ending) => {
            let how = EndFacts::from(ending).words(tools.toolset().tasks.detail);
            let text = format!("{task} had ended already: {how}; nothing was changed");
            (text, TaskStatus::after(ending.end.cause))
        }
    };
    Said { text, facts: TaskState { task: task.clone(), status } }
}

/// A task took input of so many bytes.
pub(crate) fn render_task_input(task: &TaskId, bytes: u64, end: InputEnd) -> Said<TaskFed> {
    let sent = count(bytes, "byte", "bytes");
    let (ended, eof) = match end {
        InputEnd::More => ("", false),
        InputEnd::Eof => (", and its input ended", true),
    };
    Said {
        text: format!("sent {sent} to {task}{ended}"),
        facts: TaskFed { task: task.clone(), bytes, eof },
    }
}

#[cfg(test)]
#[path = "tests/task_words.rs"]
mod tests;
