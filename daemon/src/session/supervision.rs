//! A session's supervisor: which there is, and what becomes of the session when it ends.
//!
//! ```text
//!            its supervisor was killed
//! Live ────────────────────────────────► Lost ──┐
//!  ▲ │                                           │ close
//!  │ └────────────── close ──────────────────────┴──► gone (folder removed)
//!  │ a command starts                            │
//! Dormant ───────────────────────────────────────┘
//!    its last supervisor ended in order, without a daemon
//! ```
//!
//! A lost session answers `unavailable` to whatever would start something; its tasks have ended as `lost`, what they
//! printed can still be read where it was kept, and it can be closed. A dormant one gets another supervisor when it needs
//! one.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use brattice_protocol::audit::{Actor, Event};
use tokio::sync::Notify;

use crate::exec::{Supervisor, SupervisorError, SupervisorSpec};
use crate::fault::chain;

use super::command::StartError;
use super::environment;
use super::grounds::Grounds;
use super::layers;
use super::recovery::is_unfinished;
use super::registry::Shared;
use super::saved::begin_closing;
use super::session::{Intake, Session, Setup};
use super::tasks::Entry as _;
use crate::exec::spec::{Placement, Urgency};
use crate::workers::Lane;

/// How long a closing session waits for the answers of its calls, whose commands have ended by then.
const SETTLE: Duration = Duration::from_secs(10);

/// How long a daemon that ends waits for a supervisor that has nothing left to keep.
const LEAVE_PATIENCE: Duration = Duration::from_secs(5);

/// A session's supervisor.
#[derive(Debug)]
pub(super) struct Supervision {
    link: Mutex<Link>,
    /// One at a time starts another.
    starting: tokio::sync::Mutex<()>,
    /// There is another.
    woken: Notify,
}

/// Which there is.
#[derive(Clone, Debug)]
pub(super) enum Link {
    /// This one.
    Live(Supervisor),
    /// None, but another can follow.
    Dormant,
    /// It was killed.
    Lost,
}

impl Supervision {
    pub(super) fn new(link: Link) -> Self {
        let starting = tokio::sync::Mutex::new(());
        Supervision { link: Mutex::new(link), starting, woken: Notify::new() }
    }

    pub(super) fn link(&self) -> Link {
        self.locked().clone()
    }

    fn locked(&self) -> MutexGuard<'_, Link> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts a supervisor for a session.
pub(super) async fn start(
    grounds: &Grounds,
    shared: &Shared,
    setup: &Setup,
) -> Result<Supervisor, SupervisorError> {
    let ambient = grounds.ambient.iter().cloned();
    let spec = SupervisorSpec {
        folder: setup.folder.path().to_owned(),
        environment: environment::of_session(
            &grounds.environment,
            ambient,
            &setup.id,
            &setup.profile,
        ),
        limits: grounds.limits.clone(),
        workers: shared.workers.clone(),
    };
    Supervisor::start(spec).await
}

impl Session {
    /// Whether its supervisor has ended by itself.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.supervision.link(), Link::Lost)
    }

    /// Its supervisor; another one where the last ended in order.
    pub(super) async fn supervisor(&self) -> Result<Supervisor, StartError> {
        let _starting = match self.supervision.link() {
            Link::Live(supervisor) => return Ok(supervisor),
            Link::Lost => return Err(StartError::Lost(self.id().clone())),
            Link::Dormant => self.supervision.starting.lock().await,
        };
        match self.supervision.link() {
            Link::Live(supervisor) => return Ok(supervisor),
            Link::Lost => return Err(StartError::Lost(self.id().clone())),
            Link::Dormant => {}
        }
        let supervisor = start(&self.grounds, &self.shared, &self.setup)
            .await
            .map_err(StartError::Supervisor)?;
        self.shared.know(&supervisor);
        let profile = self.profile();
        if let Ok(layers) = layers::set_up(&supervisor, &profile).await {
            self.set_layers(layers);
        }
        *self.supervision.locked() = Link::Live(supervisor.clone());
        self.supervision.woken.notify_one();
        Ok(supervisor)
    }

