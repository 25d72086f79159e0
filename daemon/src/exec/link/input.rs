//! A task's standard input: chunks in order, each answered once the command's pipe has taken it.
//!
//! One tokio task owns the daemon's copy of the writing end; the supervisor keeps its own, so that a daemon's end is not the
//! end of the input. That end is therefore said: a pipe is closed here and there, into a terminal the character is typed
//! that means it (VEOF, termios(3)).

use std::os::fd::OwnedFd;

use rustix::io::Errno;
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::sync::{mpsc, oneshot};

use super::watched::watched;
use crate::exec::spec::Stdin;
use crate::exec::terminal::{self, Line, Size};

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
    #[error("it was started without stdin or tty")]
    NoStdin,
    /// Its input has ended, or it reads no more.
    #[error("it reads no more, or has ended")]
    Closed,
}

struct Chunk {
    data: Vec<u8>,
    end: InputEnd,
    taken: oneshot::Sender<Result<(), InputError>>,
}

/// The handle on a task's input.
#[derive(Debug)]
pub(super) struct Input {
    chunks: mpsc::Sender<Chunk>,
    /// The terminal, where it is one.
    terminal: Option<OwnedFd>,
}

impl Input {
    /// Takes the writing end of the pipe, or the terminal. `closed` is called once no more goes into a pipe.
    pub(super) fn new(
        fd: OwnedFd,
        kind: Stdin,
        closed: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<Self> {
        rustix::io::ioctl_fionbio(&fd, true)?;
        let terminal = (kind == Stdin::Terminal).then(|| fd.try_clone()).transpose()?;
        let sink = watched(fd, Interest::WRITABLE)?;
        let (chunks, queue) = mpsc::channel(QUEUE);
        tokio::spawn(write(sink, kind, queue, closed));
        Ok(Input { chunks, terminal })
    }

    /// Gives a terminal another size, at once. Whether there is one.
    pub(super) fn resize(&self, size: Size) -> bool {
        self.terminal.as_ref().is_some_and(|master| terminal::resize(master, size).is_ok())
    }

    /// Returns once the pipe has taken all of the data.
    pub(super) async fn write(&self, data: Vec<u8>, end: InputEnd) -> Result<(), InputError> {
        let (taken, answer) = oneshot::channel();
        self.chunks.send(Chunk { data, end, taken }).await.map_err(|_| InputError::Closed)?;
        answer.await.unwrap_or(Err(InputError::Closed))
    }
}

async fn write(
    sink: AsyncFd<OwnedFd>,
    kind: Stdin,
    mut queue: mpsc::Receiver<Chunk>,
    closed: impl FnOnce(),
) {
    let mut line = Line::default();
    while let Some(Chunk { mut data, end, taken }) = queue.recv().await {
        if kind == Stdin::Terminal {
            line = line.after(&data);
            if end == InputEnd::Eof {
                // A terminal whose modes cannot be read is hung up, which writing to it tells.
                data.extend(terminal::end_of_input(sink.get_ref(), line).unwrap_or_default());
                line = Line::default();
            }
        }
        let written = write_all(&sink, &data).await;
        let goes_on = end == InputEnd::More || kind == Stdin::Terminal;
        if written.is_err() || !goes_on {
            // Closed before the answer, so that who is answered finds it closed.
            queue.close();
            drop(sink);
            closed();
            // Whoever asked may have gone; the input ends all the same.
            taken.send(written).ok();
            return;
        }
        // Whoever asked may have gone; the input goes on.
        taken.send(written).ok();
    }
}

async fn write_all(sink: &AsyncFd<OwnedFd>, mut data: &[u8]) -> Result<(), InputError> {
    while !data.is_empty() {
        let wrote = sink.async_io(Interest::WRITABLE, |fd| match rustix::io::write(fd, data) {
            Err(Errno::INTR) => Ok(0),
            other => other.map_err(std::io::Error::from),
        });
        let count = wrote.await.map_err(|_| InputError::Closed)?;
        data = data.get(count..).unwrap_or_default();
    }
    Ok(())
}
