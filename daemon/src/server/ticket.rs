//! A request on its way: whatever happens to the handler, it is answered exactly once.

use std::sync::Arc;

use brattice_protocol::{ErrorCode, RequestId, RpcError};
use serde_json::Value;

use super::body::Body;
use super::connection::Connection;
use super::handler::Handler;
use super::outbox::Room;

/// The duty to answer one request. Dropped unanswered, which only a handler's panic brings about,
/// it answers `unavailable`.
pub(super) struct Ticket {
    id: RequestId,
    connection: Arc<Connection>,
    room: Option<Room>,
}

impl Ticket {
    pub(super) fn new(id: RequestId, connection: Arc<Connection>, room: Room) -> Self {
        Ticket { id, connection, room: Some(room) }
    }

    /// Has the handler answer.
    pub(super) async fn run(mut self, handler: Arc<dyn Handler>, method: String, params: Value) {
        let outcome = handler.call(Arc::clone(&self.connection), method, params).await;
        self.answer(outcome);
    }

    fn answer(&mut self, outcome: Result<Body, RpcError>) {
        if let Some(room) = self.room.take() {
            self.connection.outbox().respond(Some(&self.id), outcome, room);
        }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        if self.room.is_some() {
            tracing::error!(
                connection = %self.connection.id(),
                request = %self.id,
                "a request was given up unanswered: its handler panicked"
            );
            let error = RpcError::new(ErrorCode::Unavailable, "the daemon failed at this request");
            self.answer(Err(error.hint("this is a bug in the daemon; its log says more")));
        }
    }
}
