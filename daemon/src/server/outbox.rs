//! What waits to be written to one client: a bounded queue and the task that empties it.
//!
//! Every line holds a [`Room`] while it waits, so the queue is bounded by what rooms there
//! are, and a line that has one always fits:
//!
//! ```text
//!   request ─ try ─▶ in-flight room ─▶ response ─┐
//!   refusal, hello, cancel ─ wait ─▶ aside room ─┼─▶ queue, in order ─▶ writer ─▶ socket
//!   notification, own request ─▶ bytes of room ──┘
//! ```
//!
//! One queue for all keeps the order: a call's output is told before its answer. Only the reader
//! of the same connection ever waits for a room, which is how a client that asks without reading
//! is slowed; a command is never slowed, its notifications are dropped.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use brattice_protocol::codec::MAX_MESSAGE;
use brattice_protocol::{ErrorCode, RequestId, RpcError};
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::{Instant, timeout, timeout_at};

use super::body::Body;
use super::limits::ConnectionLimits;
use crate::socket::Writer;

/// Answers that are given besides the requests in flight: refusals, `hello`, cancels.
const ASIDES: usize = 64;

/// The least that a notification counts for, so that small ones are bounded in number too.
const NOTIFICATION_CHARGE: usize = 1 << 10;

/// Lines that are queued together are written together, up to about this many bytes.
const BATCH: usize = 256 << 10;

/// How long a notification waits for what comes next: the answer to a quick call is written with what was told of the
/// call, and wakes its client once.
const COMPANY: Duration = Duration::from_millis(1);

/// Whether a notification will be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// It is in the queue.
    Queued,
    /// The client reads too slowly, or is gone.
    Dropped,
}

/// The right to put one line into the queue; given back when the line leaves it.
#[derive(Debug)]
pub(super) struct Room {
    _permit: OwnedSemaphorePermit,
}

impl Room {
    fn new(permit: OwnedSemaphorePermit) -> Self {
        Room { _permit: permit }
    }
}

/// A line and the room it takes.
#[derive(Debug)]
pub(super) struct Line {
    bytes: Vec<u8>,
    room: Room,
    /// Whether nobody waits for it.
    may_wait: bool,
}

/// The sending end of a connection's queue.
#[derive(Debug)]
pub(super) struct Outbox {
    lines: mpsc::Sender<Line>,
    in_flight: Arc<Semaphore>,
    asides: Arc<Semaphore>,
    notification_bytes: Arc<Semaphore>,
    limits: ConnectionLimits,
    dropped: AtomicU64,
}

impl Outbox {
    /// An empty queue, and the end that [`write_out`] empties.
    pub(super) fn new(limits: &ConnectionLimits) -> (Self, mpsc::Receiver<Line>) {
        let notifications = limits.notification_bytes.div_ceil(NOTIFICATION_CHARGE);
        let (lines, queue) = mpsc::channel(limits.in_flight + ASIDES + notifications);
        let outbox = Outbox {
            lines,
            in_flight: Arc::new(Semaphore::new(limits.in_flight)),
            asides: Arc::new(Semaphore::new(ASIDES)),
            notification_bytes: Arc::new(Semaphore::new(limits.notification_bytes)),
            limits: *limits,
            dropped: AtomicU64::new(0),
        };
        (outbox, queue)
    }

    /// Room for one more request in flight, if there is any.
    pub(super) fn in_flight(&self) -> Option<Room> {
        Arc::clone(&self.in_flight).try_acquire_owned().ok().map(Room::new)
    }

    /// Room for an answer besides the requests in flight, once the client has read enough. `None`
    /// is never seen: the semaphore is not closed.
    pub(super) async fn aside(&self) -> Option<Room> {
        Arc::clone(&self.asides).acquire_owned().await.ok().map(Room::new)
    }

    /// Waits until every request is answered and the answers are with the writer.
    pub(super) async fn idle(&self) {
        let all = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        let in_flight = self.in_flight.acquire_many(all(self.limits.in_flight)).await;
        let asides = self.asides.acquire_many(all(ASIDES)).await;
        drop((in_flight, asides));
    }

    /// Queues a response. A result that is too long for a message becomes `too_large`.
    pub(super) fn respond(
        &self,
        id: Option<&RequestId>,
        outcome: Result<Body, RpcError>,
        room: Room,
    ) {
        let mut line = response(id, outcome.as_ref());
        if line.len() > MAX_MESSAGE + 1 {
            let error = RpcError::new(
                ErrorCode::TooLarge,
                format!("the result is longer than a message may be ({MAX_MESSAGE} bytes)"),
            );
            line = response(id, Err(&error));
        }
        self.queue(Line { bytes: line, room, may_wait: false });
    }

    /// Queues a notification where it fits, and counts it where it does not.
    pub(super) fn notify(&self, method: &str, params: &impl Serialize) -> Delivery {
        self.tell("", method, params)
    }

