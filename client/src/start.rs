//! Starts a daemon where none answers, and connects to it.
//!
//! The daemon owns its sockets by a lock file, so clients that start one at the same time need no agreement: the
//! daemon that comes second exits and says so by its status, and its client connects to the first. Where the first was
//! just ending, its client starts another.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use brattice_protocol::DaemonExit;
use brattice_protocol::location::Locations;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, ChildStdout, Command};
use tokio::time::Instant;

use crate::{Client, ClientError, ConnectOptions};

/// How long a daemon may take until it serves.
const START: Duration = Duration::from_secs(30);

/// How long another daemon may hold the sockets or the state folder without listening: it starts, or it ends.
const TAKEOVER: Duration = Duration::from_secs(10);

/// The daemon's log, in the state folder.
const LOG: &str = "daemon.log";

/// The log before that one.
const OLDER_LOG: &str = "daemon.log.1";

/// A log longer than this becomes the older one when a daemon is started.
const LOG_LIMIT: u64 = 4 << 20;

/// How much of the daemon's log is quoted at most when it did not start.
const LAST_WORDS: u64 = 2 << 10;

/// Where more is told of a daemon that did not start.
const LOG_HINT: &str = "its log is daemon.log in the state folder";

/// Whether a daemon that is started may run as root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RootPolicy {
    /// It refuses to.
    #[default]
    Refuse,
    /// It may (`--allow-root`).
    Allow,
}

impl RootPolicy {
    /// What this process's user has decided by calling: root may.
    pub fn of_this_user() -> Self {
        if rustix::process::geteuid().is_root() { RootPolicy::Allow } else { RootPolicy::Refuse }
    }
}

/// How to start a daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartOptions {
    /// The program; see [`find_daemon`].
    pub program: PathBuf,
    /// Its sockets and its state folder.
    pub locations: Locations,
    /// Whether it may run as root.
    pub root: RootPolicy,
}

/// Why no daemon could be started or reached.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The state folder or the log in it cannot be made.
    #[error("cannot write the daemon's log {}", path.display())]
    Log {
        /// The file.
        path: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The program cannot be run.
    #[error("cannot run the daemon {}", program.display())]
    Spawn {
        /// The program.
        program: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// The daemon's output cannot be read.
    #[error("cannot read what the daemon {} says", program.display())]
    Listen {
        /// The program.
        program: PathBuf,
        /// What the kernel said.
        source: io::Error,
    },
    /// It ended before it served.
    #[error("the daemon did not start ({status}): {}", if words.is_empty() { "it said nothing" } else { words })]
    Exited {
        /// How it ended.
        status: ExitStatus,
        /// The last lines of its log, joined.
        words: String,
    },
    /// It would not start: it said so when it was asked ([`check_daemon`]).
    #[error("it would end with {status}: {}", if words.is_empty() { "it said nothing" } else { words })]
    Unfit {
        /// How it ended.
        status: ExitStatus,
        /// What it said.
        words: String,
    },
    /// It neither served nor ended; it was killed.
    #[error("the daemon did not serve within {seconds} s")]
    Silent {
        /// How long it was waited for.
        seconds: u64,
    },
    /// It serves, and the connection failed for another reason.
    #[error(transparent)]
    Client(#[from] ClientError),
}

impl StartError {
    /// What can be done about it, where something can.
    pub fn hint(&self) -> Option<&str> {
        match self {
            StartError::Spawn { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Some("install bratticed beside brattice or in a folder of PATH")
            }
            // What it said is all that there is.
            StartError::Unfit { .. } if self.exit() == Some(DaemonExit::Failed) => None,
            StartError::Exited { .. } | StartError::Unfit { .. } => Some(match self.exit() {
                Some(DaemonExit::Root) => {
                    "use an ordinary user, or start bratticed --allow-root by hand"
                }
                Some(DaemonExit::Taken) => {
                    "that daemon listens at another socket: use it, or set BRATTICE_STATE too"
                }
                Some(DaemonExit::NoBash) => "install bash",
                Some(DaemonExit::Usage) => "use a brattice and a bratticed of the same version",
                Some(DaemonExit::Ended | DaemonExit::Failed) | None => LOG_HINT,
            }),
            StartError::Silent { .. } => Some(LOG_HINT),
            StartError::Client(error) => error.hint(),
            StartError::Log { .. } | StartError::Spawn { .. } | StartError::Listen { .. } => None,
        }
    }

    /// What the daemon's exit status means, where it exited and this version knows it.
    pub fn exit(&self) -> Option<DaemonExit> {
        match self {
            StartError::Exited { status, .. } | StartError::Unfit { status, .. } => {
                DaemonExit::of(status.code()?)
            }
            StartError::Log { .. }
            | StartError::Spawn { .. }
            | StartError::Listen { .. }
            | StartError::Silent { .. }
            | StartError::Client(_) => None,
        }
    }
}

/// The daemon's program: `bratticed` beside this one, else the one in `PATH`.
pub fn find_daemon() -> PathBuf {
    let beside = std::env::current_exe().ok().map(|this| this.with_file_name("bratticed"));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from("bratticed"))
}

/// Connects to `socket`, one of the two of `start`, and starts a daemon first if none answers.
///
/// # Errors
/// See [`StartError`].
pub async fn connect_or_start(
    socket: &Path,
    options: ConnectOptions,
    start: &StartOptions,
) -> Result<Client, StartError> {
    let deadline = Instant::now() + TAKEOVER;
    let mut pause = Duration::from_millis(5);
    loop {
        match Client::connect(socket, options.clone()).await {
            Err(error) if error.is_absent_daemon() => {}
            settled => return Ok(settled?),
        }
        match start_daemon(start).await {
            Ok(()) => return Ok(Client::connect(socket, options).await?),
            // Another one holds the sockets' lock and does not listen: not yet, or, as it is ending, no more.
            Err(error) if error.exit() == Some(DaemonExit::Taken) && Instant::now() < deadline => {
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(Duration::from_millis(200));
            }
            Err(error) => return Err(error),
        }
    }
}

/// Starts a daemon in the background and returns once it serves. It goes on without this process, in a process
/// group of its own so that a Ctrl-C meant for this one does not reach it.
///
/// # Errors
/// See [`StartError`].
pub async fn start_daemon(options: &StartOptions) -> Result<(), StartError> {
    let path = options.locations.state.join(LOG);
    let (log, begin) = open_log(&options.locations.state, &path)
        .map_err(|source| StartError::Log { path: path.clone(), source })?;
    let fault = |source| StartError::Spawn { program: options.program.clone(), source };
    let mut child = command(options).stderr(log).spawn().map_err(fault)?;
    let said = match child.stdout.take() {
        Some(stdout) => tokio::time::timeout(START, wait_for_ready(stdout)).await,
        None => Ok(Ok(Said::Nothing)),
    };
    match said {
        Ok(Ok(Said::Ready)) => Ok(()),
        Ok(Ok(Said::Nothing)) => Err(exited(&mut child, &path, begin).await),
        Ok(Err(source)) => Err(StartError::Listen { program: options.program.clone(), source }),
        Err(_) => {
            child.kill().await.map_err(fault)?;
            Err(StartError::Silent { seconds: START.as_secs() })
        }
    }
}

/// Finds out whether a daemon could start so, without starting one: its configuration is in order, and its program runs.
///
/// # Errors
/// See [`StartError`].
pub async fn check_daemon(options: &StartOptions) -> Result<(), StartError> {
    let mut command = command(options);
    let checking = command.arg("--check").kill_on_drop(true).output();
    let silent = |_| StartError::Silent { seconds: START.as_secs() };
    let fault = |source| StartError::Spawn { program: options.program.clone(), source };
    let output = tokio::time::timeout(START, checking).await.map_err(silent)?.map_err(fault)?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let words = joined(&String::from_utf8_lossy(&output.stderr));
            Err(StartError::Unfit { status: output.status, words })
        }
    }
}

