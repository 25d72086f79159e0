//! Whose a session is: a pure state machine.
//!
//! ```text
//!            closed                  resume
//! Attached ─────────► Detached ─────────────────► Attached
//!                        │
//!                        └── detached_ttl passes ─► closed
//! ```
//!
//! An operator sees every session and may name any; that does not change whose it is while its client is there.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use brattice_protocol::hello::Role;
use tokio::task::AbortHandle;

use crate::server::{Connection, ConnectionId};

/// Who asks, as far as ownership is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asker {
    /// The connection.
    pub(super) id: ConnectionId,
    /// By which socket it came.
    pub(super) role: Role,
}

/// The owner of a session. Generic over what stands for the connection, so that the rules are tested without sockets.
#[derive(Debug)]
pub(super) enum Owner<C> {
    /// A client holds it.
    Attached(ConnectionId, C),
    /// Its client is gone, since then.
    Detached(Instant),
}

/// The wait for somebody who resumes a session without a client: one at a time.
#[derive(Debug, Default)]
pub(super) struct Expiry(Mutex<Option<AbortHandle>>);

impl Expiry {
    /// Waits by this task from now on, instead of by an earlier one.
    pub(super) fn begin(&self, wait: AbortHandle) {
        if let Some(earlier) = self.waiting().replace(wait) {
            earlier.abort();
        }
    }

    /// Waits no longer.
    pub(super) fn cancel(&self) {
        if let Some(wait) = self.waiting().take() {
            wait.abort();
        }
    }

    /// The wait is over; its own task says so, and goes on.
    pub(super) fn over(&self) {
        self.waiting().take();
    }

    fn waiting(&self) -> MutexGuard<'_, Option<AbortHandle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a request to resume comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Resume {
    /// The asker holds it from now on.
    Taken,
    /// Nothing changes: the asker holds it already, or is an operator and its client is there.
    Unchanged,
    /// Its client is there.
    Held,
}

impl<C> Owner<C> {
    /// Whether the asker may name the session.
    pub(super) fn admits(&self, asker: Asker) -> bool {
        asker.role == Role::Operator || matches!(self, Owner::Attached(id, _) if *id == asker.id)
    }

    /// Gives the session to the asker, where that is allowed.
    pub(super) fn resume(&mut self, asker: Asker, connection: C) -> Resume {
        match self {
            Owner::Detached(_) => {
                *self = Owner::Attached(asker.id, connection);
                Resume::Taken
            }
            Owner::Attached(id, _) if *id == asker.id || asker.role == Role::Operator => {
                Resume::Unchanged
            }
            Owner::Attached(..) => Resume::Held,
        }
    }

    /// Takes note that a connection is gone. Tells whether the session was its.
    pub(super) fn release(&mut self, connection: ConnectionId, now: Instant) -> bool {
        let held = matches!(self, Owner::Attached(id, _) if *id == connection);
        if held {
            *self = Owner::Detached(now);
        }
        held
    }

    /// Whether nobody has held it since `since`: neither before nor after was it anybody's.
    pub(super) fn is_detached_since(&self, since: Instant) -> bool {
        matches!(self, Owner::Detached(then) if *then == since)
    }

    /// What stands for the connection that holds it.
    pub(super) fn connection(&self) -> Option<&C> {
        match self {
            Owner::Attached(_, connection) => Some(connection),
            Owner::Detached(_) => None,
        }
    }
}

impl From<&Arc<Connection>> for Asker {
    fn from(connection: &Arc<Connection>) -> Self {
        Asker { id: connection.id(), role: connection.role() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn client(id: u64) -> Asker {
        Asker { id: ConnectionId(id), role: Role::Client }
    }

    const OPERATOR: Asker = Asker { id: ConnectionId(9), role: Role::Operator };

    #[test]
    fn a_session_is_its_clients_and_every_operators() {
        let owner = Owner::Attached(ConnectionId(1), ());
        let admitted = [client(1), client(2), OPERATOR].map(|asker| owner.admits(asker));
        assert_eq!(admitted, [true, false, true]);
        assert!(!Owner::<()>::Detached(Instant::now()).admits(client(1)));
    }

    #[test]
    fn it_can_be_resumed_once_its_client_has_gone() {
        let now = Instant::now();
        let mut owner = Owner::Attached(ConnectionId(1), ());
        assert_eq!(owner.resume(client(2), ()), Resume::Held);
        assert_eq!(owner.resume(client(1), ()), Resume::Unchanged);
        assert_eq!(owner.resume(OPERATOR, ()), Resume::Unchanged);
        assert!(!owner.release(ConnectionId(2), now));
        assert!(owner.release(ConnectionId(1), now));
        assert!(owner.is_detached_since(now) && owner.connection().is_none());
        assert_eq!(owner.resume(client(2), ()), Resume::Taken);
        assert!(
            owner.admits(client(2)) && !owner.admits(client(1)) && !owner.is_detached_since(now)
        );
    }

    #[tokio::test]
    async fn one_wait_for_a_resume_at_a_time_and_none_after_it() {
        let wait = || tokio::spawn(std::future::pending::<()>());
        let expiry = Expiry::default();
        let (first, second) = (wait(), wait());
        expiry.begin(first.abort_handle());
        expiry.begin(second.abort_handle());
        assert!(first.await.unwrap_err().is_cancelled());
        assert!(!second.is_finished());
        expiry.cancel();
        assert!(second.await.unwrap_err().is_cancelled());
    }

    #[test]
    fn an_operator_takes_a_session_that_nobody_holds() {
        let mut owner = Owner::<()>::Detached(Instant::now());
        assert_eq!(owner.resume(OPERATOR, ()), Resume::Taken);
        assert_eq!(owner.resume(client(1), ()), Resume::Held);
    }
}
