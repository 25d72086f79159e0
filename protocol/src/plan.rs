//! Plans of the model, for a person to approve or to send back: `plan.request` to the session's own client, `plan.pending` to
//! operators.
//!
//! What is open and how it is answered on the control socket is [`crate::question`]'s, with the same ids. Only the decision
//! `approve` is consent: a text beside `keep_planning` is feedback, whatever it says, and so is no answer at all none.

use serde::{Deserialize, Serialize};

use crate::{CallId, QuestionId, SessionId};

/// A plan: the parameters of `plan.request` and `plan.pending`, and an entry of `question.list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanRequest {
    /// Its id, never used again.
    pub id: QuestionId,
    /// The session.
    pub session: SessionId,
    /// The call that waits for the decision.
    pub call: CallId,
    /// The plan, Markdown that begins with a heading.
    pub plan: String,
}

/// The answer to `plan.request`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanAnswer {
    /// What is to become of it.
    pub decision: PlanDecision,
    /// What the person says about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<String>,
}

/// What is to become of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlanDecision {
    /// It is carried out: plan mode ends.
    Approve,
    /// Another one is to be made: plan mode goes on.
    KeepPlanning,
}
