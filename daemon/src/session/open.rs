//! Opening a session: every check first, then the folder, the supervisor, and the layers of its mode.
//!
//! Where a step fails, what the steps before it made is removed again: an opening that is refused leaves nothing.

use std::sync::Arc;

use brattice_policy::config::SessionDefaults;
use brattice_policy::{Limits, Mode, Network, Profile, Root};
use brattice_protocol::SessionId;
use brattice_protocol::audit::{Actor, Event};
use brattice_protocol::session::{OpenParams, ToolsetName};
use tokio::sync::OwnedSemaphorePermit;

use serde_json::Map;

use crate::audit::AuditError;
use crate::configuration::{Configuration, ConfigurationFiles};
use crate::exec::SupervisorError;
use crate::exec::spec::Timestamp;
use crate::fault::chain;
use crate::server::Connection;
use crate::toolset::{SessionFacts, Toolset};

use super::folder::{FolderError, SessionFolder};
use super::layers;
use super::owner::Owner;
use super::registry::Shared;
use super::session::{Parts, Session, Setup, Standing};
use super::supervision::{self, Link, Supervision};
use super::tasks::Tasks;
use super::workspace::{self, OwnPaths, Workspace, WorkspaceError};

/// What every session of a daemon is opened with.
#[derive(Debug)]
pub(crate) struct Grounds {
    /// What the daemon lives on; `state` is where the sessions' folders are.
    pub(crate) own: OwnPaths,
    /// The daemon's own environment.
    pub(crate) ambient: Vec<(Vec<u8>, Vec<u8>)>,
    /// The home of the daemon's user.
    pub(crate) home: String,
    /// What a session has that does not ask for something else.
    pub(crate) defaults: SessionDefaults<ToolsetName>,
    /// Limits.
    pub(crate) limits: Limits,
    /// The widest mode of any session.
    pub(crate) ceiling: Mode,
}

impl Grounds {
    /// The same daemon's by another configuration.
    pub(super) fn reconfigured(
        &self,
        configuration: Configuration,
        files: &ConfigurationFiles,
    ) -> Grounds {
        let Configuration { ceiling, session: defaults, limits } = configuration;
        Grounds {
            own: OwnPaths { configuration: files.paths(), ..self.own.clone() },
            ambient: self.ambient.clone(),
            home: self.home.clone(),
            defaults,
            limits,
            ceiling,
        }
    }
}

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
    /// This version sets up no network namespace, and nothing else confines sockets to the loopback.
    #[error("network \"loopback\" needs a network namespace, which this version does not set up")]
    Loopback,
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
    Interrupted(#[source] tokio::task::JoinError),
}

/// Opens a session for a connection.
pub(super) async fn open(
    grounds: &Arc<Grounds>,
    shared: &Shared,
    params: OpenParams,
    place: OwnedSemaphorePermit,
    owner: &Arc<Connection>,
) -> Result<Session, OpenError> {
    let id = SessionId::new(uuid::Uuid::now_v7().to_string());
    let setup = {
        let grounds = grounds.clone();
        // Folders may be on a file system that answers late.
        tokio::task::spawn_blocking(move || prepare(&grounds, id, params, place))
            .await
            .map_err(OpenError::Interrupted)??
    };
    if let Err(error) = shared.audit.record_before(&opened(&setup, owner.role().into())) {
        discard(setup).await;
        return Err(OpenError::Unrecorded(error));
    }
    let supervisor = match supervision::start(grounds, &setup).await {
        Ok(supervisor) => supervisor,
        Err(error) => {
            let (session, reason) = (setup.id.clone(), Some(chain(&error)));
            shared.audit.record(&Event::SessionClosed { session, by: Actor::Daemon, reason });
            discard(setup).await;
            return Err(OpenError::Supervisor(error));
        }
    };
    shared.know(&supervisor);
    let mode = setup.profile.mode;
    let layers = match layers::set_up(&supervisor, &setup.profile).await {
        Ok(layers) => layers,
        Err(gone) => layers::after(mode, &gone),
    };
    let standing = Standing { mode, layers };
    Ok(Session::new(Parts {
        setup,
        grounds: grounds.clone(),
        shared: shared.clone(),
        standing,
        supervision: Supervision::new(Link::Live(supervisor)),
        tasks: Tasks::new(grounds.limits.max_tasks, shared.space.clone()),
        owner: Owner::Attached(owner.id(), owner.clone()),
        unfit: None,
    }))
}

/// What the audit log says of an opening.
fn opened(setup: &Setup, by: Actor) -> Event {
    let path = |root: &Root| root.path.display().to_string();
    let Profile { mode, network, roots, .. } = &setup.profile;
    Event::SessionOpened {
        session: setup.id.clone(),
        by,
        label: setup.label.clone(),
        workspace: setup.profile.workspace().display().to_string(),
        writable: roots.iter().skip(1).map(path).collect(),
        mode: *mode,
        network: *network,
        toolset: setup.toolset.name,
    }
}

/// Removes what was made. That it cannot be removed is not why the session was not opened.
async fn discard(setup: Setup) {
    let removed = tokio::task::spawn_blocking(move || setup.folder.remove()).await;
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
    let ceiling = grounds.ceiling;
    if mode > ceiling {
        return Err(OpenError::BeyondCeiling { mode, ceiling });
    }
    let network = params.network.unwrap_or(defaults.network);
    if network == Network::Loopback {
        return Err(OpenError::Loopback);
    }
    params.writable.extend(defaults.writable.iter().cloned());
    let Workspace { roots, cwd } = workspace::resolve(&params, &grounds.own)?;
    let toolset = Toolset::of(params.toolset.unwrap_or(defaults.toolset));
    let OpenParams { options, label, .. } = params;
    let facts = SessionFacts { session: &id, options: &options, home: &grounds.home };
    let variables = toolset.environment(facts);
    let folder = SessionFolder::create(&grounds.own.state, &id)?;
    let profile = Profile { mode, network, roots, temp: folder.temp() };
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
        ceiling,
        opened,
        more,
        place,
    };
    match setup.save(mode) {
        Ok(()) => Ok(setup),
        Err(source) => {
            let path = setup.folder.path().to_owned();
            // That it cannot be removed is not why the session was not opened.
            setup.folder.remove().ok();
            Err(FolderError::Make { path, source }.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;
    use tokio::sync::Semaphore;

    fn grounds(scratch: &Scratch, ceiling: Mode) -> Grounds {
        Grounds {
            own: OwnPaths {
                state: scratch.folder("state"),
                sockets: vec![scratch.folder("run")],
                executable: scratch.path("bin/bratticed"),
                configuration: Vec::new(),
            },
            ambient: Vec::new(),
            home: "/home/a".to_owned(),
            defaults: SessionDefaults::default(),
            limits: Limits::default(),
            ceiling,
        }
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
                "mode danger-full-access is beyond this daemon's ceiling, workspace-write".to_owned(),
            ),
            (
                OpenParams { network: Some(Network::Loopback), ..params.clone() },
                "network \"loopback\" needs a network namespace, which this version does not set up".to_owned(),
            ),
            (OpenParams { workspace: "/".to_owned(), ..params }, "workspace \"/\" is the root of the file system".to_owned()),
        ];
        for (params, expected) in cases {
            assert_eq!(outcome(&grounds, params).map(|_| ()), Err(expected));
        }
        assert!(!scratch.path("state/sessions").exists());
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
            writable: vec![cache.display().to_string()],
        };
        let grounds = Grounds { defaults, ..grounds(&scratch, Mode::WorkspaceWrite) };
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