    /// Between SIGTERM and SIGKILL for its commands: the longest that one of them gets.
    pub(super) fn grace(&self) -> Duration {
        self.tools().times().grace.max(self.grounds.limits.leftover_grace)
    }

    /// Waits for the end of its supervisor and takes note of it; for ever where it never has one.
    pub(super) async fn watch_supervisor(&self) {
        let supervisor = loop {
            match self.supervision.link() {
                Link::Live(supervisor) => break supervisor,
                Link::Lost => return,
                Link::Dormant => self.supervision.woken.notified().await,
            }
        };
        supervisor.died().await;
        *self.supervision.locked() = Link::Lost;
        if self.intake() == Intake::Open {
            self.audit().record(&Event::SessionLost { session: self.id().clone(), reason: None });
            tracing::error!(session = %self.id(), "the supervisor has ended; running tasks are lost");
            self.standing_changed();
            self.recover_lost_files().await;
        }
    }

    /// Has what calls wait for stopped, and starts nothing more. The background goes on.
    pub(super) fn stop_calls(&self) {
        self.refuse(Intake::Stopping);
        for task in self.tasks().all_running() {
            if task.placement() == Placement::Foreground {
                let reason = StartError::Stopping.to_string();
                self.begin_kill(&task, Actor::Daemon, reason, Urgency::Graceful);
            }
        }
    }

    /// Leaves it to the next daemon. Returns once its supervisor has ended, where it has nothing to keep.
    pub(super) async fn leave(self: Arc<Self>) {
        self.refuse(Intake::Stopping);
        self.end_file_workers().await;
        self.end_web_worker().await;
        if let Link::Live(supervisor) = self.supervision.link() {
            let keeps = self.tasks().running() > 0;
            supervisor.leave();
            let died = tokio::time::timeout(LEAVE_PATIENCE, supervisor.died());
            if !keeps && died.await.is_err() {
                tracing::warn!(session = %self.id(), pid = supervisor.pid(), "the supervisor has not ended yet");
            }
        }
    }

    /// Stops everything, waits for the answers of its calls, and removes its folder. Nobody can find it any more. That it
    /// closes is written down first: should this daemon end meanwhile, the next one goes on with it.
    pub(super) async fn close(self: Arc<Self>) {
        self.refuse(Intake::Closing);
        self.begin_closing().await;
        self.end_file_workers().await;
        self.end_web_worker().await;
        self.recover_files().await;
        // One that is just being started is waited for.
        let _starting = self.supervision.starting.lock().await;
        if let Link::Live(supervisor) = self.supervision.link() {
            supervisor.close(self.grace()).await;
        }
        if tokio::time::timeout(SETTLE, self.calls().settled()).await.is_err() {
            tracing::error!(session = %self.id(), "closed while a call had no answer yet");
        }
        let folder = self.setup.folder.clone();
        let look = {
            let folder = folder.clone();
            move || is_unfinished(&folder)
        };
        if self.shared.workers.run(Lane::State, look).await.unwrap_or(true) {
            let folder = folder.path().display();
            return tracing::error!(session = %self.id(), %folder, "session closed; its folder is left, for changes of files in it could not be put in order");
        }
        match self.shared.workers.run(Lane::Trees, move || folder.remove()).await {
            Ok(Ok(())) => tracing::info!(session = %self.id(), "session closed"),
            Ok(Err(error)) => {
                tracing::warn!(session = %self.id(), error = %chain(&error), "session closed")
            }
            Err(error) => {
                tracing::error!(session = %self.id(), %error, "session closed; its folder is left")
            }
        }
    }

    async fn begin_closing(&self) {
        let _saving = self.saving.lock().await;
        let path = self.setup.folder.path().to_owned();
        let begin = move || begin_closing(&path);
        let begun = self.shared.workers.run(Lane::State, begin).await;
        if let Err(error) = begun.map_err(io::Error::other).and_then(|begun| begun) {
            tracing::warn!(session = %self.id(), %error, "that the session closes is not on record");
        }
    }
}
