//! `brattice daemon`: start, stop and status, by way of the operators' socket.

use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::time::Duration;

use brattice_client::ClientError;
use brattice_protocol::status::{DaemonStatus, ShutdownParams};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use serde_json::json;
use tokio::time::Instant;

use crate::cli::arguments::Daemon;
use crate::cli::duration::words;
use crate::cli::terminal::columns;
use crate::cli::{Context, Failure};

/// How long a daemon that was told to stop may answer; its calls get their grace before they are killed.
const STOP: Duration = Duration::from_secs(60);

/// Performs `daemon start`, `daemon stop` or `daemon status`.
pub(crate) async fn daemon(context: &Context, arguments: Daemon) -> Result<ExitCode, Failure> {
    match arguments {
        Daemon::Start => start(context).await,
        Daemon::Stop { drain } => stop(context, ShutdownParams { drain }).await,
        Daemon::Status => status(context).await,
    }
}

async fn start(context: &Context) -> Result<ExitCode, Failure> {
    let ran_before = context.running_daemon().await?.is_some();
    let status = context.operator().await?.daemon_status().await?;
    context.show("the daemon's state", &status, |_| {
        let how = if ran_before { "already running" } else { "started" };
        format!("{how}: process {} at {}\n", status.pid, status.socket)
    })
}

async fn stop(context: &Context, params: ShutdownParams) -> Result<ExitCode, Failure> {
    let Some(client) = context.running_daemon().await? else {
        return context.show("the answer", &json!({"stopped": false}), |_| absent(context));
    };
    let pid = client.daemon_status().await?.pid;
    let process =
        Pid::from_raw(pid.cast_signed()).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok());
    match client.daemon_shutdown(&params).await {
        // It may be gone before its answer is read.
        Ok(_) | Err(ClientError::Closed | ClientError::Broken(_)) => {}
        Err(error) => return Err(error.into()),
    }
    drop(client);
    wait_until_gone(context, params).await?;
    if let Some(process) = process {
        wait_for_end(process).await;
    }
    let data = json!({"stopped": true, "pid": pid});
    context.show("the answer", &data, |_| format!("stopped: process {pid}\n"))
}

/// Waits until nothing listens at the operators' socket. A daemon that drains may take as long as its calls do.
async fn wait_until_gone(context: &Context, params: ShutdownParams) -> Result<(), Failure> {
    let deadline = Instant::now() + STOP;
    let mut pause = Duration::from_millis(5);
    while tokio::net::UnixStream::connect(&context.locations.control_socket).await.is_ok() {
        if !params.drain && Instant::now() > deadline {
            let path = context.locations.control_socket.clone();
            return Err(Failure::StillThere { path, seconds: STOP.as_secs() });
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(Duration::from_millis(200));
    }
    Ok(())
}

/// Waits until the process has ended: its sockets go first, and its sessions' last processes with it.
async fn wait_for_end(process: OwnedFd) {
    let wait = move || {
        let timeout = Timespec { tv_sec: 60, tv_nsec: 0 };
        poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout)).ok()
    };
    // Either way there is nothing more to wait for.
    tokio::task::spawn_blocking(wait).await.ok();
}

async fn status(context: &Context) -> Result<ExitCode, Failure> {
    let Some(client) = context.running_daemon().await? else {
        context.show("the daemon's state", &json!(null), |_| absent(context))?;
        return Ok(ExitCode::FAILURE);
    };
    let status = client.daemon_status().await?;
    context.show("the daemon's state", &status, |_| describe(&status))
}

fn absent(context: &Context) -> String {
    format!("no daemon runs at {}\n", context.locations.control_socket.display())
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
