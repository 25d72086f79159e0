//! The sessions of a daemon: which there are, who may name them, and what becomes of one whose client is gone.
//!
//! A session is in the registry from the moment it is open until somebody closes it, and whoever takes it out closes
//! it, so that happens once. What a session is belongs to `session`.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use brattice_protocol::SessionId;
use brattice_protocol::audit::{Actor, Event};
use brattice_protocol::session::{OpenParams, SessionSummary};
use dashmap::DashMap;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::approval::Desk;
use crate::configuration::{Configuration, ConfigurationFiles};
use crate::question::{self, Attendance};
use crate::server::{Connection, ConnectionId};

use super::calls::Budget;
use super::ceiling::{Ceiling, Narrowed};
use super::grounds::Grounds;
use super::open::{self, OpenError};
use super::owner::{Asker, Resume};
use super::restore::{self, RestoreError, Restored};
use super::session::Session;
use super::space::Space;
use super::supervisors::Supervisors;
use super::tasks::Removable;
use super::{FolderError, folder};
use crate::audit::Audit;
use crate::exec::Supervisor;
use crate::workers::{Lane, Workers};

/// How long a daemon's start waits for sessions of an earlier one. A supervisor that hangs must not keep the rest waiting.
const RESTORE_PATIENCE: Duration = Duration::from_secs(5);

/// All sessions.
#[derive(Debug)]
pub(crate) struct Registry {
    grounds: RwLock<Arc<Grounds>>,
    sessions: DashMap<SessionId, Arc<Session>>,
    places: Arc<Semaphore>,
    /// Held, shared, by whoever closes a session: a daemon that ends waits for that.
    pub(super) closing: tokio::sync::RwLock<()>,
    pub(super) shared: Shared,
}

/// What all sessions have together.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    /// The supervisors that live.
    pub(super) supervisors: Arc<Supervisors>,
    /// The bytes of results that may be remembered.
    pub(super) results: Arc<Budget>,
    /// The disk that tasks take.
    pub(super) space: Arc<Space>,
    /// Where all that happens is written down.
    pub(super) audit: Arc<Audit>,
    /// The approvals that people are asked for.
    pub(super) desk: Arc<Desk>,
    /// The questions and plans that are open.
    pub(super) questions: Arc<question::Desk>,
    /// What no session goes beyond now.
    pub(super) ceiling: Arc<Ceiling>,
    /// What waits for a disk.
    pub(super) workers: Workers,
}

impl Shared {
    /// What descends from this supervisor is no client from now on.
    pub(super) fn know(&self, supervisor: &Supervisor) {
        let watched = supervisor.clone();
        self.supervisors.know(supervisor.pid(), async move { watched.died().await });
    }
}

/// Why a session cannot be named by whoever named it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AccessError {
    /// There is none, or it is another client's, which is not told apart.
    #[error("no session {0}, or it is not yours")]
    Unknown(SessionId),
    /// Its client is gone and nobody has resumed it.
    #[error("session {0} lost its client and is held by nobody")]
    Detached(SessionId),
    /// Another client holds it.
    #[error("session {0} is held by another client")]
    Held(SessionId),
}

impl Registry {
    /// A daemon without sessions. Called inside the runtime.
    pub(crate) fn new(grounds: Grounds, audit: Arc<Audit>, workers: Workers) -> Arc<Self> {
        let places = Arc::new(Semaphore::new(grounds.limits.max_sessions));
        let limits = &grounds.limits;
        let space = Arc::new(Space::new(limits.state, limits.spool, workers.clone()));
        let ceiling = Arc::new(Ceiling::new(grounds.ceiling.clone()));
        let (supervisors, results, desk, questions) = Default::default();
        let shared =
            Shared { supervisors, results, space, audit, desk, questions, ceiling, workers };
        let (grounds, sessions) = (RwLock::new(Arc::new(grounds)), DashMap::new());
        let closing = tokio::sync::RwLock::default();
        let registry = Arc::new(Registry { grounds, sessions, places, closing, shared });
        tokio::spawn(registry.clone().make_room());
        registry
    }

    /// Takes over what earlier daemons left: sessions whose supervisors live, those that can go on under another one, and
    /// what can be told of the rest. A folder of which nothing can be made is told and left.
    ///
    /// # Errors
    /// The sessions' folders cannot be listed.
    pub(crate) async fn restore(self: &Arc<Self>) -> Result<(), FolderError> {
        let mut restoring = JoinSet::new();
        let state = self.grounds().own.state.clone();
        let listing = self.shared.workers.run(Lane::State, move || folder::all(&state)).await;
        for folder in listing.map_err(FolderError::from)?? {
            let (grounds, shared) = (self.grounds(), self.shared.clone());
            let place = self.places.clone().try_acquire_owned().ok();
            restoring.spawn(restore::restore(grounds, shared, folder, place));
        }
        let in_time = async {
            while let Some(restored) = restoring.join_next().await {
                self.take_over(restored);
            }
        };
        if tokio::time::timeout(RESTORE_PATIENCE, in_time).await.is_err() {
            tracing::warn!(
                "some sessions of an earlier daemon answer late, and are taken over later"
            );
            let registry = self.clone();
            tokio::spawn(async move {
                while let Some(restored) = restoring.join_next().await {
                    registry.take_over(restored);
                }
            });
        }
        Ok(())
    }

