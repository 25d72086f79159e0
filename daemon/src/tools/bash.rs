//! The tool `bash`: a command from its arguments to its end, or into the background.
//!
//! It runs in the session's mode, or once in a wider one that a person allowed (`escalate`). Every fault is a result, in
//! words: one of the arguments, one that keeps the command from starting, and one of the session, which cannot take the call
//! just then.

use std::sync::Arc;

use brattice_policy::Mode;
use brattice_policy::layer::LayerReport;
use brattice_protocol::RpcError;
use brattice_protocol::audit::Actor;
use brattice_protocol::outcome::Cause;
use brattice_protocol::tools::Stream;
use serde_json::{Map, Value};

use crate::approval::NotAllowed;
use crate::exec::denials::Denials;
use crate::exec::spec::{
    self, Chunk, LeftoverFate, Program, Stdin, StreamEnd, Streams, TaskEnd, Urgency,
};
use crate::fault::chain;
use crate::session::{Command, Cursor, RunningCall, Session, StartError, Task};
use crate::toolset::render::{
    CallFate, CharacterCount, CommandText, Escalation, Facts, Refusal, Rendered, Said,
    StreamLength, hint, render_command, render_not_run, render_rejected, render_started,
};
use crate::toolset::{
    BashArguments, Folder, Input, Kept, Placement, Reading, Shell, Timeout, Toolset, parse_bash,
};

use super::call::{Answer, Caller, Keeping, Report};
use super::escalate::{Asking, Authorised, NotEscalated, authorise};
use super::watch::Watcher;

/// Why a withdrawn call's command is killed.
const CANCELLED: &str = "cancelled";

/// How much of a stream is read at a time to count its characters.
const COUNTED_BYTES: usize = 1 << 20;

/// Runs one call of `bash`.
pub(super) async fn run(
    session: &Arc<Session>,
    call: &RunningCall,
    caller: &Caller,
    arguments: &Map<String, Value>,
    report: &mut Report<'_>,
) -> Answer {
    let toolset = session.toolset();
    let arguments = match parse_bash(session.tools(), arguments) {
        Ok(arguments) => arguments,
        Err(fault) => return Answer::refused(toolset.error(&fault.to_string())),
    };
    let title = title(&arguments);
    report.set_title(title.clone());
    let BashArguments { command, workdir, placement, input, wish, description: _ } = arguments;
    let cwd = match toolset.command.folder {
        Folder::Cwd => session.working_directory(workdir.as_deref()),
        Folder::Workspace => session.workspace().to_owned(),
    };
    let asking = Asking { tool: report.tool(), command: &command, cwd: &cwd, title: &title };
    let authorised = authorise(session, call, caller, asking, wish).await;
    let Authorised { authority, cwd, escalated_from } = match authorised {
        Ok(authorised) => authorised,
        Err(fault) => return refused(session, &fault),
    };
    let (timeout, task_placement) = match placement {
        Placement::Foreground(timeout) => (Some(timeout.limit), spec::Placement::Foreground),
        Placement::Background(limit) => (limit, spec::Placement::Background),
    };
    let command = Command {
        program: program_of(toolset, command),
        cwd,
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
        authority,
    };
    let answer = match (session.start(command).await, placement) {
        (Ok(task), Placement::Foreground(timeout)) => {
            let mut rendered = finish(session, call, &task, timeout, report).await;
            rendered.outcome.escalated_from = escalated_from;
            rendered.into()
        }
        (Ok(task), Placement::Background(_)) => {
            report.started(task.id());
            session.background(&task);
            let Said { text, facts } = render_started(task.id());
            Answer::told(text, Facts::State(facts))
        }
        (Err(StartError::NotStarted { task, mode, layers, source }), _) => {
            let end = not_run(Cause::FailedToStart, mode, layers, chain(&source));
            render_not_run(toolset, &task, &end).into()
        }
        (Err(error), _) => return not_taken(session, &error),
    };
    session.count_command();
    answer
}

/// The line in the toolset's shell.
fn program_of(toolset: &Toolset, line: String) -> Program {
    match toolset.command.shell {
        Shell::Plain => Program::Bash(line),
        Shell::Login => Program::Login(line),
    }
}

/// A command that does not start.
fn not_taken(session: &Session, error: &StartError) -> Answer {
    let toolset = session.toolset();
    match error {
        // It would be refused again.
        StartError::Rule(refusal) => Answer::refused(toolset.error(&refusal.to_string())),
        error => Answer::turned_away(toolset.error(&turned_away(RpcError::from(error)))),
    }
}

