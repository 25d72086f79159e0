//! The supervisor role: one unconfined process a session, between the daemon and the session's commands.
//!
//! ```text
//!            daemon
//!              │ requests, ends                        one thread, one epoll loop (serve):
//!          supervisor ── spools (memory, files)          never waits for one peer alone
//!         ╱    │     ╲
//!  launcher  zygote   keepers ── pipes from the commands
//!   (a set per mode: mode)       (a task each: task)
//! ```
//!
//! It owns the pipes, the spools, the timers and the session's lock; it judges nothing and words nothing. A task:
//!
//! ```text
//! starting ─started→ running ─program ended→ draining ─200 ms→ stopping what is left ─gone→ ended
//!    └─ failed          └── time over, stop asked ──▶ stopping ──────────────────────gone→ ended
//! ```
//!
//! When the **daemon** dies its channel closes: what calls waited for is stopped, the background goes on, and the next daemon
//! is listened for (`daemon`, `listen`). When the session is closed every task is stopped, the modes are swept, and the
//! supervisor ends once it has no child left. When a **keeper** dies its processes come here, for the supervisor is
//! a subreaper: they are killed, and the task is `lost`. When a **launcher** or **zygote** dies its mode is retired: tasks
//! that run go on under their keepers, the next one gets a new launcher. When the **supervisor** dies, every keeper kills
//! its command; the daemon calls the tasks `lost`. It blocks all signals: SIGTERM to a process group does not end it.

mod daemon;
mod denied;
mod ending;
mod finished;
mod git;
mod identity;
mod keepers;
mod listen;
mod mode;
mod peer;
mod reactor;
mod serve;
mod spare;
mod spares;
mod spool;
mod start;
mod task;
mod usage;

use std::fs::File;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use brattice_policy::enforce::privileges::ProcessLimits;
use brattice_policy::{Limits, sys};
use rustix::fs::{AtFlags, CWD, Mode, OFlags};

use super::cgroup::{Tree, TreeError};
use super::channel::Channel;
use super::memory;
use super::message::{FailedStep, Failure, FromSupervisor, ToSupervisor};
use super::retired::{RETIRED, Retired};
use crate::regular;
use listen::Listener;
use serve::Supervisor;

pub(crate) use listen::{ConnectError, connect};

/// The name of the lock in a session's folder. Held for life: whoever can take it knows that no supervisor lives.
pub(crate) const LOCK: &str = "lock";

/// What a supervisor is given at its start.
pub(super) struct Setup {
    folder: PathBuf,
    bash: PathBuf,
    limits: Limits,
    /// Where its commands' control groups are made.
    groups: Option<Tree>,
    environment: OwnedFd,
    /// Whether shells may be started before their command is there.
    ahead: Ahead,
    /// The session's network, once a launcher has made one.
    loopback: Vec<OwnedFd>,
    /// Where the next daemon comes to.
    listener: Listener,
    /// The highest number that a task of the session was given by an earlier supervisor.
    highest: u64,
    /// The highest number that a denial of the session was given, likewise.
    denied: u64,
    /// Held, never read.
    _lock: File,
}

impl Setup {
    /// What each process of a command is held to, beside what its control group holds the command to. The default memory is
    /// a group's alone: sanitizers map terabytes that count for `RLIMIT_DATA`, and would die at their start.
    fn process_limits(&self) -> ProcessLimits {
        let is_held = self.groups.as_ref().is_some_and(Tree::limits_memory);
        let is_default = self.limits.memory == Limits::default().memory;
        let data = self.limits.memory.filter(|_| !is_held && !is_default);
        ProcessLimits { open_files: self.limits.open_files, data }
    }
}

/// Whether shells may be started before their command is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ahead {
    Allowed,
    /// They would run a file of the user's at their start (`BASH_ENV`, bash(1)).
    Never,
}

impl Ahead {
    fn in_environment(environment: &OwnedFd) -> std::io::Result<Ahead> {
        let variables = memory::split(&memory::content(environment.try_clone()?)?);
        let runs_file = variables.iter().any(|variable| variable.starts_with(b"BASH_ENV="));
        Ok(if runs_file { Ahead::Never } else { Ahead::Allowed })
    }
}

