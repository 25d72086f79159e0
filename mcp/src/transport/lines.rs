//! A client's bytes as lines, each of a bounded length. What a read that was dropped had read is kept for the next one.

use std::io;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

use super::Ended;
use brattice_client::protocol::codec::MAX_MESSAGE;

/// The lines.
#[derive(Debug)]
pub(super) struct Lines<R> {
    input: BufReader<R>,
    begun: Vec<u8>,
}

/// A line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// All of it, without its end.
    Whole(Vec<u8>),
    /// It is longer than a message may be.
    TooLong,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn of(input: R) -> Self {
        Lines { input: BufReader::with_capacity(64 << 10, input), begun: Vec::new() }
    }

    /// The next line. Nothing is lost where this is dropped before it is there.
    pub(super) async fn next(&mut self) -> Result<Line, Ended> {
        loop {
            let available = self.input.fill_buf().await.map_err(broken)?;
            if available.is_empty() {
                // A line without its end is not a message: the client went away in the middle of it.
                return Err(Ended::Closed);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let part = end.map_or(available, |end| &available[..end]);
            if self.begun.len() + part.len() > MAX_MESSAGE {
                self.begun = Vec::new();
                return Ok(Line::TooLong);
            }
            self.begun.extend_from_slice(part);
            let taken = part.len() + usize::from(end.is_some());
            self.input.consume(taken);
            if end.is_some() {
                return Ok(Line::Whole(std::mem::take(&mut self.begun)));
            }
        }
    }
}

fn broken(error: io::Error) -> Ended {
    match error.kind() {
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => Ended::Closed,
        _ => Ended::Broken(error.to_string()),
    }
}
