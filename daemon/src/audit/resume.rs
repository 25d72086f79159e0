//! Where a daemon goes on: the end of the chain that the one before it left, and what that one did not finish.
//!
//! A file that ends within a line is left as it is, for nobody but the one who wrote a line may take it back. The next
//! file's first line accounts for the part. What somebody made of the last lines, so that they are none, is told likewise,
//! and the chain goes on from the last line that is one.

use std::fs::File;
use std::io;

use brattice_protocol::audit::{Change, Digest, Event, FileNumber, Head, Header, TornTail};

use super::backwards::{Backwards, Found};
use super::error::AuditError;
use super::folder::LogFolder;

/// A log that can be written.
#[derive(Debug)]
pub(super) struct Resumed {
    /// The file to go on with.
    pub(super) number: FileNumber,
    /// The same, open.
    pub(super) file: File,
    /// The end of the chain.
    pub(super) head: Head,
    /// What the next lines must tell, in this order.
    pub(super) about: Vec<Event>,
}

/// Opens the log of a state folder, or begins one.
pub(super) fn resume(folder: &LogFolder) -> Result<Resumed, AuditError> {
    folder.make()?;
    let files = folder.files()?;
    let Past { head, tails, damaged, is_last_empty } = Past::of(folder, &files)?;
    let mut about = Vec::new();
    if !tails.is_empty() {
        tracing::warn!(files = tails.len(), "the audit log ended within a line");
        about.push(Event::Recovered { tails });
    }
    if let Some(file) = damaged {
        tracing::error!(%file, "the audit log ends in something that is no line");
        about.push(Event::LogChanged { file, found: Change::Damaged });
    }
    let (number, file) = match files.last() {
        Some(last) if about.is_empty() || is_last_empty => (*last, folder.open_to_append(*last)?),
        last => {
            let number = last.map_or(FileNumber::FIRST, |last| last.next());
            (number, folder.create(number)?)
        }
    };
    Ok(Resumed { number, file, head, about })
}

/// What the files hold that matters to whoever goes on.
#[derive(Debug)]
struct Past {
    head: Head,
    /// Parts of lines after the last line, in the order of the files.
    tails: Vec<TornTail>,
    /// The last file that ends in lines that are none.
    damaged: Option<FileNumber>,
    is_last_empty: bool,
}

impl Past {
    /// Looks back from the last file to the last line.
    fn of(folder: &LogFolder, files: &[FileNumber]) -> Result<Past, AuditError> {
        let mut past =
            Past { head: Head::START, tails: Vec::new(), damaged: None, is_last_empty: false };
        for file in files.iter().rev() {
            let open = folder.open_to_read(*file)?;
            let end = End::of(*file, open)
                .map_err(|source| AuditError::Read { path: folder.path_of(*file), source })?;
            past.is_last_empty |= Some(file) == files.last() && end.is_empty();
            past.tails.extend(end.tail);
            if end.is_damaged {
                past.damaged = past.damaged.or(Some(*file));
            }
            if let Some(head) = end.head {
                past.head = head;
                break;
            }
        }
        past.tails.reverse();
        Ok(past)
    }
}

/// The end of one file.
#[derive(Debug)]
struct End {
    head: Option<Head>,
    tail: Option<TornTail>,
    /// Whether whole lines after the last line of a log are none.
    is_damaged: bool,
}

impl End {
    fn of(number: FileNumber, file: File) -> io::Result<End> {
        let (mut lines, rest) = Backwards::new(file)?;
        let tail =
            rest.map(|rest| TornTail { file: number, bytes: rest.bytes, sha256: rest.sha256 });
        let mut end = End { head: None, tail, is_damaged: false };
        while let Some(found) = lines.previous()? {
            end.head = head_of(&found);
            if end.head.is_some() {
                break;
            }
            end.is_damaged = true;
        }
        Ok(end)
    }

    fn is_empty(&self) -> bool {
        self.head.is_none() && self.tail.is_none() && !self.is_damaged
    }
}

fn head_of(found: &Found) -> Option<Head> {
    let Found::Line(line) = found else {
        return None;
    };
    let header: Header = serde_json::from_slice(line).ok()?;
    Some(Head { seq: header.seq, sha256: Digest::of(line) })
}
