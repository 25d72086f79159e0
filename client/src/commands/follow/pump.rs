//! A stream of a task, read by offset and written on as it comes, byte for byte.

use std::io;

use brattice_protocol::bytes;
use brattice_protocol::task::TaskStatus;
use brattice_protocol::tools::Stream;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use super::task::Task;
use crate::cli::Failure;

/// How long one `task.output` waits for a first byte; the next one follows at once.
const WAIT_MS: u64 = 60_000;

/// How far a stream is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// To the task's end.
    End,
    /// As far as it has come, which is not beyond this offset: a command may print faster than it is read.
    Now(u64),
}

/// Whether somebody still reads what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// As far as is known.
    There,
    /// EPIPE.
    Gone,
}

/// What came of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pumped {
    /// Where to go on.
    pub(crate) offset: u64,
    /// Bytes that the spool dropped before they were read.
    pub(crate) skipped: u64,
    /// The task's state when the last piece was read.
    pub(crate) status: TaskStatus,
    /// Who was at the other end when the pump stopped.
    pub(crate) reader: Reader,
}

/// Copies a stream from `offset` on to `sink`, or until nobody reads the sink. The next read is under way while a
/// piece is written, so that two pieces are held at most. `skip` is told of each gap before what comes after it is
/// written.
pub(crate) async fn pump(
    task: &Task,
    stream: Stream,
    offset: u64,
    until: Until,
    mut sink: impl AsyncWrite + Unpin,
    skip: impl Fn(u64),
) -> Result<Pumped, Failure> {
    let wait = match until {
        Until::End => WAIT_MS,
        Until::Now(_) => 0,
    };
    let mut skipped = 0;
    let mut output = task.output(stream, offset, wait).await?;
    loop {
        if output.skipped > 0 {
            skip(output.skipped);
            skipped += output.skipped;
        }
        let piece = bytes::decode(&output.data, output.encoding)
            .map_err(|source| Failure::Garbled { task: task.task.to_string(), source })?;
        let (offset, status) = (output.next_offset, output.status);
        let is_last = match until {
            Until::End => piece.is_empty() && status.is_final(),
            Until::Now(bytes) => piece.is_empty() || offset >= bytes,
        };
        let writing = write(&mut sink, stream, &piece);
        let (reader, next) = match is_last {
            true => (writing.await?, None),
            false => {
                let (written, next) = tokio::join!(writing, task.output(stream, offset, wait));
                (written?, Some(next))
            }
        };
        match next {
            Some(next) if reader == Reader::There => output = next?,
            _ => return Ok(Pumped { offset, skipped, status, reader }),
        }
    }
}

async fn write(
    sink: &mut (impl AsyncWrite + Unpin),
    stream: Stream,
    piece: &[u8],
) -> Result<Reader, Failure> {
    let written = async {
        sink.write_all(piece).await?;
        sink.flush().await
    };
    match written.await {
        Ok(()) => Ok(Reader::There),
        Err(source) if source.kind() == io::ErrorKind::BrokenPipe => Ok(Reader::Gone),
        Err(source) => Err(Failure::output(match stream {
            Stream::Stdout => "output",
            Stream::Stderr => "error",
        })(source)),
    }
}