/// Runs the supervisor role; its channel to the daemon is standard input.
pub(crate) fn main() -> ExitCode {
    let Ok(stdin) = std::io::stdin().as_fd().try_clone_to_owned() else { return ExitCode::FAILURE };
    let channel = Channel::from_fd(stdin);
    let supervisor = match set_up(&channel) {
        Ok(setup) => Supervisor::new(channel, setup),
        Err(failure) => return unfit(&channel, failure),
    };
    match supervisor {
        Ok(supervisor) => supervisor.serve(),
        Err(errno) => {
            tracing::error!(%errno, "the supervisor cannot set up its loop");
            ExitCode::FAILURE
        }
    }
}

fn unfit(channel: &Channel, failure: Failure) -> ExitCode {
    match channel.send(&FromSupervisor::Unfit(failure), Vec::new()) {
        Ok(()) | Err(_) => ExitCode::FAILURE,
    }
}

fn set_up(channel: &Channel) -> Result<Setup, Failure> {
    let fail = |what: &str, error: &dyn std::fmt::Display| Failure {
        step: FailedStep::Supervisor,
        detail: format!("{what}: {error}"),
    };
    let mut received =
        channel.receive::<ToSupervisor>().map_err(|error| fail("receiving the set-up", &error))?;
    let (ToSupervisor::Setup { folder, bash, limits }, Some(environment)) =
        (received.message, received.descriptors.pop())
    else {
        return Err(fail("receiving the set-up", &"something else came"));
    };
    rustix::stdio::dup2_stdin(
        File::open("/dev/null").map_err(|error| fail("opening /dev/null", &error))?,
    )
    .map_err(|error| fail("closing standard input", &error))?;
    sys::fd::close_on_exec_from(3).map_err(|error| fail("closing descriptors", &error))?;
    sys::signal::block_all().map_err(|error| fail("blocking signals", &error))?;
    // A session of its own: a terminal that goes away, or a kill of the daemon's process group, does not reach it.
    rustix::process::setsid().map_err(|error| fail("starting a session", &error))?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|error| fail("becoming a subreaper", &error))?;
    let lock =
        lock(&folder).map_err(|error| fail(&format!("locking {}", folder.display()), &error))?;
    let listener = Listener::bind(&folder)
        .map_err(|error| fail(&format!("listening in {}", folder.display()), &error))?;
    let (highest, denied) = follow(&folder)
        .map_err(|error| fail(&format!("reading {RETIRED} in {}", folder.display()), &error))?;
    let groups = open_groups(&folder);
    let loopback = Vec::new();
    let ahead = Ahead::in_environment(&environment)
        .map_err(|error| fail("reading the environment", &error))?;
    Ok(Setup {
        folder,
        bash,
        limits,
        groups,
        environment,
        ahead,
        loopback,
        listener,
        highest,
        denied,
        _lock: lock,
    })
}

/// Makes the session's control group. Without one commands run without limits, as `enforce::probe` has told.
fn open_groups(folder: &Path) -> Option<Tree> {
    let session = folder.file_name()?.to_str()?;
    match Tree::open(session) {
        Ok(tree) => Some(tree),
        Err(TreeError::Unavailable(_)) => None,
        Err(error) => {
            tracing::warn!(error = %crate::fault::chain(&error), "commands have no control groups");
            None
        }
    }
}

/// Takes the word of an earlier supervisor of the session: the highest numbers that a task and a denial were given. From
/// now on its absence tells whoever finds the lock free that this one was killed.
fn follow(folder: &Path) -> std::io::Result<(u64, u64)> {
    let retired = Retired::read(folder)?;
    match std::fs::remove_file(folder.join(RETIRED)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(retired.map_or((0, 0), |retired| (retired.highest, retired.denied))),
    }
}

/// Makes the lock file, locked before it has a name: a command of another session may read this folder, and its lock of a
/// reader, if it came first, would keep this one out.
fn lock(folder: &Path) -> std::io::Result<File> {
    match regular::open(&folder.join(LOCK), OFlags::RDONLY) {
        Ok(file) if sys::lock::is_write_locked(&file)? => {
            return Err(std::io::Error::other("another supervisor of this session lives"));
        }
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        Ok(_) | Err(_) => {}
    }
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let fd = rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR)?;
    sys::lock::try_write_lock(&fd)?;
    let itself = format!("/proc/self/fd/{}", fd.as_raw_fd());
    // Linked beside and renamed: an earlier supervisor's, which nobody holds, gives way.
    let beside = folder.join("lock.new");
    match std::fs::remove_file(&beside) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        Ok(()) | Err(_) => {}
    }
    rustix::fs::linkat(CWD, itself, CWD, &beside, AtFlags::SYMLINK_FOLLOW)?;
    std::fs::rename(&beside, folder.join(LOCK))?;
    Ok(fd.into())
}
