//! What calls of `task_output`, `task_kill`, `task_list` and `task_input` ask for. Whether the task is one of the
//! session's is found out by whoever looks for it.

use brattice_protocol::TaskId;
use serde_json::{Map, Value};

use super::bash::Timeout;
use super::fault::{ArgumentFault, Came};
use super::given::{Given, bounded, checked};
use crate::exec::InputEnd;
use crate::toolset::parameter::{
    EOF, OFFSET, Parameter, REASON, TAIL_LINES, TASK_ID, TEXT, WAIT, WAIT_MS,
};
use crate::toolset::tool::{SessionTools, ToolKind};

/// The longest id that is looked for, in bytes. Those there are, `bash-1`, `bash-2` …, stay far below.
const MAX_ID_BYTES: usize = 64;

/// The longest reason, in bytes: it is repeated wherever the task's end is told.
pub(in crate::toolset) const MAX_REASON_BYTES: usize = 1024;

/// The longest input of one call, in bytes: what a pipe holds (pipe(7)).
pub(in crate::toolset) const MAX_INPUT_BYTES: usize = 64 * 1024;

/// What a call of `task_output` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskOutputArguments {
    /// The task.
    pub(crate) task: TaskId,
    /// Whether to wait for its end.
    pub(crate) wait: Wait,
    /// Which part of its output.
    pub(crate) part: Part,
}

/// Whether a read waits for the task's end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wait {
    /// It does not.
    Never,
    /// For so long at most.
    For(Timeout),
}

/// Which part of a task's output is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// What is new since the session's last read of this kind. The others leave that place alone.
    New,
    /// What follows this byte of each stream.
    From(u64),
    /// The last so many lines of each stream, at least one.
    TailLines(u64),
}

/// What a call of `task_kill` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskKillArguments {
    /// The task.
    pub(crate) task: TaskId,
    /// Why, in the model's words.
    pub(crate) reason: Option<String>,
}

/// What a call of `task_input` asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TaskInputArguments {
    /// The task.
    pub(crate) task: TaskId,
    /// What is sent.
    pub(crate) text: String,
    /// Whether more may follow.
    pub(crate) end: InputEnd,
}

/// Parses the arguments of a call of `task_output`.
///
/// # Errors
/// The first fault.
pub(crate) fn parse_task_output(
    tools: SessionTools<'_>,
    arguments: &Map<String, Value>,
) -> Result<TaskOutputArguments, ArgumentFault> {
    let given = Given::check(tools, ToolKind::TaskOutput, arguments)?;
    let task = task(&given)?;
    let limit = Timeout::within(given.milliseconds(&WAIT_MS)?, tools.toolset().tasks.wait);
    Ok(TaskOutputArguments {
        task,
        wait: if given.flag(&WAIT)? { Wait::For(limit) } else { Wait::Never },
        part: part(&given)?,
    })
}

fn part(given: &Given<'_>) -> Result<Part, ArgumentFault> {
    let (offset, lines) = (given.whole_number(&OFFSET, 0)?, given.whole_number(&TAIL_LINES, 1)?);
    match (offset, lines) {
        (None, None) => Ok(Part::New),
        (Some(offset), None) => Ok(Part::From(offset)),
        (None, Some(lines)) => Ok(Part::TailLines(lines)),
        (Some(_), Some(_)) => Err(together(given, &OFFSET, &TAIL_LINES)),
    }
}

fn together(given: &Given<'_>, first: &Parameter, second: &Parameter) -> ArgumentFault {
    let came = given.value(second).map_or(Came::Nothing, Came::value);
    ArgumentFault::Together { first: first.name, second: second.name, came }
}

/// Parses the arguments of a call of `task_kill`.
///
/// # Errors
/// The first fault.
pub(crate) fn parse_task_kill(
    tools: SessionTools<'_>,
    arguments: &Map<String, Value>,
) -> Result<TaskKillArguments, ArgumentFault> {
    let given = Given::check(tools, ToolKind::TaskKill, arguments)?;
    let task = task(&given)?;
    let reason = given.text(&REASON)?.map(|text| bounded(&REASON, text, MAX_REASON_BYTES));
    let reason = reason.transpose()?.map(str::trim).filter(|text| !text.is_empty());
    Ok(TaskKillArguments { task, reason: reason.map(str::to_owned) })
}

/// Parses the arguments of a call of `task_list`: it takes none.
///
/// # Errors
/// There is one, and the toolset refuses unknown ones.
pub(crate) fn parse_task_list(
    tools: SessionTools<'_>,
    arguments: &Map<String, Value>,
) -> Result<(), ArgumentFault> {
    Given::check(tools, ToolKind::TaskList, arguments).map(|_none| ())
}

/// Parses the arguments of a call of `task_input`.
///
/// # Errors
/// The first fault.
pub(crate) fn parse_task_input(
    tools: SessionTools<'_>,
    arguments: &Map<String, Value>,
) -> Result<TaskInputArguments, ArgumentFault> {
    let given = Given::check(tools, ToolKind::TaskInput, arguments)?;
    let task = task(&given)?;
    let text = bounded(&TEXT, given.required_text(&TEXT)?, MAX_INPUT_BYTES)?;
    Ok(TaskInputArguments {
        task,
        text: text.to_owned(),
        end: if given.flag(&EOF)? { InputEnd::Eof } else { InputEnd::More },
    })
}

fn task(given: &Given<'_>) -> Result<TaskId, ArgumentFault> {
    checked(&TASK_ID, given.required_text(&TASK_ID)?, MAX_ID_BYTES).map(TaskId::new)
}

#[cfg(test)]
#[path = "tests/tasks.rs"]
mod tests;
