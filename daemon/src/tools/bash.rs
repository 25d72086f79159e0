//! The tool `bash`: a command from its arguments to its end, or into the background.
//!
//! It needs no more than the session's mode. Every fault is a result, in words: one of the arguments, one that keeps the
//! command from starting, and one of the session, which cannot take the call just then.

use std::sync::Arc;

use brattice_policy::Mode;
use brattice_policy::layer::LayerReport;
use brattice_protocol::RpcError;
use brattice_protocol::audit::Actor;
use brattice_protocol::outcome::Cause;
use brattice_protocol::tools::Stream;
use serde_json::{Map, Value};

use crate::exec::denials::Denials;
use crate::exec::spec::{
    self, Chunk, LeftoverFate, Program, Stdin, StreamEnd, Streams, TaskEnd, Urgency,
};
use crate::fault::chain;
use crate::session::{Command, Cursor, RunningCall, Session, StartError, Task};
use crate::toolset::render::{
    CallFate, CommandText, Facts, Rendered, Said, render_command, render_not_run, render_started,
};
use crate::toolset::{BashArguments, Input, Placement, Timeout, parse_bash};

use super::call::{Answer, Keeping, Report};
use super::watch::Watcher;

/// Why a withdrawn call's command is killed.
const CANCELLED: &str = "cancelled";

/// Runs one call of `bash`.
pub(super) async fn run(
    session: &Arc<Session>,
    call: &RunningCall,
    arguments: &Map<String, Value>,
    report: &mut Report<'_>,
) -> Answer {
    let toolset = session.toolset();
    let arguments = match parse_bash(session.tools(), arguments) {
        Ok(arguments) => arguments,
        Err(fault) => return Answer::refused(toolset.error(&fault.to_string())),
    };
    report.set_title(title(&arguments));
    let BashArguments { command, workdir, placement, input, description: _ } = arguments;
    let (timeout, task_placement) = match placement {
        Placement::Foreground(timeout) => (Some(timeout.limit), spec::Placement::Foreground),
        Placement::Background(limit) => (limit, spec::Placement::Background),
    };
    let command = Command {
        program: Program::Bash(command),
        cwd: session.working_directory(workdir.as_deref()),
        stdin: match input {
            Input::None => Stdin::Null,
            Input::Pipe => Stdin::Pipe,
            Input::Terminal => Stdin::Terminal,
        },
        streams: if input == Input::Terminal { Streams::Merged } else { toolset.streams },
        timeout,
        idle_timeout: None,
        placement: task_placement,
        call: Some(call.id().clone()),
    };
    let answer = match (session.start(command).await, placement) {
        (Ok(task), Placement::Foreground(timeout)) => {
            finish(session, call, &task, timeout, report).await
        }
        (Ok(task), Placement::Background(_)) => {
            report.started(task.id());
            session.background(&task);
            let Said { text, facts } = render_started(task.id());
            Answer::told(text, Facts::State(facts))
        }
        (Err(StartError::NotStarted { task, mode, layers, source }), _) => {
            let end = not_started(mode, layers, chain(&source));
            render_not_run(toolset, &task, &end).into()
        }
        // It would be refused again.
        (Err(StartError::Rule(refusal)), _) => {
            return Answer::refused(toolset.error(&refusal.to_string()));
        }
        (Err(error), _) => {
            return Answer::turned_away(toolset.error(&turned_away(RpcError::from(&error))));
        }
    };
    session.count_command();
    answer
}

/// Why a call was not taken, and the way out.
pub(super) fn turned_away(fault: RpcError) -> String {
    match fault.data.hint {
        Some(hint) => format!("{}; {hint}", fault.message),
        None => fault.message,
    }
}

