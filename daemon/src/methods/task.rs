//! `task.*`: commands as tasks, read by offset.
//!
//! Reads are byte-exact and can be repeated; each asks the spool, none moves anything. A wait holds up nobody but the
//! client that asked for it.

use std::sync::Arc;
use std::time::Duration;

use brattice_policy::Limits;
use brattice_protocol::hello::Role;
use brattice_protocol::task::{
    Empty, InputParams, KillParams, Output, OutputParams, ResizeParams, StartParams, Started,
    TaskListParams, TaskSummary, WaitParams, Waited,
};
use brattice_protocol::tools::Stream;
use brattice_protocol::{ErrorCode, RpcError, SessionId, TaskId, bytes};
use tokio::task::JoinSet;

use super::Methods;
use crate::exec::InputEnd;
use crate::exec::spec::{Placement, Program, Progress, Stdin, Streams, Urgency};
use crate::fault::chain;
use crate::server::{Connection, check_path};
use crate::session::{Authority, Command, StartError, Task};
use crate::toolset::render::unshown_outcome;

/// Most bytes of one `task.output`: what a result may carry inline.
const MAX_READ: u64 = 256 << 10;

/// The longest wait of `task.output`.
const MAX_OUTPUT_WAIT: Duration = Duration::from_secs(60);

/// The longest wait of `task.wait`.
const MAX_WAIT: Duration = Duration::from_secs(600);

/// Tasks that one `task.wait` may name.
const MAX_WAITED: usize = 1_000;

/// Most bytes of one `task.input`.
const MAX_INPUT: usize = 64 << 10;

/// Longest reason of a `task.kill` in bytes.
const MAX_REASON: usize = 1 << 10;

impl Methods {
    pub(super) async fn task_start(
        &self,
        from: &Arc<Connection>,
        params: StartParams,
    ) -> Result<Started, RpcError> {
        let session = self.session(&params.session, from)?;
        self.stages.admit()?;
        let grounds = self.registry.grounds();
        let limits = &grounds.limits;
        let StartParams {
            command,
            argv,
            workdir,
            stdin,
            tty,
            timeout_ms,
            idle_timeout_ms,
            session: _,
        } = params;
        let program = program(command, argv, limits)?;
        let timeout = limit("params.timeout_ms", timeout_ms)?;
        let idle_timeout = limit("params.idle_timeout_ms", idle_timeout_ms)?;
        workdir.as_deref().map_or(Ok(()), |workdir| check_path("params.workdir", workdir))?;
        let command = Command {
            program,
            cwd: session.working_directory(workdir.as_deref()),
            stdin: match (tty, stdin) {
                (true, _) => Stdin::Terminal,
                (false, true) => Stdin::Pipe,
                (false, false) => Stdin::Null,
            },
            streams: if tty { Streams::Merged } else { session.toolset().streams },
            timeout,
            idle_timeout,
            placement: Placement::Background,
            call: None,
            authority: Authority::Session,
        };
        let task = session.start(command).await?;
        session.background(&task);
        Ok(Started { task: task.id().clone() })
    }

    pub(super) async fn task_list(
        &self,
        from: &Arc<Connection>,
        params: TaskListParams,
    ) -> Result<Vec<TaskSummary>, RpcError> {
        Ok(self.session(&params.session, from)?.task_summaries().await)
    }

    pub(super) fn task_resize(
        &self,
        from: &Arc<Connection>,
        params: ResizeParams,
    ) -> Result<Empty, RpcError> {
        let task = self.task(&params.session, &params.task, from)?;
        if params.rows == 0 || params.cols == 0 {
            return Err(invalid("params: expected \"rows\" and \"cols\" above 0"));
        }
        if task.facts().stdin != Stdin::Terminal {
            let text = format!("{}: the task was started without tty", params.task);
            return Err(RpcError::new(ErrorCode::Refused, text));
        }
        task.resize(params.rows, params.cols);
        Ok(Empty {})
    }

