//! The daemon from its command line to its last answer.
//!
//! ```text
//!  arguments ─ root? ─ bash? ─ state folder, locked ─ leftovers ─ sockets ─ READY
//!                                                                             │
//!                     serving ◄───────────────────────────────────────────────┘
//!                        │ daemon.shutdown {drain}          SIGTERM, SIGINT, daemon.shutdown
//!                     draining ── nothing runs any more ──► stopping ─ answers ─ sessions closed ─ exit 0
//!                                                              └ a second SIGTERM or SIGINT: exit 1 at once
//! ```
//!
//! Everything that can be wrong is found before READY, and told in one line. The daemon's own folder becomes `/`, so
//! that it keeps no file system busy; its umask stays the caller's, because commands inherit it. What the sockets do is
//! the server's, what a session is belongs to `session`; a daemon that dies otherwise leaves its supervisors to end
//! by themselves and their folders to the next daemon.

use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use brattice_policy::{Limits, Mode};
use brattice_protocol::DaemonExit;
use brattice_protocol::location::{LocationError, Locations};
use clap::Parser as _;
use tokio::sync::watch;

use crate::arguments::Arguments;
use crate::exec::find_bash;
use crate::fault::chain;
use crate::logging::{self, LogError};
use crate::methods::Methods;
use crate::ready::{self, ReadyError};
use crate::server::{ConnectionLimits, Server, ServerError, SocketPaths};
use crate::session::{FolderError, Grounds, OwnPaths, Registry, Stage, Stages, remove_leftovers};
use crate::signals::Signals;
use crate::state::{StateError, StateFolder};

/// How long the end waits for answers once every command was told to stop: the grace and the kill after it.
const LAST_ANSWERS: Duration = Duration::from_secs(20);

/// Threads that serve connections; commands run in processes of their own.
const WORKERS: usize = 2;

