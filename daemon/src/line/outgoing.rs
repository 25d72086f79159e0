//! The frames of a line to a worker on their way out: written at once where the socket has room, which spares the hop to
//! another task, else by the task that waits for room, in order.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc::{self, Permit};

use super::client::WorkerGone;
use crate::socket::Writer;

/// Frames that wait for room. One that finds no place among them waits in its caller.
const QUEUE: usize = 64;

/// Dropped, it closes the socket's writing end once what waits is written.
#[derive(Debug)]
pub(super) struct Outgoing {
    queue: mpsc::Sender<Vec<u8>>,
    socket: Arc<Socket>,
}

#[derive(Debug)]
struct Socket {
    writer: Writer,
    /// Frames that are in the queue or being written by the task. Held over a write, so that no frame is put into another.
    waiting: Mutex<usize>,
}

impl Outgoing {
    /// Called inside the runtime.
    pub(super) fn new(writer: Writer) -> Self {
        let (queue, frames) = mpsc::channel(QUEUE);
        let socket = Arc::new(Socket { writer, waiting: Mutex::new(0) });
        tokio::spawn(write_those_that_wait(socket.clone(), frames));
        Outgoing { queue, socket }
    }

    /// Writes a frame, or leaves it with those that wait. Dropped, it has done either or nothing.
    pub(super) async fn send(&self, frame: Vec<u8>) -> Result<(), WorkerGone> {
        let place = self.queue.reserve().await.map_err(|_| WorkerGone)?;
        self.socket.send(frame, place)
    }

    /// The same where there is room, or a place to wait; else nothing is sent.
    pub(super) fn try_send(&self, frame: Vec<u8>) {
        if let Ok(place) = self.queue.try_reserve() {
            // A worker that is gone needs not be told.
            self.socket.send(frame, place).ok();
        }
    }
}

impl Socket {
    fn send(&self, mut frame: Vec<u8>, place: Permit<'_, Vec<u8>>) -> Result<(), WorkerGone> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if *waiting == 0 {
            let written = match self.writer.try_write(&frame) {
                Ok(written) => written,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                Err(_) => return Err(WorkerGone),
            };
            if written == frame.len() {
                return Ok(());
            }
            frame.drain(..written);
        }
        *waiting += 1;
        place.send(frame);
        Ok(())
    }

    async fn write(&self, mut frame: &[u8]) -> io::Result<()> {
        while !frame.is_empty() {
            frame = &frame[self.writer.write(frame).await?..];
        }
        Ok(())
    }
}

async fn write_those_that_wait(socket: Arc<Socket>, mut frames: mpsc::Receiver<Vec<u8>>) {
    while let Some(frame) = frames.recv().await {
        if socket.write(&frame).await.is_err() {
            return;
        }
        *socket.waiting.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::net::UnixStream as StdStream;

    use super::*;
    use crate::socket;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn frames_arrive_whole_and_in_order_however_little_room_there_is() {
        let (near, mut far) = StdStream::pair().unwrap();
        let (reader, writer) = socket::split(near).unwrap();
        let outgoing = Arc::new(Outgoing::new(writer));
        let frames: Vec<Vec<u8>> =
            (0..=255u8).map(|n| vec![n; if n % 2 == 0 { 300_000 } else { 3 }]).collect();
        let expected = frames.concat();
        let reading = tokio::task::spawn_blocking(move || {
            let mut all = Vec::new();
            far.read_to_end(&mut all).unwrap();
            all
        });
        for frame in frames {
            outgoing.send(frame).await.unwrap();
        }
        drop(outgoing);
        drop(reader);
        assert!(reading.await.unwrap() == expected, "the bytes are others");
    }
}
