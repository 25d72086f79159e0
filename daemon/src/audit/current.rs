//! The file that is written to: whether it is still what it was, and all-or-nothing writes to its end.
//!
//! It is looked at by its path before each write, since lines written to a file that somebody removed would be written
//! nowhere.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use brattice_protocol::audit::{Change, FileNumber, Head};

use super::error::AuditError;
use super::folder::LogFolder;

/// The file.
#[derive(Debug)]
pub(super) struct Current {
    number: FileNumber,
    path: PathBuf,
    file: File,
    /// Device and inode.
    identity: (u64, u64),
    /// Whole lines only.
    size: u64,
    head: Head,
    excess: Excess,
}

/// What a write that failed left after the last line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Excess {
    None,
    /// A part of a line, which could not be taken back at once.
    Part,
}

impl Current {
    /// A file that was just opened, all of it whole lines that end in `head`.
    pub(super) fn new(
        folder: &LogFolder,
        number: FileNumber,
        file: File,
        head: Head,
    ) -> Result<Self, AuditError> {
        let path = folder.path_of(number);
        match file.metadata() {
            Ok(found) => {
                let (identity, size) = ((found.dev(), found.ino()), found.len());
                Ok(Current { number, path, file, identity, size, head, excess: Excess::None })
            }
            Err(source) => Err(AuditError::Look { path, source }),
        }
    }

    /// Its number.
    pub(super) fn number(&self) -> FileNumber {
        self.number
    }

    /// Its size in bytes.
    pub(super) fn size(&self) -> u64 {
        self.size
    }

    /// The end of the chain.
    pub(super) fn head(&self) -> Head {
        self.head
    }

    /// What somebody did to it since the last write, if anybody did anything. A part of a line that is left of a failed write
    /// is taken back first.
    pub(super) fn change(&mut self) -> Result<Option<Change>, AuditError> {
        self.trim()?;
        match self.path.symlink_metadata() {
            Ok(found) if (found.dev(), found.ino()) != self.identity => Ok(Some(Change::Replaced)),
            Ok(found) if found.len() != self.size => Ok(Some(Change::Resized)),
            Ok(_) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Some(Change::Removed)),
            Err(source) => Err(AuditError::Look { path: self.path.clone(), source }),
        }
    }

    /// Appends lines, after which the chain ends in `head`: all of them or nothing.
    pub(super) fn append(&mut self, lines: &[u8], head: Head) -> Result<(), AuditError> {
        if let Err(source) = self.file.write_all(lines) {
            self.excess = Excess::Part;
            // Where it cannot be taken back now it is with the next attempt, which then tells why not.
            if let Err(error) = self.trim() {
                tracing::debug!(error = %crate::fault::chain(&error), "a part of a line is left");
            }
            return Err(AuditError::Write { path: self.path.clone(), source });
        }
        self.size += lines.len() as u64;
        self.head = head;
        Ok(())
    }

    fn trim(&mut self) -> Result<(), AuditError> {
        if self.excess == Excess::Part {
            self.file
                .set_len(self.size)
                .map_err(|source| AuditError::Trim { path: self.path.clone(), source })?;
            self.excess = Excess::None;
        }
        Ok(())
    }
}