/// Why the daemon does not start.
#[derive(Debug, thiserror::Error)]
enum StartError {
    #[error(transparent)]
    Log(#[from] LogError),
    #[error("running as root needs --allow-root")]
    Root,
    #[error("bash is missing: it is neither in a folder of PATH nor in /bin or /usr/bin")]
    NoBash,
    #[error(transparent)]
    Location(#[from] LocationError),
    #[error(transparent)]
    State(#[from] StateError),
    #[error(transparent)]
    Leftovers(#[from] FolderError),
    #[error("cannot find the daemon's own program")]
    Executable(#[source] io::Error),
    #[error("cannot change to the folder /")]
    Leave(#[source] io::Error),
    #[error("cannot start the runtime")]
    Runtime(#[source] io::Error),
    #[error("cannot receive signals")]
    Signals(#[source] io::Error),
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error("cannot resolve the folder of the socket {}", path.display())]
    SocketFolder { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Ready(#[from] ReadyError),
}

impl StartError {
    /// What whoever started the daemon can act on.
    fn exit(&self) -> DaemonExit {
        match self {
            StartError::State(StateError::Held { .. }) => DaemonExit::Taken,
            StartError::Server(error) if error.is_taken() => DaemonExit::Taken,
            StartError::Root => DaemonExit::Root,
            StartError::NoBash => DaemonExit::NoBash,
            StartError::Log(_)
            | StartError::Location(_)
            | StartError::State(_)
            | StartError::Leftovers(_)
            | StartError::Executable(_)
            | StartError::Leave(_)
            | StartError::Runtime(_)
            | StartError::Signals(_)
            | StartError::Server(_)
            | StartError::SocketFolder { .. }
            | StartError::Ready(_) => DaemonExit::Failed,
        }
    }
}

/// How serving ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    /// Every session was closed.
    InOrder,
    /// Somebody could not wait for that.
    AtOnce,
}

/// The daemon's role.
pub(crate) fn main() -> ExitCode {
    let exit = match start(&Arguments::parse()) {
        Ok(Ended::InOrder) => DaemonExit::Ended,
        Ok(Ended::AtOnce) => DaemonExit::Failed,
        Err(error) => {
            eprintln!("bratticed: {}", chain(&error));
            error.exit()
        }
    };
    ExitCode::from(exit.status())
}

fn start(arguments: &Arguments) -> Result<Ended, StartError> {
    logging::start(arguments.log_format, std::env::var_os(logging::LEVEL).as_deref())?;
    if rustix::process::geteuid().is_root() && !arguments.allow_root {
        return Err(StartError::Root);
    }
    find_bash().ok_or(StartError::NoBash)?;
    let locations = arguments.locations(|name| std::env::var_os(name))?;
    let state = StateFolder::take(&locations.state)?;
    for left in remove_leftovers(state.path())? {
        tracing::warn!(error = %chain(&left), "a session of an earlier daemon is left");
    }
    std::env::set_current_dir("/").map_err(StartError::Leave)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(WORKERS)
        .enable_all()
        .build()
        .map_err(StartError::Runtime)?;
    let ended = runtime.block_on(serve(&state, locations));
    // Whatever still blocks in a thread must not hold up the end.
    runtime.shutdown_background();
    ended
}

async fn serve(state: &StateFolder, locations: Locations) -> Result<Ended, StartError> {
    let mut signals = Signals::new().map_err(StartError::Signals)?;
    let server = Server::bind(&SocketPaths {
        client: locations.socket.clone(),
        control: locations.control_socket.clone(),
    })?;
    let registry = Registry::new(grounds(state, &locations)?);
    let stages = Arc::new(Stages::new());
    let methods = Methods::new(registry.clone(), stages.clone(), locations);
    let (shutdown, watched) = watch::channel(false);
    let limits = ConnectionLimits::default();
    let serving = tokio::spawn(server.serve(methods, registry.clone(), limits, watched));
    ready::say()?;
    tracing::info!(pid = std::process::id(), "serving");

    tokio::select! {
        () = signals.ask_for_the_end() => tracing::info!("a signal asks for the end"),
        () = stages.reached(Stage::Stopping) => {}
        () = drained(&stages, &registry) => tracing::info!("nothing runs any more"),
    }
    stages.advance(Stage::Stopping);
    shutdown.send_replace(true);
    tokio::select! {
        () = stop(serving, &registry) => Ok(Ended::InOrder),
        () = signals.ask_for_the_end() => {
            tracing::warn!("a second signal asks for the end at once");
            Ok(Ended::AtOnce)
        }
    }
}

/// Returns once an operator asked to drain and nothing runs any more.
async fn drained(stages: &Stages, registry: &Registry) {
    stages.reached(Stage::Draining).await;
    registry.drained().await;
}

/// Stops what runs, lets its calls be answered, and closes every session. The sockets' locks are held to the end.
async fn stop<T>(serving: tokio::task::JoinHandle<T>, registry: &Arc<Registry>) {
    registry.stop_all();
    let locks = tokio::time::timeout(LAST_ANSWERS, serving).await;
    if !matches!(locks, Ok(Ok(_))) {
        tracing::error!("some requests were not answered before the end");
    }
    registry.close_all().await;
    drop(locks);
}

/// What every session is opened with. The sockets' folders are there by now.
fn grounds(state: &StateFolder, locations: &Locations) -> Result<Grounds, StartError> {
    use std::os::unix::ffi::OsStringExt as _;

    let folder = |socket: &Path| {
        let folder = socket.parent().unwrap_or(socket);
        let path = socket.to_owned();
        folder.canonicalize().map_err(|source| StartError::SocketFolder { path, source })
    };
    let own = OwnPaths {
        state: state.path().to_owned(),
        sockets: vec![folder(&locations.socket)?, folder(&locations.control_socket)?],
        executable: std::env::current_exe().map_err(StartError::Executable)?,
    };
    let ambient = std::env::vars_os().map(|(name, value)| (name.into_vec(), value.into_vec()));
    let home = std::env::var("HOME").ok().filter(|home| Path::new(home).is_absolute());
    Ok(Grounds {
        own,
        ambient: ambient.collect(),
        home: home.unwrap_or_else(|| "/".to_owned()),
        limits: Limits::default(),
        ceiling: Mode::DangerFullAccess,
    })
}
