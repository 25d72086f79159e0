//! The daemon from its command line to its last answer.
//!
//! ```text
//!  arguments ─ root? ─ bash? ─ configuration ─ state folder, locked ─ sockets ─ sessions taken over ─ READY
//!                                                                                                       │
//!           SIGHUP ──▶ serving ◄─────────────────────────────────────────────────────────────────────────┘
//!                        │ daemon.shutdown {drain}     SIGTERM, SIGINT, daemon.shutdown
//!                     draining ── no call runs ──► stopping ─ calls stopped and answered ─ sessions left ─ exit 0
//!                                                     ├ a second SIGTERM or SIGINT: background tasks are stopped, too
//!                                                     └ a third: exit 1 at once
//! ```
//!
//! Everything that can be wrong is found before READY, and told in one line. The daemon's own folder becomes `/`, so
//! that it keeps no file system busy; its umask stays the caller's, because commands inherit it. What the sockets do is
//! the server's, what a session is belongs to `session`; however a
//! daemon ends, what runs in the background goes on, and the next one takes it over.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use brattice_policy::enforce::privileges::raise_open_files;
use brattice_protocol::DaemonExit;
use brattice_protocol::audit::{DaemonEnd, Event};
use brattice_protocol::location::{LocationError, Locations};
use clap::{CommandFactory as _, Parser as _};
use clap_mangen::Man;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use crate::arguments::Arguments;
use crate::audit::Audit;
use crate::configuration::{Configuration, ConfigurationError, ConfigurationFiles, Loaded};
use crate::exec::{claim_groups, find_bash};
use crate::fault::chain;
use crate::logging::{self, LogError};
use crate::methods::{Methods, Parts};
use crate::ready::{self, News, Notifier, ReadyError};
use crate::reload::Reloader;
use crate::server::{ConnectionLimits, HandedError, HandedOver, Server, ServerError, SocketPaths};
use crate::session::{FolderError, Grounds, OwnPaths, Registry, Stage, Stages};
use crate::signals::{Asked, Signals};
use crate::state::{StateError, StateFolder};
use crate::workers::Workers;