    fn take_over(
        self: &Arc<Self>,
        restored: Result<Result<Restored, RestoreError>, tokio::task::JoinError>,
    ) {
        match restored {
            Ok(Ok(Restored::Session { session, news })) => {
                let session = Arc::new(*session);
                for task in news {
                    session.ended_before(&task);
                }
                self.take_in(session);
            }
            Ok(Ok(Restored::Nothing)) => {}
            Ok(Err(error)) => {
                tracing::error!(error = %crate::fault::chain(&error), "a session of an earlier daemon is left");
            }
            Err(error) => tracing::error!(%error, "a session of an earlier daemon is left"),
        }
    }

    /// A session that nobody holds yet.
    fn take_in(self: &Arc<Self>, session: Arc<Session>) {
        let (id, now) = (session.id().clone(), session.detached_since());
        for task in session.tasks().all_running() {
            session.follow(&task);
            session.observe(&task);
        }
        self.sessions.insert(id.clone(), session.clone());
        tokio::spawn({
            let session = session.clone();
            async move { session.watch_supervisor().await }
        });
        tokio::spawn({
            let session = session.clone();
            async move { session.recover_files().await }
        });
        let wait = tokio::spawn(self.clone().expire(id.clone(), now));
        session.expiry().begin(wait.abort_handle());
        let running = session.tasks().all_running().iter().map(|task| task.id().clone()).collect();
        self.shared.audit.record(&Event::SessionRestored { session: id.clone(), running });
        let (running, lost) = (session.tasks().running(), session.is_lost());
        tracing::info!(session = %id, running, lost, "session taken over");
    }

    /// Removes output of finished tasks, the oldest of all sessions first, whenever all tasks take more than they may.
    async fn make_room(self: Arc<Self>) {
        loop {
            let wanted = self.shared.space.wanted().await;
            for of in wanted.removable() {
                while self.shared.space.exceeds(wanted.more)
                    && let Some(session) = self.oldest(*of)
                {
                    session.tasks().discard_oldest(*of);
                }
            }
        }
    }

    /// The session that has the oldest output that may be removed.
    fn oldest(&self, of: Removable) -> Option<Arc<Session>> {
        let found = self.all().into_iter();
        let found = found.filter_map(|session| Some((session.tasks().oldest(of)?, session)));
        found.min_by_key(|(at, _)| *at).map(|(_, session)| session)
    }

