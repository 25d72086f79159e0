//! Starting a supervisor, and asking it for things.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use brattice_policy::environment::Environment;
use brattice_policy::layer::LayerReport;
use brattice_policy::{Limits, Profile, sys};
use rustix::fs::Access;
use tokio::process::Command;
use tokio::sync::{oneshot, watch};

use super::error::{RunError, SupervisorError};
use super::post::Post;
use super::task::TaskHandle;
use crate::exec::channel::{Channel, ChannelError};
use crate::exec::memory;
use crate::exec::message::{RunRequest, ToSupervisor};
use crate::exec::spec::{KnownLine, Program, TaskFacts, TaskSpec, TaskUsage, Timestamp};
use crate::workers::{Lane, Workers};

/// How long a supervisor may take to end, beyond the grace of its commands, before it is killed, and its keepers kill what
/// they keep: the keepers' deadline (10 s), its own last wait (5 s), and as much again and more for a loaded machine.
const CLOSE_PATIENCE: Duration = Duration::from_secs(35);

/// A supervisor to start.
#[derive(Clone, Debug)]
pub(crate) struct SupervisorSpec {
    /// The session's folder, private to the user.
    pub(crate) folder: PathBuf,
    /// The base environment of its commands.
    pub(crate) environment: Environment,
    /// Limits of its commands.
    pub(crate) limits: Limits,
    /// What waits for a disk.
    pub(crate) workers: Workers,
}

/// A session's supervisor. Clones are the same one.
#[derive(Clone, Debug)]
pub(crate) struct Supervisor(pub(super) Arc<Handle>);

#[derive(Debug)]
pub(super) struct Handle {
    pub(super) pid: u32,
    pub(super) post: Post,
    pub(super) kill: Mutex<Option<oneshot::Sender<()>>>,
    pub(super) died: watch::Receiver<bool>,
}

impl Drop for Handle {
    /// Nobody asks it for anything any more: it is the next daemon's, and not taken for one that has a daemon.
    fn drop(&mut self) {
        self.post.leave();
    }
}

