//! Appends lines: puts them together, sees to a file that they can go to, and begins a new file where the old one is full or
//! no longer what it was.

use brattice_protocol::audit::{Event, FileNumber, Head};

use super::current::Current;
use super::error::AuditError;
use super::folder::LogFolder;
use super::resume::{Resumed, resume};
use super::retention::Outdated;
use crate::fault::chain;

/// A buffer that a long line made larger than this is given back.
const KEPT_BUFFER: usize = 64 << 10;

/// How large a log becomes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// A file that has reached this many bytes is not written to any more.
    pub(super) file: u64,
    /// Bytes of all files but the one that is written to.
    pub(super) kept: u64,
}

impl Bounds {
    /// Files of 16 MiB, 256 MiB in all.
    pub(super) const DEFAULT: Bounds = Bounds { file: 16 << 20, kept: 240 << 20 };
}

/// Writes the log.
#[derive(Debug)]
pub(super) struct Writer {
    files: Files,
    current: Option<Current>,
    lines: Vec<u8>,
}

/// What is to be done about the files, and told of them.
#[derive(Debug)]
struct Files {
    folder: LogFolder,
    bounds: Bounds,
    /// What the next lines must tell.
    about: Vec<Event>,
    /// Those that are removed once a line has said so.
    outdated: Vec<FileNumber>,
}

impl Writer {
    /// A writer that has not opened anything.
    pub(super) fn new(folder: LogFolder, bounds: Bounds) -> Self {
        let files = Files { folder, bounds, about: Vec::new(), outdated: Vec::new() };
        Writer { files, current: None, lines: Vec::new() }
    }

    /// The end of the chain; none before it was opened.
    pub(super) fn head(&self) -> Option<Head> {
        self.current.as_ref().map(Current::head)
    }

    /// Opens the log, unless that was done.
    pub(super) fn prepare(&mut self) -> Result<(), AuditError> {
        self.files.usable(&mut self.current).map(|_| ())
    }

    /// Appends an event, after the lines for what was lost and what must be told of the files: all of them or none.
    pub(super) fn write(
        &mut self,
        gap: Option<&Event>,
        event: &Event,
        now: u64,
    ) -> Result<Head, AuditError> {
        let current = self.files.usable(&mut self.current)?;
        let mut head = current.head();
        self.lines.clear();
        for event in self.files.about.iter().chain(gap).chain([event]) {
            head = head.append(&mut self.lines, now, event).map_err(AuditError::Encode)?;
        }
        let written = current.append(&self.lines, head);
        if self.lines.capacity() > KEPT_BUFFER {
            self.lines = Vec::new();
        }
        written?;
        self.files.settle();
        Ok(head)
    }
}

impl Files {
    /// The file that lines can be appended to.
    fn usable<'a>(&mut self, slot: &'a mut Option<Current>) -> Result<&'a mut Current, AuditError> {
        let current = match slot {
            Some(current) => current,
            None => slot.insert(self.open()?),
        };
        if let Some(found) = current.change()? {
            let file = current.number();
            tracing::error!(%file, ?found, "somebody else changed the audit log");
            *current = self.begin_after(current)?;
            self.about.push(Event::LogChanged { file, found });
        } else if current.size() >= self.bounds.file {
            *current = self.begin_after(current)?;
            self.look_for_outdated(current);
        }
        Ok(current)
    }

    fn open(&mut self) -> Result<Current, AuditError> {
        let Resumed { number, file, head, about } = resume(&self.folder)?;
        self.about = about;
        Current::new(&self.folder, number, file, head)
    }

    /// A new file, in which the chain goes on. The folder may have been taken away.
    fn begin_after(&self, current: &Current) -> Result<Current, AuditError> {
        self.folder.make()?;
        let last = self.folder.files()?.last().copied();
        let number = last.max(Some(current.number())).unwrap_or(current.number()).next();
        let file = self.folder.create(number)?;
        Current::new(&self.folder, number, file, current.head())
    }

    fn look_for_outdated(&mut self, current: &Current) {
        let (kept, number, head) = (self.bounds.kept, current.number(), current.head());
        match Outdated::find(&self.folder, kept, number, head) {
            Ok(None) => {}
            Ok(Some(outdated)) => {
                self.about.push(outdated.event());
                self.outdated = outdated.files;
            }
            Err(error) => {
                tracing::warn!(error = %chain(&error), "old files of the audit log are left");
            }
        }
    }

    /// The lines about the files are written: what they say can be done.
    fn settle(&mut self) {
        self.about.clear();
        for file in self.outdated.drain(..) {
            if let Err(error) = self.folder.remove(file) {
                tracing::warn!(%file, %error, "an old file of the audit log is left");
            }
        }
    }
}
