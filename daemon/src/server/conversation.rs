//! One conversation: reads a client's messages, holds it to the rules, and hands requests on.
//!
//! ```text
//!             hello                 client leaves, breaks a rule, or does not read
//!  connected ───────▶ ready ───────────────────────────────────────────────▶ closed
//!      │                │ the daemon shuts down                                ▲ ▲
//!      │                ▼                                                      │ │
//!      │             draining: new requests are refused, cancels are not ──────┘ │
//!      └─ 10 s without hello ────────────────────────────────────────────────────┘
//!                                                     nothing left in flight
//! ```
//!
//! What a method means is left to the [`Handler`]; the order of what is written, to `outbox`.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use brattice_protocol::codec::{DecodeError, decode};
use brattice_protocol::hello::{Answers, Hello, HelloParams, Role};
use brattice_protocol::rpc::decode_params;
use brattice_protocol::{ErrorCode, Message, PROTOCOL, Request, RequestId, RpcError};
use serde_json::Value;
use tokio::net::UnixStream;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::body::Body;
use super::bounds::check_name;
use super::connection::{Connection, ConnectionId};
use super::handler::Handler;
use super::limits::{ConnectionLimits, MAX_ID};
use super::lines::{LineReader, NextLine};
use super::outbox::{Outbox, WriteError, write_out};
use super::ticket::Ticket;
use crate::socket::{self, Reader};

/// The one request that is not counted against those in flight, so that a client whose requests
/// are all in flight can still end one.
const CANCEL: &str = "tools.cancel";

/// Requests that begin nothing: they read or end what is there, and are served while the daemon shuts down, so that
/// nobody loses the outcome of what ends with it.
const READ_OR_END: [&str; 5] =
    ["task.output", "task.wait", "task.kill", "task.input", "session.close"];

type Writer = JoinHandle<Result<(), WriteError>>;

