//! One session: what it may do, what it runs, and whose it is.
//!
//! How a session comes to be is the part of `open` and `restore`, who holds it is `holding`'s, which sessions there are is
//! `registry`'s, its supervisor is `supervision`'s, its background tasks are `background`'s, running a command is the
//! supervisor's (`exec`).

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brattice_policy::config::{Setting, Settings};
use brattice_policy::layer::LayerReport;
use brattice_policy::{Approval, Escalation, Mode, Profile};
use brattice_protocol::SessionId;
use brattice_protocol::session::{self as wire, Options, SessionSummary};
use brattice_protocol::tools::ToolsChanged;
use brattice_web::Allowance;
use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::approval;
use crate::audit::Audit;
use crate::exec::machine;
use crate::exec::spec::Timestamp;
use crate::server::Connection;
use crate::toolset::{SessionTools, Toolset};

use super::attention::Attention;
use super::background::News;
use super::calls::{Budget, Calls};
use super::ceiling::Bounds;
use super::command::StartError;
use super::denials::DenialStore;
use super::files::FileWorkers;
use super::folder::SessionFolder;
use super::open::Grounds;
use super::owner::{Expiry, Owner};
use super::reads::Reads;
use super::registry::Shared;
use super::saved::SavedSession;
use super::supervision::Supervision;
use super::task::Task;
use super::tasks::Tasks;
use super::turn::Turn;
use super::web::WebWorker;
use super::workspace::WorkspaceError;

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
    /// What it does not go beyond.
    pub(super) ceiling: Bounds,
    /// What an escalation needs.
    pub(super) escalation: Escalation,
    /// Its settings, with where each comes from.
    pub(super) settings: Settings,
    /// When it was opened.
    pub(super) opened: Timestamp,
    /// What a newer version has written down besides.
    pub(super) more: Map<String, Value>,
    /// Its place among the daemon's sessions; none where more were restored than may be opened.
    #[expect(dead_code, reason = "held, not read")]
    pub(super) place: Option<OwnedSemaphorePermit>,
}

impl Setup {
    /// What the next daemon needs.
    pub(super) fn saved(&self, mode: Mode, approval: Approval) -> SavedSession {
        SavedSession {
            session: self.id.clone(),
            label: self.label.clone(),
            profile: self.profile.with_mode(mode),
            cwd: self.cwd.clone(),
            toolset: self.toolset.name,
            options: self.options.clone(),
            approval,
            opened: self.opened,
            more: self.more.clone(),
        }
    }
}

/// What of a session's past is on disk: what its client was told, and which calls were taken.
pub(super) struct Memory {
    reads: Reads,
    calls: Arc<Calls>,
}

impl Memory {
    /// That of this folder. Blocks.
    pub(super) fn of(folder: &SessionFolder, results: Arc<Budget>) -> Self {
        Memory { reads: Reads::of(folder.path()), calls: Calls::new(results, folder.path()) }
    }
}

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(super) setup: Setup,
    pub(super) grounds: Arc<Grounds>,
    pub(super) shared: Shared,
    standing: Mutex<Standing>,
    /// Held while what is written down of it changes: a session whose closing has begun is not written down again.
    pub(super) saving: tokio::sync::Mutex<()>,
    pub(super) supervision: Supervision,
    intake: watch::Sender<Intake>,
    pub(super) tasks: Arc<Tasks<Task>>,
    pub(super) reads: Reads,
    pub(super) news: News,
    pub(super) updating: tokio::sync::Mutex<()>,
    pub(super) answers: Mutex<approval::Memory>,
    pub(super) denials: DenialStore,
    pub(super) files: FileWorkers,
    pub(super) web: WebWorker,
    calls: Arc<Calls>,
    pub(super) turn: Mutex<Turn>,
    owner: Mutex<Owner<Arc<Connection>>>,
    pub(super) unfit: Option<WorkspaceError>,
    pub(super) expiry: Expiry,
    pub(super) attention: Arc<Attention>,
}

/// What a session is put together from.
pub(super) struct Parts {
    pub(super) setup: Setup,
    pub(super) grounds: Arc<Grounds>,
    pub(super) shared: Shared,
    pub(super) standing: Standing,
    pub(super) supervision: Supervision,
    pub(super) tasks: Arc<Tasks<Task>>,
    pub(super) memory: Memory,
    pub(super) owner: Owner<Arc<Connection>>,
    /// Why nothing may start in it, where that is so.
    pub(super) unfit: Option<WorkspaceError>,
}

/// Whether commands are taken. It only ever moves on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Intake {
    Open,
    /// The daemon is about to end.
    Stopping,
    Closing,
}

/// The mode of commands that start from now on, the layers that hold them, and whether they may ask for more.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    /// The mode.
    pub(super) mode: Mode,
    /// Its layers.
    pub(super) layers: Arc<LayerReport>,
    /// Whether calls may ask a person.
    pub(super) approval: Approval,
}

