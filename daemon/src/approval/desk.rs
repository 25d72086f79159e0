//! All open questions of a daemon: who is there to answer, who is told, and that the first answer settles.
//!
//! Bounded: so many questions of a session and in all, and so much text of each. It never waits: a client that reads too slowly
//! misses a notification and can list what is open. Notifications leave under the lock, so that nobody is told that a
//! question is settled before being told that it is open.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use brattice_protocol::approval::{ApprovalChoice, ApprovalList, ApprovalRequest, ApprovalSettled};
use brattice_protocol::audit::Actor;
use brattice_protocol::hello::{Answers, Role};
use brattice_protocol::{ApprovalId, SessionId};
use tokio::sync::oneshot;

use super::state::{AnswerRefused, Approval, Ending, Settlement};
use crate::server::{Connection, ConnectionId};

/// Open questions of one session.
const MOST_OF_SESSION: usize = 8;

/// Open questions of all sessions.
const MOST: usize = 64;

/// Settled questions of which is told how they were settled.
const MOST_SETTLED: usize = 256;

/// Bytes of a list; what does not fit is left out and counted.
const LIST_BYTES: usize = 2 << 20;

/// The open questions.
#[derive(Debug, Default)]
pub(crate) struct Desk(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    /// The oldest first.
    cases: Vec<Case>,
    settled: VecDeque<ApprovalSettled>,
    operators: Vec<Arc<Connection>>,
}

#[derive(Debug)]
struct Case {
    request: Arc<ApprovalRequest>,
    approval: Approval,
    /// Clients that were asked and may still answer.
    clients: Vec<Arc<Connection>>,
    /// To whoever waits.
    settled: oneshot::Sender<Approval>,
}

/// Why a question is not asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotOpened {
    /// Nobody is there.
    Unattended,
    /// The session has as many open as it may.
    SessionFull(usize),
    /// The daemon has.
    Full(usize),
}

/// Why an operator's answer does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RespondError {
    /// There is none, or it was settled long ago.
    #[error("no approval {0} is open")]
    Unknown(ApprovalId),
    /// Somebody was faster, or it ended.
    #[error("approval {} was {} already, by the {}", .0.id, .0.outcome.as_str(), .0.by.as_str())]
    Settled(Box<ApprovalSettled>),
    /// It cannot be answered so.
    #[error("approval {id}: {refused}")]
    Refused {
        /// The approval.
        id: ApprovalId,
        /// Why.
        refused: AnswerRefused,
    },
}

impl Desk {
    /// An operator that answers approvals is there from now on.
    pub(crate) fn attach(&self, operator: &Arc<Connection>) {
        if operator.role() == Role::Operator && operator.answers(Answers::Approval) {
            self.open().operators.push(operator.clone());
        }
    }

    /// A connection is gone. What nobody else could answer ends.
    pub(crate) fn leave(&self, connection: ConnectionId) {
        let mut open = self.open();
        open.operators.retain(|operator| operator.id() != connection);
        for case in &mut open.cases {
            case.clients.retain(|client| client.id() != connection);
        }
        open.end_deserted();
    }

    /// Opens a question and tells the operators. The clients are whoever is to be asked besides; asking them is the caller's.
    pub(super) fn put(
        &self,
        request: Arc<ApprovalRequest>,
        approval: Approval,
        clients: Vec<Arc<Connection>>,
    ) -> Result<oneshot::Receiver<Approval>, NotOpened> {
        let mut open = self.open();
        open.admit(&request.session, &clients)?;
        for operator in &open.operators {
            operator.notify("approval.pending", &request);
        }
        let (settled, wait) = oneshot::channel();
        open.cases.push(Case { request, approval, clients, settled });
        Ok(wait)
    }

    /// Whether a question could be opened now.
    pub(super) fn admits(
        &self,
        session: &SessionId,
        clients: &[Arc<Connection>],
    ) -> Result<(), NotOpened> {
        self.open().admit(session, clients)
    }

