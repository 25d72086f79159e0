//! One client's connection as the rest of the daemon sees it: who it is, what it asked to be told,
//! and a way to tell it without ever waiting.
//!
//! Reading and the rules of the conversation are `conversation`'s, writing is `outbox`'s.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use brattice_protocol::hello::{Answerer, Answers, HelloParams, Role, Watch};
use serde::Serialize;

use super::asked::{Asked, Reply};
use super::outbox::{Delivery, Outbox};

/// A connection's number, never used twice in a daemon's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct ConnectionId(pub(crate) u64);

impl fmt::Display for ConnectionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A client that is, or was, connected.
#[derive(Debug)]
pub(crate) struct Connection {
    id: ConnectionId,
    role: Role,
    declared: OnceLock<HelloParams>,
    open: AtomicBool,
    outbox: Outbox,
    asked: Arc<Asked>,
}

impl Connection {
    pub(super) fn new(id: ConnectionId, role: Role, outbox: Outbox) -> Self {
        let (declared, open) = (OnceLock::new(), AtomicBool::new(true));
        Connection { id, role, declared, open, outbox, asked: Arc::default() }
    }

    /// The connection's number.
    pub(crate) fn id(&self) -> ConnectionId {
        self.id
    }

    /// By which socket the client came.
    pub(crate) fn role(&self) -> Role {
        self.role
    }

    /// Whether the client asked in `hello` to be told of these; false before `hello`.
    pub(crate) fn watches(&self, what: Watch) -> bool {
        self.declared.get().is_some_and(|hello| hello.watch.contains(&what))
    }

    /// Whether the client said in `hello` that it answers these; false before `hello`.
    pub(crate) fn answers(&self, what: Answers) -> bool {
        self.declared.get().is_some_and(|hello| hello.answers.contains(&what))
    }

    /// Whose word its answers are; a person's before `hello`.
    pub(crate) fn answerer(&self) -> Answerer {
        self.declared.get().map_or(Answerer::Person, |hello| hello.answerer)
    }

    /// Whether the client is still there.
    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::SeqCst)
    }

    /// Tells the client something. Never waits: where the client reads too slowly for its bounded
    /// queue, or is gone, the notification is dropped and counted, and the caller is told.
    pub(crate) fn notify(&self, method: &str, params: &impl Serialize) -> Delivery {
        self.outbox.notify(method, params)
    }

    /// Asks the client something, to be waited for. None where it is gone, or reads too slowly for its bounded queue.
    pub(crate) fn request(&self, method: &str, params: &impl Serialize) -> Option<Reply> {
        let (id, reply) = self.asked.begin()?;
        match self.outbox.request(id, method, params) {
            Delivery::Queued => Some(reply),
            Delivery::Dropped => None,
        }
    }

    pub(super) fn asked(&self) -> &Asked {
        &self.asked
    }

    pub(super) fn outbox(&self) -> &Outbox {
        &self.outbox
    }

    /// Keeps what a valid `hello` declared. The first one stays.
    pub(super) fn declare(&self, hello: HelloParams) {
        self.declared.get_or_init(|| hello);
    }

    pub(super) fn has_said_hello(&self) -> bool {
        self.declared.get().is_some()
    }

    /// From now on the client counts as gone.
    pub(super) fn close(&self) {
        self.open.store(false, Ordering::SeqCst);
        self.asked.close();
    }
}