    /// What sessions are opened with now.
    pub(crate) fn grounds(&self) -> Arc<Grounds> {
        self.grounds.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The approvals that people are asked for.
    pub(crate) fn desk(&self) -> &Desk {
        &self.shared.desk
    }

    /// The questions and plans that are open.
    pub(crate) fn questions(&self) -> &question::Desk {
        &self.shared.questions
    }

    /// Somebody is there, who may answer.
    pub(crate) fn attach(&self, from: &Arc<Connection>) {
        self.shared.desk.attach(from);
        self.attended(self.shared.questions.attach(from));
    }

    /// Somebody is gone, whose answers nobody waits for any more.
    pub(crate) fn leave(&self, connection: ConnectionId) {
        self.shared.desk.leave(connection);
        self.attended(self.shared.questions.leave(connection));
    }

    fn attended(&self, attendance: Attendance) {
        if attendance == Attendance::Changed {
            self.all().iter().for_each(|session| session.attendance_changed());
        }
    }

    /// Opens sessions by this configuration. Those that are open keep theirs, but for a narrower ceiling; so does their most.
    /// Blocks: what becomes narrower is written down.
    pub(crate) fn reconfigure(&self, configuration: Configuration, files: &ConfigurationFiles) {
        let mut current = self.grounds.write().unwrap_or_else(PoisonError::into_inner);
        let mut grounds = current.reconfigured(configuration, files);
        grounds.limits.max_sessions = current.limits.max_sessions;
        let open: Vec<_> = self.all().into_iter().map(|open| (open.latitude(), open)).collect();
        let ceiling = grounds.ceiling.clone();
        self.shared.ceiling.set(ceiling.clone());
        *current = Arc::new(grounds);
        drop(current);
        for (before, session) in open {
            let narrowed = session.setup.ceiling.narrow(&ceiling);
            session.heed(before, Actor::Operator);
            if narrowed == Narrowed::Yes {
                session.save();
            }
        }
    }

    /// Opens a session for a connection.
    pub(crate) async fn open(
        self: &Arc<Self>,
        params: OpenParams,
        from: &Arc<Connection>,
    ) -> Result<Arc<Session>, OpenError> {
        let grounds = self.grounds();
        let open = grounds.limits.max_sessions;
        let place =
            self.places.clone().try_acquire_owned().map_err(|_| OpenError::Full { open })?;
        let session = Arc::new(open::open(&grounds, &self.shared, params, place, from).await?);
        self.sessions.insert(session.id().clone(), session.clone());
        tokio::spawn({
            let session = session.clone();
            async move { session.watch_supervisor().await }
        });
        tracing::info!(session = %session.id(), connection = %from.id(), "session opened");
        // The client may have gone while it waited; it was told gone before the session could be found under it.
        if !from.is_open() {
            self.release(from.id());
        }
        Ok(session)
    }

    /// The session of that id, if the connection may name it.
    pub(crate) fn find(
        &self,
        id: &SessionId,
        from: &Arc<Connection>,
    ) -> Result<Arc<Session>, AccessError> {
        let session = self.get(id)?;
        match session.admits(Asker::from(from)) {
            true => Ok(session),
            false if session.is_detached() => Err(AccessError::Detached(id.clone())),
            false => Err(AccessError::Unknown(id.clone())),
        }
    }

    /// Gives a session whose client is gone to the connection.
    pub(crate) fn resume(
        self: &Arc<Self>,
        id: &SessionId,
        from: &Arc<Connection>,
    ) -> Result<Arc<Session>, AccessError> {
        let session = self.get(id)?;
        match session.resume(from) {
            Resume::Taken => {
                session.expiry().cancel();
                let event = Event::SessionResumed { session: id.clone(), by: from.role().into() };
                self.shared.audit.record(&event);
            }
            Resume::Unchanged => {}
            Resume::Held => return Err(AccessError::Held(id.clone())),
        }
        if !from.is_open() {
            self.release(from.id());
        }
        Ok(session)
    }

    /// Closes a session: stops what it runs and removes its folder.
    pub(crate) async fn close(
        &self,
        id: &SessionId,
        from: &Arc<Connection>,
    ) -> Result<(), AccessError> {
        self.find(id, from)?;
        self.remove(id, from.role().into(), None).await;
        Ok(())
    }

    /// The sessions that the connection may name, oldest first.
    pub(crate) fn list(&self, from: &Arc<Connection>) -> Vec<SessionSummary> {
        let mut sessions = self.all();
        sessions.retain(|session| session.admits(Asker::from(from)));
        sessions.sort_by(|one, other| one.id().cmp(other.id()));
        sessions.iter().map(|session| session.summary()).collect()
    }

    /// Takes note that a connection is gone. Its sessions go on and are closed once nobody has resumed them in time.
    pub(crate) fn release(self: &Arc<Self>, connection: ConnectionId) {
        let now = Instant::now();
        for session in self.all() {
            session.attention().forget(connection);
            if session.release(connection, now) {
                tracing::info!(session = %session.id(), "the session's client is gone");
                let wait = tokio::spawn(self.clone().expire(session.id().clone(), now));
                session.expiry().begin(wait.abort_handle());
            }
        }
    }

    /// How many sessions there are, and how many tasks run in them.
    pub(crate) fn count(&self) -> (usize, usize) {
        let sessions = self.all();
        (sessions.len(), sessions.iter().map(|session| session.tasks().running()).sum())
    }

    async fn expire(self: Arc<Self>, id: SessionId, since: Instant) {
        let span = self.grounds().limits.detached_ttl;
        // The session itself is not held: one that is closed meanwhile lets go of its descriptors then.
        let Ok(attention) = self.get(&id).map(|session| session.attention().clone()) else {
            return;
        };
        attention.missing(since, span).await;
        let found = self.get(&id).ok();
        if let Some(session) = found.filter(|session| session.is_detached_since(since)) {
            // Closing cancels the wait, and this is it.
            session.expiry().over();
            tracing::info!(session = %id, "nobody has resumed the session in time");
            let reason = Some("nobody has resumed it in time".to_owned());
            self.remove(&id, Actor::Daemon, reason).await;
        }
    }

    /// Closes a session, whoever asked.
    pub(super) async fn remove(&self, id: &SessionId, by: Actor, reason: Option<String>) {
        let _closing = self.closing.read().await;
        if let Some((_, session)) = self.sessions.remove(id) {
            session.expiry().cancel();
            session.close().await;
            let session = id.clone();
            self.shared.audit.record(&Event::SessionClosed { session, by, reason });
        }
    }

    fn get(&self, id: &SessionId) -> Result<Arc<Session>, AccessError> {
        let found = self.sessions.get(id).map(|entry| entry.value().clone());
        found.ok_or_else(|| AccessError::Unknown(id.clone()))
    }

    /// A copy, so that no shard is locked while something is done with the sessions.
    pub(super) fn all(&self) -> Vec<Arc<Session>> {
        self.sessions.iter().map(|entry| entry.value().clone()).collect()
    }
}
