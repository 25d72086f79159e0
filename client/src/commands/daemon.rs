//! `brattice daemon`: start, stop, restart, reload and status, by way of the operators' socket.

use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::time::Duration;

use brattice_client::ClientError;
use brattice_protocol::status::{DaemonStatus, ShutdownParams};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::json;
use tokio::net::UnixStream;
use tokio::time::{sleep, timeout};

use crate::cli::arguments::Daemon;
use crate::cli::duration::words;
use crate::cli::plain::plain;
use crate::cli::terminal::columns;
use crate::cli::{Context, Failure};

/// How long a daemon that was told to stop may answer; its calls get their grace before they are killed.
const STOP: Duration = Duration::from_secs(60);

/// Performs `daemon start`, `daemon stop`, `daemon status`, `daemon reload` or `daemon restart`.
pub(crate) async fn daemon(context: &Context, arguments: Daemon) -> Result<ExitCode, Failure> {
    match arguments {
        Daemon::Start => start(context).await,
        Daemon::Stop { drain } => stop(context, ShutdownParams { drain }).await,
        Daemon::Status => status(context).await,
        Daemon::Reload => reload(context).await,
        Daemon::Restart => restart(context).await,
    }
}

async fn start(context: &Context) -> Result<ExitCode, Failure> {
    let ran_before = context.running_daemon().await?.is_some();
    let status = context.operator().await?.daemon_status().await?;
    context.show("the daemon's state", &status, |_| {
        let how = if ran_before { "already running" } else { "started" };
        format!("{how}: process {} at {}\n", status.pid, plain(&status.socket))
    })
}

async fn stop(context: &Context, params: ShutdownParams) -> Result<ExitCode, Failure> {
    let Some(pid) = end(context, params).await? else {
        return context.show("the answer", &json!({"stopped": false}), |_| absent(context));
    };
    let data = json!({"stopped": true, "pid": pid});
    context.show("the answer", &data, |_| format!("stopped: process {pid}\n"))
}

/// Ends the daemon in order, and starts another: the background tasks go on meanwhile. Not before it is known that the
/// other one can start.
async fn restart(context: &Context) -> Result<ExitCode, Failure> {
    if !context.may_start() {
        return Err(Failure::RestartRefused);
    }
    if let Some(client) = context.running_daemon().await? {
        let pid = client.daemon_status().await?.pid;
        context.check_start().await.map_err(|source| Failure::NotReplaced { pid, source })?;
    }
    let before = end(context, ShutdownParams { drain: false }).await?;
    let status = context.operator().await?.daemon_status().await?;
    let data = json!({"pid": status.pid, "replaced": before, "running": status.running});
    context.show("the answer", &data, |_| {
        let how = match before {
            Some(before) => format!("restarted: process {} instead of {before}", status.pid),
            None => format!("started: process {}, for none ran", status.pid),
        };
        format!("{how}, at {}\n{}\n", plain(&status.socket), kept(status.running))
    })
}

fn kept(running: usize) -> String {
    match running {
        0 => "no background task runs".to_owned(),
        1 => "1 background task goes on".to_owned(),
        many => format!("{many} background tasks go on"),
    }
}

/// Asks the daemon, if one runs, to end, and waits until its process has. Gives the process's number.
async fn end(context: &Context, params: ShutdownParams) -> Result<Option<u32>, Failure> {
    let Some(client) = context.running_daemon().await? else { return Ok(None) };
    let pid = client.daemon_status().await?.pid;
    let process =
        Pid::from_raw(pid.cast_signed()).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    match client.daemon_shutdown(&params).await {
        // It may be gone before its answer is read.
        Ok(_) | Err(ClientError::Closed | ClientError::Broken(_)) => {}
        Err(error) => return Err(error.into()),
    }
    drop(client);
    let still_there = Failure::StillThere { pid, seconds: STOP.as_secs() };
    let gone = async {
        match process {
            // Its socket says nothing: a client that misses the daemon may have started the next one by now.
            Some(process) => wait_for_end(process).await,
            None => until_unheard(context).await,
        }
    };
    let ended = match params.drain {
        // What it waits for has limits of its own.
        true => gone.await,
        false => timeout(STOP, gone).await.unwrap_or(Ended::No),
    };
    match ended {
        Ended::Yes => Ok(Some(pid)),
        Ended::No => Err(still_there),
    }
}

/// Whether a process has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Yes,
    No,
}

/// Waits until nothing listens at the operators' socket.
async fn until_unheard(context: &Context) -> Ended {
    let mut pause = Duration::from_millis(5);
    while UnixStream::connect(&context.locations.control_socket).await.is_ok() {
        sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(200));
    }
    Ended::Yes
}

/// Waits until the process has ended.
async fn wait_for_end(process: OwnedFd) -> Ended {
    // A pidfd is readable once its process has ended (pidfd_open(2)).
    let wait = move || poll(&mut [PollFd::new(&process, PollFlags::IN)], None);
    match tokio::task::spawn_blocking(wait).await {
        Ok(Ok(1..)) => Ended::Yes,
        Ok(Ok(0) | Err(_)) | Err(_) => Ended::No,
    }
}

async fn status(context: &Context) -> Result<ExitCode, Failure> {
    let Some(client) = context.running_daemon().await? else {
        context.show("the daemon's state", &json!(null), |_| absent(context))?;
        return Ok(ExitCode::FAILURE);
    };
    let status = client.daemon_status().await?;
    context.show("the daemon's state", &status, |_| describe(&status))
}

async fn reload(context: &Context) -> Result<ExitCode, Failure> {
    let Some(client) = context.running_daemon().await? else {
        context.show("the answer", &json!(null), |_| absent(context))?;
        return Ok(ExitCode::FAILURE);
    };
    let reloaded = client.daemon_reload().await?;
    context.show("the answer", &reloaded, |_| match reloaded.files.as_slice() {
        [] => "reloaded: no configuration file is there\n".to_owned(),
        files => format!("reloaded: {}\n", files.join(", ")),
    })
}

fn absent(context: &Context) -> String {
    let socket = context.locations.control_socket.display().to_string();
    format!("no daemon runs at {}\n", plain(&socket))
}

fn describe(status: &DaemonStatus) -> String {
    let facts = [
        ("daemon", format!("{} {}", status.daemon.name, status.daemon.version)),
        ("process", status.pid.to_string()),
        ("up", words(Duration::from_millis(status.uptime_ms))),
        ("socket", status.socket.clone()),
        ("control socket", status.control_socket.clone()),
        ("state", status.state.clone()),
        ("sessions", status.sessions.to_string()),
        ("running tasks", status.running.to_string()),
        ("connections", status.connections.to_string()),
        ("landlock ABI", status.sandbox.landlock_abi.to_string()),
    ];
    columns(&facts.map(|(name, value)| [name.to_owned(), value]))
}
