//! Reading a spool by offset, without asking the process that writes it.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use brattice_policy::sys::Errno;
use rustix::fs::SeekFrom;

use crate::exec::spec::Chunk;

/// Why a spool could not be read.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the output that was kept")]
pub(crate) struct ReadError(#[from] Errno);

/// The reading side of a stream's spool.
#[derive(Clone, Debug, Default)]
pub(crate) struct SpoolReader(Spool);

#[derive(Clone, Debug, Default)]
enum Spool {
    /// Nothing was written yet.
    #[default]
    None,
    Open(Arc<OwnedFd>),
    /// There is one, and there was no room for its descriptor.
    Missed,
}

impl SpoolReader {
    /// Reads from this descriptor from now on: the spool moved from memory to a file.
    pub(crate) fn replace(&mut self, fd: OwnedFd) {
        self.0 = Spool::Open(Arc::new(fd));
    }

    /// The same with what came with a message. Where nothing did there was no room for it, and reading says so.
    pub(super) fn take(&mut self, fd: Option<OwnedFd>) {
        self.0 = fd.map_or(Spool::Missed, |fd| Spool::Open(Arc::new(fd)));
    }

    /// At most `limit` bytes from `offset` on, of a stream that is known to be `end` bytes long. A range that was not
    /// kept is skipped, and told.
    ///
    /// # Errors
    /// The kernel cannot read the spool.
    pub(crate) fn read(&self, offset: u64, limit: usize, end: u64) -> Result<Chunk, ReadError> {
        let mut from = offset;
        while from < end {
            let fd = match &self.0 {
                Spool::Open(fd) => fd,
                Spool::Missed => return Err(Errno::MFILE.into()),
                Spool::None => break,
            };
            let data = match rustix::fs::seek(fd, SeekFrom::Data(from)) {
                Ok(data) if data < end => data,
                Ok(_) | Err(Errno::NXIO) => break,
                Err(errno) => return Err(errno.into()),
            };
            let most = usize::try_from(end - data).unwrap_or(usize::MAX).min(limit);
            let mut bytes = vec![0u8; most];
            let count = rustix::io::pread(fd, &mut bytes, data)?;
            bytes.truncate(count);
            // Read first, then asked: a range that is data now has not been punched out before it was read.
            let whole = match rustix::fs::seek(fd, SeekFrom::Hole(data)) {
                Ok(hole) => usize::try_from(hole - data).unwrap_or(usize::MAX),
                Err(Errno::NXIO) => 0,
                Err(errno) => return Err(errno.into()),
            };
            bytes.truncate(whole);
            if !bytes.is_empty() || limit == 0 {
                return Ok(Chunk { data: bytes, offset: data, skipped: data - offset });
            }
            from = data + 1;
        }
        // Nothing is kept from here to the end that is known.
        let at = end.max(offset);
        Ok(Chunk { data: Vec::new(), offset: at, skipped: at - offset })
    }
}
