//! Who holds a session, and who waits in it: the session's part of `owner` and `attention`.

use std::sync::Arc;
use std::time::Instant;

use brattice_protocol::hello::Answers;

use super::attention::Attention;
use super::owner::{Asker, Expiry, Owner, Resume};
use super::session::Session;
use crate::server::{Connection, ConnectionId};

impl Session {
    /// Whether the asker may name it.
    pub(super) fn admits(&self, asker: Asker) -> bool {
        self.owner().admits(asker)
    }

    /// Whether this connection holds it.
    pub(crate) fn is_held_by(&self, connection: &Connection) -> bool {
        self.owner().connection().is_some_and(|holder| holder.id() == connection.id())
    }

    /// Whether no client holds it.
    pub(super) fn is_detached(&self) -> bool {
        self.owner().connection().is_none()
    }

    /// Gives it to a connection, where that is allowed.
    pub(super) fn resume(&self, connection: &Arc<Connection>) -> Resume {
        self.owner().resume(connection.into(), connection.clone())
    }

    /// Takes note that a connection is gone. Tells whether the session was its.
    pub(super) fn release(&self, connection: ConnectionId, now: Instant) -> bool {
        self.owner().release(connection, now)
    }

    /// The wait for somebody who resumes it.
    pub(super) fn expiry(&self) -> &Expiry {
        &self.expiry
    }

    /// Who waits for something of it.
    pub(super) fn attention(&self) -> &Arc<Attention> {
        &self.attention
    }

    /// Whether nobody has held it since then.
    pub(super) fn is_detached_since(&self, since: Instant) -> bool {
        self.owner().is_detached_since(since)
    }

    /// Since when nobody holds it; now where somebody does.
    pub(super) fn detached_since(&self) -> Instant {
        match *self.owner() {
            Owner::Detached(since) => since,
            Owner::Attached(..) => Instant::now(),
        }
    }

    /// The clients that can be asked about a call: whose session it is, and who called, as far as they answer this.
    pub(crate) fn clients_that_answer(
        &self,
        caller: &Arc<Connection>,
        kind: Answers,
    ) -> Vec<Arc<Connection>> {
        let mut clients: Vec<Arc<Connection>> = self.audience().into_iter().collect();
        if clients.iter().all(|client| client.id() != caller.id()) {
            clients.push(caller.clone());
        }
        clients.retain(|client| client.answers(kind) && client.is_open());
        clients
    }

    /// Who is told about its calls: the client that holds it now.
    pub(crate) fn audience(&self) -> Option<Arc<Connection>> {
        self.owner().connection().cloned()
    }
}
