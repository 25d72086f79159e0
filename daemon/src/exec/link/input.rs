//! A task's standard input: chunks in order, each answered once the command's pipe has taken it.
//!
//! One tokio task owns the writing end. It ends, and closes the pipe, at the end of input, when the command reads no
//! more, or when every handle on the task is gone.

use std::os::fd::OwnedFd;

use tokio::io::AsyncWriteExt;
use tokio::net::unix::pipe::Sender;
use tokio::sync::{mpsc, oneshot};

/// Chunks that wait. A further one waits in its caller, which is a request of a client: at most 64 of those.
const QUEUE: usize = 4;

/// Whether more input comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputEnd {
    /// It may.
    More,
    /// This was the last of it.
    Eof,
}

/// Why input was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum InputError {
    /// The task was started without an input.
    #[error("the task was started without stdin")]
    NoStdin,
    /// Its input has ended, or it reads no more.
    #[error("the task's input is closed")]
    Closed,
}

struct Chunk {
    data: Vec<u8>,
    end: InputEnd,
    taken: oneshot::Sender<Result<(), InputError>>,
}

/// The handle on a task's input.
#[derive(Clone, Debug)]
pub(super) struct Input(mpsc::Sender<Chunk>);

impl Input {
    /// Takes the writing end of the pipe.
    pub(super) fn new(fd: OwnedFd) -> std::io::Result<Self> {
        let pipe = Sender::from_owned_fd(fd)?;
        let (chunks, queue) = mpsc::channel(QUEUE);
        tokio::spawn(write(pipe, queue));
        Ok(Input(chunks))
    }

    /// Returns once the pipe has taken all of the data.
    pub(super) async fn write(&self, data: Vec<u8>, end: InputEnd) -> Result<(), InputError> {
        let (taken, answer) = oneshot::channel();
        self.0.send(Chunk { data, end, taken }).await.map_err(|_| InputError::Closed)?;
        answer.await.unwrap_or(Err(InputError::Closed))
    }
}

async fn write(mut pipe: Sender, mut queue: mpsc::Receiver<Chunk>) {
    while let Some(Chunk { data, end, taken }) = queue.recv().await {
        let written = pipe.write_all(&data).await.map_err(|_| InputError::Closed);
        let goes_on = written.is_ok() && end == InputEnd::More;
        if !goes_on {
            // Closed before the answer, so that who is answered finds it closed.
            queue.close();
            drop(pipe);
            // Whoever asked may have gone; the input ends all the same.
            taken.send(written).ok();
            return;
        }
        // Whoever asked may have gone; the input goes on.
        taken.send(written).ok();
    }
}
