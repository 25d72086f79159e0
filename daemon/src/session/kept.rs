//! What is left of a task that has ended: the facts, and its output without an open descriptor.
//!
//! A stream that stayed small is kept in memory. One that outgrew memory stands in its file, which is opened again for
//! each read: a session remembers a hundred ended tasks, and the daemon has few descriptors.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use brattice_policy::sys::Errno;
use brattice_protocol::tools::Stream;
use rustix::fs::OFlags;

use crate::exec::spec::{Chunk, Progress, StreamEnd, TaskEnd};
use crate::exec::{ReadError, SpoolReader, TaskHandle};
use crate::regular;

/// More than a spool holds before it becomes a file.
const MOST_IN_MEMORY: u64 = 64 << 10;

/// An ended task.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) end: Arc<TaskEnd>,
    stdout: KeptStream,
    stderr: KeptStream,
}

/// One stream of it.
#[derive(Debug, Default)]
struct KeptStream {
    /// Its length.
    bytes: u64,
    store: Store,
}

#[derive(Debug)]
enum Store {
    /// The pieces that could be kept, in order.
    Memory(Vec<Chunk>),
    File(PathBuf),
}

impl Default for Store {
    fn default() -> Self {
        Store::Memory(Vec::new())
    }
}

impl Kept {
    /// What is left of the task of this handle. `None` where only its descriptors lead to its output: the supervisor
    /// died, so nobody says which file it is.
    pub(super) fn of(handle: &TaskHandle, end: Arc<TaskEnd>) -> Option<Kept> {
        let read = |stream, offset, limit| handle.read(stream, offset, limit);
        let stdout = KeptStream::of(&end.stdout, |at, most| read(Stream::Stdout, at, most))?;
        let stderr = match &end.stderr {
            Some(end) => KeptStream::of(end, |at, most| read(Stream::Stderr, at, most))?,
            None => KeptStream::default(),
        };
        Some(Kept { end, stdout, stderr })
    }

    /// What is left of a task that ended under an earlier daemon: what stands in its files.
    pub(super) fn on_disk(end: Arc<TaskEnd>) -> Kept {
        let stdout = KeptStream::on_disk(&end.stdout);
        let stderr = end.stderr.as_ref().map(KeptStream::on_disk).unwrap_or_default();
        Kept { end, stdout, stderr }
    }

    /// How long its streams are.
    pub(super) fn progress(&self) -> Progress {
        let (stdout, stderr) = (self.stdout.bytes, self.stderr.bytes);
        Progress { stdout, stderr, ended: true, ..Progress::default() }
    }

    /// Whether reading the stream waits for no disk.
    pub(super) fn is_in_memory(&self, stream: Stream) -> bool {
        matches!(self.stream(stream).store, Store::Memory(_))
    }

    /// At most `limit` bytes of a stream from `offset` on.
    ///
    /// # Errors
    /// Its file cannot be read.
    pub(super) fn read(
        &self,
        stream: Stream,
        offset: u64,
        limit: usize,
    ) -> Result<Chunk, ReadError> {
        self.stream(stream).read(offset, limit)
    }

    fn stream(&self, stream: Stream) -> &KeptStream {
        match stream {
            Stream::Stdout => &self.stdout,
            Stream::Stderr => &self.stderr,
        }
    }
}

impl KeptStream {
    fn of(
        end: &StreamEnd,
        read: impl Fn(u64, usize) -> Result<Chunk, ReadError>,
    ) -> Option<KeptStream> {
        let bytes = end.bytes;
        let store = match &end.file {
            Some(path) => Store::File(path.clone()),
            None if bytes <= MOST_IN_MEMORY => Store::Memory(pieces(bytes, read).ok()?),
            None => return None,
        };
        Some(KeptStream { bytes, store })
    }

    fn on_disk(end: &StreamEnd) -> KeptStream {
        let store = end.file.clone().map_or_else(Store::default, Store::File);
        KeptStream { bytes: end.bytes, store }
    }

