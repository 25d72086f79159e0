//! Who answers what is asked: an operator on the control socket, and the approvals that a session's own client is asked for.

use std::path::Path;

use brattice_client::{ApprovalQuestion, Client, ConnectOptions, Notice};
use brattice_protocol::approval::{
    ApprovalAnswer, ApprovalChoice, ApprovalList, ApprovalRequest, ApprovalSettled, RespondParams,
};
use brattice_protocol::plan::PlanRequest;
use brattice_protocol::question::{
    QuestionList, QuestionRequest, QuestionRespond, QuestionSettled, Response,
};
use brattice_protocol::{ApprovalId, QuestionId, RpcError};

use crate::notices::Notices;
use crate::session::{RUNTIME, answered};

/// A question to a session's client.
#[must_use]
#[derive(Debug)]
pub struct Question(pub(crate) ApprovalQuestion);

impl Question {
    /// What it says.
    pub fn request(&self) -> &ApprovalRequest {
        &self.0.request
    }

    /// Answers it as a person does.
    pub fn choose(self, option: ApprovalChoice) {
        self.answer(ApprovalAnswer::Selected { option, reason: None });
    }

    /// Answers it.
    pub fn answer(self, answer: ApprovalAnswer) {
        RUNTIME.block_on(self.0.answer(&answer));
    }
}

/// What an operator is there to answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answering {
    /// Approvals.
    Approvals,
    /// The model's questions, and plans.
    Questions,
}

/// An operator who is there.
pub struct Operator {
    client: Client,
    notices: Notices,
}

impl Operator {
    pub(crate) fn attach(socket: &Path, answering: Answering) -> Operator {
        RUNTIME.block_on(async {
            let options = ConnectOptions::new("brattice-tests", env!("CARGO_PKG_VERSION"));
            let options = match answering {
                Answering::Approvals => options.answering_approvals(),
                Answering::Questions => options.answering_questions(),
            };
            let client =
                Client::connect(socket, options).await.expect("the daemon welcomes an operator");
            let notices = Notices::of(&client);
            Operator { client, notices }
        })
    }

    /// The approvals that are open.
    ///
    /// # Panics
    /// When the daemon does not answer.
    pub fn list(&self) -> ApprovalList {
        RUNTIME.block_on(self.client.approval_list()).expect("approvals are listed")
    }

    /// The next approval that is asked for.
    ///
    /// # Panics
    /// When none comes.
    #[track_caller]
    pub fn pending(&self) -> ApprovalRequest {
        self.notices.next("a question", |notice| match notice {
            Notice::ApprovalPending(request) => Some(*request),
            _ => None,
        })
    }

    /// How an approval was settled, once that is told.
    ///
    /// # Panics
    /// When it is not.
    #[track_caller]
    pub fn settled(&self, id: &ApprovalId) -> ApprovalSettled {
        self.notices.next("its end", |notice| match notice {
            Notice::ApprovalSettled(settled) if settled.id == *id => Some(settled),
            _ => None,
        })
    }

    /// Answers an approval.
    ///
    /// # Errors
    /// The daemon's refusal.
    pub fn respond(
        &self,
        id: &ApprovalId,
        option: ApprovalChoice,
    ) -> Result<ApprovalSettled, RpcError> {
        let params = RespondParams { id: id.clone(), option, reason: None };
        self.request(&params)
    }

    /// Rejects an approval with a reason.
    ///
    /// # Errors
    /// The daemon's refusal.
    pub fn reject(&self, id: &ApprovalId, reason: &str) -> Result<ApprovalSettled, RpcError> {
        let (option, reason) = (ApprovalChoice::RejectOnce, Some(reason.to_owned()));
        self.request(&RespondParams { id: id.clone(), option, reason })
    }

    fn request(&self, params: &RespondParams) -> Result<ApprovalSettled, RpcError> {
        RUNTIME.block_on(self.client.approval_respond(params)).map_err(answered)
    }

    /// The questions and plans that are open.
    ///
    /// # Panics
    /// When the daemon does not answer.
    pub fn inquiries(&self) -> QuestionList {
        RUNTIME.block_on(self.client.question_list()).expect("questions are listed")
    }

    /// The next questions of a model.
    ///
    /// # Panics
    /// When none come.
    #[track_caller]
    pub fn questions(&self) -> QuestionRequest {
        self.notices.next("questions", |notice| match notice {
            Notice::QuestionPending(request) => Some(*request),
            _ => None,
        })
    }

    /// The next plan.
    ///
    /// # Panics
    /// When none comes.
    #[track_caller]
    pub fn plan(&self) -> PlanRequest {
        self.notices.next("a plan", |notice| match notice {
            Notice::PlanPending(request) => Some(*request),
            _ => None,
        })
    }

    /// How questions or a plan were settled, once that is told.
    ///
    /// # Panics
    /// When it is not.
    #[track_caller]
    pub fn settled_inquiry(&self, id: &QuestionId) -> QuestionSettled {
        self.notices.next("its end", |notice| match notice {
            Notice::QuestionSettled(settled) if settled.id == *id => Some(settled),
            _ => None,
        })
    }

    /// Answers questions, or judges a plan.
    ///
    /// # Errors
    /// The daemon's refusal.
    pub fn answer(&self, id: &QuestionId, response: Response) -> Result<QuestionSettled, RpcError> {
        let params = QuestionRespond { id: id.clone(), response };
        RUNTIME.block_on(self.client.question_respond(&params)).map_err(answered)
    }
}
