//! One inquiry, questions or a plan, as a pure state machine: asked, and settled once.
//!
//! What settles it is the first answer that makes sense, or an end. Only the decision `approve` approves a plan. Who is asked
//! and told is `desk`'s, waiting is `ask`'s.

use std::sync::Arc;
use std::time::Duration;

use brattice_protocol::audit::Actor;
use brattice_protocol::hello::Answers;
use brattice_protocol::plan::{PlanAnswer, PlanDecision, PlanRequest};
use brattice_protocol::question::{
    Answer, AnswerFault, MAX_TEXT, QuestionOutcome, QuestionRequest, QuestionSettled, Response,
};
use brattice_protocol::{CallId, QuestionId, SessionId};
use serde::Serialize;

/// What is put before a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Matter {
    /// Questions.
    Questions(QuestionRequest),
    /// A plan.
    Plan(PlanRequest),
}

/// Why an inquiry ended without an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// Whoever was asked has gone, or gave no answer that is one.
    Deserted,
    /// Whoever was asked could put it to nobody, for this reason.
    Unasked(String),
    /// The call waits for a person so long and no longer.
    Expired(Duration),
    /// The call was withdrawn.
    Withdrawn,
    /// The session or the daemon ends.
    Closed,
    /// Plan mode ended another way.
    Over,
}

/// How it was settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settlement {
    /// How.
    pub(crate) outcome: QuestionOutcome,
    /// By whom.
    pub(crate) by: Actor,
    /// Why there was no answer, where nobody gave or refused one.
    pub(crate) ending: Option<Ending>,
    /// The answers, where there are any.
    pub(crate) answers: Vec<Answer>,
    /// What the person said about a plan.
    pub(crate) feedback: Option<String>,
}

/// An inquiry.
#[derive(Debug)]
pub(crate) struct Inquiry {
    matter: Arc<Matter>,
    settlement: Option<Settlement>,
}

impl Matter {
    /// What an answer names.
    pub(crate) fn id(&self) -> &QuestionId {
        match self {
            Matter::Questions(request) => &request.id,
            Matter::Plan(request) => &request.id,
        }
    }

    /// Its session.
    pub(super) fn session(&self) -> &SessionId {
        match self {
            Matter::Questions(request) => &request.session,
            Matter::Plan(request) => &request.session,
        }
    }

    /// The call that waits.
    pub(super) fn call(&self) -> &CallId {
        match self {
            Matter::Questions(request) => &request.call,
            Matter::Plan(request) => &request.call,
        }
    }

    /// What whoever answers it must have declared.
    pub(super) const fn answers(&self) -> Answers {
        match self {
            Matter::Questions(_) => Answers::Question,
            Matter::Plan(_) => Answers::Plan,
        }
    }

    /// The request to a client.
    pub(super) const fn request(&self) -> &'static str {
        match self {
            Matter::Questions(_) => "question.request",
            Matter::Plan(_) => "plan.request",
        }
    }

    /// The notification to operators.
    pub(super) const fn pending(&self) -> &'static str {
        match self {
            Matter::Questions(_) => "question.pending",
            Matter::Plan(_) => "plan.pending",
        }
    }
}

impl Inquiry {
    /// One that is about to be asked.
    pub(super) const fn of(matter: Arc<Matter>) -> Self {
        Inquiry { matter, settlement: None }
    }

    /// What it is about.
    pub(super) fn matter(&self) -> &Matter {
        &self.matter
    }

    /// How it was settled, if it was.
    pub(super) fn settlement(self) -> Option<Settlement> {
        self.settlement
    }

    /// A person's answer. The first one settles it.
    ///
    /// # Errors
    /// It is no answer to what was asked, and settles nothing.
    pub(super) fn answer(&mut self, response: Response, by: Actor) -> Result<(), AnswerFault> {
        let (outcome, answers, feedback) = match (&*self.matter, response) {
            (_, Response::Dismissed) => (QuestionOutcome::Dismissed, Vec::new(), None),
            (Matter::Questions(request), Response::Answered(answers)) => {
                request.check(&answers)?;
                (QuestionOutcome::Answered, answers, None)
            }
            (Matter::Plan(_), Response::Decided(PlanAnswer { decision, feedback })) => {
                let bytes = feedback.as_ref().map_or(0, String::len);
                if bytes > MAX_TEXT {
                    return Err(AnswerFault::TooLong(bytes));
                }
                let outcome = match decision {
                    PlanDecision::Approve => QuestionOutcome::Approved,
                    PlanDecision::KeepPlanning => QuestionOutcome::KeptPlanning,
                };
                (outcome, Vec::new(), feedback.filter(|text| !text.trim().is_empty()))
            }
            (Matter::Questions(_), Response::Decided(_)) => {
                return Err(AnswerFault::OtherKind("answers to questions"));
            }
            (Matter::Plan(_), Response::Answered(_)) => {
                return Err(AnswerFault::OtherKind("a decision on a plan"));
            }
        };
        let settlement = Settlement { outcome, by, ending: None, answers, feedback };
        self.settlement.get_or_insert(settlement);
        Ok(())
    }