    pub(super) async fn task_output(
        &self,
        from: &Arc<Connection>,
        params: OutputParams,
    ) -> Result<Output, RpcError> {
        let session = self.session(&params.session, from)?;
        let task = self.task(&params.session, &params.task, from)?;
        let (stream, asked) = (params.stream.unwrap_or_default(), params.offset.unwrap_or(0));
        let limit = match params.limit.unwrap_or(MAX_READ).min(MAX_READ) {
            0 => {
                return Err(invalid("params.limit: expected a positive number of bytes, got 0"));
            }
            limit => limit as usize,
        };
        task.measure().await;
        let wait = Duration::from_millis(params.wait_ms.unwrap_or(0)).min(MAX_OUTPUT_WAIT);
        // Who looks once is not waiting: a list that somebody refreshes keeps no session.
        let _attending = (!wait.is_zero()).then(|| session.attend(from));
        let more = tokio::time::timeout(wait, has_more(&task, stream, asked));
        tokio::select! {
            biased;
            // Whether it came or not in time, what there is is told.
            _ = more => {}
            reason = session.refusing() => return Err(cut_short(reason)),
        }
        // The state before the bytes: a final one with no bytes is the end, so none may come in between.
        let status = task.status();
        let chunk = task
            .read(stream, asked, limit)
            .await
            .map_err(|error| unavailable(&params.task, &chain(&error)))?;
        let (data, encoding) = bytes::encode(&chunk.data);
        let next_offset = chunk.offset + chunk.data.len() as u64;
        Ok(Output {
            data,
            encoding,
            offset: chunk.offset,
            next_offset,
            skipped: chunk.skipped,
            status,
        })
    }

    pub(super) async fn task_wait(
        &self,
        from: &Arc<Connection>,
        params: WaitParams,
    ) -> Result<Waited, RpcError> {
        if params.tasks.is_empty() || params.tasks.len() > MAX_WAITED {
            let came = params.tasks.len();
            return Err(invalid(&format!(
                "params.tasks: expected 1 to {MAX_WAITED} tasks, got {came}"
            )));
        }
        let mut tasks = Vec::with_capacity(params.tasks.len());
        for id in &params.tasks {
            tasks.push(self.task(&params.session, id, from)?);
        }
        let session = self.session(&params.session, from)?;
        let wait = Duration::from_millis(params.timeout_ms).min(MAX_WAIT);
        let _attending = session.attend(from);
        let first = tokio::select! {
            biased;
            first = tokio::time::timeout(wait, first_ended(tasks)) => first.ok().flatten(),
            reason = session.refusing() => return Err(cut_short(reason)),
        };
        let Some((task, end)) = first.and_then(|task| Some((task.clone(), task.try_ended()?)))
        else {
            return Ok(Waited::default());
        };
        // Its end is no news to whoever waited for it; an operator is not whom the session's results are for.
        if session.is_held_by(from) {
            session.told(&task);
        }
        let outcome = unshown_outcome(task.id(), &end);
        Ok(Waited { task: Some(task.id().clone()), outcome: Some(outcome) })
    }

    pub(super) async fn task_kill(
        &self,
        from: &Arc<Connection>,
        params: KillParams,
    ) -> Result<Empty, RpcError> {
        let session = self.session(&params.session, from)?;
        let task = self.task(&params.session, &params.task, from)?;
        let who = match from.role() {
            Role::Client => "by the client",
            Role::Operator => "by an operator",
        };
        let by = match params.reason {
            Some(reason) if reason.len() > MAX_REASON => {
                let text = format!(
                    "params.reason: expected at most {MAX_REASON} bytes, got {}",
                    reason.len()
                );
                return Err(RpcError::new(ErrorCode::TooLarge, text));
            }
            Some(reason) => format!("{who}: {reason}"),
            None => who.to_owned(),
        };
        let urgency = if params.force { Urgency::AtOnce } else { Urgency::Graceful };
        session.kill(&task, from.role().into(), by, urgency).await?;
        Ok(Empty {})
    }

    pub(super) async fn task_input(
        &self,
        from: &Arc<Connection>,
        params: InputParams,
    ) -> Result<Empty, RpcError> {
        let session = self.session(&params.session, from)?;
        let task = self.task(&params.session, &params.task, from)?;
        let data = bytes::decode(&params.data, params.encoding)
            .map_err(|error| invalid(&format!("params.data: {error}")))?;
        if data.len() > MAX_INPUT {
            let text =
                format!("params.data: expected at most {MAX_INPUT} bytes, got {}", data.len());
            return Err(RpcError::new(ErrorCode::TooLarge, text));
        }
        let _attending = session.attend(from);
        let end = if params.eof { InputEnd::Eof } else { InputEnd::More };
        let taken = tokio::select! {
            biased;
            taken = task.input(data, end) => taken,
            reason = session.refusing() => return Err(cut_short(reason)),
        };
        match taken {
            Ok(()) => Ok(Empty {}),
            Err(error) => Err(RpcError::new(
                ErrorCode::Refused,
                format!("{}: {}", params.task, chain(&error)),
            )),
        }
    }

    fn task(
        &self,
        session: &SessionId,
        task: &TaskId,
        from: &Arc<Connection>,
    ) -> Result<Task, RpcError> {
        self.session(session, from)?.tasks().find(task).ok_or_else(|| {
            let text = format!("no task {task} in this session");
            RpcError::new(ErrorCode::UnknownTask, text).hint("task.list tells those there are")
        })
    }
}

