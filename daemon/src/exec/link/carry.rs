//! The tokio task that owns the channel to a supervisor: it sends what had to wait and hands out what comes back.
//!
//! What ends it is the supervisor's end, or that it is left to the next daemon.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::io::Interest;
use tokio::sync::mpsc;

use super::deliver::deliver;
use super::post::{Outgoing, Post, Waiting, Watched, Way};
use super::short::Said;
use super::task::TaskHandle;
use crate::exec::channel::{Channel, ChannelError, Packet};
use crate::socket;
use crate::workers::{Lane, Workers};

/// How long a message waits until this daemon has room for the descriptors beside it; then it is read without them.
const ROOM_PATIENCE: Duration = Duration::from_secs(1);

/// Between two looks at that.
const ROOM_PAUSE: Duration = Duration::from_millis(20);

/// Carries messages until the supervisor is gone, and then tells whoever waits; or until it is left to the next daemon.
pub(super) async fn carry(
    way: Arc<Way>,
    queue: mpsc::Receiver<Outgoing>,
    post: Post,
    workers: Workers,
) {
    tokio::select! {
        () = send(&way, queue, &post) => {}
        () = receive(&way.channel, &post) => {}
    }
    drop(way);
    let is_left = {
        let mut waiting = post.waiting();
        // Whoever waits to have it handed over is told that it was not.
        drop(waiting.short.take());
        waiting.is_left
    };
    if !is_left {
        lose_all(&post, &workers);
    }
}

async fn send(way: &Way, mut queue: mpsc::Receiver<Outgoing>, post: &Post) {
    loop {
        // Handles hold the sender, and the supervisor's end is seen by the receiving side: the queue does not run dry.
        let (sent, is_left) = tokio::select! {
            biased;
            Some(outgoing) = queue.recv() => {
                let sent = send_one(way, outgoing, post).await;
                way.one_less();
                (sent, false)
            }
            () = post.wake.notified() => {
                let (short, is_left) = {
                    let mut waiting = post.waiting();
                    (waiting.short.take(), waiting.is_left)
                };
                (send_short(way, short).await, is_left)
            }
        };
        if sent.is_err() {
            // Gone, and what it said last may still be unread: the receiving side says when all is.
            return std::future::pending().await;
        }
        if is_left {
            return;
        }
    }
}

/// The supervisor takes nothing any more.
struct Gone;

async fn send_one(
    way: &Way,
    Outgoing { packet, starts }: Outgoing,
    post: &Post,
) -> Result<(), Gone> {
    match send_packet(&way.channel, &packet).await {
        // Only a start has a descriptor beside it, and only that start fails.
        Err(error @ ChannelError::Crowded) => {
            let mut waiting = post.waiting();
            if let Some(task) = starts {
                waiting.tasks.remove(&task);
                if let Some(answer) = waiting.starting.remove(&task) {
                    // Whoever asked may have gone.
                    answer.send(Err(error.into())).ok();
                }
            }
            Ok(())
        }
        sent => sent.map_err(|_| Gone),
    }
}

async fn send_short(way: &Way, short: Vec<Said>) -> Result<(), Gone> {
    for (message, askers) in short {
        // What does not fit a message was bounded where it was made.
        let Ok(packet) = Packet::new(&message, Vec::new()) else { continue };
        send_packet(&way.channel, &packet).await.map_err(|_| Gone)?;
        for asker in askers {
            // Whoever asked may have gone.
            asker.send(()).ok();
        }
    }
    Ok(())
}

/// Sends once there is room.
async fn send_packet(channel: &Channel<Watched>, packet: &Packet) -> Result<(), ChannelError> {
    loop {
        match channel.send_packet(packet) {
            Err(ChannelError::Full) => {
                if socket::room(channel).await.is_err() {
                    // This daemon has no descriptor to wait by.
                    tokio::time::sleep(ROOM_PAUSE).await;
                }
            }
            other => return other,
        }
    }
}

async fn receive(channel: &Channel<Watched>, post: &Post) {
    let mut crowded: Option<Instant> = None;
    loop {
        let is_patient = crowded.is_none_or(|since| since.elapsed() < ROOM_PATIENCE);
        let read = |_: &OwnedFd| match is_patient {
            true => ready_or(channel.receive()),
            false => ready_or(channel.receive_bare()),
        };
        match channel.holder().async_io(Interest::READABLE, read).await {
            Ok(Ok(received)) => {
                crowded = None;
                deliver(received, post);
            }
            Ok(Err(ChannelError::NoRoom)) => {
                crowded.get_or_insert_with(Instant::now);
                tokio::time::sleep(ROOM_PAUSE).await;
            }
            Err(_) | Ok(Err(ChannelError::Closed)) => return,
            Ok(Err(error)) => {
                tracing::error!(%error, "the supervisor's message cannot be read");
                return;
            }
        }
    }
}

/// Tells the runtime "not ready" in its own way.
fn ready_or<T>(result: Result<T, ChannelError>) -> std::io::Result<Result<T, ChannelError>> {
    match result {
        Err(ChannelError::Full) => Err(std::io::ErrorKind::WouldBlock.into()),
        other => Ok(other),
    }
}

/// The supervisor is gone, or is being closed: whoever waits is told.
fn lose_all(post: &Post, workers: &Workers) {
    let Waiting { tasks, starting, preparing, measuring, inspecting, ready, .. } = {
        let mut waiting = post.waiting();
        std::mem::replace(&mut *waiting, Waiting { is_closed: true, ..Waiting::default() })
    };
    // What stands on the disk is looked at, which may take its time.
    workers.post(Lane::State, move || tasks.values().for_each(TaskHandle::lose));
    // Dropping the senders answers `Gone`.
    drop((starting, preparing, measuring, inspecting, ready));
}