fn command(options: &StartOptions) -> Command {
    let Locations { socket, control_socket, state } = &options.locations;
    let mut command = Command::new(&options.program);
    command.arg("--socket").arg(socket);
    command.arg("--control-socket").arg(control_socket);
    command.arg("--state").arg(state);
    if options.root == RootPolicy::Allow {
        command.arg("--allow-root");
    }
    command
        // A daemon outlives the folder that somebody happened to start it in.
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .process_group(0);
    command
}

fn open_log(state: &Path, path: &Path) -> io::Result<(File, u64)> {
    DirBuilder::new().recursive(true).mode(0o700).create(state)?;
    // Two clients that do this at the same time lose the older log at worst.
    if std::fs::metadata(path).is_ok_and(|found| found.len() > LOG_LIMIT) {
        std::fs::rename(path, state.join(OLDER_LOG))?;
    }
    let log = OpenOptions::new().append(true).create(true).mode(0o600).open(path)?;
    let begin = log.metadata()?.len();
    Ok((log, begin))
}

enum Said {
    Ready,
    Nothing,
}

async fn wait_for_ready(stdout: ChildStdout) -> io::Result<Said> {
    let mut lines = BufReader::new(stdout).lines();
    while let Some(line) = lines.next_line().await? {
        if line == "READY" {
            return Ok(Said::Ready);
        }
    }
    Ok(Said::Nothing)
}

/// How a daemon that closed its output ended, with what it wrote to its log since `begin`.
async fn exited(child: &mut Child, log: &Path, begin: u64) -> StartError {
    match tokio::time::timeout(START, child.wait()).await {
        Ok(Ok(status)) => StartError::Exited { status, words: last_words(log, begin) },
        Ok(Err(source)) => StartError::Listen { program: log.to_owned(), source },
        Err(_) => StartError::Silent { seconds: START.as_secs() },
    }
}

fn last_words(log: &Path, begin: u64) -> String {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(log)?;
        let from = begin.max(file.metadata()?.len().saturating_sub(LAST_WORDS));
        file.seek(SeekFrom::Start(from))?;
        let mut words = Vec::new();
        file.read_to_end(&mut words)?;
        Ok(words)
    };
    // A log that cannot be read is a daemon that said nothing: its exit status is told all the same.
    let words = read().unwrap_or_default();
    joined(&String::from_utf8_lossy(&words))
}

/// What a daemon that fails says of it, or all that it logged where it says nothing.
fn joined(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let own: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("bratticed: ")).collect();
    if own.is_empty() { lines.join("; ") } else { own.join("; ") }
}