    fn read(&self, offset: u64, limit: usize) -> Result<Chunk, ReadError> {
        match &self.store {
            Store::Memory(pieces) => Ok(pieces
                .iter()
                .find_map(|piece| part(piece, offset, limit))
                .unwrap_or_else(|| nothing(self.bytes, offset))),
            Store::File(path) => {
                match regular::open(path, OFlags::RDONLY) {
                    Ok(file) => {
                        let mut reader = SpoolReader::default();
                        reader.replace(file.into());
                        reader.read(offset, limit, self.bytes)
                    }
                    // Removed to bound the disk, or with its session: no byte of it is kept, which is told as such.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        Ok(nothing(self.bytes, offset))
                    }
                    Err(error) => Err(Errno::from_io_error(&error).unwrap_or(Errno::INVAL).into()),
                }
            }
        }
    }
}

/// All pieces of a stream that are kept; there are several where some could not be.
fn pieces(
    bytes: u64,
    read: impl Fn(u64, usize) -> Result<Chunk, ReadError>,
) -> Result<Vec<Chunk>, ReadError> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < bytes {
        let piece = read(at, usize::try_from(bytes - at).unwrap_or(usize::MAX))?;
        if piece.data.is_empty() {
            break;
        }
        at = piece.offset + piece.data.len() as u64;
        pieces.push(piece);
    }
    Ok(pieces)
}

/// What a piece has from the offset on; `None` where it ends before.
fn part(piece: &Chunk, offset: u64, limit: usize) -> Option<Chunk> {
    let from = offset.max(piece.offset);
    let skip = usize::try_from(from - piece.offset).ok()?;
    let rest = piece.data.get(skip..).filter(|rest| !rest.is_empty())?;
    let data = rest[..rest.len().min(limit)].to_vec();
    Some(Chunk { data, offset: from, skipped: from - offset })
}

/// Nothing, from the offset to the stream's end.
fn nothing(bytes: u64, offset: u64) -> Chunk {
    let at = bytes.max(offset);
    Chunk { data: Vec::new(), offset: at, skipped: at - offset }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;

    fn piece(text: &str, offset: u64) -> Chunk {
        Chunk { data: text.as_bytes().to_vec(), offset, skipped: 0 }
    }

    fn read(stream: &KeptStream, offset: u64, limit: usize) -> (String, u64, u64) {
        let Chunk { data, offset, skipped } = stream.read(offset, limit).unwrap();
        (String::from_utf8(data).unwrap(), offset, skipped)
    }

    #[test]
    fn output_in_memory_is_read_by_offset_and_around_what_was_lost() {
        let store = Store::Memory(vec![piece("hello", 0), piece("world", 8)]);
        let stream = KeptStream { bytes: 15, store };
        assert_eq!(read(&stream, 0, 100), ("hello".to_owned(), 0, 0));
        assert_eq!(read(&stream, 1, 3), ("ell".to_owned(), 1, 0));
        assert_eq!(read(&stream, 5, 3), ("wor".to_owned(), 8, 3));
        assert_eq!(read(&stream, 13, 3), (String::new(), 15, 2));
        assert_eq!(read(&stream, u64::MAX, 3), (String::new(), u64::MAX, 0));
    }

    #[test]
    fn all_that_a_spool_gives_is_taken_into_memory() {
        let given = [piece("hello", 0), piece("world", 8)];
        let spool = |at: u64, _most: usize| {
            Ok(given.iter().find(|piece| at <= piece.offset).cloned().unwrap_or_default())
        };
        assert_eq!(pieces(15, spool).unwrap(), given);
        let end = StreamEnd { bytes: MOST_IN_MEMORY + 1, ..StreamEnd::default() };
        assert!(KeptStream::of(&end, spool).is_none(), "only its descriptor leads there");
    }

    #[test]
    fn output_in_a_file_is_read_from_there_while_it_lasts() {
        let scratch = Scratch::new();
        let path = scratch.file("bash-1.stdout", "hello");
        let stream = KeptStream { bytes: 5, store: Store::File(path.clone()) };
        assert_eq!(read(&stream, 1, 3), ("ell".to_owned(), 1, 0));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(read(&stream, 1, 3), (String::new(), 5, 4));
        std::os::unix::fs::symlink(scratch.file("other", "secret"), &path).unwrap();
        assert!(stream.read(0, 3).is_err(), "a link is not followed");
    }
}
