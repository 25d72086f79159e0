//! A stream of a task, read by offset and written on as it comes, byte for byte.

use std::io;

use brattice_protocol::bytes;
use brattice_protocol::task::{Output, OutputParams};
use brattice_protocol::tools::Stream;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};

use super::task::Task;
use crate::cli::Failure;

/// How long one `task.output` waits for a first byte; the next one follows at once.
const WAIT_MS: u64 = 60_000;

/// Whether somebody still reads what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    /// As far as is known.
    There,
    /// EPIPE.
    Gone,
}

/// What came of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pumped {
    /// Bytes that the spool dropped before they were read.
    pub(super) skipped: u64,
    /// Who was at the other end when the pump stopped.
    pub(super) reader: Reader,
}

/// Copies a stream to `sink` until its end, or until nobody reads the sink. The next read is under way while a piece
/// is written, so that two pieces are held at most.
pub(super) async fn pump(
    task: &Task,
    stream: Stream,
    mut sink: impl AsyncWrite + Unpin,
) -> Result<Pumped, Failure> {
    let mut skipped = 0;
    let mut output = read(task, stream, 0).await?;
    loop {
        skipped += output.skipped;
        let piece = bytes::decode(&output.data, output.encoding)
            .map_err(|source| Failure::Garbled { task: task.task.to_string(), source })?;
        if piece.is_empty() && output.status.is_final() {
            return Ok(Pumped { skipped, reader: Reader::There });
        }
        let writing = write(&mut sink, stream, &piece);
        let (reader, next) = tokio::join!(writing, read(task, stream, output.next_offset));
        if reader? == Reader::Gone {
            return Ok(Pumped { skipped, reader: Reader::Gone });
        }
        output = next?;
    }
}

async fn read(task: &Task, stream: Stream, offset: u64) -> Result<Output, Failure> {
    let params = OutputParams {
        session: task.session.clone(),
        task: task.task.clone(),
        stream: Some(stream),
        offset: Some(offset),
        limit: None,
        wait_ms: Some(WAIT_MS),
    };
    Ok(task.client.task_output(&params).await?)
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
