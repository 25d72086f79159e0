//! What is shown over all else: a question back, a line to type, the help.

use brattice_protocol::approval::ApprovalChoice;
use brattice_protocol::{ApprovalId, QuestionId, SessionId, TaskId};

use super::{AskedId, Field, Form, Place};
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
    /// Answers to questions, as far as they are made.
    Form(Form),
    /// Whether questions are really to stay without an answer.
    Dismiss(QuestionId),
    /// Whether a plan is really approved.
    Approve(QuestionId),
    /// What is to be different about a plan.
    Feedback(QuestionId, Field),
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
    pub(super) fn context(&self) -> Context {
        match self {
            Overlay::Help(_) => Context::Help,
            Overlay::Answer(_) | Overlay::Dismiss(_) | Overlay::Approve(_) => Context::Confirm,
            Overlay::Reason(..) | Overlay::Feedback(..) => Context::Text,
            Overlay::Form(form) => match form.place() {
                Place::Question(..) if form.is_typing() => Context::Own,
                Place::Question(..) => Context::Options,
                Place::Review(_) => Context::Confirm,
            },
            Overlay::Kill(_) => Context::Kill,
        }
    }

    /// Which question it is about.
    pub(super) fn asked(&self) -> Option<AskedId> {
        match self {
            Overlay::Answer(Answer { id, .. }) | Overlay::Reason(id, _) => {
                Some(AskedId::Approval(id.clone()))
            }
            Overlay::Form(form) => Some(AskedId::Question(form.id().clone())),
            Overlay::Dismiss(id) | Overlay::Approve(id) | Overlay::Feedback(id, _) => {
                Some(AskedId::Question(id.clone()))
            }
            Overlay::Help(_) | Overlay::Kill(_) => None,
        }
    }
}