    /// A person's choice.
    pub(crate) fn answer(
        &self,
        id: &ApprovalId,
        choice: ApprovalChoice,
        by: Actor,
        reason: Option<String>,
    ) -> Result<ApprovalSettled, RespondError> {
        let mut open = self.open();
        let Some(index) = open.find(id) else {
            let settled = open.settled.iter().find(|settled| settled.id == *id);
            return Err(match settled {
                Some(settled) => RespondError::Settled(Box::new(settled.clone())),
                None => RespondError::Unknown(id.clone()),
            });
        };
        let settlement = open.cases[index].approval.answer(choice, by, reason, Instant::now());
        match settlement {
            Ok(settlement) => Ok(open.close(index, &settlement)),
            Err(refused) => Err(RespondError::Refused { id: id.clone(), refused }),
        }
    }

    /// It ends without a choice, unless somebody was faster.
    pub(super) fn end(&self, id: &ApprovalId, ending: Ending, by: Actor) {
        let mut open = self.open();
        if let Some(index) = open.find(id) {
            open.end(index, ending, by);
        }
    }

    /// A client that was asked cannot answer.
    pub(super) fn declined(&self, id: &ApprovalId, client: ConnectionId) {
        let mut open = self.open();
        if let Some(index) = open.find(id) {
            open.cases[index].clients.retain(|other| other.id() != client);
            open.end_deserted();
        }
    }

    /// All that is open of this session ends.
    pub(crate) fn end_all(&self, session: &SessionId, ending: Ending, by: Actor) {
        let mut open = self.open();
        while let Some(index) = open.cases.iter().position(|case| case.request.session == *session)
        {
            open.end(index, ending, by);
        }
    }

    /// What is open, the oldest first, as far as it fits into an answer.
    pub(crate) fn list(&self) -> ApprovalList {
        let open = self.open();
        let mut bytes = 0;
        let fitting = open.cases.iter().take_while(|case| {
            bytes += serde_json::to_string(&*case.request).map_or(0, |text| text.len());
            bytes <= LIST_BYTES
        });
        let approvals: Vec<_> = fitting.map(|case| (*case.request).clone()).collect();
        ApprovalList { omitted: open.cases.len() - approvals.len(), approvals }
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn admit(&self, session: &SessionId, clients: &[Arc<Connection>]) -> Result<(), NotOpened> {
        let of_session = self.cases.iter().filter(|case| case.request.session == *session).count();
        if self.operators.is_empty() && clients.is_empty() {
            Err(NotOpened::Unattended)
        } else if of_session >= MOST_OF_SESSION {
            Err(NotOpened::SessionFull(of_session))
        } else if self.cases.len() >= MOST {
            Err(NotOpened::Full(self.cases.len()))
        } else {
            Ok(())
        }
    }

    fn find(&self, id: &ApprovalId) -> Option<usize> {
        self.cases.iter().position(|case| case.request.id == *id)
    }

    fn end_deserted(&mut self) {
        if !self.operators.is_empty() {
            return;
        }
        while let Some(index) = self.cases.iter().position(|case| case.clients.is_empty()) {
            self.end(index, Ending::Deserted, Actor::Daemon);
        }
    }

    fn end(&mut self, index: usize, ending: Ending, by: Actor) {
        if let Some(settlement) = self.cases[index].approval.end(ending, by) {
            self.close(index, &settlement);
        }
    }

    /// Tells everybody who was told of it, and whoever waits.
    fn close(&mut self, index: usize, settlement: &Settlement) -> ApprovalSettled {
        let Case { request, approval, clients, settled } = self.cases.remove(index);
        let told = ApprovalSettled {
            id: request.id.clone(),
            session: request.session.clone(),
            call: request.call.clone(),
            outcome: settlement.outcome,
            by: settlement.by,
        };
        let is_operator = |client: &&Arc<Connection>| {
            self.operators.iter().any(|operator| operator.id() == client.id())
        };
        let others = clients.iter().filter(|client| !is_operator(client));
        for connection in self.operators.iter().chain(others) {
            connection.notify("approval.settled", &told);
        }
        if self.settled.len() >= MOST_SETTLED {
            self.settled.pop_front();
        }
        self.settled.push_back(told.clone());
        // Whoever waited is a call, which waits to its end.
        settled.send(approval).ok();
        told
    }
}
