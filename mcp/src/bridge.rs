//! What all requests of one client share: the session, its tools, and what goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use brattice_client::protocol::CallId;
use brattice_client::protocol::session::Session;
use brattice_client::protocol::task::TaskListParams;
use brattice_client::protocol::tools::{CancelParams, ListParams};
use rmcp::model::{ErrorData, Tool};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::call;
use crate::link::{Attached, BridgeError, Link, Place};
use crate::resources;
use crate::routes::Routes;
use crate::suspended::Suspended;

/// How long the daemon may take to close the session: the grace of a kill, and some.
const CLOSING: Duration = Duration::from_secs(10);

/// One client's session.
#[derive(Debug)]
pub struct Bridge {
    pub(crate) link: Link,
    pub(crate) routes: Arc<Routes>,
    pub(crate) suspended: Suspended,
    /// Cancelled when the client is gone: nobody waits for a call any more.
    pub(crate) over: CancellationToken,
    opened: Session,
    tools: OnceCell<Vec<Tool>>,
    calls: AtomicU64,
}

/// What became of a session whose client has gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opened {
    /// It is closed.
    Closed,
    /// So many background tasks go on in it.
    Left(usize),
}

impl Bridge {
    /// Opens the session.
    ///
    /// # Errors
    /// There is no daemon, or it refuses.
    pub async fn open(place: Place) -> Result<Bridge, BridgeError> {
        let routes = Arc::<Routes>::default();
        let (link, opened) = Link::open(place, routes.clone()).await?;
        Ok(Bridge {
            link,
            routes,
            suspended: Suspended::default(),
            over: CancellationToken::new(),
            opened,
            tools: OnceCell::new(),
            calls: AtomicU64::new(0),
        })
    }

    /// What it was opened as.
    pub fn session(&self) -> &Session {
        &self.opened
    }

    /// The client is gone: what it waits for is cancelled.
    pub fn abandon(&self) {
        self.over.cancel();
    }

    /// The tools, as they were when they were first asked for.
    pub(crate) async fn tools(&self) -> Result<&[Tool], ErrorData> {
        let listed = self.tools.get_or_try_init(async || {
            let Attached { client, session } = self.link.attached().await?;
            let params = ListParams { session, format: None, withheld: true };
            let listed = client.tools_list(&params).await;
            let listed = listed.map_err(|error| resources::fault(&error))?;
            let tools: Result<Vec<Tool>, _> =
                listed.tools.into_iter().map(serde_json::from_value).collect();
            tools.map_err(|error| ErrorData::internal_error(error.to_string(), None))
        });
        listed.await.map(Vec::as_slice)
    }

    pub(crate) fn next_call(&self) -> CallId {
        call::call_id(self.calls.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Cancels what still runs in the foreground, and closes the session unless something goes on in its background.
    ///
    /// # Errors
    /// The daemon does not answer: then the session is one whose client has gone.
    pub async fn close(&self) -> Result<Opened, BridgeError> {
        self.abandon();
        // Without a daemon there is nothing to close: the next one finds a session without its client.
        let Some(Attached { client, session }) = self.link.now() else {
            return Ok(Opened::Left(0));
        };
        let closing = async {
            for call in self.routes.running() {
                client.tools_cancel(&CancelParams { session: session.clone(), call }).await?;
            }
            let tasks = client.task_list(&TaskListParams { session: session.clone() }).await?;
            let left =
                tasks.iter().filter(|task| task.background && !task.status.is_final()).count();
            if left > 0 {
                return Ok(Opened::Left(left));
            }
            client.session_close(&session).await?;
            Ok(Opened::Closed)
        };
        // What was begun goes on without us.
        tokio::time::timeout(CLOSING, closing).await.unwrap_or(Ok(Opened::Closed))
    }
}