/// How long the end waits for answers once every command was told to stop, beyond the grace of those: the kill after it.
const LAST_ANSWERS: Duration = Duration::from_secs(15);

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
    HandedOver(#[from] HandedError),
    #[error(transparent)]
    Location(#[from] LocationError),
    #[error(transparent)]
    Configuration(#[from] ConfigurationError),
    #[error(transparent)]
    State(#[from] StateError),
    #[error(transparent)]
    Leftovers(#[from] FolderError),
    #[error("cannot find the daemon's own program")]
    Executable(#[source] io::Error),
    #[error("cannot change to the folder /")]
    Leave(#[source] io::Error),
    #[error("cannot start the daemon's threads")]
    Threads(#[source] io::Error),
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
            | StartError::HandedOver(_)
            | StartError::Location(_)
            | StartError::Configuration(_)
            | StartError::State(_)
            | StartError::Leftovers(_)
            | StartError::Executable(_)
            | StartError::Leave(_)
            | StartError::Threads(_)
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

impl Ended {
    /// As the audit log tells it.
    const fn told(self) -> DaemonEnd {
        match self {
            Ended::InOrder => DaemonEnd::InOrder,
            Ended::AtOnce => DaemonEnd::AtOnce,
        }
    }
}

/// The daemon's role.
pub(crate) fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if arguments.man {
        return manual();
    }
    let ended = if arguments.check { check(&arguments) } else { start(&arguments) };
    let exit = match ended {
        Ok(Ended::InOrder) => DaemonExit::Ended,
        Ok(Ended::AtOnce) => DaemonExit::Failed,
        Err(error) => {
            say(format_args!("{}", chain(&error)));
            error.exit()
        }
    };
    ExitCode::from(exit.status())
}

/// The manual page, on standard output.
fn manual() -> ExitCode {
    let page = Man::new(Arguments::command()).section("8");
    match page.render(&mut io::stdout()) {
        Ok(()) => ExitCode::from(DaemonExit::Ended.status()),
        Err(error) => {
            say(format_args!("cannot write the manual page: {error}"));
            ExitCode::from(DaemonExit::Failed.status())
        }
    }
}

/// What a daemon is started with, as far as it takes nothing that another one may hold.
struct Prepared {
    handed: HandedOver,
    locations: Locations,
    files: ConfigurationFiles,
    loaded: Loaded,
}

fn prepare(arguments: &Arguments) -> Result<Prepared, StartError> {
    logging::start(arguments.log_format, std::env::var_os(logging::LEVEL).as_deref())?;
    if rustix::process::geteuid().is_root() && !arguments.allow_root {
        return Err(StartError::Root);
    }
    find_bash().ok_or(StartError::NoBash)?;
    if let Err(error) = raise_open_files() {
        tracing::warn!(%error, "the limit of open files stays as it is");
    }
    let environment = |name: &str| std::env::var_os(name);
    let handed = HandedOver::take(environment)?;
    let locations = arguments.locations(&handed, environment)?;
    let files = ConfigurationFiles::find(arguments.config.as_deref(), environment, &home())?;
    let loaded = files.read()?;
    Ok(Prepared { handed, locations, files, loaded })
}

/// Says that a daemon could start so, or fails as it would.
fn check(arguments: &Arguments) -> Result<Ended, StartError> {
    prepare(arguments)?;
    let told = format!(
        "bratticed {} could start: its configuration is in order\n",
        env!("CARGO_PKG_VERSION")
    );
    // Where nobody reads it, the exit status tells.
    io::stdout().write_all(told.as_bytes()).ok();
    Ok(Ended::InOrder)
}

fn start(arguments: &Arguments) -> Result<Ended, StartError> {
    let Prepared { handed, locations, files, loaded } = prepare(arguments)?;
    let state = StateFolder::take(&locations.state)?;
    if let Err(error) = claim_groups() {
        tracing::info!(error = %chain(&error), "commands are not limited by control groups");
    }
    std::env::set_current_dir("/").map_err(StartError::Leave)?;
    let workers = Workers::start().map_err(StartError::Threads)?;
    let runtime = runtime().map_err(StartError::Runtime)?;
    runtime.block_on(serve(&state, locations, handed, (files, loaded), workers))
}

/// A line on stderr, where that can be written to: nothing else depends on it.
fn say(line: std::fmt::Arguments<'_>) {
    writeln!(io::stderr(), "bratticed: {line}").ok();
}

/// The runtime with all its threads. It panics where one of them cannot be started, and unwinding would wait for the others
/// for ever: such a start ends at once, as any that fails.
fn runtime() -> io::Result<Runtime> {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {
        say(format_args!("cannot start the threads of the runtime"));
        std::process::exit(DaemonExit::Failed.status().into());
    }));
    let built = Builder::new_multi_thread().worker_threads(WORKERS).enable_all().build();
    std::panic::set_hook(before);
    built
}

async fn serve(
    state: &StateFolder,
    locations: Locations,
    handed: HandedOver,
    (files, loaded): (ConfigurationFiles, Loaded),
    workers: Workers,
) -> Result<Ended, StartError> {
    let mut signals = Signals::new().map_err(StartError::Signals)?;
    let (client, control) = (locations.socket.clone(), locations.control_socket.clone());
    let server = Server::bind(&SocketPaths { client, control }, handed)?;
    let notifier = Notifier::new(|name| std::env::var_os(name));
    let audit = Arc::new(Audit::open(state));
    audit.record(&started());
    loaded.events.iter().for_each(|event| audit.record(event));
    let grounds = grounds(state, &locations, loaded.configuration, &files)?;
    let registry = Registry::new(grounds, audit.clone(), workers.clone());
    registry.restore().await?;
    let stages = Arc::new(Stages::new());
    let reloader = Reloader::new(files, registry.clone(), audit.clone(), workers.clone());
    let methods = Methods::new(Parts {
        registry: registry.clone(),
        stages: stages.clone(),
        audit: audit.clone(),
        reloader: reloader.clone(),
        locations,
        workers: workers.clone(),
    });
    let (shutdown, watched) = watch::channel(false);
    let limits = ConnectionLimits::default();
    let serving = tokio::spawn(server.serve(methods, registry.clone(), limits, watched));
    ready::say(&notifier)?;
    ready::watch(&notifier, |name| std::env::var_os(name));
    tracing::info!(pid = std::process::id(), "serving");

    loop {
        tokio::select! {
            asked = signals.next() => match asked {
                Asked::Reload => {
                    notifier.tell(News::Reloading);
                    // What is wrong was logged; whoever sent the signal cannot be told.
                    drop(reloader.reload().await);
                    notifier.tell(News::Ready);
                }
                Asked::End => {
                    tracing::info!("a signal asks for the end");
                    break;
                }
            },
            () = stages.reached(Stage::Stopping) => break,
            () = drained(&stages, &registry) => {
                tracing::info!("no call runs any more");
                break;
            }
        }
    }
    notifier.tell(News::Stopping);
    stages.advance(Stage::Stopping);
    shutdown.send_replace(true);
    let ended = tokio::select! {
        () = stop(serving, &registry) => Ended::InOrder,
        () = signals.ask_for_the_end() => {
            tracing::warn!("a second signal asks for the end of background tasks, too");
            tokio::select! {
                () = registry.close_all() => Ended::InOrder,
                () = signals.ask_for_the_end() => {
                    tracing::warn!("a third signal asks for the end at once");
                    Ended::AtOnce
                }
            }
        }
    };
    audit.record(&Event::DaemonStopped { end: ended.told() });
    Ok(ended)
}

/// What the audit log tells first.
fn started() -> Event {
    Event::DaemonStarted {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: std::process::id(),
        uid: rustix::process::geteuid().as_raw(),
    }
}

/// Returns once an operator asked to drain and no call runs any more.
async fn drained(stages: &Stages, registry: &Registry) {
    stages.reached(Stage::Draining).await;
    registry.drained().await;
}

/// Stops what calls wait for, lets them be answered, and leaves every session to the next daemon. The sockets' locks are
/// held to the end.
async fn stop<T>(serving: tokio::task::JoinHandle<T>, registry: &Arc<Registry>) {
    registry.stop_calls();
    let locks = tokio::time::timeout(registry.longest_grace() + LAST_ANSWERS, serving).await;
    if !matches!(locks, Ok(Ok(_))) {
        tracing::error!("some requests were not answered before the end");
    }
    registry.leave_all().await;
    drop(locks);
}

/// What every session is opened with. The sockets' folders are there by now.
fn grounds(
    state: &StateFolder,
    locations: &Locations,
    configuration: Configuration,
    files: &ConfigurationFiles,
) -> Result<Grounds, StartError> {
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
        configuration: files.paths(),
    };
    let ambient = std::env::vars_os().map(|(name, value)| (name.into_vec(), value.into_vec()));
    Ok(Grounds::of(own, ambient.collect(), home(), configuration))
}

/// The home of the daemon's user.
fn home() -> String {
    let home = std::env::var("HOME").ok().filter(|home| Path::new(home).is_absolute());
    home.unwrap_or_else(|| "/".to_owned())
}
