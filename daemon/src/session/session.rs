//! One session: what it may do, what it runs, and whose it is.
//!
//! ```text
//!            supervisor ends by itself
//! Open ───────────────────────────────► Lost ──┐
//!  │                                           │ close
//!  └────────────── close ──────────────────────┴──► Closing ──► gone (folder removed)
//! ```
//!
//! A lost session answers `unavailable` to whatever would start something, its tasks have ended as `lost`, what they
//! printed can still be read where it was kept, and it can be closed. How a session comes to be is `open`'s part, which
//! sessions there are is `registry`'s, running a command is the supervisor's (`exec`).

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use brattice_policy::layer::LayerReport;
use brattice_policy::{Mode, Profile};
use brattice_protocol::SessionId;
use brattice_protocol::session::{self as wire, Counters, Options, SessionSummary};
use tokio::sync::OwnedSemaphorePermit;

use crate::exec::spec::TaskSpec;
use crate::exec::{RunError, StopReason, Supervisor};
use crate::server::{Connection, ConnectionId};
use crate::toolset::Toolset;

use super::calls::{Budget, Calls};
use super::command::{Command, StartError, UpdateError, blame};
use super::folder::SessionFolder;
use super::owner::{Asker, Expiry, Owner, Resume};
use super::task::Task;
use super::tasks::Tasks;
use super::{environment, layers};

/// How long a closing session waits for the answers of its calls, whose commands have ended by then.
const SETTLE: Duration = Duration::from_secs(10);

/// What a session was opened with; none of it changes.
#[derive(Debug)]
pub(crate) struct Setup {
    /// Its id.
    pub(super) id: SessionId,
    /// Its name for people.
    pub(super) label: Option<String>,
    /// What its commands may do, in the mode that it was opened with.
    pub(super) profile: Profile,
    /// Where relative paths start.
    pub(super) cwd: PathBuf,
    /// Its toolset.
    pub(super) toolset: &'static Toolset,
    /// Settings of the toolset.
    pub(super) options: Options,
    /// Variables that the toolset adds.
    pub(super) variables: Vec<(String, String)>,
    /// Its folder.
    pub(super) folder: SessionFolder,
    /// The widest mode that it can be given.
    pub(super) ceiling: Mode,
    /// Its place among the daemon's sessions.
    #[expect(dead_code, reason = "held, not read")]
    pub(super) place: OwnedSemaphorePermit,
}

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    setup: Setup,
    standing: Mutex<Standing>,
    supervisor: Supervisor,
    intake: Mutex<Intake>,
    is_lost: AtomicBool,
    tasks: Arc<Tasks<Task>>,
    calls: Arc<Calls>,
    commands: AtomicU64,
    opened: SystemTime,
    owner: Mutex<Owner<Arc<Connection>>>,
    expiry: Expiry,
}

/// Whether commands are taken. It only ever moves on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Intake {
    Open,
    /// The daemon is about to end.
    Stopping,
    Closing,
}

/// The mode of commands that start from now on, and the layers that hold them.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    /// The mode.
    pub(super) mode: Mode,
    /// Its layers.
    pub(super) layers: LayerReport,
}

impl Session {
    pub(super) fn new(
        setup: Setup,
        standing: Standing,
        supervisor: Supervisor,
        max_tasks: usize,
        results: &Arc<Budget>,
        owner: &Arc<Connection>,
    ) -> Self {
        Session {
            setup,
            standing: Mutex::new(standing),
            supervisor,
            intake: Mutex::new(Intake::Open),
            is_lost: AtomicBool::new(false),
            tasks: Tasks::new(max_tasks),
            calls: Calls::new(results.clone()),
            commands: AtomicU64::new(0),
            opened: SystemTime::now(),
            owner: Mutex::new(Owner::Attached(owner.id(), owner.clone())),
            expiry: Expiry::default(),
        }
    }

    /// Its id.
    pub(crate) fn id(&self) -> &SessionId {
        &self.setup.id
    }

    /// Where relative paths start.
    pub(crate) fn cwd(&self) -> &Path {
        &self.setup.cwd
    }

