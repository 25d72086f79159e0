//! The transport below rmcp: lines in, lines out, each with its bound, for rmcp itself has none on what it takes in.
//!
//! ```text
//!  input ──► lines ──► frame ──► rmcp ──► send ──► queue ──► writer ──► output
//!           4 MiB     64 levels  64 requests at once           30 s a line
//!              ▲ nothing is read while 64 messages wait to be written
//! ```
//!
//! | client | what becomes of it |
//! |---|---|
//! | sends a line that is too long or too deep, or no JSON | told what was wrong, then its connection ends |
//! | sends JSON that is no message | told so; the connection goes on |
//! | has 64 requests in flight | the next one is refused at once; cancels and answers are still read |
//! | does not read | is not read from either, so that memory does not grow; after 30 s its connection ends |
//! | closes its end | what is in flight is finished or cancelled, and the connection ends |

mod frame;
mod lines;
mod writer;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use rmcp::model::{ClientJsonRpcMessage, ErrorData, GetExtensions as _, ServerJsonRpcMessage};
use rmcp::service::RoleServer;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use self::frame::{Fault, Frame};
use self::lines::{Line, Lines};
use self::writer::Writer;

/// Requests in flight; the next one is refused.
const MOST_REQUESTS: usize = 64;

/// Messages that wait to be written; nothing is read while there are as many.
const MOST_UNWRITTEN: usize = 64;

/// How a connection ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The client closed its end.
    Closed,
    /// It sent what is no message.
    Garbled(String),
    /// It read nothing for too long.
    Unread,
    /// Its end failed.
    Broken(String),
}

/// A client's connection.
#[derive(Debug)]
pub struct Transport<R> {
    lines: Lines<R>,
    writer: Writer,
    requests: Arc<Semaphore>,
    /// The rest of a batch.
    batch: VecDeque<serde_json::Value>,
    /// What is to be said to the client before anything else is read.
    reply: Option<ErrorData>,
    /// Nothing is read after that reply.
    last: Option<Ended>,
    input_over: CancellationToken,
}

/// Held by a request while it is worked at.
#[derive(Clone, Debug)]
struct Slot {
    #[expect(dead_code, reason = "held, not read")]
    place: Arc<tokio::sync::OwnedSemaphorePermit>,
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<R> {
    /// A connection over these two.
    pub fn over(input: R, output: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        Transport {
            lines: Lines::of(input),
            writer: Writer::to(output),
            requests: Arc::new(Semaphore::new(MOST_REQUESTS)),
            batch: VecDeque::new(),
            reply: None,
            last: None,
            input_over: CancellationToken::new(),
        }
    }

    /// Cancelled once nothing more comes from the client.
    pub fn input_over(&self) -> CancellationToken {
        self.input_over.clone()
    }

    /// How it ended, once it has.
    pub fn end(&self) -> impl Future<Output = Ended> + Send + use<R> {
        self.writer.ended()
    }

    /// The next message, all bounds kept. Can be dropped and begun again at any await.
    async fn next(&mut self) -> Result<ClientJsonRpcMessage, Ended> {
        loop {
            self.writer.has_room(MOST_UNWRITTEN).await?;
            if let Some(error) = self.reply.clone() {
                let told = ServerJsonRpcMessage::error(error, None);
                self.writer.reserve().await?.send(&told);
                self.reply = None;
                continue;
            }
            if let Some(last) = self.last.take() {
                return Err(last);
            }
            let read = match self.batch.pop_front() {
                Some(value) => frame::message(value),
                None => match self.lines.next().await? {
                    Line::Whole(line) => frame::read(&line),
                    Line::TooLong => Err(Fault::TooLong),
                },
            };
            match read {
                Ok(Frame::Message(message)) => match self.admit(*message) {
                    Ok(message) => return Ok(message),
                    Err(refused) => self.writer.reserve().await?.send(&refused),
                },
                Ok(Frame::Batch(values)) => self.batch = values.into(),
                Ok(Frame::Nothing) => {}
                Err(Fault::NoMessage { id, error }) => {
                    self.writer.reserve().await?.send(&ServerJsonRpcMessage::error(error, id));
                }
                Err(fault) => {
                    self.last = Some(Ended::Garbled(fault.to_string()));
                    self.reply = Some(fault.into());
                }
            }
        }
    }

    /// A message that rmcp may have, or what a request is answered that is one too many.
    fn admit(
        &self,
        mut message: ClientJsonRpcMessage,
    ) -> Result<ClientJsonRpcMessage, Box<ServerJsonRpcMessage>> {
        if let ClientJsonRpcMessage::Request(request) = &mut message {
            match self.requests.clone().try_acquire_owned() {
                Ok(place) => {
                    let slot = Slot { place: Arc::new(place) };
                    request.request.extensions_mut().insert(slot);
                }
                Err(_) => {
                    let id = Some(request.id.clone());
                    return Err(Box::new(ServerJsonRpcMessage::error(
                        frame::busy(MOST_REQUESTS),
                        id,
                    )));
                }
            }
        }
        Ok(message)
    }
}

impl<R: AsyncRead + Send + Unpin + 'static> rmcp::transport::Transport<RoleServer>
    for Transport<R>
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        self.writer.write(&message)
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        match self.next().await {
            Ok(message) => Some(message),
            Err(end) => {
                self.writer.end(end);
                self.input_over.cancel();
                None
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.writer.end(Ended::Closed);
        self.writer.flushed().await;
        Ok(())
    }
}

#[cfg(test)]
mod tests;
