//! One connection: the table of requests that wait, the task that reads and the task that writes.
//!
//! What the requests mean is [`crate::client`]'s part.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use brattice_protocol::codec::{self, DecodeError, MAX_MESSAGE};
use brattice_protocol::{Message, Notification, Request, RequestId, Response, RpcError};
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::ClientError;
use crate::approvals::ApprovalQuestion;
use crate::questions::Inquiry;

/// Where a request's answer is delivered. The channel closes without one when the connection ends.
type Slot = oneshot::Sender<Result<Value, RpcError>>;

/// How a connection ended.
#[derive(Clone, Debug)]
enum End {
    Closed,
    Refused(RpcError),
    Broken(Arc<io::Error>),
    Undecodable(Arc<DecodeError>),
}

impl End {
    fn error(&self) -> ClientError {
        match self {
            End::Closed => ClientError::Closed,
            End::Refused(error) => ClientError::Refused(error.clone()),
            End::Broken(source) => ClientError::Broken(source.clone()),
            End::Undecodable(source) => ClientError::Undecodable(source.clone()),
        }
    }
}

#[derive(Debug)]
enum State {
    Open(HashMap<i64, Slot>),
    Ended(End),
}

/// The requests that wait for an answer, until the connection ends.
#[derive(Debug)]
pub(crate) struct Pending(Mutex<State>);

impl Pending {
    pub(crate) fn new() -> Self {
        Pending(Mutex::new(State::Open(HashMap::new())))
    }

    /// Registers a request before it is sent.
    pub(crate) fn register(
        &self,
        id: i64,
    ) -> Result<oneshot::Receiver<Result<Value, RpcError>>, ClientError> {
        let (slot, answer) = oneshot::channel();
        match &mut *self.state() {
            State::Open(waiting) => waiting.insert(id, slot),
            State::Ended(end) => return Err(end.error()),
        };
        Ok(answer)
    }

    /// Forgets a request whose answer nobody waits for any more.
    pub(crate) fn forget(&self, id: i64) {
        drop(self.take(id));
    }

    /// Why the connection is over; plainly closed if nothing better is known.
    pub(crate) fn end(&self) -> ClientError {
        match &*self.state() {
            State::Open(_) => ClientError::Closed,
            State::Ended(end) => end.error(),
        }
    }

    fn take(&self, id: i64) -> Option<Slot> {
        match &mut *self.state() {
            State::Open(waiting) => waiting.remove(&id),
            State::Ended(_) => None,
        }
    }

    /// Ends the connection once; all slots close.
    fn finish(&self, end: End) {
        let mut state = self.state();
        if matches!(*state, State::Open(_)) {
            *state = State::Ended(end);
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        // No code panics while it holds the lock, and the table is whole between any two statements.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads until the connection ends, handing answers to their slots and notifications to the ring.
pub(crate) async fn read(
    half: OwnedReadHalf,
    pending: Arc<Pending>,
    ring: broadcast::Sender<Notification>,
    asking: Asking,
) {
    let mut reader = BufReader::with_capacity(64 << 10, half);
    let mut farewell = None;
    let end = loop {
        match next_message(&mut reader).await {
            Ok(Some(Message::Response(Response { id: None, outcome: Err(error) }))) => {
                farewell = Some(End::Refused(error));
            }
            Ok(Some(Message::Response(response))) => deliver(&pending, response),
            // Nobody subscribed: then there is nobody to tell.
            Ok(Some(Message::Notification(told))) => drop(ring.send(told)),
            Ok(Some(Message::Request(request))) => asking.take(request),
            Ok(None) => break End::Closed,
            Err(end) => break end,
        }
    };
    pending.finish(farewell.unwrap_or(end));
}

/// Writes lines as they come, until every client is gone or the socket fails.
pub(crate) async fn write(
    mut half: OwnedWriteHalf,
    pending: Arc<Pending>,
    mut lines: mpsc::Receiver<Vec<u8>>,
) {
    while let Some(line) = lines.recv().await {
        match half.write_all(&line).await {
            Ok(()) => {}
            // The reader finds the daemon's last words, which say more than this end does.
            Err(source) if source.kind() == io::ErrorKind::BrokenPipe => return,
            Err(source) => return pending.finish(End::Broken(Arc::new(source))),
        }
    }
}

fn deliver(pending: &Pending, response: Response) {
    if let Some(RequestId::Number(id)) = response.id
        && let Some(slot) = pending.take(id)
    {
        // The caller may have given up in the meantime.
        drop(slot.send(response.outcome));
    }
}

/// Where requests of the daemon go.
pub(crate) struct Asking {
    pub(crate) lines: mpsc::WeakSender<Vec<u8>>,
    pub(crate) questions: mpsc::Sender<ApprovalQuestion>,
    pub(crate) inquiries: mpsc::Sender<Inquiry>,
}

impl Asking {
    /// Hands a question on. What is none, and what nobody takes, is refused; a full queue drops the refusal: the asker has
    /// a deadline of its own.
    fn take(&self, request: Request) {
        if let Some(inquiry) = Inquiry::read(&request, &self.lines) {
            match inquiry {
                // What nobody takes is dropped, and with that declined.
                Ok(inquiry) => drop(self.inquiries.try_send(inquiry)),
                Err(error) => self.refuse(request.id, error),
            }
            return;
        }
        let refused = match ApprovalQuestion::read(request, &self.lines) {
            Ok(question) => match self.questions.try_send(question) {
                Ok(()) => None,
                Err(unasked) => {
                    unasked.into_inner().decline("nobody takes this client's questions")
                }
            },
            Err(refused) => Some(refused),
        };
        if let Some((id, error)) = refused {
            self.refuse(id, error);
        }
    }

    fn refuse(&self, id: RequestId, error: RpcError) {
        if let Some(lines) = self.lines.upgrade() {
            let refusal = Message::Response(Response { id: Some(id), outcome: Err(error) });
            drop(lines.try_send(codec::encode(&refusal)));
        }
    }
}

async fn next_message(reader: &mut (impl AsyncBufRead + Unpin)) -> Result<Option<Message>, End> {
    let undecodable = |fault| End::Undecodable(Arc::new(fault));
    let mut line = Vec::new();
    let limit = MAX_MESSAGE as u64 + 1;
    match reader.take(limit).read_until(b'\n', &mut line).await {
        Ok(_) if line.pop_if(|last| *last == b'\n').is_some() => {
            codec::decode(&line).map(Some).map_err(undecodable)
        }
        Ok(_) if line.len() > MAX_MESSAGE => Err(undecodable(DecodeError::TooLong)),
        // A line without its end is not a message: the daemon went away in the middle of it.
        Ok(_) => Ok(None),
        Err(source) if source.kind() == io::ErrorKind::ConnectionReset => Ok(None),
        Err(source) => Err(End::Broken(Arc::new(source))),
    }
}
