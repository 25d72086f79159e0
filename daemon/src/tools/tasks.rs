//! The tools for background tasks: reading, stopping, listing and feeding them.
//!
//! A read is of what came since the session's last one. How a task stands is looked at first, then how far its streams have
//! grown (the supervisor empties its pipes for that), then they are read: so a final state with no bytes is the end. Two
//! reads at once do not show the same bytes twice: the one that finds the cursor moved reads again. A wait holds up its own
//! call only, and ends with the task, its limit, or the call's withdrawal, none of which touches the task.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use brattice_policy::Mode;
use brattice_protocol::TaskId;
use brattice_protocol::audit::Actor;
use brattice_protocol::tools::Stream;
use serde_json::{Map, Value};

use crate::exec::InputError;
use crate::exec::denials::Denials;
use crate::exec::spec::{Chunk, StreamEnd, Streams, TaskEnd, Urgency};
use crate::fault::chain;
use crate::session::{Cursor, KillError, RunningCall, Session, Task};
use crate::toolset::render::{
    DeniedText, EndedTask, Escalation, Facts, KillEffect, RenderedReading, Said, Shell, Standing,
    StreamReading, TaskReading, UnknownTask, render_task_input, render_task_kill, render_task_list,
    render_task_output, task_kill_reason,
};
use crate::toolset::{
    ArgumentFault, Part, TaskInputArguments, TaskKillArguments, TaskOutputArguments, Wait,
    parse_task_input, parse_task_kill, parse_task_list, parse_task_output,
};

use super::call::{Answer, Report};
use super::news::{News, ending};

/// How long a task may leave its input unread before the call that feeds it gives up.
const INPUT_PATIENCE: Duration = Duration::from_secs(10);

/// Why a call came to nothing. Its text is a result.
#[derive(Debug, thiserror::Error)]
pub(super) enum TaskFault {
    /// Its arguments.
    #[error(transparent)]
    Arguments(#[from] ArgumentFault),
    /// There is no such task.
    #[error(transparent)]
    Unknown(#[from] UnknownTask),
    /// The task takes no input, or no more.
    #[error("{task} takes no input: {source}")]
    Input { task: TaskId, source: InputError },
    /// It does not read what it was sent.
    #[error("{task} has not read its input for {} s; what was not read yet stays queued", INPUT_PATIENCE.as_secs())]
    Unread { task: TaskId },
    /// The session only plans, and the task may do more than read.
    #[error(
        "plan mode is on: {task} runs in {mode} and is sent nothing before the plan is approved"
    )]
    Planning { task: TaskId, mode: Mode },
    /// It is not certain that the task is killed.
    #[error(transparent)]
    Kill(#[from] KillError),
    /// The call was withdrawn before the task had read all.
    #[error("the call was cancelled; what {task} has not read yet stays queued")]
    Cancelled { task: TaskId },
}

/// Reads a task's output.
pub(super) async fn output(
    session: &Arc<Session>,
    call: &RunningCall,
    arguments: &Map<String, Value>,
) -> Result<Answer, TaskFault> {
    let TaskOutputArguments { task, wait, part } = parse_task_output(session.tools(), arguments)?;
    let task = find(session, &task)?;
    if let Wait::For(limit) = wait {
        tokio::select! {
            _ = task.ended() => {}
            () = tokio::time::sleep(limit.limit) => {}
            () = call.cancelled() => {}
            _ = session.refusing() => {}
        }
    }
    // Its own end is told by the read.
    let news = News::take_but(session, &task);
    loop {
        let from = session.cursor(&task);
        let looked = Look::at(session, &task, part, from).await;
        let ended = news.ended();
        let rendered = looked.render(session, &task, part, wait, &ended);
        let RenderedReading { text, facts, cursor } = rendered;
        let told = looked.end.is_some();
        let has_moved = match cursor {
            None => {
                if told {
                    session.told(&task);
                }
                true
            }
            Some(cursor) => {
                let (stdout, stderr) = (cursor.stdout, cursor.stderr);
                let denied = looked.newest.max(from.denied);
                let to = Cursor { stdout, stderr, denied, told, ..from };
                session.read_on(&task, from, to)
            }
        };
        if has_moved {
            return Ok(Answer::told(text, Facts::Read(Box::new(facts))));
        }
    }
}

/// A task as one read finds it.
struct Look {
    end: Option<Arc<TaskEnd>>,
    is_stopping: bool,
    idle: Duration,
    shell: Shell,
    /// What it was denied: all once it has ended, else what was not told.
    denials: Denials,
    /// The number of the newest of that.
    newest: u64,
    escalation: Option<Escalation>,
    stdout: LookedStream,
    stderr: Option<LookedStream>,
}

/// One stream of it.
struct LookedStream {
    cursor: u64,
    length: u64,
    chunks: Vec<Chunk>,
    file: Option<PathBuf>,
    end: StreamEnd,
}

impl Look {
    async fn at(session: &Session, task: &Task, part: Part, from: Cursor) -> Look {
        let idle = task.measure().await;
        let (end, is_stopping) = (task.try_ended(), task.is_stopping());
        let shell = match task.try_returned().filter(|_| end.is_none()) {
            Some(returned) => {
                Shell::Exited { code: returned.exit_code, processes: session.processes(task).await }
            }
            None => Shell::Runs,
        };
        let progress = task.progress();
        let (stdout_end, stderr_end) = match &end {
            Some(end) => (end.stdout.clone(), end.stderr.clone()),
            None => {
                let is_separate = task.facts().streams == Streams::Separate;
                (StreamEnd::default(), is_separate.then(StreamEnd::default))
            }
        };
        let mut denials = task.denials().unwrap_or_default();
        let newest = denials.newest();
        if end.is_none() {
            denials = Denials {
                records: denials.beyond(from.denied).cloned().collect(),
                ..Denials::default()
            };
        }
        let escalation = session.escalation(task.facts().mode, &denials, Escalation::CallBash);
        let look = |stream, cursor, length, end| {
            LookedStream::read(session, task, (stream, part), cursor, length, end)
        };
        Look {
            is_stopping,
            idle: idle.unwrap_or_else(|| task.facts().started.elapsed()),
            shell,
            newest,
            escalation,
            denials,
            stdout: look(Stream::Stdout, from.stdout, progress.stdout, stdout_end).await,
            stderr: match stderr_end {
                Some(end) => Some(look(Stream::Stderr, from.stderr, progress.stderr, end).await),
                None => None,
            },
            end,
        }
    }

