//! `brattice task start`: a command in the background, in a session that is left behind for it.

use std::process::ExitCode;

use brattice_client::Client;
use brattice_protocol::session::OpenParams;
use brattice_protocol::task::StartParams;
use brattice_protocol::{SessionId, TaskId};
use serde_json::json;

use super::find::list_sessions;
use crate::cli::duration::milliseconds;
use crate::cli::program::Program;
use crate::cli::task::Start;
use crate::cli::{Context, Failure};
use crate::commands::follow::{Door, Link};
use crate::commands::interrupt::Interrupts;
use crate::commands::sessions;
use crate::commands::temporary::open;

/// Starts the command and tells where it is.
pub(super) async fn start(context: &Context, arguments: Start) -> Result<ExitCode, Failure> {
    let program = Program::of(arguments.command.clone())?;
    let (session, task) = match &arguments.session {
        Some(prefix) => {
            let client = context.operator().await?;
            let link = Link::new(context, client.clone(), Door::Operator);
            let session = sessions::find(&list_sessions(&link).await?, prefix)?.session.clone();
            let params = params(session.clone(), program, &arguments);
            // Once: what may have been started is not started again.
            (session, client.task_start(&params).await?.task)
        }
        None => {
            let label = arguments.label.as_deref().unwrap_or("brattice task start");
            let opened = arguments.confinement.open_params(label)?;
            let client = context.agent().await?;
            start_alone(&client, &opened, |session| params(session, program, &arguments)).await?
        }
    };
    let data = json!({"session": session, "task": task});
    context.show("the task", &data, |_| format!("{session}/{task}\n"))
}

/// In a session of its own. One in which nothing could be started is not left behind.
async fn start_alone(
    client: &Client,
    open_params: &OpenParams,
    params: impl FnOnce(SessionId) -> StartParams,
) -> Result<(SessionId, TaskId), Failure> {
    let mut interrupts = Interrupts::listen()?;
    let session = open(client, open_params, &mut interrupts).await?.session;
    let params = params(session.clone());
    match interrupts.guard(client.task_start(&params)).await {
        Ok(started) => Ok((session, started.task)),
        Err(failure) => {
            // What failed first is what is told.
            drop(interrupts.guard(client.session_close(&session)).await);
            Err(failure)
        }
    }
}

fn params(session: SessionId, program: Program, arguments: &Start) -> StartParams {
    StartParams {
        session,
        command: program.command,
        argv: program.argv,
        workdir: None,
        stdin: arguments.stdin,
        tty: arguments.tty,
        timeout_ms: arguments.timeout.map(milliseconds),
        idle_timeout_ms: arguments.idle_timeout.map(milliseconds),
    }
}
