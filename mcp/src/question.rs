//! What the daemon asks a person about a call: an approval, questions of the model, or a plan. Its form, how what was filled in
//! goes back, and an answer that is there before its question.

use brattice_client::protocol::approval::ApprovalRequired;
use brattice_client::protocol::plan::{PlanAnswer, PlanRequest};
use brattice_client::protocol::question::{
    Question as Asked, QuestionAnswer, QuestionFacts, QuestionOutcome, QuestionRequest,
};
use brattice_client::protocol::tools::CallResult;
use brattice_client::protocol::{ApprovalId, CallId, QuestionId};
use brattice_client::{ApprovalQuestion, Inquiry, Pending};
use rmcp::model::{ElicitRequest, ElicitResult};

use crate::elicit::{Dialect, NoForm, approval, plan, question};

/// Something that waits for a person's answer. Dropped, it is answered with none.
#[derive(Debug)]
pub(crate) enum Question {
    /// Whether a call may do something.
    Approval(Box<ApprovalQuestion>),
    /// Questions of the model.
    Questions(Pending<QuestionRequest, QuestionAnswer>),
    /// A plan to judge.
    Plan(Pending<PlanRequest, PlanAnswer>),
}

impl From<ApprovalQuestion> for Question {
    fn from(question: ApprovalQuestion) -> Self {
        Question::Approval(Box::new(question))
    }
}

impl From<Inquiry> for Question {
    fn from(inquiry: Inquiry) -> Self {
        match inquiry {
            Inquiry::Questions(pending) => Question::Questions(pending),
            Inquiry::Plan(pending) => Question::Plan(pending),
        }
    }
}

impl Question {
    /// The call that waits.
    pub(crate) fn call(&self) -> &CallId {
        match self {
            Question::Approval(asked) => &asked.request.call,
            Question::Questions(asked) => &asked.request.call,
            Question::Plan(asked) => &asked.request.call,
        }
    }

    /// The name of its form in a result.
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Question::Approval(_) => "approval",
            Question::Questions(_) => "question",
            Question::Plan(_) => "plan",
        }
    }

    /// Its form.
    pub(crate) fn form(&self, dialect: Dialect) -> Result<ElicitRequest, NoForm> {
        match self {
            Question::Approval(asked) => approval::form(&asked.request),
            Question::Questions(asked) => question::form(&asked.request, dialect),
            Question::Plan(asked) => plan::form(&asked.request),
        }
    }

    /// Answers it with what was filled in. Somebody else may have been faster.
    pub(crate) async fn answer(self, result: &ElicitResult) {
        match self {
            Question::Approval(asked) => {
                let answer = approval::answer(&asked.request, result);
                asked.answer(&answer).await;
            }
            Question::Questions(asked) => {
                let answer = question::answer(&asked.request, result);
                asked.answer(&answer).await;
            }
            Question::Plan(asked) => match plan::answer(result) {
                Some(answer) => asked.answer(&answer).await,
                None => asked.dismiss().await,
            },
        }
    }

    /// Says that nobody can be asked here: the daemon asks others, or nobody.
    pub(crate) async fn decline(self, why: &str) {
        match self {
            Question::Approval(asked) => asked.decline(why).await,
            Question::Questions(asked) => asked.decline(why).await,
            Question::Plan(asked) => asked.decline(why).await,
        }
    }

    fn subject(&self) -> Subject {
        match self {
            Question::Approval(asked) => Subject::Approval(asked.request.id.clone()),
            Question::Questions(asked) => {
                let QuestionRequest { id, questions, .. } = &asked.request;
                Subject::Questions(id.clone(), questions.clone())
            }
            Question::Plan(asked) => {
                Subject::Plan(asked.request.id.clone(), asked.request.plan.clone())
            }
        }
    }
}

/// What was asked, to know it by where it is asked again: an approval keeps its id, and of the others the words are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Subject {
    Approval(ApprovalId),
    Questions(QuestionId, Vec<Asked>),
    Plan(QuestionId, String),
}

/// An answer that may be there before its question: the call that asked was given up for want of it, and is made again, once.
#[derive(Debug)]
pub(crate) struct Prepared {
    subject: Subject,
    result: ElicitResult,
    was_repeated: bool,
}

impl Prepared {
    /// An answer to this.
    pub(crate) fn to(question: &Question, result: ElicitResult) -> Prepared {
        Prepared { subject: question.subject(), result, was_repeated: false }
    }

    /// Whether it answers this, too.
    pub(crate) fn fits(&self, question: &Question) -> bool {
        match (&self.subject, question) {
            (Subject::Approval(id), Question::Approval(asked)) => *id == asked.request.id,
            (Subject::Questions(_, questions), Question::Questions(asked)) => {
                *questions == asked.request.questions
            }
            (Subject::Plan(_, plan), Question::Plan(asked)) => *plan == asked.request.plan,
            (Subject::Approval(_) | Subject::Questions(..) | Subject::Plan(..), _) => false,
        }
    }

    /// What was filled in.
    pub(crate) fn result(&self) -> &ElicitResult {
        &self.result
    }

    /// Whether the call is to be made again: its result says that it was given up for want of this very answer. True once.
    pub(crate) fn repeats(&mut self, result: &CallResult) -> bool {
        let is_wanted = match &self.subject {
            Subject::Approval(id) => lacks(result).is_some_and(|required| required.id == *id),
            Subject::Questions(id, _) | Subject::Plan(id, _) => {
                facts(result).is_some_and(|facts| {
                    facts.question == *id && facts.outcome == QuestionOutcome::Expired
                })
            }
        };
        is_wanted && !std::mem::replace(&mut self.was_repeated, true)
    }
}

fn lacks(result: &CallResult) -> Option<ApprovalRequired> {
    let required = result.meta.get("dev.brattice/approval_required")?;
    serde_json::from_value(required.clone()).ok()
}

fn facts(result: &CallResult) -> Option<QuestionFacts> {
    serde_json::from_value(result.structured_content.clone()).ok()
}

#[cfg(test)]
mod tests {
    use rmcp::model::ElicitationAction;
    use serde_json::{Value, json};

    use super::*;

    fn prepared(subject: Subject) -> Prepared {
        let result = ElicitResult::new(ElicitationAction::Accept);
        Prepared { subject, result, was_repeated: false }
    }

    fn result(facts: Value, meta: Value) -> CallResult {
        let result =
            json!({"content": [], "isError": true, "structuredContent": facts, "_meta": meta});
        serde_json::from_value(result).unwrap()
    }

    #[test]
    fn a_call_that_was_given_up_for_want_of_this_very_answer_is_made_again_once() {
        let ended = |id: &str, outcome: &str| {
            result(json!({"question": id, "outcome": outcome, "answers": []}), json!({}))
        };
        let lacking = |id: &str| {
            let required = json!({"id": id, "command": "brattice approve", "expires": 0});
            result(Value::Null, json!({"dev.brattice/approval_required": required}))
        };
        let cases = [
            (Subject::Approval(ApprovalId::new("1")), lacking("1"), lacking("2")),
            (
                Subject::Questions(QuestionId::new("1"), Vec::new()),
                ended("1", "expired"),
                ended("2", "expired"),
            ),
            (
                Subject::Plan(QuestionId::new("1"), String::new()),
                ended("1", "expired"),
                ended("1", "not_answered"),
            ),
        ];
        for (subject, own, other) in cases {
            let mut prepared = prepared(subject);
            assert!(!prepared.repeats(&other), "{other:?}");
            assert!(prepared.repeats(&own), "{own:?}");
            assert!(!prepared.repeats(&own), "{own:?}");
        }
    }
}
