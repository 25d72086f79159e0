//! Questions and plans of the model, to be put to a person: requests of the daemon to a client that declared that it answers
//! them.
//!
//! They wait in a bounded queue, apart from approvals. What is dropped without an answer, and what nobody takes, is declined:
//! the daemon asks others or nobody, and no answer is made up.

use std::marker::PhantomData;

use brattice_protocol::plan::{PlanAnswer, PlanRequest};
use brattice_protocol::question::{QuestionAnswer, QuestionRequest};
use brattice_protocol::{ErrorCode, Message, Request, RequestId, Response, RpcError, codec};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::sync::mpsc;

/// Inquiries that wait to be taken; the next one is declined.
pub(crate) const CAPACITY: usize = 16;

/// The questions and plans of a connection, in the order in which they came.
#[derive(Debug)]
pub struct Questions {
    asked: mpsc::Receiver<Inquiry>,
}

impl Questions {
    pub(crate) fn of(asked: mpsc::Receiver<Inquiry>) -> Self {
        Questions { asked }
    }

    /// The next one; `None` once the connection is over and all were taken.
    pub async fn next(&mut self) -> Option<Inquiry> {
        self.asked.recv().await
    }
}

/// What a person is asked.
#[derive(Debug)]
pub enum Inquiry {
    /// Questions.
    Questions(Pending<QuestionRequest, QuestionAnswer>),
    /// A plan to judge.
    Plan(Pending<PlanRequest, PlanAnswer>),
}

impl Inquiry {
    /// Reads a request of the daemon's; `None` for one that is neither.
    pub(crate) fn read(
        request: &Request,
        lines: &mpsc::WeakSender<Vec<u8>>,
    ) -> Option<Result<Inquiry, RpcError>> {
        match request.method.as_str() {
            "question.request" => Some(Pending::read(request, lines).map(Inquiry::Questions)),
            "plan.request" => Some(Pending::read(request, lines).map(Inquiry::Plan)),
            _ => None,
        }
    }
}

/// One that waits for an answer. Dropped, it is declined.
#[derive(Debug)]
pub struct Pending<R, A> {
    /// What is asked.
    pub request: R,
    reply: Reply,
    answer: PhantomData<fn(A)>,
}

#[derive(Debug)]
struct Reply {
    id: Option<RequestId>,
    lines: mpsc::WeakSender<Vec<u8>>,
}

impl<R: DeserializeOwned, A: Serialize> Pending<R, A> {
    fn read(request: &Request, lines: &mpsc::WeakSender<Vec<u8>>) -> Result<Self, RpcError> {
        match R::deserialize(&request.params) {
            Ok(asked) => {
                let reply = Reply { id: Some(request.id.clone()), lines: lines.clone() };
                Ok(Pending { request: asked, reply, answer: PhantomData })
            }
            Err(error) => Err(RpcError::new(ErrorCode::Invalid, error.to_string())),
        }
    }

    /// Answers it. Somebody else may have been faster, which the daemon tells by `question.settled`.
    pub async fn answer(self, answer: &A) {
        let answer = serde_json::to_value(answer);
        let outcome = answer.map_err(|error| RpcError::new(ErrorCode::Invalid, error.to_string()));
        self.reply(outcome).await;
    }

    /// Says that a person closed it: questions are not answered, and a plan is not decided on.
    pub async fn dismiss(self) {
        self.reply(Ok(json!({"dismissed": true}))).await;
    }

    /// Says that nobody can be asked here: the daemon asks others, or nobody.
    pub async fn decline(self, why: &str) {
        self.reply(Err(RpcError::new(ErrorCode::Unavailable, why))).await;
    }

    async fn reply(mut self, outcome: Result<Value, RpcError>) {
        if let (Some(lines), Some(id)) = (self.reply.lines.upgrade(), self.reply.id.take()) {
            let line = codec::encode(&Message::Response(Response { id: Some(id), outcome }));
            // A writer that is gone means that the connection is.
            drop(lines.send(line).await);
        }
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        let (Some(lines), Some(id)) = (self.lines.upgrade(), self.id.take()) else { return };
        let error = RpcError::new(ErrorCode::Unavailable, "nobody was asked");
        let line = Message::Response(Response { id: Some(id), outcome: Err(error) });
        // Where the queue is full it stays open here, and others may answer it.
        drop(lines.try_send(codec::encode(&line)));
    }
}
