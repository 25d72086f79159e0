//! A stream's spool: where a command's output goes, by offset.
//!
//! A spool is a memory file up to 64,000 bytes and a file in the session's folder after. Byte *n* of the stream is byte *n*
//! of the file, always: past the cap the middle is punched out, so that the head and the tail stay, and what could not
//! be written is a hole too. A hole is therefore the one mark of "not kept", and readers find it by asking the file
//! system (`SEEK_DATA`, lseek(2)), with no state shared with the writer. Punches are aligned to 4 KiB: a partial block
//! would be zeroed in place, which no reader could tell from data.
//!
//! Bytes are read and written, not spliced: splice(2) holds the pipe's lock while it writes to the file, so that the command
//! and its supervisor take turns; a copy more, and both run at once (2 GiB took 1.7 s spliced and 1.1 s copied).
//!
//! Pipes are emptied whatever happens to the spool: a full disk loses output, never stops a command.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use brattice_policy::sys::Errno;
use brattice_policy::sys::errno;
use brattice_protocol::outcome::Lost;
use rustix::fs::{FallocateFlags, Mode, OFlags, fallocate};

use crate::exec::spec::StreamEnd;

/// A spool longer than this is a file: it is what a tool's result shows of a stream, so that whatever a result leaves
/// out stands in a file.
pub(super) const IN_MEMORY: u64 = 64_000;

/// Punches are aligned to this.
const BLOCK: u64 = 4096;

/// The middle is punched out in pieces of at least this size.
const PUNCH_STEP: u64 = 4 << 20;

/// A pipe's size once its stream has outgrown memory.
const LARGE_PIPE: usize = 256 << 10;

/// What one look at a pipe brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// So many bytes.
    Bytes(u64),
    /// Nothing now.
    Nothing,
    /// Nothing ever again: nobody holds the writing end.
    Closed,
}

/// One stream's spool.
#[derive(Debug)]
pub(super) struct Spool {
    path: PathBuf,
    cap: u64,
    store: Store,
    /// Bytes of the stream so far.
    bytes: u64,
    /// End of the range punched out of the middle; its beginning is half the cap.
    dropped_end: u64,
    lost: Option<Lost>,
    /// Whether the reader has the descriptor that is written to now.
    is_told: bool,
}

#[derive(Debug)]
enum Store {
    /// Nothing was written yet, and most commands' standard error never is.
    None,
    Memory(OwnedFd),
    File(OwnedFd),
}

impl Spool {
    /// An empty spool that goes to `path` when it outgrows memory, and keeps `cap` bytes.
    pub(super) fn new(path: PathBuf, cap: u64) -> Self {
        let cap = cap.max(4 * PUNCH_STEP);
        Spool { path, cap, store: Store::None, bytes: 0, dropped_end: 0, lost: None, is_told: true }
    }

    /// Bytes of the stream so far.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The descriptor to read from, if the reader does not have it yet.
    ///
    /// # Errors
    /// It cannot be duplicated now. Lengths must not be told then: the reader would take what it cannot see for a gap.
    pub(super) fn untold(&mut self) -> std::io::Result<Option<OwnedFd>> {
        let fd = match &self.store {
            Store::Memory(fd) | Store::File(fd) if !self.is_told => fd.try_clone()?,
            Store::None | Store::Memory(_) | Store::File(_) => return Ok(None),
        };
        self.is_told = true;
        Ok(Some(fd))
    }

    /// There is another reader, who has no descriptor yet.
    pub(super) fn forget_reader(&mut self) {
        self.is_told = matches!(self.store, Store::None);
    }

    /// What is in memory goes to the file, for readers who come when this process is gone.
    ///
    /// # Errors
    /// What those will lack, which is all of it. Whoever has the memory file has lost nothing.
    pub(super) fn persist(&mut self) -> Result<(), Lost> {
        if let Store::Memory(_) = self.store {
            let moved = self.move_to_file();
            let fd =
                moved.map_err(|errno| Lost { bytes: self.bytes, error: errno::name(errno) })?;
            self.store = Store::File(fd);
            self.is_told = false;
        }
        Ok(())
    }

    /// The reader never gets the descriptor. What was kept in memory is lost to it, while a file is found by its name.
    pub(super) fn give_up(&mut self, error: &std::io::Error) {
        if let Store::Memory(_) = self.store {
            let errno = Errno::from_io_error(error).unwrap_or(Errno::IO);
            self.lost = Some(Lost { bytes: self.bytes, error: errno::name(errno) });
        }
    }

    /// How the stream stands.
    pub(super) fn end(&self) -> StreamEnd {
        let head = self.head();
        StreamEnd {
            bytes: self.bytes,
            dropped: if self.dropped_end > head { (head, self.dropped_end) } else { (0, 0) },
            file: matches!(self.store, Store::File(_)).then(|| self.path.clone()),
            lost: self.lost.clone(),
        }
    }

