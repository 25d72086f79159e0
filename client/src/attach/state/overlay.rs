//! What is shown over all else: a question back, a line to type, the help.

use brattice_protocol::approval::ApprovalChoice;
use brattice_protocol::{ApprovalId, SessionId, TaskId};

use super::Field;
use crate::attach::keys::Context;

/// Something that is over the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Overlay {
    /// What the keys do, from a line on.
    Help(usize),
    /// Whether this answer is really meant.
    Answer(Answer),
    /// Why something is rejected.
    Reason(ApprovalId, Field),
    /// Whether a task is really to be stopped.
    Kill(Kill),
}

/// An answer that is yet to be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// To which question.
    pub(crate) id: ApprovalId,
    /// Which.
    pub(crate) choice: ApprovalChoice,
}

/// A task that may be stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kill {
    /// Its session.
    pub(crate) session: SessionId,
    /// It.
    pub(crate) task: TaskId,
    /// What it runs.
    pub(crate) command: String,
}

impl Overlay {
    /// Where keys go.
    pub(super) const fn context(&self) -> Context {
        match self {
            Overlay::Help(_) => Context::Help,
            Overlay::Answer(_) => Context::Confirm,
            Overlay::Reason(..) => Context::Text,
            Overlay::Kill(_) => Context::Kill,
        }
    }

    /// Which question it is about.
    pub(super) const fn asked(&self) -> Option<&ApprovalId> {
        match self {
            Overlay::Answer(answer) => Some(&answer.id),
            Overlay::Reason(id, _) => Some(id),
            Overlay::Help(_) | Overlay::Kill(_) => None,
        }
    }
}
