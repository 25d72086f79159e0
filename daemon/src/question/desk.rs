//! What is open of all sessions: who is there to answer, who is told, and that the first answer settles.
//!
//! Bounded: so many of a session and in all, and so much text of a list. It never waits: a client that reads too slowly misses
//! a notification and can list what is open. Notifications leave under the lock, so that nobody is told that something is
//! settled before being told that it is open.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brattice_protocol::audit::Actor;
use brattice_protocol::hello::{Answers, Role};
use brattice_protocol::question::{AnswerFault, QuestionList, QuestionSettled, Response};
use brattice_protocol::{QuestionId, SessionId};
use tokio::sync::oneshot;

use super::inquiry::{Ending, Inquiry, Matter, Settlement};
use crate::server::{Connection, ConnectionId};

/// What is open of one session.
const MOST_OF_SESSION: usize = 8;

/// What is open of all sessions.
const MOST: usize = 64;

/// What was settled of which is told how.
const MOST_SETTLED: usize = 256;

/// Bytes of a list; what does not fit is left out and counted.
const LIST_BYTES: usize = 2 << 20;

/// What is open.
#[derive(Debug, Default)]
pub(crate) struct Desk(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    /// The oldest first.
    cases: Vec<Case>,
    settled: VecDeque<QuestionSettled>,
    operators: Vec<Arc<Connection>>,
}

#[derive(Debug)]
struct Case {
    inquiry: Inquiry,
    /// Clients that were asked and may still answer.
    clients: Vec<Arc<Connection>>,
    /// To whoever waits.
    settled: oneshot::Sender<Settlement>,
}

/// Why nobody is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotOpened {
    /// Nobody is there.
    Unattended,
    /// So many are open of the session, or of all, as may be.
    Full {
        /// How many.
        open: usize,
        /// Of whom.
        whose: &'static str,
    },
}

/// Why an operator's answer does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RespondError {
    /// There is none, or it was settled long ago.
    #[error("no question {0} is open")]
    Unknown(QuestionId),
    /// Somebody was faster, or it ended.
    #[error("question {} was {} already, by the {}", .0.id, .0.outcome.as_str(), .0.by.as_str())]
    Settled(Box<QuestionSettled>),
    /// It is no answer to what was asked.
    #[error("question {id}: {fault}")]
    Fault {
        /// The question.
        id: QuestionId,
        /// What is wrong.
        fault: AnswerFault,
    },
}

impl Desk {
    /// A connection that answers is there from now on. Tells whether that changes who can be asked something.
    pub(crate) fn attach(&self, operator: &Arc<Connection>) -> Attendance {
        if operator.role() != Role::Operator {
            return Attendance::Unchanged;
        }
        let mut open = self.open();
        let before = open.is_attended(Answers::Question);
        if operator.answers(Answers::Question) || operator.answers(Answers::Plan) {
            open.operators.push(operator.clone());
        }
        Attendance::of(before, open.is_attended(Answers::Question))
    }

    /// Whether an operator is there who answers this.
    pub(crate) fn is_attended(&self, kind: Answers) -> bool {
        self.open().is_attended(kind)
    }

    /// A connection is gone. What nobody else could answer ends.
    pub(crate) fn leave(&self, connection: ConnectionId) -> Attendance {
        let mut open = self.open();
        let before = open.is_attended(Answers::Question);
        open.operators.retain(|operator| operator.id() != connection);
        for case in &mut open.cases {
            case.clients.retain(|client| client.id() != connection);
        }
        open.end_deserted();
        Attendance::of(before, open.is_attended(Answers::Question))
    }

    /// Opens it and tells the operators. The clients are whoever is to be asked besides; asking them is the caller's.
    pub(super) fn put(
        &self,
        matter: &Arc<Matter>,
        clients: Vec<Arc<Connection>>,
    ) -> Result<oneshot::Receiver<Settlement>, NotOpened> {
        let mut open = self.open();
        open.admit(matter, &clients)?;
        for operator in open.operators(matter.answers()) {
            operator.notify(matter.pending(), &**matter);
        }
        let (settled, wait) = oneshot::channel();
        open.cases.push(Case { inquiry: Inquiry::of(matter.clone()), clients, settled });
        Ok(wait)
    }

    /// Whether it could be opened now.
    pub(super) fn admits(
        &self,
        matter: &Matter,
        clients: &[Arc<Connection>],
    ) -> Result<(), NotOpened> {
        self.open().admit(matter, clients)
    }

    /// A person's answer.
    ///
    /// # Errors
    /// It does not count.
    pub(crate) fn answer(
        &self,
        id: &QuestionId,
        response: Response,
        by: Actor,
    ) -> Result<QuestionSettled, RespondError> {
        let mut open = self.open();
        let Some(index) = open.find(id) else {
            let settled = open.settled.iter().find(|settled| settled.id == *id).cloned();
            return Err(settled.map_or_else(
                || RespondError::Unknown(id.clone()),
                |settled| RespondError::Settled(Box::new(settled)),
            ));
        };
        let answered = open.cases[index].inquiry.answer(response, by);
        answered.map_err(|fault| RespondError::Fault { id: id.clone(), fault })?;
        open.close(index).ok_or_else(|| RespondError::Unknown(id.clone()))
    }