impl Supervisor {
    /// Starts a supervisor and returns once it serves.
    ///
    /// # Errors
    /// See [`SupervisorError`]; no process is left then.
    pub(crate) async fn start(spec: SupervisorSpec) -> Result<Supervisor, SupervisorError> {
        let workers = spec.workers;
        // Folders of PATH may be anywhere.
        let found = workers.run(Lane::Elsewhere, find_bash).await;
        let bash = found.map_err(SupervisorError::Interrupted)?.ok_or(SupervisorError::NoBash)?;
        let (near, far) =
            Channel::pair().map_err(|errno| SupervisorError::Descriptors(errno.into()))?;
        let environment =
            environment_file(&spec.environment).map_err(SupervisorError::Descriptors)?;
        let setup = ToSupervisor::Setup { folder: spec.folder.clone(), bash, limits: spec.limits };
        near.send(&setup, vec![environment]).map_err(SupervisorError::Channel)?;
        // Whatever the daemon itself was started with is not for its supervisors.
        sys::fd::close_on_exec_from(3)
            .map_err(|errno| SupervisorError::Descriptors(errno.into()))?;
        // posix_spawn, so its cost does not depend on the daemon's size. Nothing of the daemon's is inherited: whoever
        // waits for the daemon's standard output must not wait for a supervisor.
        let mut child = Command::new("/proc/self/exe")
            .arg("supervise")
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(far.into_fd()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(SupervisorError::Spawn)?;
        let pid = child.id().unwrap_or(0);
        let (kill, killed) = oneshot::channel::<()>();
        let (say_died, died) = watch::channel(false);
        tokio::spawn(async move {
            tokio::select! {
                _ = child.wait() => {}
                Ok(()) = killed => {
                    // Killing fails only when it has ended; the wait tells.
                    child.kill().await.ok();
                }
            }
            say_died.send_replace(true);
        });
        let (post, ready) =
            Post::start(near, &spec.folder, workers).map_err(SupervisorError::Descriptors)?;
        ready.await.map_err(|_| SupervisorError::Channel(ChannelError::Closed))?.map_err(
            |failure| SupervisorError::Unfit { folder: spec.folder, detail: failure.detail },
        )?;
        Ok(Supervisor(Arc::new(Handle { pid, post, kill: Mutex::new(Some(kill)), died })))
    }

    /// The supervisor's process number.
    pub(crate) fn pid(&self) -> u32 {
        self.0.pid
    }

    /// Sets up the launcher of this profile, so that its first command is as fast as the rest.
    ///
    /// # Errors
    /// [`RunError::Setup`] names the layer that is missing.
    pub(crate) async fn prepare(&self, profile: &Profile) -> Result<LayerReport, RunError> {
        self.0.post.prepare(profile.clone()).await
    }

    /// Starts a task and returns once its program was exec'd.
    ///
    /// # Errors
    /// The step that failed; nothing ran.
    pub(crate) async fn run(&self, spec: TaskSpec) -> Result<TaskHandle, RunError> {
        let TaskSpec {
            task,
            profile,
            layers,
            program,
            cwd,
            environment,
            stdin,
            streams,
            timeout,
            idle_timeout,
            grace,
            placement,
            leftovers,
        } = spec;
        let (kind, shell, started) = (program.kind(), program.shell(), Timestamp::now());
        let KnownLine { title, digest } = program.known();
        let text =
            text_of(program).map_err(|error| RunError::Request { detail: error.to_string() })?;
        let facts = TaskFacts {
            task: task.clone(),
            kind,
            title: title.clone(),
            digest,
            cwd: Some(cwd.clone()),
            stdin,
            streams,
            mode: profile.mode,
            layers,
            started,
            timeout,
            idle_timeout,
        };
        let handle = TaskHandle::new(facts, self.0.post.clone());
        let request = RunRequest {
            task,
            profile,
            kind,
            shell,
            title,
            digest,
            started,
            cwd,
            environment,
            stdin,
            streams,
            timeout,
            idle_timeout,
            grace,
            placement,
            leftovers,
        };
        self.0.post.run(&handle, Box::new(request), text).await?;
        Ok(handle)
    }

    /// What the running tasks use.
    ///
    /// # Errors
    /// [`RunError::Gone`].
    pub(crate) async fn inspect(&self) -> Result<Vec<TaskUsage>, RunError> {
        self.0.post.inspect().await
    }

    /// Leaves it, and what runs in the background, to the next daemon.
    pub(crate) fn leave(&self) {
        self.0.post.leave();
    }

    /// Stops every task, whose grace this is, ends the process, and returns when it is gone.
    pub(crate) async fn close(&self, grace: Duration) {
        self.0.post.close();
        // Left to the next daemon it hears nothing any more.
        let is_left = self.0.post.is_left();
        let patience = if is_left { Duration::ZERO } else { grace + CLOSE_PATIENCE };
        if tokio::time::timeout(patience, self.died()).await.is_err() {
            tracing::warn!(
                pid = self.0.pid,
                "the supervisor does not end; it is killed, and its keepers kill the rest"
            );
            let kill = self.0.kill.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(kill) = kill {
                // The other side has ended by itself.
                kill.send(()).ok();
            }
            self.died().await;
        }
    }

    /// Resolves when the process has ended, for whatever reason.
    pub(crate) async fn died(&self) {
        let mut died = self.0.died.clone();
        // The sender lives until the process was reaped.
        if died.wait_for(|died| *died).await.is_err() {
            tracing::error!(pid = self.0.pid, "nobody waits for the supervisor any more");
        }
    }
}

/// bash, along the daemon's `PATH`, else where it usually is.
pub(crate) fn find_bash() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .chain(["/bin".into(), "/usr/bin".into()])
        .map(|folder| folder.join("bash"))
        .find(|path| path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok())
}

fn environment_file(environment: &Environment) -> std::io::Result<OwnedFd> {
    let entries =
        environment.iter().map(|(name, value)| [name.as_slice(), b"=", value.as_slice()].concat());
    memory::file("environment", &memory::join(entries))
}

fn text_of(program: Program) -> std::io::Result<OwnedFd> {
    match program {
        Program::Bash(text) | Program::Login(text) => memory::file("command", text.as_bytes()),
        Program::Argv(argv) => {
            memory::file("argv", &memory::join(argv.into_iter().map(String::into_bytes)))
        }
    }
}
