//! A session's web worker.
//!
//! ```text
//! none ── web_fetch is called ──► starting ──► serving ── its socket closes, or more is hidden by now ──► none
//! ```
//!
//! There is one at most, always in `read-only`, whatever mode the session has: what is fetched is told to the daemon and written nowhere.
//! It is a task of the session's supervisor that no list shows.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use brattice_policy::{Mode, Profile};
use brattice_protocol::TaskId;

use super::command::StartError;
use super::session::Session;
use crate::exec::{RunError, TaskHandle};
use crate::line::WorkerGone;
use crate::web::{Answer, Client, Request};

/// Why nothing was fetched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WebError {
    /// The session starts nothing.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The worker could not be started.
    #[error("the process that fetches pages cannot be started")]
    Worker(#[source] RunError),
    /// Its socket is of no use.
    #[error("the process that fetches pages cannot be reached")]
    Socket(#[source] std::io::Error),
    /// It ended in the middle.
    #[error("the process that fetches pages has ended; the call can be made again")]
    Gone,
    /// A thread of the daemon's ended early.
    #[error("starting the process that fetches pages was interrupted")]
    Interrupted(#[source] tokio::task::JoinError),
}

impl From<WorkerGone> for WebError {
    fn from(WorkerGone: WorkerGone) -> Self {
        WebError::Gone
    }
}

/// The worker of a session, if it has one.
#[derive(Debug, Default)]
pub(super) struct WebWorker {
    /// Held while one is started, so that there is one.
    serving: tokio::sync::Mutex<Option<Serving>>,
    started: AtomicU64,
}

#[derive(Debug)]
struct Serving {
    client: Client,
    /// What holds it for life.
    profile: Profile,
    /// Keeps the way to its end open.
    _task: TaskHandle,
}

impl Session {
    /// Has the worker fetch pages. Dropped, it is withdrawn.
    ///
    /// # Errors
    /// See [`WebError`].
    pub(crate) async fn on_web(self: &Arc<Self>, request: Request) -> Result<Answer, WebError> {
        // A start is not given up half-way: its task would run without anybody who knows it.
        let session = self.clone();
        let worker = tokio::spawn(async move { session.web_worker().await });
        let client = worker.await.map_err(WebError::Interrupted)??;
        Ok(client.call(request).await?)
    }

    /// Has the worker end, where there is one.
    pub(super) async fn end_web_worker(&self) {
        *self.web.serving.lock().await = None;
    }

    async fn web_worker(&self) -> Result<Client, WebError> {
        let mut serving = self.web.serving.lock().await;
        let profile = self.profile().with_mode(Mode::ReadOnly);
        let serves = |worker: &&Serving| !worker.client.is_gone() && worker.profile == profile;
        if let Some(worker) = serving.as_ref().filter(serves) {
            return Ok(worker.client.clone());
        }
        self.admit()?;
        if let Some(fault) = &self.unfit {
            return Err(StartError::Unfit(fault.to_string()).into());
        }
        let supervisor = self.supervisor().await?;
        let number = self.web.started.fetch_add(1, Ordering::Relaxed) + 1;
        let task = TaskId::new(format!("web-{number}"));
        let started = self.start_role(&supervisor, task, "web", profile.clone()).await;
        let (task, socket) = started.map_err(WebError::Worker)?;
        let client = Client::new(socket.ok_or(WorkerGone)?).map_err(WebError::Socket)?;
        *serving = Some(Serving { client: client.clone(), profile, _task: task });
        Ok(client)
    }
}