    fn render(
        &self,
        session: &Session,
        task: &Task,
        part: Part,
        wait: Wait,
        ended: &[EndedTask<'_>],
    ) -> RenderedReading {
        let standing = match &self.end {
            Some(end) => Standing::Ended(ending(task, end)),
            None if self.is_stopping => Standing::Stopping,
            None => Standing::Running { shell: self.shell, idle: self.idle },
        };
        let reading = TaskReading {
            task: task.id(),
            standing,
            part,
            wait,
            stdout: self.stdout.reading(),
            stderr: self.stderr.as_ref().map(LookedStream::reading),
            denied: DeniedText {
                mode: task.facts().mode,
                records: &self.denials.records,
                unlisted: self.denials.unlisted(),
                escalation: self.escalation,
            },
            ended,
        };
        render_task_output(session.toolset(), &reading)
    }
}

impl LookedStream {
    async fn read(
        session: &Session,
        task: &Task,
        (stream, part): (Stream, Part),
        cursor: u64,
        length: u64,
        end: StreamEnd,
    ) -> LookedStream {
        let span = part.span(session.toolset(), cursor, length);
        let mut chunks = Vec::new();
        let mut offset = span.offset;
        while offset < span.end {
            let most = usize::try_from(span.end - offset).unwrap_or(usize::MAX);
            match task.read(stream, offset, most).await {
                Ok(chunk) => {
                    offset = chunk.offset + chunk.data.len() as u64;
                    let is_last = chunk.data.is_empty();
                    chunks.push(chunk);
                    if is_last {
                        break;
                    }
                }
                Err(error) => {
                    tracing::error!(task = %task.id(), error = %chain(&error), "output cannot be read");
                    break;
                }
            }
        }
        LookedStream { cursor, length, chunks, file: task.file(stream), end }
    }

    fn reading(&self) -> StreamReading<'_> {
        StreamReading {
            cursor: self.cursor,
            length: self.length,
            chunks: &self.chunks,
            file: self.file.as_deref(),
            dropped: self.end.dropped,
            lost: self.end.lost.as_ref(),
        }
    }
}

/// Stops a task.
pub(super) async fn kill(
    session: &Session,
    arguments: &Map<String, Value>,
    report: &mut Report<'_>,
) -> Result<Answer, TaskFault> {
    let TaskKillArguments { task, reason } = parse_task_kill(session.tools(), arguments)?;
    report.set_title(format!("stop {task}"));
    let task = find(session, &task)?;
    let end = task.try_ended();
    let effect = match &end {
        Some(end) => {
            session.told(&task);
            KillEffect::HadEnded(ending(&task, end))
        }
        None if task.is_stopping() => KillEffect::WasStopping,
        None => {
            let reason = task_kill_reason(reason.as_deref());
            session.kill(&task, Actor::Model, reason, Urgency::Graceful).await?;
            KillEffect::Stops
        }
    };
    let Said { text, facts } = render_task_kill(session.tools(), task.id(), effect);
    Ok(Answer::told(text, Facts::State(facts)))
}

/// Lists the background tasks.
pub(super) async fn list(
    session: &Session,
    arguments: &Map<String, Value>,
) -> Result<Answer, TaskFault> {
    parse_task_list(session.tools(), arguments)?;
    let mut tasks = session.task_summaries().await;
    tasks.retain(|task| task.background);
    let rendered = render_task_list(session.toolset(), tasks, SystemTime::now());
    Ok(Answer::told(rendered.text, Facts::List(rendered.facts)))
}

/// Writes to a task's standard input, or types into its terminal.
pub(super) async fn input(
    session: &Session,
    call: &RunningCall,
    arguments: &Map<String, Value>,
    report: &mut Report<'_>,
) -> Result<Answer, TaskFault> {
    let TaskInputArguments { task, text, end } = parse_task_input(session.tools(), arguments)?;
    report.set_title(format!("input for {task}"));
    let task = find(session, &task)?;
    if task.try_ended().is_none() {
        let (mode, id) = (task.facts().mode, task.id().clone());
        session.admit_mode(mode).map_err(|_| TaskFault::Planning { task: id, mode })?;
    }
    let bytes = text.len() as u64;
    let taking = tokio::time::timeout(INPUT_PATIENCE, task.input(text.into_bytes(), end));
    let id = || task.id().clone();
    tokio::select! {
        taken = taking => match taken {
            Ok(Ok(())) => {}
            Ok(Err(source)) => return Err(TaskFault::Input { task: id(), source }),
            Err(_) => return Err(TaskFault::Unread { task: id() }),
        },
        () = call.cancelled() => return Err(TaskFault::Cancelled { task: id() }),
    }
    let Said { text, facts } = render_task_input(task.id(), bytes, end);
    Ok(Answer::told(text, Facts::Fed(facts)))
}

fn find(session: &Session, task: &TaskId) -> Result<Task, UnknownTask> {
    session.tasks().find(task).ok_or_else(|| UnknownTask::named(task))
}