    /// It ends without an answer, unless somebody was faster.
    pub(super) fn end(&self, id: &QuestionId, ending: Ending, by: Actor) {
        let mut open = self.open();
        if let Some(index) = open.find(id) {
            open.end(index, ending, by);
        }
    }

    /// A client that was asked cannot answer; where nobody else can, it ends so.
    pub(super) fn declined(&self, id: &QuestionId, client: ConnectionId, ending: Ending) {
        let mut open = self.open();
        if let Some(index) = open.find(id) {
            open.cases[index].clients.retain(|other| other.id() != client);
            if open.is_deserted(&open.cases[index]) {
                open.end(index, ending, Actor::Daemon);
            }
        }
    }

    /// What is open of this kind in this session ends.
    pub(crate) fn end_all(
        &self,
        session: &SessionId,
        kind: Answers,
        (ending, by): (Ending, Actor),
    ) {
        let mut open = self.open();
        let is_meant = |case: &Case| {
            let matter = case.inquiry.matter();
            matter.session() == session && matter.answers() == kind
        };
        while let Some(index) = open.cases.iter().position(is_meant) {
            open.end(index, ending.clone(), by);
        }
    }

    /// What is open, the oldest first, as far as it fits into an answer. What does not fit hides nothing after it.
    pub(crate) fn list(&self) -> QuestionList {
        let open = self.open();
        let mut bytes = 0;
        let fitting = open.cases.iter().map(|case| case.inquiry.matter()).filter(|matter| {
            let more = serde_json::to_string(matter).map_or(LIST_BYTES, |text| text.len());
            let fits = bytes + more <= LIST_BYTES;
            bytes += if fits { more } else { 0 };
            fits
        });
        let mut list = QuestionList::default();
        for matter in fitting {
            match matter {
                Matter::Questions(request) => list.questions.push(request.clone()),
                Matter::Plan(request) => list.plans.push(request.clone()),
            }
        }
        list.omitted = open.cases.len() - list.questions.len() - list.plans.len();
        list
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether somebody who came or went changes what sessions declare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attendance {
    /// An operator who answers questions is there and none was, or the other way round.
    Changed,
    /// It stays.
    Unchanged,
}

impl Attendance {
    fn of(before: bool, now: bool) -> Self {
        if before == now { Attendance::Unchanged } else { Attendance::Changed }
    }
}

impl Open {
    fn operators(&self, kind: Answers) -> impl Iterator<Item = &Arc<Connection>> {
        self.operators.iter().filter(move |operator| operator.answers(kind))
    }

    fn is_attended(&self, kind: Answers) -> bool {
        self.operators(kind).next().is_some()
    }

    fn admit(&self, matter: &Matter, clients: &[Arc<Connection>]) -> Result<(), NotOpened> {
        let is_own = |case: &&Case| case.inquiry.matter().session() == matter.session();
        let (own, all) = (self.cases.iter().filter(is_own).count(), self.cases.len());
        if !self.is_attended(matter.answers()) && clients.is_empty() {
            Err(NotOpened::Unattended)
        } else if own >= MOST_OF_SESSION {
            Err(NotOpened::Full { open: own, whose: "this session" })
        } else if all >= MOST {
            Err(NotOpened::Full { open: all, whose: "all sessions" })
        } else {
            Ok(())
        }
    }

    fn find(&self, id: &QuestionId) -> Option<usize> {
        self.cases.iter().position(|case| case.inquiry.matter().id() == id)
    }

    fn is_deserted(&self, case: &Case) -> bool {
        case.clients.is_empty() && !self.is_attended(case.inquiry.matter().answers())
    }

    fn end_deserted(&mut self) {
        while let Some(index) = self.cases.iter().position(|case| self.is_deserted(case)) {
            self.end(index, Ending::Deserted, Actor::Daemon);
        }
    }

    fn end(&mut self, index: usize, ending: Ending, by: Actor) {
        self.cases[index].inquiry.end(ending, by);
        self.close(index);
    }

    /// Tells everybody who was told of it, and whoever waits.
    fn close(&mut self, index: usize) -> Option<QuestionSettled> {
        let Case { inquiry, clients, settled } = self.cases.remove(index);
        let told = inquiry.told()?;
        let operators: Vec<_> = self.operators(inquiry.matter().answers()).cloned().collect();
        let is_operator = |client: &&Arc<Connection>| {
            operators.iter().any(|operator| operator.id() == client.id())
        };
        let others = clients.iter().filter(|client| !is_operator(client));
        for connection in operators.iter().chain(others) {
            connection.notify("question.settled", &told);
        }
        if self.settled.len() >= MOST_SETTLED {
            self.settled.pop_front();
        }
        self.settled.push_back(told.clone());
        // Whoever waited is a call, which waits to its end.
        settled.send(inquiry.settlement()?).ok();
        Some(told)
    }
}
