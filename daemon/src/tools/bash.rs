//! The tool `bash`, in the foreground: a command from its arguments to its end.
//!
//! It needs no more than the session's mode. Every fault is a result, in words: one of the arguments, one that keeps the
//! command from starting, and one of the session, which cannot take the call just then.

use brattice_policy::Mode;
use brattice_policy::layer::LayerReport;
use brattice_protocol::outcome::Cause;
use brattice_protocol::tools::Stream;
use brattice_protocol::{RpcError, TaskId};
use serde_json::{Map, Value};

use crate::exec::StopReason;
use crate::exec::spec::{Chunk, Program, Stdin, StreamEnd, TaskEnd};
use crate::fault::chain;
use crate::session::{Command, RunningCall, Session, StartError, Task};
use crate::toolset::render::{CallFate, CommandText, Rendered, render_command};
use crate::toolset::{BashArguments, Timeout, Toolset, parse_bash};

use super::call::{Answer, Keeping, Report};
use super::watch::Watcher;

/// Runs one call of `bash`.
pub(super) async fn run(
    session: &Session,
    call: &RunningCall,
    arguments: &Map<String, Value>,
    report: &mut Report<'_>,
) -> Answer {
    let toolset = session.toolset();
    let arguments = match parse_bash(toolset, arguments) {
        Ok(arguments) => arguments,
        Err(fault) => return Answer::refused(toolset.error(&fault.to_string())),
    };
    report.set_title(title(&arguments));
    let command = Command {
        program: Program::Bash(arguments.command),
        cwd: session.working_directory(arguments.workdir.as_deref()),
        stdin: Stdin::Null,
        streams: toolset.streams,
        timeout: Some(arguments.timeout.limit),
    };
    let answer = match session.start(command).await {
        Ok(task) => finish(session, call, &task, arguments.timeout, report).await,
        Err(StartError::NotStarted { task, mode, layers, source }) => {
            let end = not_started(mode, layers, chain(&source));
            refused_by_start(toolset, &task, &end, arguments.timeout)
        }
        Err(error) => return Answer::turned_away(toolset.error(&turned_away(&error))),
    };
    session.count_command();
    answer
}

/// Why the session did not take the command, and the way out.
fn turned_away(error: &StartError) -> String {
    let fault = RpcError::from(error);
    match fault.data.hint {
        Some(hint) => format!("{}; {hint}", fault.message),
        None => fault.message,
    }
}

/// Waits for the command's end, or stops it where the call is withdrawn, and puts it into words.
async fn finish(
    session: &Session,
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
            end = task.ended() => break end,
            () = call.cancelled(), if fate == CallFate::Finished => {
                fate = CallFate::Cancelled;
                task.stop(StopReason::Cancelled);
            }
            () = watcher.run() => {}
        }
    };
    // First, so that small outputs are read once.
    session.ended(task);
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
    let text =
        CommandText { task: task.id(), end: &end, stdout: &stdout, stderr: &stderr, timeout, fate };
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

fn refused_by_start(toolset: &Toolset, task: &TaskId, end: &TaskEnd, timeout: Timeout) -> Answer {
    let nothing = Chunk::default();
    let fate = CallFate::Finished;
    let text = CommandText { task, end, stdout: &nothing, stderr: &nothing, timeout, fate };
    render_command(toolset, &text).into()
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
        mode,
        layers,
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
        Answer { text, is_error, outcome: Some(outcome), kept: Keeping::Kept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brattice_protocol::session::ToolsetName;
    use serde_json::json;

    fn arguments(value: Value) -> BashArguments {
        let Value::Object(arguments) = value else { unreachable!() };
        parse_bash(Toolset::of(ToolsetName::Standard), &arguments).unwrap()
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
        let timeout = arguments(json!({"command": "true"})).timeout;
        let answer = refused_by_start(
            Toolset::of(ToolsetName::Standard),
            &TaskId::new("bash-1"),
            &end,
            timeout,
        );
        let outcome = answer.outcome.unwrap();
        assert_eq!((answer.text.as_str(), answer.is_error), ("chdir: no", true));
        assert_eq!(
            (outcome.cause, outcome.exit_code, outcome.signal),
            (Cause::FailedToStart, None, None)
        );
    }
}