impl Session {
    pub(super) fn new(parts: Parts) -> Self {
        let Parts { setup, grounds, shared, standing, supervision, tasks, memory, owner, unfit } =
            parts;
        let Memory { reads, calls } = memory;
        Session {
            setup,
            grounds,
            standing: Mutex::new(standing),
            saving: tokio::sync::Mutex::new(()),
            supervision,
            intake: watch::Sender::new(Intake::Open),
            tasks,
            reads,
            news: News::default(),
            updating: tokio::sync::Mutex::new(()),
            answers: Mutex::default(),
            denials: DenialStore::default(),
            files: FileWorkers::default(),
            web: WebWorker::default(),
            calls,
            shared,
            turn: Mutex::default(),
            owner: Mutex::new(owner),
            unfit,
            expiry: Expiry::default(),
            attention: Arc::default(),
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

    /// Its workspace.
    pub(crate) fn workspace(&self) -> &Path {
        self.setup.profile.workspace()
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

    /// Where all that happens is written down.
    pub(crate) fn audit(&self) -> &Audit {
        &self.shared.audit
    }

    /// Its tools.
    pub(crate) fn tools(&self) -> SessionTools<'_> {
        let (toolset, limits) = (self.setup.toolset, &self.grounds.limits);
        let tools = SessionTools::of(toolset, self.disabled(), limits);
        let tools = tools.with_network(self.setup.profile.network);
        tools.opened_with(&self.setup.options).with_escalation(self.latitude().offered())
    }

    /// What `web_fetch` may reach although it is reserved.
    pub(crate) fn web_allowed(&self) -> Allowance {
        self.grounds.web_allow.clone()
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
        self.setup.profile.with_mode(self.bounded().mode).hiding(&self.ceiling().deny_read)
    }

    /// Its settings, with where each comes from.
    pub(crate) fn settings(&self) -> &[Setting] {
        self.setup.settings.as_slice()
    }

    /// Whether somebody is asked.
    pub(super) fn approval(&self) -> Approval {
        self.standing().approval.min(self.ceiling().approval)
    }

    /// What it does not go beyond now.
    pub(super) fn ceiling(&self) -> Bounds {
        self.setup.ceiling.and(&self.shared.ceiling.now())
    }

    /// How commands that start now stand: as it is set, unless the ceiling was narrowed since.
    pub(super) fn bounded(&self) -> Standing {
        let standing = self.standing().clone();
        match self.ceiling().mode {
            mode if mode < standing.mode => {
                Standing { mode, layers: self.layers_in(mode), ..standing }
            }
            _ => standing,
        }
    }

    /// The layers of another mode, as this machine has them.
    fn layers_in(&self, mode: Mode) -> Arc<LayerReport> {
        Arc::new(machine().report_for(&self.setup.profile.with_mode(mode), &[]))
    }

    /// The layers that hold a command in this mode, which may be one that a person has allowed.
    pub(super) fn layers_of(&self, mode: Mode) -> Arc<LayerReport> {
        match self.bounded() {
            standing if standing.mode == mode => standing.layers,
            _ => self.layers_in(mode),
        }
    }

    /// The layers that hold commands that start now.
    pub(crate) fn layers(&self) -> Arc<LayerReport> {
        self.bounded().layers
    }

    /// How it is told to its client.
    pub(crate) fn describe(&self) -> wire::Session {
        let Standing { mode, layers, .. } = self.bounded();
        wire::Session {
            session: self.id().clone(),
            workspace: self.setup.profile.workspace().display().to_string(),
            cwd: self.setup.cwd.display().to_string(),
            mode,
            toolset: self.setup.toolset.name,
            network: self.setup.profile.network,
            sandbox: LayerReport::clone(&layers),
        }
    }

    /// Its line in a list.
    pub(crate) fn summary(&self) -> SessionSummary {
        SessionSummary {
            session: self.id().clone(),
            label: self.setup.label.clone(),
            workspace: self.setup.profile.workspace().display().to_string(),
            mode: self.bounded().mode,
            toolset: self.setup.toolset.name,
            network: self.setup.profile.network,
            attached: self.owner().connection().is_some(),
            lost: self.is_lost(),
            running: self.tasks.running(),
            opened: self.setup.opened.0,
        }
    }

    /// Its tools are declared otherwise from now on.
    pub(super) fn tools_changed(&self) {
        if let Some(client) = self.audience() {
            client.notify("tools.changed", &ToolsChanged { session: self.id().clone() });
        }
    }

    /// The mode of commands that start now, and the layers that hold them.
    pub(crate) fn standing_now(&self) -> (Mode, Arc<LayerReport>) {
        let Standing { mode, layers, .. } = self.bounded();
        (mode, layers)
    }

    /// Another standing, for the same mode: its supervisor is another one.
    pub(super) fn set_layers(&self, layers: LayerReport) {
        self.standing().layers = Arc::new(layers);
    }

    /// Starts no more commands.
    pub(super) fn refuse(&self, intake: Intake) {
        self.intake.send_modify(|now| *now = intake.max(*now));
    }

    /// Returns once it takes no more commands, with the reason. Who waits for something of it waits no longer then.
    pub(crate) async fn refusing(&self) -> StartError {
        let mut intake = self.intake.subscribe();
        loop {
            if let Err(reason) = self.admit() {
                return reason;
            }
            // The sender lives in this very session, so the wait cannot fail.
            if intake.changed().await.is_err() {
                return StartError::Stopping;
            }
        }
    }

    pub(super) fn intake(&self) -> Intake {
        *self.intake.borrow()
    }

    pub(super) fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whose it is.
    pub(super) fn owner(&self) -> MutexGuard<'_, Owner<Arc<Connection>>> {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
