//! Questions and plans that a session's client is asked.

use brattice_client::Pending;
use brattice_protocol::plan::{PlanAnswer, PlanDecision, PlanRequest};
use brattice_protocol::question::{Answer, QuestionAnswer, QuestionRequest};

use crate::session::RUNTIME;

/// An answer that chooses these options.
pub fn chosen(id: &str, labels: &[&str]) -> Answer {
    let selected = labels.iter().map(|label| (*label).to_owned()).collect();
    Answer { id: id.to_owned(), selected, custom: None }
}

/// Questions to a session's client.
#[must_use]
#[derive(Debug)]
pub struct AskedQuestions(pub(crate) Pending<QuestionRequest, QuestionAnswer>);

impl AskedQuestions {
    /// What is asked.
    pub fn request(&self) -> &QuestionRequest {
        &self.0.request
    }

    /// Answers them.
    pub fn answer(self, answers: &[Answer]) {
        RUNTIME.block_on(self.0.answer(&QuestionAnswer::Answered(answers.to_vec())));
    }

    /// Closes them.
    pub fn dismiss(self) {
        RUNTIME.block_on(self.0.answer(&QuestionAnswer::Dismissed));
    }
}

/// A plan before a session's client.
#[must_use]
#[derive(Debug)]
pub struct AskedPlan(pub(crate) Pending<PlanRequest, PlanAnswer>);

impl AskedPlan {
    /// The plan.
    pub fn request(&self) -> &PlanRequest {
        &self.0.request
    }

    /// Approves it.
    pub fn approve(self) {
        self.decide(PlanDecision::Approve, None);
    }

    /// Keeps planning.
    pub fn keep_planning(self, feedback: Option<&str>) {
        self.decide(PlanDecision::KeepPlanning, feedback);
    }

    fn decide(self, decision: PlanDecision, feedback: Option<&str>) {
        let feedback = feedback.map(str::to_owned);
        RUNTIME.block_on(self.0.answer(&PlanAnswer { decision, feedback }));
    }

    /// Says that it cannot be judged here.
    pub fn decline(self) {
        let _runtime = RUNTIME.enter();
        drop(self.0);
    }
}
