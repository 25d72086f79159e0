//! What waits to be written to one client: a bounded queue and the task that empties it.
//!
//! Every line holds a [`Room`] while it waits, so the queue is bounded by what rooms there
//! are, and a line that has one always fits:
//!
//! ```text
//!   request ─ try ─▶ in-flight room ─▶ response ─┐
//!   refusal, hello, cancel ─ wait ─▶ aside room ─┼─▶ queue, in order ─▶ writer ─▶ socket
//!   notification ─ try ─▶ bytes of room ─────────┘
//! ```
//!
//! One queue for all keeps the order: a call's output is told before its answer. Only the reader
//! of the same connection ever waits for a room, which is how a client that asks without reading
//! is slowed; a command is never slowed, its notifications are dropped.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use brattice_protocol::codec::{MAX_MESSAGE, encode};
use brattice_protocol::{ErrorCode, Message, Notification, Response, RpcError};
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::timeout;

use super::limits::ConnectionLimits;

/// Answers that are given besides the requests in flight: refusals, `hello`, cancels.
const ASIDES: usize = 64;

/// The least that a notification counts for, so that small ones are bounded in number too.
const NOTIFICATION_CHARGE: usize = 1 << 10;

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
    pub(super) fn respond(&self, response: Response, room: Room) {
        let id = response.id.clone();
        let mut bytes = encode(&Message::Response(response));
        if bytes.len() > MAX_MESSAGE + 1 {
            let error = RpcError::new(
                ErrorCode::TooLarge,
                format!("the result is longer than a message may be ({MAX_MESSAGE} bytes)"),
            );
            bytes = encode(&Message::Response(Response { id, outcome: Err(error) }));
        }
        self.queue(bytes, room);
    }

    /// Queues a notification where it fits, and counts it where it does not.
    pub(super) fn notify(&self, notification: Notification) -> Delivery {
        if self.lines.is_closed() {
            return Delivery::Dropped;
        }
        // Saves the encoding while the client is far behind.
        if self.notification_bytes.available_permits() < NOTIFICATION_CHARGE {
            return self.drop_one();
        }
        let bytes = encode(&Message::Notification(notification));
        let charge = u32::try_from(bytes.len().max(NOTIFICATION_CHARGE)).unwrap_or(u32::MAX);
        match Arc::clone(&self.notification_bytes).try_acquire_many_owned(charge) {
            Ok(permit) => self.queue(bytes, Room::new(permit)),
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

    fn queue(&self, bytes: Vec<u8>, room: Room) -> Delivery {
        // A line with a room always fits, so an error means that the client is gone.
        match self.lines.try_send(Line { bytes, room }) {
            Ok(()) => Delivery::Queued,
            Err(_gone) => Delivery::Dropped,
        }
    }
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
    mut output: impl AsyncWrite + Unpin,
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
        let Some(Line { bytes, room }) = line else {
            return Ok(());
        };
        // Before writing: a client that asks again the moment it is answered is not one too many.
        drop(room);
        write_line(&mut output, &bytes, stall).await?;
    }
}

/// Writes one line; the time limit starts again with every byte that the client takes.
async fn write_line(
    output: &mut (impl AsyncWrite + Unpin),
    mut bytes: &[u8],
    stall: Duration,
) -> Result<(), WriteError> {
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
