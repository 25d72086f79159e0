//! What waits for a person's answer: an approval, questions of the model's, a plan.

use brattice_protocol::approval::ApprovalRequest;
use brattice_protocol::plan::PlanRequest;
use brattice_protocol::question::QuestionRequest;
use brattice_protocol::{ApprovalId, QuestionId};

use super::Keyed;
use crate::cli::terminal::Style;
use crate::commands::task::first_line;
use crate::commands::{approval, question};

/// Something that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// Whether a call may do something.
    Approval(Box<ApprovalRequest>),
    /// What somebody thinks.
    Questions(QuestionRequest),
    /// Whether a plan is good.
    Plan(PlanRequest),
}

/// What tells it from others. No two things are asked under one id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AskedId {
    /// An approval.
    Approval(ApprovalId),
    /// Questions or a plan.
    Question(QuestionId),
}

impl Keyed for Asked {
    type Key = AskedId;

    fn key(&self) -> AskedId {
        match self {
            Asked::Approval(request) => AskedId::Approval(request.id.clone()),
            Asked::Questions(request) => AskedId::Question(request.id.clone()),
            Asked::Plan(request) => AskedId::Question(request.id.clone()),
        }
    }
}

impl Asked {
    /// What it is about, on a line. Of others' making: to be made plain before it is shown.
    pub(crate) fn subject(&self) -> String {
        match self {
            Asked::Approval(request) => first_line(request.subject()),
            Asked::Questions(request) => {
                request.questions.first().map(|one| first_line(&one.question)).unwrap_or_default()
            }
            Asked::Plan(request) => first_line(request.plan.trim_start_matches(['#', ' '])),
        }
    }

    /// What it is called.
    pub(crate) fn name(&self) -> &str {
        match self {
            Asked::Approval(request) => &request.tool,
            Asked::Questions(_) => "question",
            Asked::Plan(_) => "plan",
        }
    }

    /// All of it, in the words of the commands that list such things.
    pub(crate) fn text(&self, now: u64) -> String {
        match self {
            Asked::Approval(request) => approval::question(request, Style::Plain, now),
            Asked::Questions(request) => question::questions(request, Style::Plain),
            Asked::Plan(request) => question::plan(request),
        }
    }
}
