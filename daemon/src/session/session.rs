//! One session: what it may do, what it runs, and whose it is.
//!
//! How a session comes to be is the part of `open` and `restore`, who holds it is `holding`'s, which sessions there are is
//! `registry`'s, its supervisor is `supervision`'s, its background tasks are `background`'s, running a command is the
//! supervisor's (`exec`).

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brattice_policy::config::{Setting, Settings};
use brattice_policy::layer::LayerReport;
use brattice_policy::{Escalation, Profile};
use brattice_protocol::SessionId;
use brattice_protocol::session::{self as wire, Options, SessionChanged, SessionSummary};
use brattice_protocol::tools::ToolsChanged;
use brattice_skills::Catalogue;
use brattice_web::Allowance;
use serde_json::{Map, Value};
use tokio::sync::{OwnedSemaphorePermit, watch};

use crate::approval;
use crate::audit::Audit;
use crate::exec::spec::Timestamp;
use crate::server::Connection;
use crate::toolset::{SessionTools, Toolset};

use super::attention::Attention;
use super::background::News;
use super::calls::{Budget, Calls};
use super::ceiling::{Ceiling, SavedBounds};
use super::command::StartError;
use super::denials::DenialStore;
use super::files::FileWorkers;
use super::folder::SessionFolder;
use super::grounds::Grounds;
use super::owner::{Expiry, Owner};
use super::reads::Reads;
use super::registry::Shared;
use super::saved::SavedSession;
use super::standing::{Bounded, Standing};
use super::supervision::Supervision;
use super::task::Task;
use super::tasks::Tasks;
use super::todos::Todos;
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
    /// What it does not go beyond: what it was opened under, and what has been narrowed since.
    pub(super) ceiling: Ceiling,
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
    pub(super) fn saved(&self, standing: &Standing) -> SavedSession {
        let Standing { mode, approval, planning, layers: _ } = *standing;
        SavedSession {
            session: self.id.clone(),
            label: self.label.clone(),
            profile: self.profile.with_mode(mode),
            cwd: self.cwd.clone(),
            toolset: self.toolset.name,
            options: self.options.clone(),
            approval,
            plan: planning.is_on(),
            ceiling: Some(SavedBounds::from(&self.ceiling.now())),
            opened: self.opened,
            more: self.more.clone(),
        }
    }
}

/// What of a session's past is on disk: what its client was told, which calls were taken, and its to-do list.
pub(super) struct Memory {
    reads: Reads,
    calls: Arc<Calls>,
    todos: Todos,
}

impl Memory {
    /// That of this folder. Blocks.
    pub(super) fn of(folder: &SessionFolder, results: Arc<Budget>) -> Self {
        let (reads, todos) = (Reads::of(folder.path()), Todos::of(folder.path()));
        Memory { reads, calls: Calls::new(results, folder.path()), todos }
    }
}

/// A session.
#[derive(Debug)]
pub(crate) struct Session {
    pub(super) setup: Setup,
    pub(super) grounds: Arc<Grounds>,
    pub(super) shared: Shared,
    pub(super) standing: Mutex<Standing>,
    /// Held while what is written down of it changes: a session whose closing has begun is not written down again.
    pub(super) saving: tokio::sync::Mutex<()>,
    pub(super) supervision: Supervision,
    intake: watch::Sender<Intake>,
    pub(super) tasks: Arc<Tasks<Task>>,
    pub(super) reads: Reads,
    pub(super) news: News,
    pub(super) updating: tokio::sync::Mutex<()>,
    pub(super) answers: Mutex<approval::Memory>,
    pub(super) todos: Todos,
    /// Those that were found last.
    pub(super) skills: Mutex<Arc<Catalogue>>,
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

impl Session {
    pub(super) fn new(parts: Parts) -> Self {
        let Parts { setup, grounds, shared, standing, supervision, tasks, memory, owner, unfit } =
            parts;
        let Memory { reads, calls, todos } = memory;
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
            todos,
            skills: Mutex::default(),
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
        let tools = tools.opened_with(&self.setup.options).with_offers(self.offers());
        tools.with_escalation(self.latitude().offered())
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

    /// Its settings, with where each comes from.
    pub(crate) fn settings(&self) -> &[Setting] {
        self.setup.settings.as_slice()
    }

    /// How it is told to its client.
    pub(crate) fn describe(&self) -> wire::Session {
        let Bounded { mode, layers } = self.bounded();
        wire::Session {
            session: self.id().clone(),
            workspace: self.setup.profile.workspace().display().to_string(),
            cwd: self.setup.cwd.display().to_string(),
            mode,
            plan: self.planning().is_on(),
            toolset: self.setup.toolset.name,
            network: self.setup.profile.network,
            sandbox: LayerReport::clone(&layers),
            preview_lines: self.setup.options.preview_lines,
        }
    }

    /// Its line in a list.
    pub(crate) fn summary(&self) -> SessionSummary {
        SessionSummary {
            session: self.id().clone(),
            label: self.setup.label.clone(),
            workspace: self.setup.profile.workspace().display().to_string(),
            mode: self.bounded().mode,
            plan: self.planning().is_on(),
            toolset: self.setup.toolset.name,
            network: self.setup.profile.network,
            attached: self.owner().connection().is_some(),
            lost: self.is_lost(),
            running: self.tasks.running(),
            opened: self.setup.opened.0,
        }
    }

    /// What starts in it stands otherwise from now on.
    pub(super) fn standing_changed(&self) {
        if let Some(client) = self.audience() {
            let changed = SessionChanged {
                session: self.id().clone(),
                mode: self.bounded().mode,
                plan: self.planning().is_on(),
                approval: self.approval(),
                lost: self.is_lost(),
            };
            client.notify("session.changed", &changed);
        }
    }

    /// Its tools are declared otherwise from now on.
    pub(super) fn tools_changed(&self) {
        if let Some(client) = self.audience() {
            client.notify("tools.changed", &ToolsChanged { session: self.id().clone() });
        }
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

    /// Whose it is.
    pub(super) fn owner(&self) -> MutexGuard<'_, Owner<Arc<Connection>>> {
        self.owner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
