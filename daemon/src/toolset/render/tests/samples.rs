//! What tests of texts are made of: an end, and a spool that is read as the real one is.

use std::path::PathBuf;
use std::time::Duration;

use brattice_policy::Mode;
use brattice_protocol::outcome::Cause;

use super::stream::Span;
use crate::exec::spec::{Chunk, StreamEnd, TaskEnd};

/// A task that exited with 0, and printed nothing.
pub(super) fn end() -> TaskEnd {
    TaskEnd {
        cause: Cause::Exited,
        exit_code: Some(0),
        signal: None,
        reason: None,
        duration: Duration::from_millis(7),
        user: Duration::from_millis(2),
        sys: Duration::from_millis(1),
        max_rss: 4096,
        stdout: StreamEnd::default(),
        stderr: Some(StreamEnd::default()),
        leftovers: None,
        unkillable: Vec::new(),
        denials: None,
        git_changes: Vec::new(),
        mode: Mode::WorkspaceWrite,
        layers: Default::default(),
    }
}

/// A task that ended for this cause, with this code and signal.
pub(super) fn ended(cause: Cause, exit_code: Option<i32>, signal: Option<i32>) -> TaskEnd {
    TaskEnd { cause, exit_code, signal, ..end() }
}

/// The same, with the reason.
pub(super) fn because(end: TaskEnd, reason: &str) -> TaskEnd {
    TaskEnd { reason: Some(reason.to_owned()), ..end }
}

/// A stream as it is kept: its bytes, and the ranges of them that are not there.
#[derive(Clone, Debug, Default)]
pub(super) struct Spool {
    pub(super) data: Vec<u8>,
    pub(super) holes: Vec<(u64, u64)>,
    pub(super) file: Option<PathBuf>,
}

impl Spool {
    pub(super) fn of(data: impl Into<Vec<u8>>) -> Self {
        Spool { data: data.into(), ..Spool::default() }
    }

    fn hole_at(&self, offset: u64) -> Option<u64> {
        let hole = self.holes.iter().find(|(from, to)| (*from..*to).contains(&offset));
        hole.map(|(_, to)| *to)
    }

    /// One read, as `SpoolReader` does it.
    fn read(&self, offset: u64, end: u64) -> Chunk {
        let mut from = offset;
        while let Some(to) = self.hole_at(from).filter(|_| from < end) {
            from = to.min(end);
        }
        let mut to = from;
        while to < end && self.hole_at(to).is_none() {
            to += 1;
        }
        let data = self.data[from as usize..to as usize].to_vec();
        Chunk { data, offset: from, skipped: from - offset }
    }

    /// All of a span, chunk after chunk.
    pub(super) fn chunks(&self, span: Span) -> Vec<Chunk> {
        let mut chunks = Vec::new();
        let mut at = span.offset;
        while at < span.end {
            let chunk = self.read(at, span.end);
            at = chunk.offset + chunk.data.len() as u64;
            chunks.push(chunk);
        }
        chunks
    }
}
