//! Writing to a client, in the order in which it was sent, by a task of its own: whoever sends waits at most for that task.
//!
//! A client that takes nothing of a line for [`PATIENCE`] is given up. What waits to be written is counted, so that nothing more
//! is read from a client that does not read.

use std::io;
use std::time::Duration;

use rmcp::model::ServerJsonRpcMessage;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{mpsc, watch};

use super::Ended;

/// How long a client may take for one line.
const PATIENCE: Duration = Duration::from_secs(30);

/// Lines that wait in the queue; who sends more waits.
const QUEUE: usize = 16;

/// The way to the client.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    queue: mpsc::Sender<Vec<u8>>,
    /// Messages that were sent and are not written.
    unwritten: watch::Sender<usize>,
    end: watch::Sender<Option<Ended>>,
}

/// A place in the queue.
pub(super) struct Place<'a> {
    permit: mpsc::Permit<'a, Vec<u8>>,
    unwritten: &'a watch::Sender<usize>,
}

impl Place<'_> {
    pub(super) fn send(self, message: &ServerJsonRpcMessage) {
        self.unwritten.send_modify(|count| *count += 1);
        self.permit.send(encode(message));
    }
}

impl Writer {
    /// Starts to write there.
    pub(super) fn to(output: impl AsyncWrite + Send + Unpin + 'static) -> Self {
        let (queue, lines) = mpsc::channel(QUEUE);
        let (unwritten, end) = (watch::Sender::new(0), watch::Sender::new(None));
        tokio::spawn(write(output, lines, unwritten.clone(), end.clone()));
        Writer { queue, unwritten, end }
    }

    /// Sends a message: the future resolves once it is in the queue. It counts as unwritten from now on.
    pub(super) fn write(
        &self,
        message: &ServerJsonRpcMessage,
    ) -> impl Future<Output = io::Result<()>> + Send + use<> {
        let (line, writer) = (encode(message), self.clone());
        self.unwritten.send_modify(|count| *count += 1);
        // A client that closed its end may still read: only a writer that has ended takes nothing.
        async move { writer.queue.send(line).await.map_err(|_| io::ErrorKind::NotConnected.into()) }
    }

    /// A place in the queue, once there is one.
    pub(super) async fn reserve(&self) -> Result<Place<'_>, Ended> {
        let mut end = self.end.subscribe();
        tokio::select! {
            biased;
            permit = self.queue.reserve() => match permit {
                Ok(permit) => Ok(Place { permit, unwritten: &self.unwritten }),
                Err(_) => Err(self.ended().await),
            },
            ended = ended(&mut end) => Err(ended),
        }
    }

    /// Resolves once fewer messages than these wait to be written.
    pub(super) async fn has_room(&self, most: usize) -> Result<(), Ended> {
        let (mut unwritten, mut end) = (self.unwritten.subscribe(), self.end.subscribe());
        tokio::select! {
            biased;
            ended = ended(&mut end) => Err(ended),
            // The sender lives in this very writer.
            _ = unwritten.wait_for(|count| *count < most) => Ok(()),
        }
    }

    /// Resolves once all that was sent is written, or the client is given up.
    pub(super) async fn flushed(&self) {
        let mut unwritten = self.unwritten.subscribe();
        let broken = async {
            let mut end = self.end.subscribe();
            // Where the client closed its end it may still read.
            drop(end.wait_for(|end| matches!(end, Some(Ended::Unread | Ended::Broken(_)))).await);
        };
        tokio::select! {
            _ = unwritten.wait_for(|count| *count == 0) => {}
            () = broken => {}
        }
    }

    /// It is over; the first reason counts.
    pub(super) fn end(&self, why: Ended) {
        self.end.send_if_modified(|end| {
            let first = end.is_none();
            if first {
                *end = Some(why);
            }
            first
        });
    }

    /// How it ended, once it has.
    pub(super) fn ended(&self) -> impl Future<Output = Ended> + Send + use<> {
        let mut end = self.end.subscribe();
        async move { ended(&mut end).await }
    }
}

async fn ended(end: &mut watch::Receiver<Option<Ended>>) -> Ended {
    match end.wait_for(Option::is_some).await {
        Ok(end) => end.clone().unwrap_or(Ended::Closed),
        Err(_) => Ended::Closed,
    }
}

fn encode(message: &ServerJsonRpcMessage) -> Vec<u8> {
    // Every message of rmcp's has string keys only, so that it can be written.
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}

async fn write(
    mut output: impl AsyncWrite + Unpin,
    mut lines: mpsc::Receiver<Vec<u8>>,
    unwritten: watch::Sender<usize>,
    end: watch::Sender<Option<Ended>>,
) {
    while let Some(line) = lines.recv().await {
        let writing = async {
            output.write_all(&line).await?;
            output.flush().await
        };
        let why = match tokio::time::timeout(PATIENCE, writing).await {
            Ok(Ok(())) => {
                unwritten.send_modify(|count| *count = count.saturating_sub(1));
                continue;
            }
            Ok(Err(error)) => Ended::Broken(error.to_string()),
            Err(_) => Ended::Unread,
        };
        // An end before this one was of what the client sends.
        end.send_replace(Some(why));
        return;
    }
}
