//! Questions and plans that a session's client is asked, and an operator who answers them.

use std::cell::RefCell;
use std::path::Path;

use brattice_client::{Client, ConnectOptions, Notice, Notifications, Pending};
use brattice_protocol::plan::{PlanAnswer, PlanDecision, PlanRequest};
use brattice_protocol::question::{
    Answer, QuestionAnswer, QuestionList, QuestionRequest, QuestionRespond, QuestionSettled,
    Response,
};
use brattice_protocol::{QuestionId, RpcError};
use tokio::time::timeout;

use crate::session::{RUNTIME, answered};
use crate::until::PATIENCE;

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

/// An operator who answers questions and judges plans.
pub struct Answerer {
    client: Client,
    notifications: RefCell<Notifications>,
}

impl Answerer {
    pub(crate) fn attach(socket: &Path) -> Answerer {
        RUNTIME.block_on(async {
            let options = ConnectOptions::new("brattice-tests", env!("CARGO_PKG_VERSION"));
            let client = Client::connect(socket, options.answering_questions())
                .await
                .expect("the daemon welcomes an operator");
            let notifications = RefCell::new(client.notifications());
            Answerer { client, notifications }
        })
    }

    /// What is open.
    ///
    /// # Panics
    /// When the daemon does not answer.
    pub fn list(&self) -> QuestionList {
        RUNTIME.block_on(self.client.question_list()).expect("questions are listed")
    }

    /// The next questions that are told.
    ///
    /// # Panics
    /// When none are.
    #[track_caller]
    pub fn questions(&self) -> QuestionRequest {
        self.notice("questions", |notice| match notice {
            Notice::QuestionPending(request) => Some(*request),
            _ => None,
        })
    }

    /// The next plan that is told.
    ///
    /// # Panics
    /// When none is.
    #[track_caller]
    pub fn plan(&self) -> PlanRequest {
        self.notice("a plan", |notice| match notice {
            Notice::PlanPending(request) => Some(*request),
            _ => None,
        })
    }

    /// How one was settled, once that is told.
    ///
    /// # Panics
    /// When it is not.
    #[track_caller]
    pub fn settled(&self, id: &QuestionId) -> QuestionSettled {
        self.notice("its end", |notice| match notice {
            Notice::QuestionSettled(settled) if settled.id == *id => Some(settled),
            _ => None,
        })
    }

    /// Answers one.
    ///
    /// # Errors
    /// The daemon's refusal.
    pub fn respond(
        &self,
        id: &QuestionId,
        response: Response,
    ) -> Result<QuestionSettled, RpcError> {
        let params = QuestionRespond { id: id.clone(), response };
        RUNTIME.block_on(self.client.question_respond(&params)).map_err(answered)
    }

    #[track_caller]
    fn notice<T>(&self, what: &str, wanted: impl Fn(Notice) -> Option<T>) -> T {
        let mut notifications = self.notifications.borrow_mut();
        let search = async {
            loop {
                let notice = notifications.next().await.expect("the connection goes on");
                if let Some(found) = wanted(notice) {
                    return found;
                }
            }
        };
        let found = RUNTIME.block_on(async { timeout(PATIENCE, search).await });
        found.unwrap_or_else(|_| panic!("waited in vain for {what}"))
    }
}