    /// Where a command runs that names this folder, or none. Whether it is there is found out when the command starts.
    pub(crate) fn working_directory(&self, workdir: Option<&str>) -> PathBuf {
        workdir.map_or_else(|| self.setup.cwd.clone(), |workdir| self.setup.cwd.join(workdir))
    }

    /// Its toolset.
    pub(crate) fn toolset(&self) -> &'static Toolset {
        self.setup.toolset
    }

    /// Tools that it does not declare.
    pub(crate) fn disabled(&self) -> &[String] {
        &self.setup.options.disable
    }

    /// Its calls.
    pub(crate) fn calls(&self) -> &Arc<Calls> {
        &self.calls
    }

    /// Its tasks.
    pub(crate) fn tasks(&self) -> &Tasks<Task> {
        &self.tasks
    }

    /// What commands that start now may do.
    pub(crate) fn profile(&self) -> Profile {
        self.setup.profile.with_mode(self.standing().mode)
    }

    /// How it is told to its client.
    pub(crate) fn describe(&self) -> wire::Session {
        let Standing { mode, layers } = self.standing().clone();
        wire::Session {
            session: self.id().clone(),
            workspace: self.setup.profile.workspace().display().to_string(),
            cwd: self.setup.cwd.display().to_string(),
            mode,
            toolset: self.setup.toolset.name,
            network: self.setup.profile.network,
            sandbox: layers,
        }
    }

    /// Its line in a list.
    pub(crate) fn summary(&self) -> SessionSummary {
        SessionSummary {
            session: self.id().clone(),
            label: self.setup.label.clone(),
            workspace: self.setup.profile.workspace().display().to_string(),
            mode: self.standing().mode,
            toolset: self.setup.toolset.name,
            network: self.setup.profile.network,
            attached: self.owner().connection().is_some(),
            lost: self.is_lost(),
            running: self.tasks.running(),
            opened: self.opened.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
        }
    }

    /// Changes the mode of commands that start from now on; running ones keep theirs.
    pub(crate) async fn set_mode(&self, mode: Mode) -> Result<(), UpdateError> {
        let ceiling = self.setup.ceiling;
        if mode > ceiling {
            return Err(UpdateError::BeyondCeiling { mode, ceiling });
        }
        if self.is_lost() {
            return Err(UpdateError::Lost(self.id().clone()));
        }
        let profile = self.setup.profile.with_mode(mode);
        let layers = layers::set_up(&self.supervisor, &profile)
            .await
            .map_err(|_gone| UpdateError::Lost(self.id().clone()))?;
        *self.standing() = Standing { mode, layers };
        Ok(())
    }

    /// Starts a command and returns once its program runs.
    ///
    /// Not to be dropped before it returns: the task would run without anybody who knows it.
    pub(crate) async fn start(&self, command: Command) -> Result<Task, StartError> {
        self.admit()?;
        if self.is_lost() {
            return Err(StartError::Lost(self.id().clone()));
        }
        let slot = self.tasks.reserve()?;
        let profile = self.profile();
        let mode = profile.mode;
        let mut environment = environment::of_task(&profile, &slot.id());
        environment.extend(self.setup.variables.iter().cloned());
        let Command { program, cwd, stdin, streams, timeout } = command;
        let grace = self.setup.toolset.grace;
        let (task, folder) = (slot.id(), cwd.clone());
        let spec =
            TaskSpec { task, profile, program, cwd, environment, stdin, streams, timeout, grace };
        match self.supervisor.run(spec).await {
            Ok(handle) => {
                let task = Task::new(handle);
                slot.fill(task.clone());
                // It was on its way while all that ran was stopped: whoever stopped did not find it.
                if let Err(late) = self.admit() {
                    task.stop(StopReason::Killed { by: late.to_string() });
                }
                Ok(task)
            }
            Err(RunError::Gone) => {
                self.admit()?;
                Err(StartError::Lost(self.id().clone()))
            }
            Err(source) => {
                let source = blame(source, folder).await;
                let layers = layers::after(mode, &source);
                Err(StartError::NotStarted { task: slot.id(), mode, layers, source })
            }
        }
    }

    fn admit(&self) -> Result<(), StartError> {
        match *self.intake() {
            Intake::Open => Ok(()),
            Intake::Stopping => Err(StartError::Stopping),
            Intake::Closing => Err(StartError::Closing(self.id().clone())),
        }
    }

    /// A task of its own has ended: lets go of its descriptors, and of what is no longer kept of earlier ones.
    pub(crate) fn ended(&self, task: &Task) {
        task.keep();
        self.tasks.settle();
    }

    /// [`Session::ended`], once it has.
    pub(crate) async fn ended_in_time(self: Arc<Self>, task: Task) {
        task.ended().await;
        self.ended(&task);
    }

    /// Asks for the end of every command, and starts no more of them.
    pub(super) fn stop_commands(&self) {
        self.refuse(Intake::Stopping);
        for task in self.tasks.all_running() {
            task.stop(StopReason::Killed { by: StartError::Stopping.to_string() });
        }
    }

    fn refuse(&self, intake: Intake) {
        let mut now = self.intake();
        *now = intake.max(*now);
    }

    /// Counts a result of `bash` for the turn.
    pub(crate) fn count_command(&self) {
        self.commands.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the turn: its counters, which begin again.
    pub(crate) fn turn(&self) -> Counters {
        Counters { commands: self.commands.swap(0, Ordering::Relaxed), ..Counters::default() }
    }

    /// Whether its supervisor has ended by itself.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::SeqCst)
    }

    /// Waits for the end of the supervisor and takes note of it.
    pub(super) async fn watch_supervisor(&self) {
        self.supervisor.died().await;
        self.is_lost.store(true, Ordering::SeqCst);
        if *self.intake() < Intake::Closing {
            tracing::error!(session = %self.id(), "the supervisor has ended; running tasks are lost");
        }
    }

    /// Stops everything, waits for the answers of its calls, and removes its folder. Nobody can find it any more.
    pub(super) async fn close(self: Arc<Self>) {
        self.refuse(Intake::Closing);
        self.supervisor.close().await;
        if tokio::time::timeout(SETTLE, self.calls.settled()).await.is_err() {
            tracing::error!(session = %self.id(), "closed while a call had no answer yet");
        }
        let folder = self.setup.folder.clone();
        match tokio::task::spawn_blocking(move || folder.remove()).await {
            Ok(Ok(())) => tracing::info!(session = %self.id(), "session closed"),
            Ok(Err(error)) => {
                tracing::warn!(session = %self.id(), error = %crate::fault::chain(&error), "session closed")
            }
            Err(error) => {
                tracing::error!(session = %self.id(), %error, "session closed; its folder is left")
            }
        }
    }

    /// Whether the asker may name it.
    pub(super) fn admits(&self, asker: Asker) -> bool {
        self.owner().admits(asker)
    }

    /// Whether no client holds it.
    pub(super) fn is_detached(&self) -> bool {
        self.owner().connection().is_none()
    }

    /// Gives it to a connection, where that is allowed.
    pub(super) fn resume(&self, connection: &Arc<Connection>) -> Resume {
        self.owner().resume(connection.into(), connection.clone())
    }

    /// Takes note that a connection is gone. Tells whether the session was its.
    pub(super) fn release(&self, connection: ConnectionId, now: Instant) -> bool {
        self.owner().release(connection, now)
    }

    /// The wait for somebody who resumes it.
    pub(super) fn expiry(&self) -> &Expiry {
        &self.expiry
    }

    /// Whether nobody has held it since then.
    pub(super) fn is_detached_since(&self, since: Instant) -> bool {
        self.owner().is_detached_since(since)
    }

    /// Who is told about its calls: the client that holds it now.
    pub(crate) fn audience(&self) -> Option<Arc<Connection>> {
        self.owner().connection().cloned()
    }

    fn intake(&self) -> MutexGuard<'_, Intake> {
        self.intake.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn owner(&self) -> MutexGuard<'_, Owner<Arc<Connection>>> {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
