//! Accepts the connections of one socket: lets in or turns away, and never stops for want of
//! descriptors.
//!
//! Who is let in is judged by `peer`; the conversation is `conversation`'s.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use brattice_protocol::codec::encode;
use brattice_protocol::hello::Role;
use brattice_protocol::{ErrorCode, Message, Response, RpcError};
use rustix::net::{SendFlags, send};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{JoinError, JoinSet};

use super::connection::ConnectionId;
use super::conversation::{Conversation, requested};
use super::handler::{Handler, Refused};
use super::limits::ConnectionLimits;
use super::peer::{Descent, Refusal, judge};
use super::process::Process;
use crate::fault::chain;

/// How long accepting rests when the kernel gives nothing: what is missing must be given back by
/// somebody else first.
const REST: Duration = Duration::from_millis(100);

/// What all connections of a daemon share.
pub(super) struct Reception {
    pub(super) handler: Arc<dyn Handler>,
    pub(super) descent: Arc<dyn Descent>,
    pub(super) limits: ConnectionLimits,
    /// The daemon's own process, which peers are compared with.
    pub(super) own: Process,
    pub(super) numbers: AtomicU64,
}

/// Accepts until the daemon is to shut down, closes the socket, and hands over the connections that
/// are still open, to be [`drain`]ed.
pub(super) async fn accept_all(
    listener: UnixListener,
    role: Role,
    reception: Arc<Reception>,
    mut shutdown: watch::Receiver<bool>,
) -> JoinSet<()> {
    let mut connections = JoinSet::new();
    let seats = Arc::new(Semaphore::new(reception.limits.connections));
    let mut shortage = Shortage::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _unnamed)) => {
                    shortage.is_over();
                    match Arc::clone(&seats).try_acquire_owned() {
                        Ok(seat) => {
                            let reception = Arc::clone(&reception);
                            connections.spawn(receive(stream, role, seat, reception, shutdown.clone()));
                        }
                        Err(_full) => turn_away(&stream, too_many(&reception.limits)),
                    }
                }
                Err(error) => shortage.meet(&listener, &error).await,
            },
            Some(ended) = connections.join_next() => log_failure(ended),
            () = requested(&mut shutdown) => break,
        }
    }
    connections
}

/// Waits for the last of the connections to end.
pub(super) async fn drain(mut connections: JoinSet<()>) {
    while let Some(ended) = connections.join_next().await {
        log_failure(ended);
    }
}

/// Judges the peer and talks to it. The seat is taken as long as that lasts.
async fn receive(
    stream: UnixStream,
    role: Role,
    seat: OwnedSemaphorePermit,
    reception: Arc<Reception>,
    shutdown: watch::Receiver<bool>,
) {
    let caller = match judge(&stream, &reception.own, &*reception.descent) {
        Ok(caller) => caller,
        Err(refusal) => return refuse(&stream, role, &refusal, &*reception.handler),
    };
    let id = ConnectionId(reception.numbers.fetch_add(1, Ordering::Relaxed));
    tracing::debug!(connection = %id, pid = caller.pid, ?role, "connection accepted");
    let handler = Arc::clone(&reception.handler);
    match Conversation::new(stream, id, role, handler, reception.limits, shutdown) {
        Ok(conversation) => conversation.hold().await,
        Err(error) => tracing::warn!(connection = %id, %error, "a connection cannot be watched"),
    }
    drop(seat);
}

fn refuse(stream: &UnixStream, role: Role, refusal: &Refusal, handler: &dyn Handler) {
    let credentials = stream.peer_cred().ok();
    // 0 is a process that the daemon cannot see.
    let pid = credentials.and_then(|peer| peer.pid()).filter(|pid| *pid > 0);
    let pid = pid.map(i32::cast_unsigned);
    let uid = credentials.map(|peer| peer.uid());
    tracing::warn!(
        pid,
        uid,
        reason = %refusal,
        source = std::error::Error::source(refusal).map(tracing::field::display),
        "refused a connection"
    );
    let reason = chain(refusal);
    handler.refused(Refused { role, pid, uid, reason });
    turn_away(stream, RpcError::new(ErrorCode::Refused, refusal.to_string()));
}

fn too_many(limits: &ConnectionLimits) -> RpcError {
    let error = format!("{} connections are already open", limits.connections);
    RpcError::new(ErrorCode::Busy, error).hint("close one, then connect again")
}

/// Says why and leaves the rest to the caller, who drops the stream. A fresh socket has room for a
/// line, so nothing is waited for; a peer that is gone already hears nothing.
fn turn_away(stream: &UnixStream, error: RpcError) {
    let line = encode(&Message::Response(Response { id: None, outcome: Err(error) }));
    if let Err(error) = send(stream, &line, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        tracing::debug!(%error, "a peer that was turned away was not told why");
    }
}

fn log_failure(ended: Result<(), JoinError>) {
    if let Err(error) = ended {
        tracing::error!(%error, "a connection's task failed");
    }
}

/// Keeps one descriptor back for the time when there are none left, so that a client is told
/// `busy` instead of waiting without an answer.
struct Shortage {
    spare: Option<File>,
    is_logged: bool,
}

impl Shortage {
    fn new() -> Self {
        Shortage { spare: spare(), is_logged: false }
    }

    /// The kernel gave a connection again.
    fn is_over(&mut self) {
        self.is_logged = false;
        if self.spare.is_none() {
            self.spare = spare();
        }
    }

    /// Logs the first failure of a row, turns one client away if the spare descriptor allows it,
    /// and rests.
    async fn meet(&mut self, listener: &UnixListener, error: &io::Error) {
        if !self.is_logged {
            tracing::error!(%error, "cannot accept connections; going on trying");
            self.is_logged = true;
        }
        if self.spare.take().is_some() {
            let waiting = tokio::time::timeout(REST, listener.accept()).await;
            if let Ok(Ok((stream, _unnamed))) = waiting {
                let error = RpcError::new(ErrorCode::Busy, "the daemon has no descriptor left");
                turn_away(&stream, error.hint("try again later"));
            }
        }
        self.spare = spare();
        tokio::time::sleep(REST).await;
    }
}

fn spare() -> Option<File> {
    File::open("/dev/null").ok()
}
