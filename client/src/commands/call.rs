//! `brattice call`: one tool call, for scripts; on a terminal its approvals are put to whoever sits there.

use std::process::ExitCode;
use std::time::SystemTime;

use brattice_client::{Client, ClientError};
use brattice_protocol::hello::Role;
use brattice_protocol::session::{Counters, OpenParams, PREVIEW_LINES};
use brattice_protocol::task::{KillParams, TaskListParams, TaskSummary};
use brattice_protocol::tools::{CallParams, CallResult, CancelParams, Content};
use brattice_protocol::{CallId, SessionId, TaskId};
use serde_json::{Map, Value, json};

use super::approval::{Prompt, asker};
use super::interrupt::{Interrupt, Interrupts};
use super::sessions;
use super::shown::{Place, counted as counted_line, title, whole};
use super::temporary::{close, open};
use crate::cli::arguments::Call;
use crate::cli::context::print;
use crate::cli::plain::plain_lines;
use crate::cli::terminal::{Format, Style};
use crate::cli::{Context, Failure};

/// A call that is over, and the signal that asked for its end, if one did.
struct Ended {
    result: CallResult,
    interrupt: Option<Interrupt>,
    /// How many lines of the result people are shown.
    preview: u64,
    /// What the turn came to, where it was this program's.
    counters: Option<Counters>,
    /// What goes on in a session that was kept for it.
    left: Option<Left>,
}

impl Ended {
    fn with(result: CallResult, interrupt: Option<Interrupt>) -> Ended {
        Ended { result, interrupt, preview: PREVIEW_LINES, counters: None, left: None }
    }
}

/// Background tasks, and their session.
struct Left {
    session: SessionId,
    tasks: Vec<TaskId>,
}

/// Whose session a call is made in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Whose {
    /// This program's own.
    Ours,
    /// Somebody else's, with tasks of theirs.
    Theirs,
}

/// Makes the call and shows its result. Exit status 1 if it failed as a call.
pub(crate) async fn call(context: &Context, arguments: Call) -> Result<ExitCode, Failure> {
    let Call { tool, arguments, session, confinement, toolset } = arguments;
    let arguments: Map<String, Value> = serde_json::from_str(&arguments)
        .map_err(|source| Failure::Arguments { tool: tool.clone(), source })?;
    let (title, kind) = (title(&tool, &arguments), tool.clone());
    let params = |session| CallParams {
        session,
        call: Some(fresh_id()),
        name: tool,
        arguments,
        patience_ms: None,
    };
    let ended = match session {
        Some(prefix) => {
            let client = context.asking(Role::Operator, asker(context)).await?;
            let sessions = client.session_list().await?;
            let session = sessions::find(&sessions, &prefix)?.session.clone();
            announce(context, &title)?;
            let mut interrupts = Interrupts::listen()?;
            make(&client, &params(session), Whose::Theirs, &mut interrupts).await?
        }
        None => {
            let open = OpenParams { toolset, ..confinement.open_params("brattice call")? };
            let client = context.asking(Role::Client, asker(context)).await?;
            announce(context, &title)?;
            alone(&client, &open, params).await?
        }
    };
    let place = Place::of_stdout(ended.preview);
    let shown = context.show("the result", &ended.result, |style| {
        let counted = ended.counters.filter(|_| place != Place::Elsewhere);
        let counted = counted.and_then(|counters| counted_line(counters, style));
        whole(place, style, &kind, &ended.result) + &counted.unwrap_or_default()
    })?;
    if let Some(left) = &ended.left {
        tell(context, left);
    }
    Ok(match (ended.interrupt, ended.result.is_error) {
        (Some(interrupt), _) => ExitCode::from(interrupt.exit_status()),
        (None, true) => ExitCode::FAILURE,
        (None, false) => shown,
    })
}

/// Makes the call in a session of its own, which ends with it unless the call left something running: its result has said
/// that it goes on, and so it does.
async fn alone(
    client: &Client,
    open_params: &OpenParams,
    params: impl FnOnce(SessionId) -> CallParams,
) -> Result<Ended, Failure> {
    let mut interrupts = Interrupts::listen()?;
    let session = open(client, open_params, &mut interrupts).await?;
    let made = async {
        let params = params(session.session.clone());
        let mut ended = make(client, &params, Whose::Ours, &mut interrupts).await?;
        ended.preview = session.preview_lines.unwrap_or(PREVIEW_LINES);
        // Where that cannot be found out the result is worth telling all the same.
        let turn = interrupts.guard(client.session_turn(&session.session)).await;
        ended.counters = turn.ok().map(|turn| turn.counters);
        let running = match ended.interrupt {
            // Where that cannot be found out the result is worth telling all the same.
            None => interrupts.guard(running(client, &session.session)).await.unwrap_or_default(),
            Some(_) => Vec::new(),
        };
        Ok((ended, running))
    };
    match made.await {
        Ok((ended, tasks)) if !tasks.is_empty() => {
            Ok(Ended { left: Some(Left { session: session.session, tasks }), ..ended })
        }
        made => {
            let made = made.map(|(ended, _)| ended);
            let mut ended = close(client, &session, &mut interrupts, made).await?;
            forget_files(&mut ended.result);
            Ok(ended)
        }
    }
}

