//! Who answers approvals: an operator on the control socket, and the questions that a session's own client is asked.

use std::cell::RefCell;
use std::path::Path;

use brattice_client::{ApprovalQuestion, Client, ConnectOptions, Notice, Notifications};
use brattice_protocol::approval::{
    ApprovalAnswer, ApprovalChoice, ApprovalList, ApprovalRequest, ApprovalSettled, RespondParams,
};
use brattice_protocol::{ApprovalId, RpcError};
use tokio::time::timeout;

use crate::session::{RUNTIME, answered};
use crate::until::PATIENCE;

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

/// An operator who is there.
pub struct Operator {
    client: Client,
    notifications: RefCell<Notifications>,
}

impl Operator {
    pub(crate) fn attach(socket: &Path) -> Operator {
        RUNTIME.block_on(async {
            let options = ConnectOptions::new("brattice-tests", env!("CARGO_PKG_VERSION"));
            let client = Client::connect(socket, options.answering_approvals())
                .await
                .expect("the daemon welcomes an operator");
            let notifications = RefCell::new(client.notifications());
            Operator { client, notifications }
        })
    }

    /// What is open.
    ///
    /// # Panics
    /// When the daemon does not answer.
    pub fn list(&self) -> ApprovalList {
        RUNTIME.block_on(self.client.approval_list()).expect("approvals are listed")
    }

    /// The next question that is told.
    ///
    /// # Panics
    /// When none comes.
    #[track_caller]
    pub fn pending(&self) -> ApprovalRequest {
        self.notice("a question", |notice| match notice {
            Notice::ApprovalPending(request) => Some(*request),
            _ => None,
        })
    }

    /// How a question was settled, once that is told.
    ///
    /// # Panics
    /// When it is not.
    #[track_caller]
    pub fn settled(&self, id: &ApprovalId) -> ApprovalSettled {
        self.notice("its end", |notice| match notice {
            Notice::ApprovalSettled(settled) if settled.id == *id => Some(settled),
            _ => None,
        })
    }

    /// Answers a question.
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

    /// Rejects a question with a reason.
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
