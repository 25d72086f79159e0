//! Parts of a stream, read by offset. The daemon tells no stream's length, and what a long one has lost of its middle it tells
//! by where the next bytes are; so ends are found by asking.

use brattice_client::{Client, ClientError};
use brattice_protocol::bytes;
use brattice_protocol::task::{Output, OutputParams};

use crate::attach::output::{PIECE, Piece, Read, Sought, Which};

/// How long a read waits for a first byte. Short, for a read that is given up goes on at the daemon, which has so many at most.
const WAIT_MS: u64 = 1_000;

/// Reads it.
pub(super) async fn read(client: &Client, read: &Read) -> Result<Piece, ClientError> {
    let stream = Stream { client, which: &read.which };
    match read.sought {
        Sought::Tail => stream.tail().await,
        Sought::Start => stream.piece(0, PIECE, 0).await,
        Sought::From(offset) => stream.piece(offset, PIECE, WAIT_MS).await,
        Sought::Before(offset) => stream.before(offset).await,
    }
}

struct Stream<'a> {
    client: &'a Client,
    which: &'a Which,
}

impl Stream<'_> {
    async fn piece(&self, offset: u64, limit: u64, wait_ms: u64) -> Result<Piece, ClientError> {
        let Which { session, task, stream } = self.which.clone();
        let wait_ms = Some(wait_ms).filter(|wait| *wait > 0);
        let (stream, offset, limit) = (Some(stream), Some(offset), Some(limit));
        let params = OutputParams { session, task, stream, offset, limit, wait_ms };
        let Output { data, encoding, offset, status, .. } =
            self.client.task_output(&params).await?;
        // What is no base64 is no output of any daemon of ours; it is shown as it came.
        let bytes = bytes::decode(&data, encoding).unwrap_or_else(|_| data.into_bytes());
        Ok(Piece { offset, bytes, status })
    }

    /// The last bytes there are.
    async fn tail(&self) -> Result<Piece, ClientError> {
        let first = self.piece(0, PIECE, 0).await?;
        let (mut low, mut step) = (first.offset + first.bytes.len() as u64, PIECE);
        if (first.bytes.len() as u64) < PIECE && !self.is_kept(low, Kept::FromThere).await? {
            return Ok(first);
        }
        while self.is_kept(low + step, Kept::FromThere).await? {
            (low, step) = (low + step, step * 2);
        }
        let end = self.first_without(low, low + step, Kept::FromThere).await?;
        self.span(end.saturating_sub(PIECE), end).await
    }

    /// The bytes that end there, or before what was not kept there.
    async fn before(&self, end: u64) -> Result<Piece, ClientError> {
        let begin = end.saturating_sub(PIECE);
        let found = self.span(begin, end).await?;
        if !found.bytes.is_empty() || begin == 0 {
            return Ok(Piece { offset: found.offset.min(end), ..found });
        }
        // All of that was not kept: what is left of the beginning ends somewhere before.
        let head = self.first_without(0, begin, Kept::There).await?;
        match head {
            0 => Ok(Piece { offset: 0, bytes: Vec::new(), status: found.status }),
            head => self.span(head.saturating_sub(PIECE), head).await,
        }
    }

    /// What is kept from there to there, as far as it is in one piece.
    async fn span(&self, begin: u64, end: u64) -> Result<Piece, ClientError> {
        let mut found = self.piece(begin, (end - begin).max(1), 0).await?;
        let left = usize::try_from(end.saturating_sub(found.offset)).unwrap_or(usize::MAX);
        found.bytes.truncate(left);
        Ok(found)
    }

    /// Whether that is kept.
    async fn is_kept(&self, offset: u64, what: Kept) -> Result<bool, ClientError> {
        let Piece { offset: at, bytes, .. } = self.piece(offset, 1, 0).await?;
        Ok(!bytes.is_empty() && (what == Kept::FromThere || at == offset))
    }

    /// The first offset from `low` on for which that is not so, where it is for all before; `high` at most.
    async fn first_without(&self, low: u64, high: u64, what: Kept) -> Result<u64, ClientError> {
        let (mut low, mut high) = (low, high);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.is_kept(middle, what).await? {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        Ok(low)
    }
}

/// What is asked about an offset.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// Whether the byte there is kept.
    There,
    /// Whether any is, from there on.
    FromThere,
}
