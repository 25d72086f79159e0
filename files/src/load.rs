//! The whole content of a file that is to be changed, and what tells later whether it is still the same file.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{self, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::cancel::Cancel;
use crate::fault::{At as _, Fault, FaultKind, FileType, On as _, Operation};
use crate::fingerprint::{Fingerprint, Fingerprinting};
use crate::place::Place;

/// Bytes of all files that one call holds in memory.
pub(crate) const MOST_BYTES: u64 = 256 << 20;

/// Bytes that are read at once.
const PIECE: usize = 1 << 20;

/// What becomes of a file that is larger than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Beyond {
    Refuse,
    /// Its fingerprint is taken and nothing kept.
    Hash,
}

/// A file as it was read.
pub(crate) struct Loaded {
    pub(crate) status: Stat,
    pub(crate) fingerprint: Fingerprint,
    /// None if it is too large.
    pub(crate) bytes: Option<Vec<u8>>,
}

/// What a file has of its own and what changes with its content. The time of the status is left out where a rename of ours
/// lies between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) inode: u64,
    pub(crate) size: i64,
    pub(crate) modified: (i64, i64),
}

impl Identity {
    pub(crate) fn of(status: &Stat) -> Self {
        // The kernel keeps nanoseconds below a second, whatever the type of the field is on this machine.
        let nanoseconds = i64::try_from(status.st_mtime_nsec).unwrap_or(0);
        Identity {
            inode: status.st_ino,
            size: status.st_size,
            modified: (status.st_mtime, nanoseconds),
        }
    }
}

/// Reads the file at a place, if there is one. `named` is the path that faults bear.
pub(crate) fn load(
    place: &Place,
    named: &Path,
    limit: u64,
    beyond: Beyond,
    cancel: &Cancel,
) -> Result<Option<Loaded>, Fault> {
    if !place.missing.is_empty() {
        return Ok(None);
    }
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match fs::openat(&place.folder, &place.name, flags, Mode::empty()) {
        Ok(file) => file,
        Err(Errno::NOENT) => return Ok(None),
        // It was a file when the path was followed.
        Err(Errno::LOOP) => return Err(Fault::new(named, FaultKind::Changed)),
        Err(errno) => return Err(Fault::kernel(named, Operation::Read, errno)),
    };
    let status = fs::fstat(&file).at(named, Operation::Read)?;
    FileType::of(status.st_mode).map_err(|kind| Fault::new(named, FaultKind::NotRegular(kind)))?;
    let size = u64::try_from(status.st_size).unwrap_or(0);
    let too_large = |size| Fault::new(named, FaultKind::TooLarge { size, limit });
    if size > limit && beyond == Beyond::Refuse {
        return Err(too_large(size));
    }
    let kept = (size <= limit).then(|| Vec::with_capacity(usize::try_from(size).unwrap_or(0)));
    let mut loading = Loading { kept, limit, print: Fingerprinting::default() };
    loading.all(&file, named, cancel)?;
    if loading.kept.is_none() && beyond == Beyond::Refuse {
        return Err(too_large(limit + 1));
    }
    Ok(Some(Loaded { status, fingerprint: loading.print.finish(), bytes: loading.kept }))
}

struct Loading {
    kept: Option<Vec<u8>>,
    limit: u64,
    print: Fingerprinting,
}

impl Loading {
    fn all(&mut self, file: &OwnedFd, named: &Path, cancel: &Cancel) -> Result<(), Fault> {
        let mut buffer = vec![0; PIECE];
        loop {
            cancel.check().on(named)?;
            match rustix::io::read(file, &mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => self.add(&buffer[..count]),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(Fault::kernel(named, Operation::Read, errno)),
            }
        }
    }

    fn add(&mut self, piece: &[u8]) {
        self.print.add(piece);
        match &mut self.kept {
            // A file that grows while it is read is bounded all the same.
            Some(kept) if (kept.len() + piece.len()) as u64 > self.limit => self.kept = None,
            Some(kept) => kept.extend_from_slice(piece),
            None => {}
        }
    }
}
