//! `call.output`: what a command prints, told to a watching client while it runs.
//!
//! The watcher reads the spool by offset at its own pace, so the command never notices it, and it keeps nothing, so
//! memory does not grow. A client that reads too slowly, or a command that prints faster than is told, makes the
//! watcher skip to the newest bytes: the gap between two offsets says how many. Bytes are sent in whole characters
//! where they are UTF-8.

use std::sync::Arc;
use std::time::Duration;

use brattice_protocol::bytes;
use brattice_protocol::hello::Watch;
use brattice_protocol::tools::{CallOutput, Stream};
use brattice_protocol::{CallId, SessionId};

use crate::exec::spec::{Chunk, Progress};
use crate::fault::chain;
use crate::server::{Connection, Delivery};
use crate::session::{OutputError, Session, Task};

/// Most bytes of one notification.
const MAX_BYTES: u64 = 64 << 10;

/// The time that one notification takes of the 20 that a call may have in a second; a little more than a twentieth,
/// which leaves room for the two last ones, sent when the command ends.
const PACE: Duration = Duration::from_millis(60);

/// How long a call without a watcher waits before it looks again: its session may have been resumed.
const IDLE: Duration = Duration::from_millis(250);

/// What comes after the bytes that are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// More of the stream, perhaps.
    MayCome,
    /// The stream's end.
    None,
}

/// Follows the output of one call.
pub(super) struct Watcher<'a> {
    session: &'a Session,
    call: &'a CallId,
    task: &'a Task,
    sent: Progress,
}

impl<'a> Watcher<'a> {
    /// Begins at the start of both streams.
    pub(super) fn new(session: &'a Session, call: &'a CallId, task: &'a Task) -> Self {
        Watcher { session, call, task, sent: Progress::default() }
    }

    /// Tells output as it comes, for as long as it is polled.
    pub(super) async fn run(&mut self) {
        let mut seen = Progress::default();
        loop {
            if self.client().is_none() {
                tokio::time::sleep(IDLE).await;
                continue;
            }
            seen = self.task.progress_beyond(seen).await;
            if seen.ended {
                return std::future::pending().await;
            }
            let told = self.tell(seen).await;
            tokio::time::sleep(PACE * told.max(1)).await;
        }
    }

    /// Tells what is left once the command has ended.
    pub(super) async fn finish(mut self) {
        self.tell(Progress { ended: true, ..self.task.progress() }).await;
    }

    fn client(&self) -> Option<Arc<Connection>> {
        self.session.audience().filter(|client| client.watches(Watch::Output))
    }

    /// Tells both streams up to `progress`; returns how many notifications that took.
    async fn tell(&mut self, progress: Progress) -> u32 {
        let rest = if progress.ended { Rest::None } else { Rest::MayCome };
        let Some(client) = self.client() else {
            return 0;
        };
        let mut told = 0;
        for (stream, end) in [(Stream::Stdout, progress.stdout), (Stream::Stderr, progress.stderr)]
        {
            let sent = self.sent(stream);
            let Some(from) = next_offset(*sent, end) else {
                continue;
            };
            let part = match self.task.read(stream, from, MAX_BYTES as usize).await {
                Ok(chunk) => whole_characters(chunk, from, rest),
                Err(error) => return self.give_up(&error, told),
            };
            if part.data.is_empty() {
                continue;
            }
            let after = part.offset + part.data.len() as u64;
            told += 1;
            if notify(&client, self.session.id(), self.call, stream, &part) == Delivery::Queued {
                *self.sent(stream) = after;
            }
        }
        told
    }

    fn sent(&mut self, stream: Stream) -> &mut u64 {
        match stream {
            Stream::Stdout => &mut self.sent.stdout,
            Stream::Stderr => &mut self.sent.stderr,
        }
    }

    fn give_up(&self, error: &OutputError, told: u32) -> u32 {
        tracing::warn!(session = %self.session.id(), call = %self.call, error = %chain(error), "output cannot be read");
        told
    }
}

fn notify(
    client: &Connection,
    session: &SessionId,
    call: &CallId,
    stream: Stream,
    part: &Chunk,
) -> Delivery {
    let (data, encoding) = bytes::encode(&part.data);
    let output = CallOutput {
        session: session.clone(),
        call: call.clone(),
        stream,
        offset: part.offset,
        data,
        encoding,
    };
    client.notify("call.output", &output)
}

/// Where to read next: after what was sent, or at the newest bytes where that is too far behind.
fn next_offset(sent: u64, end: u64) -> Option<u64> {
    (sent < end).then(|| sent.max(end.saturating_sub(MAX_BYTES)))
}

/// The chunk without a torn character at its end, which is sent when the rest of it has come, and without one at its
/// start where bytes before it were skipped. Bytes that are no UTF-8 anyway stay as they are.
fn whole_characters(mut chunk: Chunk, asked: u64, rest: Rest) -> Chunk {
    let is_continuation = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    let skipped_before = asked > 0 || chunk.skipped > 0;
    let torn = chunk.data.iter().take(4).take_while(is_continuation).count();
    if skipped_before && (1..4).contains(&torn) && is_text(&chunk.data[torn..]) {
        chunk.data.drain(..torn);
        chunk.offset += torn as u64;
        chunk.skipped += torn as u64;
    }
    if rest == Rest::MayCome
        && let Err(error) = std::str::from_utf8(&chunk.data)
        && error.error_len().is_none()
    {
        chunk.data.truncate(error.valid_up_to());
    }
    chunk
}

/// Whether bytes are UTF-8 as far as they go: whole, or torn at the end.
fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).err().is_none_or(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(data: &[u8], offset: u64, rest: Rest) -> (Vec<u8>, u64) {
        let chunk = Chunk { data: data.to_vec(), offset, skipped: 0 };
        let whole = whole_characters(chunk, offset, rest);
        (whole.data, whole.offset)
    }

    #[test]
    fn a_watcher_that_is_too_far_behind_skips_to_the_newest_bytes() {
        assert_eq!(next_offset(0, 0), None);
        assert_eq!(next_offset(3, 10), Some(3));
        assert_eq!(next_offset(3, MAX_BYTES + 10), Some(10));
    }

    #[test]
    fn a_torn_character_waits_for_its_rest_unless_there_is_none() {
        let euro = "€".as_bytes();
        assert_eq!(cut(&[b"ab", &euro[..2]].concat(), 0, Rest::MayCome), (b"ab".to_vec(), 0));
        assert_eq!(cut(&euro[..2], 0, Rest::None), (euro[..2].to_vec(), 0));
    }

    #[test]
    fn the_rest_of_a_character_that_was_skipped_is_left_out() {
        let euro = "€".as_bytes();
        assert_eq!(cut(&[&euro[1..], b"ab"].concat(), 7, Rest::MayCome), (b"ab".to_vec(), 9));
        assert_eq!(
            cut(&[&euro[1..], b"ab"].concat(), 0, Rest::MayCome),
            ([&euro[1..], b"ab"].concat(), 0)
        );
    }

    #[test]
    fn what_is_no_utf8_stays() {
        let binary = [0x80, 0xff, 0xfe, b'a'];
        assert_eq!(cut(&binary, 5, Rest::MayCome), (binary.to_vec(), 5));
    }
}