/// Waits for the command's end, or stops it where the call is withdrawn, and puts it into words.
async fn finish(
    session: &Arc<Session>,
    call: &RunningCall,
    task: &Task,
    timeout: Timeout,
    report: &mut Report<'_>,
) -> Answer {
    report.started(task.id());
    let mut watcher = Watcher::new(session, call.id(), task);
    let mut fate = CallFate::Finished;
    let end = loop {
        tokio::select! {
            end = task.returned() => break end,
            () = call.cancelled(), if fate == CallFate::Finished => {
                fate = CallFate::Cancelled;
                session.begin_kill(task, Actor::Client, CANCELLED.to_owned(), Urgency::Graceful);
            }
            () = watcher.run() => {}
        }
    };
    let is_adopted = matches!(&end.leftovers, Some(left) if left.fate == LeftoverFate::Adopted);
    if !is_adopted {
        // First, so that small outputs are read once.
        session.ended(task);
    }
    watcher.finish().await;
    // A command may have ended by itself just before it was to be stopped; then its end is told as it was.
    if end.cause != Cause::Killed {
        fate = CallFate::Finished;
    }
    let bytes = session.toolset().tail_bytes();
    let stdout = tail(task, Stream::Stdout, &end.stdout, bytes).await;
    let stderr = match &end.stderr {
        Some(end) => tail(task, Stream::Stderr, end, bytes).await,
        None => Chunk::default(),
    };
    if is_adopted {
        let stderr = end.stderr.as_ref().map_or(0, |stream| stream.bytes);
        let (stdout, denied) = (end.stdout.bytes, end.denials.as_ref().map_or(0, Denials::newest));
        session.adopt(task, Cursor { stdout, stderr, denied, ..Cursor::default() });
    }
    let escalation = end.denials.as_ref().and_then(|denials| session.escalation(end.mode, denials));
    let text = CommandText {
        task: task.id(),
        end: &end,
        stdout: &stdout,
        stderr: &stderr,
        timeout,
        fate,
        escalation,
    };
    render_command(session.toolset(), &text).into()
}

/// The end of a stream. One that cannot be read any more is shown as nothing, and its range says so.
async fn tail(task: &Task, stream: Stream, end: &StreamEnd, bytes: usize) -> Chunk {
    if end.bytes == 0 {
        return Chunk::default();
    }
    let from = end.bytes.saturating_sub(bytes as u64);
    task.read(stream, from, bytes).await.unwrap_or_else(|error| {
        tracing::error!(task = %task.id(), error = %chain(&error), "output cannot be read");
        Chunk { data: Vec::new(), offset: end.bytes, skipped: end.bytes }
    })
}

/// The outcome of a command that never ran.
fn not_started(mode: Mode, layers: LayerReport, reason: String) -> TaskEnd {
    TaskEnd {
        cause: Cause::FailedToStart,
        exit_code: None,
        signal: None,
        reason: Some(reason),
        duration: std::time::Duration::ZERO,
        user: std::time::Duration::ZERO,
        sys: std::time::Duration::ZERO,
        max_rss: 0,
        stdout: StreamEnd::default(),
        stderr: Some(StreamEnd::default()),
        leftovers: None,
        unkillable: Vec::new(),
        denials: None,
        mode,
        layers: Arc::new(layers),
    }
}

/// One line for people: what the model says that it is, else the command's first line.
fn title(arguments: &BashArguments) -> String {
    const MOST: usize = 200;
    let said = arguments.description.as_deref().map(str::trim).filter(|text| !text.is_empty());
    let text = said.unwrap_or_else(|| arguments.command.trim_start());
    let line = text.lines().next().unwrap_or_default();
    match line.char_indices().nth(MOST) {
        Some((cut, _)) => format!("{}…", &line[..cut]),
        None => line.to_owned(),
    }
}

impl From<Rendered> for Answer {
    fn from(Rendered { text, is_error, outcome }: Rendered) -> Self {
        let facts = Some(Facts::Command(Box::new(outcome)));
        Answer { text, is_error, facts, kept: Keeping::Kept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toolset::{SessionTools, Toolset};
    use brattice_policy::Limits;
    use brattice_protocol::session::ToolsetName;
    use serde_json::json;

    fn arguments(value: Value) -> BashArguments {
        let Value::Object(arguments) = value else { unreachable!() };
        let tools = SessionTools::of(Toolset::of(ToolsetName::Standard), &[], &Limits::default());
        parse_bash(tools, &arguments).unwrap()
    }

    #[test]
    fn a_title_is_one_line() {
        assert_eq!(title(&arguments(json!({"command": "\nmake -j\nmake test"}))), "make -j");
        assert_eq!(
            title(&arguments(json!({"command": "make", "description": " Build "}))),
            "Build"
        );
        let long = title(&arguments(json!({"command": "é".repeat(300)})));
        assert_eq!(long, format!("{}…", "é".repeat(200)));
    }

    #[test]
    fn a_command_that_did_not_start_has_no_code_and_says_why() {
        let end = not_started(Mode::ReadOnly, LayerReport::default(), "chdir: no".to_owned());
        let task = brattice_protocol::TaskId::new("bash-1");
        let rendered = render_not_run(Toolset::of(ToolsetName::Standard), &task, &end);
        assert_eq!((rendered.text.as_str(), rendered.is_error), ("chdir: no", true));
        let outcome = rendered.outcome;
        assert_eq!(
            (outcome.cause, outcome.exit_code, outcome.signal),
            (Cause::FailedToStart, None, None)
        );
    }
}