/// Why a conversation ended.
#[derive(Debug, thiserror::Error)]
enum Ending {
    #[error("the client closed the connection")]
    Left,
    #[error("cannot read from the client")]
    ReadFailed(#[source] io::Error),
    #[error("the client broke the protocol")]
    Broken(#[source] DecodeError),
    #[error("a request's id is longer than {MAX_ID} bytes")]
    LongId,
    #[error("the client said no hello in time")]
    NoHello,
    #[error("the client could not be written to")]
    WriteFailed(#[source] WriteError),
    #[error("the writer ended early")]
    WriterLost,
    #[error("nothing is in flight and the daemon shuts down")]
    Drained,
}

/// A client that was let in.
pub(super) struct Conversation {
    connection: Arc<Connection>,
    handler: Arc<dyn Handler>,
    limits: ConnectionLimits,
    input: LineReader<Reader>,
    writer: Writer,
    /// Dropped or sent to, it makes the writer end.
    closing: oneshot::Sender<()>,
    shutdown: watch::Receiver<bool>,
}

impl Conversation {
    /// Starts the connection's writer.
    ///
    /// # Errors
    /// The socket cannot be watched.
    pub(super) fn new(
        stream: UnixStream,
        id: ConnectionId,
        role: Role,
        handler: Arc<dyn Handler>,
        limits: ConnectionLimits,
        shutdown: watch::Receiver<bool>,
    ) -> io::Result<Self> {
        let (input, output) = socket::split(stream.into_std()?)?;
        let (outbox, queue) = Outbox::new(&limits);
        let (closing, closed) = oneshot::channel();
        Ok(Conversation {
            connection: Arc::new(Connection::new(id, role, outbox)),
            handler,
            limits,
            input: LineReader::new(input),
            writer: tokio::spawn(write_out(output, queue, closed, limits.stall)),
            closing,
            shutdown,
        })
    }

    /// Talks until either side has had enough. What is queued by then is still written; calls that
    /// are still running go on and answer nobody.
    pub(super) async fn hold(mut self) {
        let ending = self.talk().await;
        let connection = &self.connection;
        connection.close();
        if connection.has_said_hello() {
            self.handler.closed(connection);
        }
        tracing::debug!(
            connection = %connection.id(),
            reason = %ending,
            source = std::error::Error::source(&ending).map(tracing::field::display),
            notifications_dropped = connection.outbox().dropped(),
            "connection closed"
        );
        drop(self.closing);
        // The writer's own limit starts again with each byte; the last words have one in all.
        if !self.writer.is_finished() && timeout(self.limits.stall, &mut self.writer).await.is_err()
        {
            self.writer.abort();
        }
    }

    async fn talk(&mut self) -> Ending {
        let deadline = Instant::now() + self.limits.handshake;
        let connection = Arc::clone(&self.connection);
        loop {
            let draining = is_requested(&self.shutdown);
            let step = tokio::select! {
                line = self.input.next() => match line {
                    Ok(NextLine::Line(line)) => self.on_line(&line).await,
                    Ok(NextLine::TooLong) => self.on_broken(DecodeError::TooLong).await,
                    Ok(NextLine::End) => Err(Ending::Left),
                    Err(error) => Err(Ending::ReadFailed(error)),
                },
                end = &mut self.writer => Err(match end {
                    Ok(Err(error)) => Ending::WriteFailed(error),
                    Ok(Ok(())) | Err(_) => Ending::WriterLost,
                }),
                () = sleep_until(deadline), if !connection.has_said_hello() => {
                    let error = RpcError::new(ErrorCode::NotReady, "no hello in time");
                    self.refuse(None, error.hint("say hello first, right after connecting")).await;
                    Err(Ending::NoHello)
                }
                () = requested(&mut self.shutdown), if !draining => Ok(()),
                () = idle_for(&connection, self.limits.linger), if draining => Err(Ending::Drained),
            };
            if let Err(ending) = step {
                return ending;
            }
        }
    }

    async fn on_line(&mut self, line: &[u8]) -> Result<(), Ending> {
        match decode(line) {
            Ok(Message::Request(request)) => self.on_request(request).await,
            Ok(Message::Response(response)) => {
                self.connection.asked().answered(response);
                Ok(())
            }
            // No notification of a client means anything: it is read and passed over, as JSON-RPC has it.
            Ok(Message::Notification(_)) => Ok(()),
            Err(error) => self.on_broken(error).await,
        }
    }

    async fn on_broken(&mut self, error: DecodeError) -> Result<(), Ending> {
        self.refuse(None, error.to_rpc()).await;
        Err(Ending::Broken(error))
    }

    async fn on_request(&mut self, request: Request) -> Result<(), Ending> {
        let Request { id, method, params } = request;
        if matches!(&id, RequestId::Text(text) if text.len() > MAX_ID) {
            let error = format!("\"id\" is longer than {MAX_ID} bytes");
            self.refuse(None, RpcError::new(ErrorCode::TooLarge, error)).await;
            return Err(Ending::LongId);
        }
        let ready = self.connection.has_said_hello();
        let outbox = self.connection.outbox();
        let room = if ready && method == CANCEL {
            outbox.aside().await.ok_or_else(no_room)
        } else if is_requested(&self.shutdown) && !(ready && READ_OR_END.contains(&method.as_str()))
        {
            let error = RpcError::new(ErrorCode::ShuttingDown, "the daemon is shutting down");
            Err(error.hint("connect again once a daemon runs"))
        } else if method == "hello" {
            let outcome = self.on_hello(params);
            self.answer(Some(id), outcome).await;
            return Ok(());
        } else if !ready {
            let error = RpcError::new(ErrorCode::NotReady, "hello has not been said");
            Err(error.hint("the first request of a connection is hello"))
        } else {
            outbox.in_flight().ok_or_else(|| self.busy())
        };
        match room {
            Ok(room) => {
                let ticket = Ticket::new(id, Arc::clone(&self.connection), room);
                tokio::spawn(ticket.run(Arc::clone(&self.handler), method, params));
            }
            Err(error) => self.refuse(Some(id), error).await,
        }
        Ok(())
    }

    fn on_hello(&self, params: Value) -> Result<Body, RpcError> {
        if self.connection.has_said_hello() {
            return Err(RpcError::new(ErrorCode::Invalid, "hello has already been said"));
        }
        // Before the strict decoding: another version may have other fields.
        if let Some(asked) = params.get("protocol").and_then(Value::as_u64)
            && asked != u64::from(PROTOCOL)
        {
            let error = format!("params.protocol: version {asked} is not spoken here");
            let hint = format!("this daemon speaks protocol {PROTOCOL}");
            return Err(RpcError::new(ErrorCode::Invalid, error).hint(hint));
        }
        let params = decode_params::<HelloParams>(params)?;
        check_name("params.client.name", &params.client.name)?;
        check_name("params.client.version", &params.client.version)?;
        let connection = &self.connection;
        let (client, version) = (params.client.name.clone(), params.client.version.clone());
        connection.declare(params);
        tracing::info!(
            connection = %connection.id(),
            role = ?connection.role(),
            client,
            version,
            answers_approvals = connection.answers(Answers::Approval),
            "client connected"
        );
        let (daemon, sandbox) = self.handler.hello(&self.connection);
        let hello = Hello {
            protocol: PROTOCOL,
            daemon,
            role: self.connection.role(),
            sandbox,
            limits: self.limits.on_the_wire(),
        };
        Body::of(&hello)
    }

    fn busy(&self) -> RpcError {
        let error = format!("{} requests are already in flight", self.limits.in_flight);
        RpcError::new(ErrorCode::Busy, error).hint("wait for an answer, then ask again")
    }

    async fn refuse(&self, id: Option<RequestId>, error: RpcError) {
        self.answer(id, Err(error)).await;
    }

    async fn answer(&self, id: Option<RequestId>, outcome: Result<Body, RpcError>) {
        let outbox = self.connection.outbox();
        if let Some(room) = outbox.aside().await {
            outbox.respond(id.as_ref(), outcome, room);
        }
    }
}

fn no_room() -> RpcError {
    RpcError::new(ErrorCode::Unavailable, "the connection is closing")
}

/// Returns once nothing is in flight and nothing more came for so long.
async fn idle_for(connection: &Connection, linger: Duration) {
    connection.outbox().idle().await;
    sleep(linger).await;
}

/// Whether the daemon is to shut down; a dropped sender means so too.
pub(super) fn is_requested(shutdown: &watch::Receiver<bool>) -> bool {
    *shutdown.borrow() || shutdown.has_changed().is_err()
}

/// Waits until the daemon is to shut down.
pub(super) async fn requested(shutdown: &mut watch::Receiver<bool>) {
    // An error means that the sender is gone, which counts as a request.
    shutdown.wait_for(|requested| *requested).await.ok();
}
