//! Which files are removed for their age: the oldest, as many as the log has grown too large by.
//!
//! A line of the log says which they were, the number of their last line and its hash, so that a reader can tell them from
//! files that somebody else removed.

use std::io::{BufRead as _, BufReader, Read as _};

use brattice_protocol::audit::{Event, FileNumber, Head, Header};

use super::error::AuditError;
use super::folder::LogFolder;

/// Longer than any line that a daemon writes.
const MAX_LINE: u64 = 16 << 20;

/// Files that are to be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Outdated {
    /// The oldest ones.
    pub(super) files: Vec<FileNumber>,
    /// The last line in them.
    end: Head,
}

impl Outdated {
    /// The files before `current` that have no room in `kept` bytes; `head` is the end of the chain in them. None if all
    /// have.
    pub(super) fn find(
        folder: &LogFolder,
        kept: u64,
        current: FileNumber,
        head: Head,
    ) -> Result<Option<Outdated>, AuditError> {
        let mut files = folder.files()?;
        files.retain(|file| *file < current);
        let mut total = 0;
        let mut count = 0;
        for (newer, file) in files.iter().rev().enumerate() {
            total += size(folder, *file)?;
            if total > kept {
                count = files.len() - newer;
                break;
            }
        }
        if count == 0 {
            return Ok(None);
        }
        // Where the removed files end is known from the first line that is left. A file without one goes, too.
        let mut end = head;
        while let Some(file) = files.get(count) {
            if let Some(before) = before_first_line(folder, *file)? {
                end = before;
                break;
            }
            count += 1;
        }
        files.truncate(count);
        Ok(Some(Outdated { files, end }))
    }

    /// What the log says of it.
    pub(super) fn event(&self) -> Event {
        let Head { seq, sha256 } = self.end;
        Event::Pruned { files: self.files.clone(), through: seq, sha256 }
    }
}

fn size(folder: &LogFolder, file: FileNumber) -> Result<u64, AuditError> {
    let path = folder.path_of(file);
    match path.symlink_metadata() {
        Ok(found) => Ok(found.len()),
        Err(source) => Err(AuditError::Look { path, source }),
    }
}

/// The end of the chain before a file; none if the file does not begin with a line.
fn before_first_line(folder: &LogFolder, file: FileNumber) -> Result<Option<Head>, AuditError> {
    let mut line = Vec::new();
    BufReader::new(folder.open_to_read(file)?.take(MAX_LINE))
        .read_until(b'\n', &mut line)
        .map_err(|source| AuditError::Read { path: folder.path_of(file), source })?;
    let header: Option<Header> =
        serde_json::from_slice(&line).ok().filter(|_| line.ends_with(b"\n"));
    Ok(header
        .and_then(|header| Some(Head { seq: header.seq.checked_sub(1)?, sha256: header.prev })))
}
