//! Opening a session: every check first, then the folder, the supervisor, and the layers of its mode.
//!
//! Where a step fails, what the steps before it made is removed again: an opening that is refused leaves nothing.

use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use brattice_policy::{Approval, Layer, LayerName, Mode, Profile, Root};
use brattice_protocol::SessionId;
use brattice_protocol::audit::{Actor, Event};
use brattice_protocol::session::{OpenParams, Options};
use tokio::sync::OwnedSemaphorePermit;

use serde_json::Map;

use crate::audit::AuditError;
use crate::exec::spec::Timestamp;
use crate::exec::{SupervisorError, machine};
use crate::fault::chain;
use crate::server::Connection;
use crate::toolset::{OptionFault, SessionFacts, Toolset};
use crate::workers::{Interrupted, Lane};

use super::ceiling::Ceiling;
use super::folder::{FolderError, SessionFolder};
use super::grounds::Grounds;
use super::layers;
use super::owner::Owner;
use super::planning::Planning;
use super::registry::Shared;
use super::session::{Memory, Parts, Session, Setup};
use super::settings;
use super::standing::Standing;
use super::supervision::{self, Link, Supervision};
use super::tasks::Tasks;
use super::workspace::{self, OwnPaths, Workspace, WorkspaceError};

/// Where devices are.
const DEVICES: &str = "/dev";

