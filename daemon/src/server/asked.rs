//! Requests of the daemon to one client, until the client answers, is gone, or nobody waits any more.
//!
//! Their ids are the daemon's own and mean nothing beside those of the client's requests. An answer to none of them is passed
//! over, as JSON-RPC has it: it came too late.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brattice_protocol::{RequestId, Response, RpcError};
use serde_json::Value;
use tokio::sync::oneshot;

/// What a client answers.
pub(crate) type Answered = Result<Value, RpcError>;

/// The requests that wait.
#[derive(Debug, Default)]
pub(super) struct Asked(Mutex<Table>);

#[derive(Debug, Default)]
struct Table {
    waiting: HashMap<i64, oneshot::Sender<Answered>>,
    last: i64,
    is_closed: bool,
}

impl Asked {
    /// A place for one more answer, and its request's id; none once the client is gone.
    pub(super) fn begin(self: &Arc<Self>) -> Option<(i64, Reply)> {
        let mut table = self.table();
        if table.is_closed {
            return None;
        }
        table.last += 1;
        let id = table.last;
        let (sender, answer) = oneshot::channel();
        table.waiting.insert(id, sender);
        Some((id, Reply { id, asked: self.clone(), answer }))
    }

    /// The client answered something.
    pub(super) fn answered(&self, response: Response) {
        let Some(RequestId::Number(id)) = response.id else { return };
        if let Some(waiting) = self.table().waiting.remove(&id) {
            // Who asked may just have stopped waiting.
            waiting.send(response.outcome).ok();
        }
    }

    /// The client is gone and answers nothing any more.
    pub(super) fn close(&self) {
        let mut table = self.table();
        table.is_closed = true;
        table.waiting.clear();
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer to one request. Dropped, it is no longer waited for.
#[derive(Debug)]
pub(crate) struct Reply {
    id: i64,
    asked: Arc<Asked>,
    answer: oneshot::Receiver<Answered>,
}

impl Reply {
    /// Waits for it; none where the client has gone without one.
    pub(crate) async fn answer(mut self) -> Option<Answered> {
        (&mut self.answer).await.ok()
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        self.asked.table().waiting.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn response(id: i64, result: Value) -> Response {
        Response { id: Some(RequestId::Number(id)), outcome: Ok(result) }
    }

    #[tokio::test]
    async fn each_answer_goes_to_its_own_request_once() {
        let asked = Arc::new(Asked::default());
        let (first, one) = asked.begin().unwrap();
        let (second, other) = asked.begin().unwrap();
        asked.answered(response(second, json!(2)));
        asked.answered(response(first, json!(1)));
        asked.answered(response(first, json!("again")));
        asked.answered(response(77, json!("to nothing")));
        assert_eq!(
            (one.answer().await, other.answer().await),
            (Some(Ok(json!(1))), Some(Ok(json!(2))))
        );
    }

    #[tokio::test]
    async fn a_client_that_is_gone_answers_nothing_and_is_asked_nothing() {
        let asked = Arc::new(Asked::default());
        let (_, reply) = asked.begin().unwrap();
        asked.close();
        assert_eq!(reply.answer().await, None);
        assert!(asked.begin().is_none());
    }

    #[test]
    fn an_answer_that_nobody_waits_for_leaves_nothing_behind() {
        let asked = Arc::new(Asked::default());
        let (id, reply) = asked.begin().unwrap();
        drop(reply);
        asked.answered(response(id, json!(1)));
        assert!(asked.table().waiting.is_empty());
    }
}
