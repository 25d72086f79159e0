//! Lines of the log for whoever asks, read from the files: what is told is what is there.
//!
//! An answer is bounded in lines and bytes, and so is what is read for it. A line that is too long to be told is told by
//! its header; what is no line is left out, for telling changes is `audit verify`'s part.

use std::io;

use brattice_protocol::audit::{Header, MAX_LINES};
use serde_json::{Value, json};

use super::backwards::{Backwards, Found};
use super::error::AuditError;
use super::folder::LogFolder;

/// Most bytes of all lines: what a result may carry inline.
const MAX_TOLD: usize = 256 << 10;

/// A longer line is told by its header.
const MAX_WHOLE: usize = 64 << 10;

/// Which lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The newest, at most so many.
    Newest {
        /// How many.
        lines: usize,
    },
    /// Those after a number, the oldest of them, at most so many.
    After {
        /// The number.
        seq: u64,
        /// How many.
        lines: usize,
    },
}

/// Lines, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Told {
    /// The lines.
    pub(crate) lines: Vec<Value>,
    /// Lines after the number that was named which are too old to be told.
    pub(crate) skipped: u64,
}

/// Reads the lines.
pub(super) fn tell(folder: &LogFolder, wanted: Wanted) -> Result<Told, AuditError> {
    let mut newest = Newest { wanted, lines: Vec::new(), bytes: 0 };
    for file in folder.files()?.into_iter().rev() {
        let open = match folder.open_to_read(file) {
            // It was removed for its age since the folder was read.
            Err(AuditError::Open { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                continue;
            }
            opened => opened?,
        };
        let read = |source| AuditError::Read { path: folder.path_of(file), source };
        let (mut lines, _rest) = Backwards::new(open).map_err(read)?;
        while let Some(found) = lines.previous().map_err(read)? {
            if newest.take(&found) == Wish::Enough {
                return Ok(newest.told());
            }
        }
    }
    Ok(newest.told())
}

/// Lines from the newest back.
#[derive(Debug)]
struct Newest {
    wanted: Wanted,
    lines: Vec<(u64, Value)>,
    bytes: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    More,
    Enough,
}

impl Newest {
    fn take(&mut self, found: &Found) -> Wish {
        let Found::Line(line) = found else {
            return Wish::More;
        };
        let Ok(header) = serde_json::from_slice::<Header>(line) else {
            return Wish::More;
        };
        let most = match self.wanted {
            Wanted::Newest { lines } => lines,
            Wanted::After { seq, .. } if header.seq <= seq => return Wish::Enough,
            Wanted::After { .. } => MAX_LINES,
        };
        let whole = if line.len() <= MAX_WHOLE { serde_json::from_slice(line).ok() } else { None };
        let bytes = if whole.is_some() { line.len() } else { 0 };
        if self.bytes + bytes > MAX_TOLD {
            return Wish::Enough;
        }
        self.bytes += bytes;
        let seq = header.seq;
        self.lines.push((seq, whole.unwrap_or_else(|| by_header(&header, line.len()))));
        if self.lines.len() >= most { Wish::Enough } else { Wish::More }
    }

    fn told(mut self) -> Told {
        self.lines.reverse();
        let skipped = match (self.wanted, self.lines.first()) {
            (Wanted::After { seq, .. }, Some((first, _))) => first.saturating_sub(seq + 1),
            _ => 0,
        };
        if let Wanted::After { lines, .. } = self.wanted {
            self.lines.truncate(lines);
        }
        Told { lines: self.lines.into_iter().map(|(_, line)| line).collect(), skipped }
    }
}

fn by_header(header: &Header, bytes: usize) -> Value {
    let Header { seq, time, prev, event } = header;
    json!({"seq": seq, "time": time, "prev": prev, "event": event, "cut": bytes})
}