    /// Queues a request of the daemon's where it fits, as a notification is.
    pub(super) fn request(&self, id: i64, method: &str, params: &impl Serialize) -> Delivery {
        self.tell(&format!("\"id\":{id},"), method, params)
    }

    fn tell(&self, id: &str, method: &str, params: &impl Serialize) -> Delivery {
        if self.lines.is_closed() {
            return Delivery::Dropped;
        }
        // Saves the encoding while the client is far behind.
        if self.notification_bytes.available_permits() < NOTIFICATION_CHARGE {
            return self.drop_one();
        }
        let bytes = format!(
            "{{\"jsonrpc\":\"2.0\",{id}\"method\":{},\"params\":{}}}\n",
            json(method),
            json(params)
        )
        .into_bytes();
        let charge = u32::try_from(bytes.len().max(NOTIFICATION_CHARGE)).unwrap_or(u32::MAX);
        match Arc::clone(&self.notification_bytes).try_acquire_many_owned(charge) {
            Ok(permit) => self.queue(Line { bytes, room: Room::new(permit), may_wait: true }),
            Err(_full) => self.drop_one(),
        }
    }

    fn drop_one(&self) -> Delivery {
        self.dropped.fetch_add(1, Ordering::Relaxed);
        Delivery::Dropped
    }

    /// How many notifications found no room so far.
    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    fn queue(&self, line: Line) -> Delivery {
        // A line with a room always fits, so an error means that the client is gone.
        match self.lines.try_send(line) {
            Ok(()) => Delivery::Queued,
            Err(_gone) => Delivery::Dropped,
        }
    }
}

/// A response's line. The result is JSON already, and one line of it: newlines in JSON texts are escaped.
fn response(id: Option<&RequestId>, outcome: Result<&Body, &RpcError>) -> Vec<u8> {
    let id = json(&id);
    match outcome {
        Ok(result) => {
            let result = result.as_str();
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n")
        }
        Err(error) => {
            let error = json(error);
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}\n")
        }
    }
    .into_bytes()
}

/// JSON text of a value. Nothing that is sent fails to be written: there are no maps with keys that are no text.
fn json(value: &(impl Serialize + ?Sized)) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| {
        tracing::error!(%error, "a message cannot be written");
        "null".to_owned()
    })
}

/// Why writing ended.
#[derive(Debug, thiserror::Error)]
pub(super) enum WriteError {
    /// The client reads nothing.
    #[error("the client read nothing for {0:?}")]
    Stalled(Duration),
    /// The socket is broken, usually because the client is gone.
    #[error("cannot write to the client")]
    Io(#[source] io::Error),
}

/// Writes lines as they come. When `closing` is settled (or its sender is gone) it takes no new
/// ones, writes what is queued, and ends.
pub(super) async fn write_out(
    output: Writer,
    mut queue: mpsc::Receiver<Line>,
    mut closing: oneshot::Receiver<()>,
    stall: Duration,
) -> Result<(), WriteError> {
    let mut is_closing = false;
    loop {
        let line = tokio::select! {
            line = queue.recv() => line,
            _ = &mut closing, if !is_closing => {
                is_closing = true;
                queue.close();
                continue;
            }
        };
        let Some(line) = line else {
            return Ok(());
        };
        let batch = batch(line, &mut queue, is_closing).await;
        write_all(&output, &batch, stall).await?;
    }
}

/// A line and those that are written with it: all that wait already, and while nobody waits for any of them, what comes
/// soon. Their rooms are given back before they are written: a client that asks again the moment it is answered is not one
/// too many.
async fn batch(line: Line, queue: &mut mpsc::Receiver<Line>, is_closing: bool) -> Vec<u8> {
    let until = Instant::now() + COMPANY;
    let Line { bytes: mut batch, room, mut may_wait } = line;
    drop(room);
    while batch.len() < BATCH {
        let next = match queue.try_recv() {
            Ok(line) => Some(line),
            Err(_) if may_wait && !is_closing => {
                timeout_at(until, queue.recv()).await.ok().flatten()
            }
            Err(_) => None,
        };
        let Some(Line { bytes, room, may_wait: this_may }) = next else { break };
        drop(room);
        batch.extend_from_slice(&bytes);
        may_wait &= this_may;
    }
    batch
}

/// Writes lines; the time limit starts again with every byte that the client takes.
async fn write_all(output: &Writer, mut bytes: &[u8], stall: Duration) -> Result<(), WriteError> {
    while !bytes.is_empty() {
        let written = timeout(stall, output.write(bytes))
            .await
            .map_err(|_elapsed| WriteError::Stalled(stall))?
            .map_err(WriteError::Io)?;
        if written == 0 {
            return Err(WriteError::Io(io::ErrorKind::WriteZero.into()));
        }
        bytes = &bytes[written..];
    }
    Ok(())
}
