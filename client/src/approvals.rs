//! Questions of the daemon to this client: approvals of its sessions' calls, to be put to a person.
//!
//! They wait in a bounded queue; where nobody takes them the daemon is told so, and asks others or nobody. A question that is
//! dropped is answered as cancelled, so that no call waits for a program that forgot it.

use brattice_protocol::approval::{ApprovalAnswer, ApprovalRequest};
use brattice_protocol::{ErrorCode, Message, Request, RequestId, Response, RpcError, codec};
use serde::Deserialize;
use tokio::sync::mpsc;

/// Questions that wait to be taken; the next one is declined.
pub(crate) const CAPACITY: usize = 16;

/// The questions of a connection, in the order in which they came.
#[derive(Debug)]
pub struct Approvals {
    questions: mpsc::Receiver<ApprovalQuestion>,
}

impl Approvals {
    pub(crate) fn of(questions: mpsc::Receiver<ApprovalQuestion>) -> Self {
        Approvals { questions }
    }

    /// The next question; `None` once the connection is over and all were taken.
    pub async fn next(&mut self) -> Option<ApprovalQuestion> {
        self.questions.recv().await
    }
}

/// A question that waits for an answer.
#[derive(Debug)]
pub struct ApprovalQuestion {
    /// The question.
    pub request: ApprovalRequest,
    reply: Reply,
}

#[derive(Debug)]
struct Reply {
    id: Option<RequestId>,
    lines: mpsc::WeakSender<Vec<u8>>,
}

impl ApprovalQuestion {
    /// Reads a request of the daemon's.
    pub(crate) fn read(
        request: Request,
        lines: &mpsc::WeakSender<Vec<u8>>,
    ) -> Result<ApprovalQuestion, (RequestId, RpcError)> {
        let Request { id, method, params } = request;
        if method != "approval.request" {
            let text = format!("this client answers no {method}");
            let error = RpcError::numbered(RpcError::METHOD_NOT_FOUND, ErrorCode::Invalid, text);
            return Err((id, error));
        }
        match ApprovalRequest::deserialize(params) {
            Ok(request) => {
                let reply = Reply { id: Some(id), lines: lines.clone() };
                Ok(ApprovalQuestion { request, reply })
            }
            Err(error) => Err((id, RpcError::new(ErrorCode::Invalid, error.to_string()))),
        }
    }

    /// Answers it. Somebody else may have been faster, which the daemon tells by `approval.settled`.
    pub async fn answer(mut self, answer: &ApprovalAnswer) {
        let lines = self.reply.lines.upgrade();
        if let (Some(lines), Some(line)) = (lines, self.reply.take(answer)) {
            // A writer that is gone means that the connection is.
            drop(lines.send(line).await);
        }
    }

    /// Says that nobody can be asked here: the daemon asks others, or nobody.
    pub async fn decline(self, why: &str) {
        let lines = self.reply.lines.upgrade();
        if let (Some(lines), Some((id, error))) = (lines, self.refusal(why)) {
            let refusal = Message::Response(Response { id: Some(id), outcome: Err(error) });
            // A writer that is gone means that the connection is.
            drop(lines.send(codec::encode(&refusal)).await);
        }
    }

    pub(crate) fn refusal(mut self, why: &str) -> Option<(RequestId, RpcError)> {
        let error = RpcError::new(ErrorCode::Unavailable, why);
        self.reply.id.take().map(|id| (id, error))
    }
}

impl Reply {
    fn take(&mut self, answer: &ApprovalAnswer) -> Option<Vec<u8>> {
        let id = self.id.take()?;
        let answer = serde_json::to_value(answer);
        let outcome = answer.map_err(|error| RpcError::new(ErrorCode::Invalid, error.to_string()));
        Some(codec::encode(&Message::Response(Response { id: Some(id), outcome })))
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        if let (Some(lines), Some(line)) =
            (self.lines.upgrade(), self.take(&ApprovalAnswer::Cancelled))
        {
            // A full queue leaves it to the question's own time limit.
            drop(lines.try_send(line));
        }
    }
}