/// A call whose command a person was to allow, and did not.
fn refused(session: &Session, fault: &NotEscalated) -> Answer {
    let toolset = session.toolset();
    let mut text = toolset.error(&fault.to_string());
    let not_allowed = match fault {
        NotEscalated::NotAllowed(why) | NotEscalated::NotAllowedByRule { why, .. } => why,
        NotEscalated::Planning { .. } => {
            let line = hint(Escalation::Final(Refusal::PlanMode));
            return rejected(session, format!("{text}\n{line}"));
        }
        NotEscalated::BeyondCeiling { .. } | NotEscalated::Ungrounded { .. } => {
            return rejected(session, text);
        }
        NotEscalated::NotStarted(error) => return not_taken(session, error),
        NotEscalated::Arguments(_) | NotEscalated::NoFolder { .. } => return Answer::refused(text),
    };
    if matches!(not_allowed, NotAllowed::Withdrawn) {
        text.push_str("\n[cancelled]");
    }
    let kept = if not_allowed.passes() { Keeping::MayRunAgain } else { Keeping::Kept };
    Answer { kept, ..rejected(session, text) }
}

/// The result of a command that was not allowed to run.
fn rejected(session: &Session, text: String) -> Answer {
    let (mode, layers) = session.standing_now();
    let end = not_run(Cause::Rejected, mode, LayerReport::clone(&layers), text.clone());
    render_rejected(&end, text).into()
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
) -> Rendered {
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
    let stdout = shown(session, task, Stream::Stdout, &end.stdout).await;
    let stderr = match &end.stderr {
        Some(end) => shown(session, task, Stream::Stderr, end).await,
        None => Chunk::default(),
    };
    let length = length(session, task, &end.stdout, &stdout).await;
    if is_adopted {
        let stderr = end.stderr.as_ref().map_or(0, |stream| stream.bytes);
        let (stdout, denied) = (end.stdout.bytes, end.denials.as_ref().map_or(0, Denials::newest));
        session.adopt(task, Cursor { stdout, stderr, denied, ..Cursor::default() });
    }
    let escalation = end
        .denials
        .as_ref()
        .and_then(|denials| session.escalation(end.mode, denials, Escalation::Repeat));
    let text = CommandText {
        task: task.id(),
        end: &end,
        stdout: &stdout,
        stderr: &stderr,
        length,
        timeout,
        fate,
        escalation,
    };
    render_command(session.tools(), &text)
}

/// What is shown of a stream. One that cannot be read any more is shown as nothing, and its range says so.
async fn shown(session: &Session, task: &Task, stream: Stream, end: &StreamEnd) -> Chunk {
    if end.bytes == 0 {
        return Chunk::default();
    }
    let Reading { offset, bytes } = session.tools().window(stream).reading(end.bytes);
    task.read(stream, offset, bytes).await.unwrap_or_else(|error| {
        tracing::error!(task = %task.id(), error = %chain(&error), "output cannot be read");
        Chunk { data: Vec::new(), offset: end.bytes, skipped: end.bytes }
    })
}

/// How long a stream is of which a result shows the beginning and tells how many characters are missing. All of it is read
/// for that, where there is more than was read already.
async fn length(session: &Session, task: &Task, end: &StreamEnd, read: &Chunk) -> StreamLength {
    let known = read.offset + read.data.len() as u64;
    let is_whole = read.skipped == 0 && known >= end.bytes;
    if session.toolset().command.kept != Kept::Result || is_whole {
        return StreamLength::AsRead;
    }
    let mut count = CharacterCount::default();
    count.add(read);
    while count.end() < end.bytes {
        match task.read(Stream::Stdout, count.end(), COUNTED_BYTES).await {
            Ok(chunk) if !chunk.data.is_empty() => count.add(&chunk),
            Ok(_) => break,
            Err(error) => {
                tracing::error!(task = %task.id(), error = %chain(&error), "output cannot be read");
                break;
            }
        }
    }
    count.finish(end.bytes)
}

/// The outcome of a command that never ran.
fn not_run(cause: Cause, mode: Mode, layers: LayerReport, reason: String) -> TaskEnd {
    TaskEnd {
        cause,
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
        git_changes: Vec::new(),
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
    fn from(Rendered { text, output_bytes, is_error, outcome }: Rendered) -> Self {
        let facts = Some(Facts::Command(Box::new(outcome)));
        Answer { text, output_bytes, is_error, facts, kept: Keeping::Kept }
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
        let (mode, layers) = (Mode::ReadOnly, LayerReport::default());
        let end = not_run(Cause::FailedToStart, mode, layers, "chdir: no".to_owned());
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