fn tell(context: &Context, Left { session, tasks }: &Left) {
    let names: Vec<String> = tasks.iter().map(|task| format!("{session}/{task}")).collect();
    let text = format!("in the background, in a session of its own: {}", names.join(", "));
    context.note_data(&text, json!({"session": session, "tasks": tasks}));
}

/// The background tasks of a session that run.
async fn running(client: &Client, session: &SessionId) -> Result<Vec<TaskId>, ClientError> {
    let tasks = client.task_list(&TaskListParams { session: session.clone() }).await?;
    let runs = |task: &TaskSummary| task.background && !task.status.is_final();
    Ok(tasks.into_iter().filter(runs).map(|task| task.task).collect())
}

/// The session is gone, and the files of its output with it: the result says so instead of naming them.
fn forget_files(result: &mut CallResult) {
    for stream in ["stdout", "stderr"] {
        let facts = result.structured_content.get_mut(stream).and_then(Value::as_object_mut);
        let Some(Value::String(file)) = facts.and_then(|facts| facts.remove("file")) else {
            continue;
        };
        for Content::Text { text } in &mut result.content {
            *text = text.replace(&format!("full output: {file}]"), "file unavailable]");
        }
    }
}

/// Waits for the result, and puts what the call asks to the person at the terminal. The first signal cancels the call. A second one kills what a session of ours runs, and gives up
/// waiting in another one; so does a third.
async fn make(
    client: &Client,
    params: &CallParams,
    whose: Whose,
    interrupts: &mut Interrupts,
) -> Result<Ended, Failure> {
    let calling = client.tools_call(params);
    tokio::pin!(calling);
    let mut prompt = Prompt::of(client);
    let interrupt = tokio::select! {
        result = &mut calling => return Ok(Ended::with(result?, None)),
        interrupt = interrupts.next() => interrupt,
        failure = prompt.run() => return Err(failure),
    };
    let cancelled = async {
        if let Some(call) = params.call.clone() {
            client.tools_cancel(&CancelParams { session: params.session.clone(), call }).await?;
        }
        calling.await
    };
    tokio::pin!(cancelled);
    let result = tokio::select! {
        result = &mut cancelled => result?,
        _ = interrupts.next() => match whose {
            Whose::Theirs => return Err(Failure::Interrupted(interrupt)),
            Whose::Ours => {
                let killed = async {
                    kill_all(client, &params.session).await?;
                    cancelled.await
                };
                interrupts.guard(killed).await?
            }
        },
    };
    Ok(Ended::with(result, Some(interrupt)))
}

/// Kills whatever a session runs, at once.
async fn kill_all(client: &Client, session: &SessionId) -> Result<(), ClientError> {
    let tasks = client.task_list(&TaskListParams { session: session.clone() }).await?;
    for TaskSummary { task, .. } in tasks.into_iter().filter(|task| !task.status.is_final()) {
        let (session, reason) = (session.clone(), Some("a second signal".to_owned()));
        client.task_kill(&KillParams { session, task, reason, force: true }).await?;
    }
    Ok(())
}

/// An id that no other call of the session has: the session may be another program's.
fn fresh_id() -> CallId {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    CallId::new(format!("brattice-{}-{}", std::process::id(), now.as_nanos()))
}

/// The title goes before the call, for whoever waits for it; a program gets the result alone.
fn announce(context: &Context, title: &str) -> Result<(), Failure> {
    match (context.format, Place::of_stdout(PREVIEW_LINES)) {
        (Format::Text, Place::Terminal { .. }) => {
            print(format!("{}\n", Style::of_stdout().bold(&plain_lines(title))))
        }
        (Format::Text, Place::Elsewhere) | (Format::Json, _) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn files_that_went_with_the_session_are_not_named() {
        let text = |cut: &str| format!("tail\n[stdout truncated: 9 bytes omitted; {cut}]");
        let result = |cut: &str, stdout: Value| CallResult {
            content: vec![Content::Text { text: text(cut) }],
            is_error: false,
            structured_content: json!({"stdout": stdout, "stderr": null}),
            meta: Map::new(),
        };
        let mut told = result(
            "full output: /s/bash-1.stdout",
            json!({"file": "/s/bash-1.stdout", "bytes": 9}),
        );
        forget_files(&mut told);
        assert_eq!(told, result("file unavailable", json!({"bytes": 9})));
    }
}
