//! What goes into a task: pieces of input, and where they come from.

use std::io::{self, Read as _};

use brattice_protocol::bytes;
use brattice_protocol::task::InputParams;
use tokio::sync::mpsc;

use super::link::Attempt;
use super::task::Task;
use crate::cli::Failure;

/// Bytes of one `task.input`: PIPE_BUF, so that a pipe takes a piece as a whole or not at all (pipe(7)).
pub(crate) const PIECE: usize = 4096;

/// Whether more input comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InputEnd {
    /// It may.
    More,
    /// This was the last of it.
    Eof,
}

/// How often the command got a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Passed {
    /// Once.
    Once,
    /// Once or twice: a daemon died before it could say.
    PerhapsTwice,
}

impl Passed {
    /// Of both.
    pub(crate) fn and(self, other: Passed) -> Passed {
        if self == Passed::Once { other } else { self }
    }
}

impl Task {
    /// Passes a piece on; returns once the command's pipe has taken it.
    ///
    /// A piece fits into a pipe as a whole or not at all, so a daemon that turns it away as it ends has passed nothing on:
    /// the next one gets it. Where a daemon died without an answer nobody knows, and a piece that comes twice is better
    /// than one that is missing.
    pub(crate) async fn input(&self, piece: &[u8], end: InputEnd) -> Result<Passed, Failure> {
        let (data, encoding) = bytes::encode(piece);
        let (session, task) = (self.session.clone(), self.task.clone());
        let params = InputParams { session, task, data, encoding, eof: end == InputEnd::Eof };
        let mut passed = Passed::Once;
        loop {
            match self.link.attempt(async |client| client.task_input(&params).await).await {
                Ok(_) => return Ok(passed),
                Err(Attempt::Turned) => {}
                // To end an input twice is to end it.
                Err(Attempt::Unanswered) if piece.is_empty() => {}
                Err(Attempt::Unanswered) => passed = Passed::PerhapsTwice,
                Err(Attempt::Failed(failure)) => return Err(failure),
            }
        }
    }
}

/// Reads standard input in a thread of its own, at most two pieces ahead. A read cannot be called off, so the thread
/// ends at the end of the input, at the next piece that nobody takes, or with the process.
pub(crate) fn read_stdin() -> mpsc::Receiver<io::Result<Vec<u8>>> {
    let (sender, pieces) = mpsc::channel(1);
    std::thread::spawn(move || {
        let mut stdin = io::stdin().lock();
        let mut buffer = vec![0; PIECE];
        loop {
            let piece = match stdin.read(&mut buffer) {
                Ok(0) => return,
                Ok(length) => Ok(buffer[..length].to_vec()),
                Err(fault) if fault.kind() == io::ErrorKind::Interrupted => continue,
                Err(fault) => Err(fault),
            };
            let broken = piece.is_err();
            if sender.blocking_send(piece).is_err() || broken {
                return;
            }
        }
    });
    pieces
}
