//! The sessions of a daemon: which there are, who may name them, and what becomes of one whose client is gone.
//!
//! A session is in the registry from the moment it is open until somebody closes it, and whoever takes it out closes
//! it, so that happens once. What a session is belongs to `session`.

use std::sync::Arc;
use std::time::Instant;

use brattice_protocol::SessionId;
use brattice_protocol::session::{OpenParams, SessionSummary};
use dashmap::DashMap;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::server::{Connection, ConnectionId, Descent};

use super::calls::Budget;
use super::open::{self, Grounds, OpenError};
use super::owner::{Asker, DETACHED_TTL, Resume};
use super::session::Session;
use super::supervisors::Supervisors;

/// All sessions.
#[derive(Debug)]
pub(crate) struct Registry {
    grounds: Arc<Grounds>,
    sessions: DashMap<SessionId, Arc<Session>>,
    places: Arc<Semaphore>,
    shared: Shared,
}

/// What all sessions have together.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// The supervisors that live.
    pub(super) supervisors: Arc<Supervisors>,
    /// The bytes of results that may be remembered.
    pub(super) results: Arc<Budget>,
}

/// Why a session cannot be named by whoever named it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AccessError {
    /// There is none, or it is another client's, which is not told apart.
    #[error("there is no session {0}, or it is not yours")]
    Unknown(SessionId),
    /// Its client is gone and nobody has resumed it.
    #[error("session {0} lost its client and is held by nobody")]
    Detached(SessionId),
    /// Another client holds it.
    #[error("session {0} is held by another client")]
    Held(SessionId),
}

impl Registry {
    /// A daemon without sessions.
    pub(crate) fn new(grounds: Grounds) -> Arc<Self> {
        let places = Arc::new(Semaphore::new(grounds.limits.max_sessions));
        let (grounds, sessions, shared) = (Arc::new(grounds), DashMap::new(), Shared::default());
        Arc::new(Registry { grounds, sessions, places, shared })
    }

    /// What sessions are opened with.
    pub(crate) fn grounds(&self) -> &Grounds {
        &self.grounds
    }

    /// Opens a session for a connection.
    pub(crate) async fn open(
        self: &Arc<Self>,
        params: OpenParams,
        from: &Arc<Connection>,
    ) -> Result<Arc<Session>, OpenError> {
        let open = self.grounds.limits.max_sessions;
        let place =
            self.places.clone().try_acquire_owned().map_err(|_| OpenError::Full { open })?;
        let session = Arc::new(open::open(&self.grounds, &self.shared, params, place, from).await?);
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
            Resume::Taken => session.expiry().cancel(),
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
        self.remove(id).await;
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

    /// Returns once no call and no task that runs now runs any more.
    pub(crate) async fn drained(&self) {
        for session in self.all() {
            session.calls().settled().await;
            for task in session.tasks().all_running() {
                task.ended().await;
            }
        }
    }

    /// Asks for the end of every command. Those whose start is on its way are stopped or refused, too.
    pub(crate) fn stop_all(&self) {
        for session in self.all() {
            session.stop_commands();
        }
    }

    /// Closes every session, all at the same time.
    pub(crate) async fn close_all(self: &Arc<Self>) {
        let mut closing = JoinSet::new();
        for session in self.all() {
            let registry = self.clone();
            closing.spawn(async move { registry.remove(session.id()).await });
        }
        while let Some(closed) = closing.join_next().await {
            if let Err(error) = closed {
                tracing::error!(%error, "a session was not closed in order");
            }
        }
    }

    async fn expire(self: Arc<Self>, id: SessionId, since: Instant) {
        tokio::time::sleep(DETACHED_TTL).await;
        let found = self.get(&id).ok();
        if let Some(session) = found.filter(|session| session.is_detached_since(since)) {
            // Closing cancels the wait, and this is it.
            session.expiry().over();
            tracing::info!(session = %id, "nobody has resumed the session in time");
            self.remove(&id).await;
        }
    }

    async fn remove(&self, id: &SessionId) {
        if let Some((_, session)) = self.sessions.remove(id) {
            session.expiry().cancel();
            session.close().await;
        }
    }

    fn get(&self, id: &SessionId) -> Result<Arc<Session>, AccessError> {
        let found = self.sessions.get(id).map(|entry| entry.value().clone());
        found.ok_or_else(|| AccessError::Unknown(id.clone()))
    }

    /// A copy, so that no shard is locked while something is done with the sessions.
    fn all(&self) -> Vec<Arc<Session>> {
        self.sessions.iter().map(|entry| entry.value().clone()).collect()
    }
}

impl Descent for Registry {
    fn is_supervisor(&self, pid: u32) -> bool {
        self.shared.supervisors.contains(pid)
    }
}