    /// Takes what the pipe holds, as much as `buffer`, scratch space, has room for.
    pub(super) fn take(&mut self, pipe: BorrowedFd<'_>, buffer: &mut [u8]) -> Taken {
        match rustix::io::read(pipe, &mut *buffer) {
            Ok(0) => Taken::Closed,
            Ok(count) => {
                let bytes = buffer.get(..count).unwrap_or_default();
                self.append(pipe, bytes);
                self.grown(count as u64)
            }
            Err(Errno::AGAIN | Errno::INTR) => Taken::Nothing,
            Err(_) => Taken::Closed,
        }
    }

    fn grown(&mut self, count: u64) -> Taken {
        self.bytes += count;
        self.punch();
        Taken::Bytes(count)
    }

    /// Writes bytes at the stream's end; what cannot be written is counted as lost and stays a hole.
    fn append(&mut self, pipe: BorrowedFd<'_>, bytes: &[u8]) {
        let stored = self.make_room(pipe, bytes.len() as u64).and_then(|()| match &self.store {
            Store::Memory(fd) | Store::File(fd) => write_all_at(fd.as_fd(), bytes, self.bytes),
            Store::None => Err((0, Errno::BADF)),
        });
        if let Err((written, errno)) = stored {
            let lost = bytes.len() as u64 - written;
            let error = errno::name(errno);
            let total = self.lost.take().map_or(0, |lost| lost.bytes) + lost;
            self.lost = Some(Lost { bytes: total, error });
        }
    }

    /// Sees to it that the store can hold `more` bytes: memory at first, a file when memory is outgrown.
    fn make_room(&mut self, pipe: BorrowedFd<'_>, more: u64) -> Result<(), (u64, Errno)> {
        let fail = |errno| (0, errno);
        match &self.store {
            Store::File(_) => Ok(()),
            Store::None if more <= IN_MEMORY && self.bytes == 0 => {
                let flags = rustix::fs::MemfdFlags::CLOEXEC;
                let fd = rustix::fs::memfd_create("brattice-spool", flags).map_err(fail)?;
                self.store = Store::Memory(fd);
                self.is_told = false;
                Ok(())
            }
            Store::Memory(_) if self.bytes + more <= IN_MEMORY => Ok(()),
            Store::None | Store::Memory(_) => {
                let fd = self.move_to_file().map_err(fail)?;
                self.store = Store::File(fd);
                self.is_told = false;
                // Only speed hangs on it: an unprivileged user has a bounded number of large pipes (pipe(7)).
                match rustix::pipe::fcntl_setpipe_size(pipe, LARGE_PIPE) {
                    Ok(_) | Err(_) => Ok(()),
                }
            }
        }
    }

    fn move_to_file(&self) -> Result<OwnedFd, Errno> {
        let flags =
            OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let file = rustix::fs::open(&self.path, flags, Mode::RUSR | Mode::WUSR)?;
        if let Store::Memory(memory) = &self.store {
            // The stream may be longer: what was lost since is nowhere.
            let mut content = vec![0u8; usize::try_from(self.bytes.min(IN_MEMORY)).unwrap_or(0)];
            let count = rustix::io::pread(memory, &mut content, 0)?;
            let copied = write_all_at(file.as_fd(), content.get(..count).unwrap_or_default(), 0);
            if let Err((_, errno)) = copied {
                // The memory file is still whole: the stream goes on from there once there is room.
                match rustix::fs::unlink(&self.path) {
                    Ok(()) | Err(_) => return Err(errno),
                }
            }
        }
        Ok(file)
    }

    /// Half the cap, the part of the stream's beginning that is always kept.
    fn head(&self) -> u64 {
        self.cap / 2 / BLOCK * BLOCK
    }

    /// Drops from the middle what the cap does not allow to keep.
    fn punch(&mut self) {
        let head = self.head();
        let tail = self.cap - head - PUNCH_STEP;
        let from = self.dropped_end.max(head);
        if self.bytes < from + tail + PUNCH_STEP {
            return;
        }
        let Store::File(fd) = &self.store else { return };
        let to = (self.bytes - tail) / BLOCK * BLOCK;
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        // A file system without holes keeps more than the cap rather than lose what it was given; the next look tries
        // again.
        if fallocate(fd, flags, from, to - from).is_ok() {
            self.dropped_end = to;
        }
    }
}

/// Writes all bytes at the offset, or tells how many were written and why no more.
fn write_all_at(fd: BorrowedFd<'_>, bytes: &[u8], offset: u64) -> Result<(), (u64, Errno)> {
    let mut done = 0u64;
    while let Some(rest) = usize::try_from(done)
        .ok()
        .and_then(|done| bytes.get(done..))
        .filter(|rest| !rest.is_empty())
    {
        match rustix::io::pwrite(fd, rest, offset + done) {
            Ok(0) => return Err((done, Errno::NOSPC)),
            Ok(count) => done += count as u64,
            Err(Errno::INTR) => {}
            Err(errno) => return Err((done, errno)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