/// Why a session was not opened. Nothing of it is left.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OpenError {
    /// Its folders are not fit.
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    /// The operator does not allow the mode.
    #[error("mode {mode} is beyond this daemon's ceiling, {ceiling}")]
    BeyondCeiling {
        /// The mode asked for.
        mode: Mode,
        /// The widest there is.
        ceiling: Mode,
    },
    /// The operator lets nobody be asked.
    #[error("approval \"ask\" is beyond this daemon's ceiling, \"never\"")]
    NobodyAsked,
    /// Namespaces alone can keep what was asked for, and there are none here.
    #[error("{0}")]
    Namespaces(String),
    /// A configured socket is the daemon's own.
    #[error("unix_sockets: {} is the daemon's own, which no command reaches", .0.display())]
    OwnSocket(PathBuf),
    /// A configured device is something else.
    #[error("devices: {0} is neither a device nor a folder below /dev")]
    NoDevice(String),
    /// What is hidden cannot be worked in.
    #[error("deny_read hides {} from the session that is to work in {}", hidden.display(), root.display())]
    Hidden {
        /// What is hidden.
        hidden: PathBuf,
        /// A root of the session.
        root: PathBuf,
    },
    /// An option is none of its toolset's, or its value is none.
    #[error(transparent)]
    Option(#[from] OptionFault),
    /// There are as many sessions as may be.
    #[error("{open} sessions are open, which is as many as may be")]
    Full {
        /// How many.
        open: usize,
    },
    /// The daemon's state folder takes no new session.
    #[error(transparent)]
    Folder(#[from] FolderError),
    /// That it is opened cannot be written down.
    #[error(transparent)]
    Unrecorded(AuditError),
    /// The session's process did not start.
    #[error("cannot start the session's supervisor")]
    Supervisor(#[source] SupervisorError),
    /// A thread of the daemon's ended early.
    #[error("opening the session was interrupted")]
    Interrupted(#[source] Interrupted),
}

/// Opens a session for a connection.
pub(super) async fn open(
    grounds: &Arc<Grounds>,
    shared: &Shared,
    params: OpenParams,
    place: OwnedSemaphorePermit,
    owner: &Arc<Connection>,
) -> Result<Session, OpenError> {
    let approval = params.approval.unwrap_or(grounds.defaults.approval);
    let planning = Planning::of(params.plan);
    let id = SessionId::new(uuid::Uuid::now_v7().to_string());
    let (setup, memory) = {
        let (grounds, results) = (grounds.clone(), shared.results.clone());
        let prepare = move || {
            let setup = prepare(&grounds, id, params, place)?;
            let memory = Memory::of(&setup.folder, results);
            Ok::<_, OpenError>((setup, memory))
        };
        shared.workers.run(Lane::Elsewhere, prepare).await.map_err(OpenError::Interrupted)??
    };
    let event = opened(&setup, (approval, planning), owner.role().into());
    if let Err(error) = shared.audit.record_before(&event) {
        discard(shared, setup).await;
        return Err(OpenError::Unrecorded(error));
    }
    let supervisor = match supervision::start(grounds, shared, &setup).await {
        Ok(supervisor) => supervisor,
        Err(error) => {
            let (session, reason) = (setup.id.clone(), Some(chain(&error)));
            shared.audit.record(&Event::SessionClosed { session, by: Actor::Daemon, reason });
            discard(shared, setup).await;
            return Err(OpenError::Supervisor(error));
        }
    };
    shared.know(&supervisor);
    let mode = setup.profile.mode;
    let effective = planning.narrow(mode);
    let profile = setup.profile.with_mode(effective);
    let layers = match layers::set_up(&supervisor, &profile).await {
        Ok(layers) => layers,
        Err(gone) => layers::after(effective, &gone),
    };
    let standing = Standing { mode, planning, layers: Arc::new(layers), approval };
    Ok(Session::new(Parts {
        setup,
        grounds: grounds.clone(),
        shared: shared.clone(),
        standing,
        supervision: Supervision::new(Link::Live(supervisor)),
        tasks: Tasks::new(grounds.limits.max_tasks, shared.space.clone()),
        memory,
        owner: Owner::Attached(owner.id(), owner.clone()),
        unfit: None,
    }))
}

/// Takes away the tools that no session declares.
pub(super) fn disable(options: &mut Options, tools: &[String]) {
    for tool in tools {
        if !options.disable.contains(tool) {
            options.disable.push(tool.clone());
        }
    }
}

/// What the audit log says of an opening.
fn opened(setup: &Setup, (approval, planning): (Approval, Planning), by: Actor) -> Event {
    let path = |root: &Root| root.path.display().to_string();
    let Profile { mode, network, roots, .. } = &setup.profile;
    Event::SessionOpened {
        session: setup.id.clone(),
        by,
        label: setup.label.clone(),
        workspace: setup.profile.workspace().display().to_string(),
        writable: roots.iter().skip(1).map(path).collect(),
        mode: *mode,
        approval,
        plan: planning.is_on(),
        network: *network,
        toolset: setup.toolset.name,
    }
}

/// Removes what was made. That it cannot be removed is not why the session was not opened.
async fn discard(shared: &Shared, setup: Setup) {
    let removed = shared.workers.run(Lane::Trees, move || setup.folder.remove()).await;
    if let Ok(Err(error)) = removed {
        tracing::warn!(error = %crate::fault::chain(&error), "a session that was not opened is left");
    }
}

/// Every check, and the folder. Blocks.
fn prepare(
    grounds: &Grounds,
    id: SessionId,
    mut params: OpenParams,
    place: OwnedSemaphorePermit,
) -> Result<Setup, OpenError> {
    let defaults = &grounds.defaults;
    let mode = params.mode.unwrap_or(defaults.mode);
    let ceiling = grounds.ceiling.mode;
    if mode > ceiling {
        return Err(OpenError::BeyondCeiling { mode, ceiling });
    }
    if params.approval.is_some_and(|approval| approval > grounds.ceiling.approval) {
        return Err(OpenError::NobodyAsked);
    }
    let network = params.network.unwrap_or(defaults.network);
    let toolset = Toolset::of(params.toolset.unwrap_or(defaults.toolset));
    toolset.check_options(&params.options)?;
    let settings = settings::of_opened(&grounds.settings, &params);
    let Workspace { roots, cwd } = workspace::resolve(&params, &grounds.folders, &grounds.own)?;
    disable(&mut params.options, &grounds.disable);
    let OpenParams { options, label, approval, plan, .. } = params;
    let facts = SessionFacts { session: &id, options: &options, home: &grounds.home };
    let variables = toolset.environment(facts);
    let profile = Profile {
        mode,
        network,
        roots,
        temp: SessionFolder::at(&grounds.own.state, &id).temp(),
        protect: defaults.protect.iter().map(PathBuf::from).collect(),
        deny_read: defaults.deny_read.iter().map(PathBuf::from).collect(),
        namespaces: defaults.namespaces,
        devices: devices(&defaults.devices)?,
        unix_sockets: sockets(&defaults.unix_sockets, &grounds.own)?,
    }
    .hiding(&grounds.ceiling.deny_read);
    can_be_held(&profile)?;
    let folder = SessionFolder::create(&grounds.own.state, &id)?;
    let (opened, more, place) = (Timestamp::now(), Map::new(), Some(place));
    let setup = Setup {
        id,
        label,
        profile,
        cwd,
        toolset,
        options,
        variables,
        folder,
        ceiling: Ceiling::new(grounds.ceiling.clone()),
        escalation: defaults.escalation,
        settings,
        opened,
        more,
        place,
    };
    let (approval, planning) = (approval.unwrap_or(defaults.approval), Planning::of(plan));
    let standing = Standing { mode, planning, layers: Arc::default(), approval };
    match setup.saved(&standing).write(setup.folder.path()) {
        Ok(()) => Ok(setup),
        Err(source) => {
            let path = setup.folder.path().to_owned();
            // That it cannot be removed is not why the session was not opened.
            setup.folder.remove().ok();
            Err(FolderError::Make { path, source }.into())
        }
    }
}

/// The sockets that commands may connect to, without links.
fn sockets(configured: &[String], own: &OwnPaths) -> Result<Vec<PathBuf>, OpenError> {
    let is_own =
        |path: &Path| own.sockets.iter().chain([&own.state]).any(|folder| path.starts_with(folder));
    let checked = configured.iter().map(|path| match real(path.as_ref()) {
        path if is_own(&path) => Err(OpenError::OwnSocket(path)),
        path => Ok(path),
    });
    checked.collect()
}

/// The devices of the setting under their real names, as far as they are there: one file serves several machines.
fn devices(setting: &[String]) -> Result<Vec<PathBuf>, OpenError> {
    let mut devices = Vec::new();
    for path in setting {
        let Ok(real) = std::fs::canonicalize(path) else {
            tracing::info!(path, "a configured device is not there");
            continue;
        };
        let kind = std::fs::metadata(&real).map(|metadata| metadata.file_type());
        let is_device = |kind: std::fs::FileType| kind.is_char_device() || kind.is_block_device();
        // A folder of devices, as graphics cards have one; never all of them.
        let is_folder = |kind: std::fs::FileType| kind.is_dir() && real != Path::new(DEVICES);
        if !real.starts_with(DEVICES) || !kind.is_ok_and(|kind| is_device(kind) || is_folder(kind))
        {
            return Err(OpenError::NoDevice(path.clone()));
        }
        devices.push(real);
    }
    Ok(devices)
}

/// The path without symbolic links, as far as it is there. Links that come to be later lead nowhere.
fn real(path: &Path) -> PathBuf {
    match (path.canonicalize(), path.parent(), path.file_name()) {
        (Ok(real), _, _) => real,
        (Err(_), Some(parent), Some(name)) => real(parent).join(name),
        (Err(_), _, _) => path.to_owned(),
    }
}

/// Refuses what no layer of this machine can keep, and what nobody could work in.
fn can_be_held(profile: &Profile) -> Result<(), OpenError> {
    let report = machine().report_for(profile, &[]);
    let is_namespaces = |layer: &&Layer| layer.name == LayerName::Namespaces;
    if let Some(layer) = report.missing().filter(is_namespaces) {
        return Err(OpenError::Namespaces(layer.reason.clone().unwrap_or_default()));
    }
    for hidden in profile.hidden() {
        // What is not there hides nothing yet.
        let hidden = hidden.canonicalize().unwrap_or_else(|_| hidden.clone());
        if let Some(root) = profile.roots.iter().find(|root| root.path.starts_with(&hidden)) {
            return Err(OpenError::Hidden { hidden, root: root.path.clone() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use brattice_policy::config::SessionDefaults;
    use brattice_policy::{Namespaces, Network, RootKind};
    use brattice_protocol::session::ToolsetName;
    use tokio::sync::Semaphore;

    use super::*;
    use crate::configuration::Configuration;
    use crate::session::testing::Scratch;

    fn grounds(scratch: &Scratch, ceiling: Mode) -> Grounds {
        let own = OwnPaths {
            state: scratch.folder("state"),
            sockets: vec![scratch.folder("run")],
            executable: scratch.path("bin/bratticed"),
            configuration: Vec::new(),
        };
        let mut configuration = Configuration::default();
        configuration.ceiling.max_mode = Some(ceiling);
        Grounds::of(own, Vec::new(), "/home/a".to_owned(), configuration)
    }

    fn outcome(grounds: &Grounds, params: OpenParams) -> Result<Setup, String> {
        let place = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
        prepare(grounds, SessionId::new("one"), params, place).map_err(|error| error.to_string())
    }

    #[test]
    fn an_opening_that_is_refused_leaves_nothing() {
        let scratch = Scratch::new();
        let grounds = grounds(&scratch, Mode::WorkspaceWrite);
        let params = OpenParams {
            workspace: scratch.folder("ws").display().to_string(),
            ..OpenParams::default()
        };
        let cases = [
            (
                OpenParams { mode: Some(Mode::DangerFullAccess), ..params.clone() },
                "mode danger-full-access is beyond this daemon's ceiling, workspace-write"
                    .to_owned(),
            ),
            (
                OpenParams { workspace: "/".to_owned(), ..params },
                "workspace \"/\" is the root of the file system".to_owned(),
            ),
        ];
        for (params, expected) in cases {
            assert_eq!(outcome(&grounds, params).map(|_| ()), Err(expected));
        }
        assert!(!scratch.path("state/sessions").exists());
    }

    #[test]
    fn what_only_namespaces_can_keep_is_refused_without_them_and_so_is_a_hidden_root() {
        let scratch = Scratch::new();
        let workspace = scratch.folder("ws/sub").display().to_string();
        let opened = |deny_read: &str, namespaces, network| {
            let defaults = SessionDefaults {
                deny_read: deny_read.split_terminator(' ').map(str::to_owned).collect(),
                namespaces,
                network,
                ..SessionDefaults::default()
            };
            let grounds = Grounds { defaults, ..grounds(&scratch, Mode::WorkspaceWrite) };
            let params = OpenParams { workspace: workspace.clone(), ..OpenParams::default() };
            outcome(&grounds, params)
                .map(|_| ())
                .map_err(|text| text.split(", ").next().unwrap().to_owned())
        };
        let refused = |what: &str| {
            Err(format!(
                "{what} needs namespaces: namespaces = \"off\": /tmp is refused instead of private"
            ))
        };
        assert_eq!(opened("/nowhere", Namespaces::Off, Network::Full), refused("deny_read"));
        assert_eq!(
            opened("", Namespaces::Off, Network::Loopback),
            refused("network = \"loopback\"")
        );
        let parent = scratch.path("ws").display().to_string();
        assert_eq!(
            opened(&parent, Namespaces::Auto, Network::Full),
            Err(format!(
                "deny_read hides {parent} from the session that is to work in {workspace}"
            ))
        );
        assert!(!scratch.path("state/sessions").exists());
        assert_eq!(opened("", Namespaces::Off, Network::Full), Ok(()));
    }

    #[test]
    fn defaults_are_those_of_the_contract() {
        let scratch = Scratch::new();
        let grounds = grounds(&scratch, Mode::DangerFullAccess);
        let workspace = scratch.folder("ws");
        let params =
            OpenParams { workspace: workspace.display().to_string(), ..OpenParams::default() };
        let setup = outcome(&grounds, params).unwrap();
        let facts = (
            setup.profile.mode,
            setup.profile.network,
            setup.toolset.name.as_str(),
            setup.cwd.clone(),
        );
        assert_eq!(facts, (Mode::WorkspaceWrite, Network::Full, "standard", workspace));
        assert_eq!(setup.profile.temp, scratch.path("state/sessions/one/tmp"));
        assert!(setup.profile.temp.is_dir());
    }

    #[test]
    fn configured_defaults_hold_where_nothing_else_is_asked_for() {
        let scratch = Scratch::new();
        let [workspace, cache, own] = ["ws", "cache", "own"].map(|name| scratch.folder(name));
        let defaults = SessionDefaults {
            mode: Mode::ReadOnly,
            toolset: ToolsetName::Dsh,
            network: Network::None,
            ..SessionDefaults::default()
        };
        let missing = scratch.path("missing").display().to_string();
        let folders = [cache.display().to_string(), missing];
        let folders = folders.map(|path| (path, RootKind::Configured)).to_vec();
        let grounds = Grounds { defaults, folders, ..grounds(&scratch, Mode::WorkspaceWrite) };
        let plain =
            OpenParams { workspace: workspace.display().to_string(), ..OpenParams::default() };
        let asking = OpenParams {
            mode: Some(Mode::WorkspaceWrite),
            toolset: Some(ToolsetName::Standard),
            network: Some(Network::Full),
            writable: vec![own.display().to_string()],
            ..plain.clone()
        };
        let facts = |id: &str, params: OpenParams| {
            let place = Arc::new(Semaphore::new(1)).try_acquire_owned().unwrap();
            let setup = prepare(&grounds, SessionId::new(id), params, place).unwrap();
            let roots = setup.profile.roots.into_iter().map(|root| root.path).collect::<Vec<_>>();
            (setup.profile.mode, setup.toolset.name, setup.profile.network, roots)
        };
        assert_eq!(
            facts("one", plain),
            (
                Mode::ReadOnly,
                ToolsetName::Dsh,
                Network::None,
                vec![workspace.clone(), cache.clone()]
            )
        );
        assert_eq!(
            facts("two", asking),
            (
                Mode::WorkspaceWrite,
                ToolsetName::Standard,
                Network::Full,
                vec![workspace, own, cache]
            )
        );
    }
}
