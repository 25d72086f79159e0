//! The methods of the wire: from a name and parameters to an answer. A file a family, named as in the protocol.
//!
//! ```text
//!  server::Handler ─► Methods::call ─► dispatch by name ─► session │ tools │ task │ policy │ approval │ question │ audit │ events │ daemon
//!                                        │                                  │
//!                                        └─ of the control socket only      └─► Registry, Session
//! ```
//!
//! Who may name which session is the registry's to say. A client that goes away cancels none of its requests; their
//! answers are dropped by the server. New work is refused once the daemon is on its way out; reading, stopping and
//! closing go on to the end.

mod approval;
mod audit;
mod daemon;
mod events;
mod hello;
mod policy;
mod question;
mod session;
mod task;
mod tools;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use brattice_policy::layer::LayerReport;
use brattice_protocol::audit::Event;
use brattice_protocol::hello::{Peer, Role};
use brattice_protocol::location::Locations;
use brattice_protocol::{ErrorCode, RpcError, SessionId, rpc};
use dashmap::DashSet;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::audit::Audit;
use crate::reload::Reloader;
use crate::server::{
    Body, BoxFuture, Connection, ConnectionId, Handler, Refused, method_not_found,
};
use crate::session::{Registry, Session, Stages};
use crate::workers::Workers;

/// Families of methods that only an operator may call.
const CONTROL_ONLY: [&str; 5] = ["approval.", "audit.", "daemon.", "events.", "question."];

/// What the methods work on.
#[derive(Debug)]
pub(crate) struct Methods {
    registry: Arc<Registry>,
    stages: Arc<Stages>,
    audit: Arc<Audit>,
    reloader: Arc<Reloader>,
    locations: Locations,
    workers: Workers,
    connections: AtomicUsize,
    /// Connections that watch events.
    watchers: DashSet<ConnectionId>,
    started: Instant,
}

/// The daemon, by its parts that methods work on.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) registry: Arc<Registry>,
    pub(crate) stages: Arc<Stages>,
    pub(crate) audit: Arc<Audit>,
    pub(crate) reloader: Arc<Reloader>,
    pub(crate) locations: Locations,
    pub(crate) workers: Workers,
}

impl Methods {
    /// The methods of a daemon.
    pub(crate) fn new(parts: Parts) -> Arc<Self> {
        let Parts { registry, stages, audit, reloader, locations, workers } = parts;
        let (connections, watchers, started) =
            (AtomicUsize::new(0), DashSet::new(), Instant::now());
        Arc::new(Methods {
            registry,
            stages,
            audit,
            reloader,
            locations,
            workers,
            connections,
            watchers,
            started,
        })
    }

    fn session(&self, id: &SessionId, from: &Arc<Connection>) -> Result<Arc<Session>, RpcError> {
        Ok(self.registry.find(id, from)?)
    }

    async fn dispatch(
        &self,
        from: &Arc<Connection>,
        method: &str,
        params: Value,
    ) -> Result<Body, RpcError> {
        let is_control = CONTROL_ONLY.iter().any(|family| method.starts_with(family));
        if is_control && from.role() != Role::Operator {
            let text = format!("{method} is answered on the control socket only");
            return Err(RpcError::new(ErrorCode::Refused, text));
        }
        match method {
            "session.open" => Body::of(&self.open(from, read(params)?).await?),
            "session.resume" => Body::of(&self.resume(from, read(params)?)?),
            "session.update" => Body::of(&self.update(from, read(params)?).await?),
            "session.turn" => Body::of(&self.turn(from, read(params)?)?),
            "session.close" => Body::of(&self.close(from, read(params)?).await?),
            "session.list" => Body::of(&self.list(from, read(params)?)),
            "tools.list" => Body::of(&self.tools_list(from, read(params)?).await?),
            "tools.call" => self.tools_call(from, read(params)?).await,
            "tools.cancel" => Body::of(&self.tools_cancel(from, read(params)?)?),
            "task.start" => Body::of(&self.task_start(from, read(params)?).await?),
            "task.list" => Body::of(&self.task_list(from, read(params)?).await?),
            "task.resize" => Body::of(&self.task_resize(from, read(params)?)?),
            "task.output" => Body::of(&self.task_output(from, read(params)?).await?),
            "task.wait" => Body::of(&self.task_wait(from, read(params)?).await?),
            "task.kill" => Body::of(&self.task_kill(from, read(params)?).await?),
            "task.input" => Body::of(&self.task_input(from, read(params)?).await?),
            "policy.show" => Body::of(&self.policy_show(from, read(params)?).await?),
            "policy.explain" => Body::of(&self.policy_explain(from, read(params)?).await?),
            "question.list" => Body::of(&self.question_list(read(params)?)),
            "question.respond" => Body::of(&self.question_respond(from, read(params)?)?),
            "todo.list" => Body::of(&self.todo_list(from, read(params)?)?),
            "approval.list" => Body::of(&self.approval_list(read(params)?)),
            "approval.respond" => Body::of(&self.approval_respond(from, read(params)?)?),
            "audit.tail" => Body::of(&self.audit_tail(read(params)?).await?),
            "events.watch" => Body::of(&self.events_watch(from, read(params)?)?),
            "daemon.status" => Body::of(&self.daemon_status(read(params)?)),
            "daemon.reload" => Body::of(&self.daemon_reload(read(params)?).await?),
            "daemon.shutdown" => Body::of(&self.daemon_shutdown(read(params)?)),
            _ => Err(method_not_found(method)),
        }
    }
}

impl Handler for Methods {
    fn hello(&self, from: &Arc<Connection>) -> (Peer, LayerReport) {
        let connections = self.connections.fetch_add(1, Ordering::Relaxed) + 1;
        tracing::debug!(connection = %from.id(), connections, "a client said hello");
        self.registry.attach(from);
        hello::answer()
    }

    fn call(
        self: Arc<Self>,
        from: Arc<Connection>,
        method: String,
        params: Value,
    ) -> BoxFuture<Result<Body, RpcError>> {
        Box::pin(async move { self.dispatch(&from, &method, params).await })
    }

    fn refused(&self, peer: Refused) {
        let Refused { role: socket, pid, uid, reason } = peer;
        self.audit.record(&Event::PeerRefused { socket, pid, uid, reason });
    }

    fn closed(&self, from: &Connection) {
        self.connections.fetch_sub(1, Ordering::Relaxed);
        self.watchers.remove(&from.id());
        self.registry.release(from.id());
        self.registry.leave(from.id());
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, RpcError> {
    rpc::decode_params(params)
}

/// Parameters of methods that take none.
#[derive(Clone, Copy, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct NoParams {}