    /// It ends without an answer, unless it was settled before.
    pub(super) fn end(&mut self, ending: Ending, by: Actor) {
        let outcome = match ending {
            Ending::Deserted | Ending::Unasked(_) => QuestionOutcome::NotAnswered,
            Ending::Expired(_) => QuestionOutcome::Expired,
            Ending::Withdrawn | Ending::Closed | Ending::Over => QuestionOutcome::Withdrawn,
        };
        let (answers, feedback) = (Vec::new(), None);
        let settlement = Settlement { outcome, by, ending: Some(ending), answers, feedback };
        self.settlement.get_or_insert(settlement);
    }

    /// What is told of its end; none before it.
    pub(super) fn told(&self) -> Option<QuestionSettled> {
        let Settlement { outcome, by, .. } = self.settlement.as_ref()?;
        Some(QuestionSettled {
            id: self.matter.id().clone(),
            session: self.matter.session().clone(),
            call: self.matter.call().clone(),
            outcome: *outcome,
            by: *by,
        })
    }
}

#[cfg(test)]
mod tests {
    use brattice_protocol::question::Question;

    use super::*;

    fn plan() -> Inquiry {
        Inquiry::of(Arc::new(Matter::Plan(PlanRequest {
            id: QuestionId::new("p"),
            session: SessionId::new("s"),
            call: CallId::new("c"),
            plan: "# Plan".to_owned(),
        })))
    }

    fn questions() -> Inquiry {
        let question = Question {
            id: "db".to_owned(),
            question: "Which?".to_owned(),
            header: None,
            options: Vec::new(),
            multi_select: false,
        };
        Inquiry::of(Arc::new(Matter::Questions(QuestionRequest {
            id: QuestionId::new("q"),
            session: SessionId::new("s"),
            call: CallId::new("c"),
            questions: vec![question],
        })))
    }

    fn decided(decision: PlanDecision, feedback: &str) -> Response {
        Response::Decided(PlanAnswer { decision, feedback: Some(feedback.to_owned()) })
    }

    fn answered(text: &str) -> Response {
        let custom = Some(text.to_owned());
        Response::Answered(vec![Answer { id: "db".to_owned(), selected: Vec::new(), custom }])
    }

    fn outcome(inquiry: Inquiry) -> Option<(QuestionOutcome, Option<Ending>)> {
        inquiry.settlement().map(|settled| (settled.outcome, settled.ending))
    }

    #[test]
    fn only_the_decision_to_approve_approves() {
        let cases = [
            (decided(PlanDecision::Approve, ""), QuestionOutcome::Approved),
            (decided(PlanDecision::KeepPlanning, "yes, approve"), QuestionOutcome::KeptPlanning),
            (Response::Dismissed, QuestionOutcome::Dismissed),
        ];
        for (response, expected) in cases {
            let mut plan = plan();
            plan.answer(response, Actor::Client).unwrap();
            assert_eq!(outcome(plan), Some((expected, None)));
        }
        let mut plan = plan();
        for ending in [Ending::Deserted, Ending::Withdrawn, Ending::Closed, Ending::Over] {
            plan.end(ending, Actor::Daemon);
        }
        let expected = (QuestionOutcome::NotAnswered, Some(Ending::Deserted));
        assert_eq!(outcome(plan), Some(expected), "the first end counts");
    }

    #[test]
    fn what_is_no_answer_settles_nothing_and_the_first_one_counts() {
        let mut asked = questions();
        let refused = [
            asked.answer(decided(PlanDecision::Approve, "x"), Actor::Client),
            asked.answer(answered(" "), Actor::Client),
            asked.answer(Response::Answered(Vec::new()), Actor::Client),
        ];
        assert!(refused.iter().all(Result::is_err), "{refused:?}");
        assert_eq!(asked.told(), None);
        asked.answer(answered("SQLite"), Actor::Operator).unwrap();
        asked.answer(answered("another"), Actor::Client).unwrap();
        asked.end(Ending::Withdrawn, Actor::Client);
        let settlement = asked.settlement().unwrap();
        assert_eq!(
            (settlement.outcome, settlement.by),
            (QuestionOutcome::Answered, Actor::Operator)
        );
        assert_eq!(settlement.answers[0].custom.as_deref(), Some("SQLite"));
        let mut planned = plan();
        assert!(planned.answer(answered("yes"), Actor::Client).is_err());
        assert_eq!(planned.told(), None);
    }
}