/// A time limit that was asked for.
fn limit(name: &str, milliseconds: Option<u64>) -> Result<Option<Duration>, RpcError> {
    match milliseconds {
        Some(0) => {
            Err(invalid(&format!("{name}: expected a positive number of milliseconds, got 0")))
        }
        other => Ok(other.map(Duration::from_millis)),
    }
}

/// What is to run: exactly one of a line for bash and a list of words.
fn program(
    command: Option<String>,
    argv: Option<Vec<String>>,
    limits: &Limits,
) -> Result<Program, RpcError> {
    let (name, length, program) = match (command, argv) {
        (Some(command), None) => ("command", command.len(), Program::Bash(command)),
        (None, Some(argv)) => {
            ("argv", argv.iter().map(|word| word.len() + 1).sum(), Program::Argv(argv))
        }
        (Some(_), Some(_)) | (None, None) => {
            return Err(invalid("params: expected exactly one of \"command\" and \"argv\""));
        }
    };
    let (is_empty, has_nul) = match &program {
        Program::Bash(command) | Program::Login(command) => {
            (command.trim().is_empty(), command.contains('\0'))
        }
        Program::Argv(argv) => {
            (argv.first().is_none_or(String::is_empty), argv.iter().any(|word| word.contains('\0')))
        }
    };
    if is_empty {
        return Err(invalid(&format!("params.{name}: expected something to run")));
    }
    if has_nul {
        return Err(invalid(&format!("params.{name}: expected text without NUL characters")));
    }
    if length > limits.max_command {
        let text =
            format!("params.{name}: expected at most {} bytes, got {length}", limits.max_command);
        return Err(RpcError::new(ErrorCode::TooLarge, text));
    }
    Ok(program)
}

/// Returns once the stream has bytes from that offset on, or no more can come.
async fn has_more(task: &Task, stream: Stream, offset: u64) {
    let mut progress = task.progress();
    while !progress.ended && length(progress, stream) <= offset {
        progress = task.progress_beyond(progress).await;
    }
}

const fn length(progress: Progress, stream: Stream) -> u64 {
    match stream {
        Stream::Stdout => progress.stdout,
        Stream::Stderr => progress.stderr,
    }
}

/// The first that ends; of those that have ended already, the first that is named.
async fn first_ended(tasks: Vec<Task>) -> Option<Task> {
    if let Some(task) = tasks.iter().find(|task| task.status().is_final()) {
        return Some(task.clone());
    }
    let mut waiting = JoinSet::new();
    for task in tasks {
        waiting.spawn(async move {
            task.ended().await;
            task
        });
    }
    waiting.join_next().await?.ok()
}

fn invalid(text: &str) -> RpcError {
    RpcError::new(ErrorCode::Invalid, text)
}

/// The answer of a wait that the daemon's end, or the session's, cuts short.
fn cut_short(reason: StartError) -> RpcError {
    match reason {
        StartError::Stopping => {
            RpcError::new(ErrorCode::ShuttingDown, "the daemon is shutting down; the task goes on")
                .hint("ask the next daemon")
        }
        other => RpcError::from(other),
    }
}

fn unavailable(task: &TaskId, why: &str) -> RpcError {
    RpcError::new(ErrorCode::Unavailable, format!("the output of {task} cannot be read: {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[&str]) -> Option<Vec<String>> {
        Some(words.iter().map(|word| (*word).to_owned()).collect())
    }

    #[test]
    fn exactly_one_of_command_and_argv_runs() {
        let limits = Limits::default();
        let line = || Some("make".to_owned());
        assert_eq!(program(line(), None, &limits), Ok(Program::Bash("make".to_owned())));
        let argv = Program::Argv(vec!["make".to_owned(), String::new()]);
        assert_eq!(program(None, words(&["make", ""]), &limits), Ok(argv));
        for (command, argv) in [(line(), words(&["make"])), (None, None)] {
            let message = program(command, argv, &limits).unwrap_err().message;
            assert_eq!(message, "params: expected exactly one of \"command\" and \"argv\"");
        }
    }

    #[test]
    fn what_cannot_run_is_named() {
        let limits = Limits::default();
        let cases = [
            (Some(" ".to_owned()), None, "params.command: expected something to run".to_owned()),
            (None, words(&[]), "params.argv: expected something to run".to_owned()),
            (None, words(&["", "x"]), "params.argv: expected something to run".to_owned()),
            (
                None,
                words(&["a", "b\0"]),
                "params.argv: expected text without NUL characters".to_owned(),
            ),
            (
                Some("x".repeat(limits.max_command + 1)),
                None,
                "params.command: expected at most 1048576 bytes, got 1048577".to_owned(),
            ),
        ];
        for (command, argv, expected) in cases {
            assert_eq!(program(command, argv, &limits).unwrap_err().message, expected);
        }
    }
}
