//! Which lines a read shows, and how much of them.

use crate::text::Selection;
use serde::{Deserialize, Serialize};

/// Lines that a window by offset has by default and at most.
pub const LIMIT: u64 = 2000;
/// Characters that are shown of one line.
pub const LINE_CHARACTERS: usize = 2000;
/// Bytes that are shown of a selection, each line with one for its end.
pub const SELECTION_BYTES: usize = 51_200;

/// Lines from 1, the first and the last included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Window {
    first: u64,
    last: u64,
}

/// Numbers that are no window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WindowFault {
    /// Lines are counted from 1.
    #[error("offset: expected a line from 1, got 0")]
    Offset,
    /// No lines, or too many.
    #[error("limit: expected 1 to {LIMIT}, got {0}")]
    Limit(u64),
    /// It ends before it begins.
    #[error("end: expected {start} or more, got {end}")]
    Backwards {
        /// The first line.
        start: u64,
        /// The last line.
        end: u64,
    },
}

impl Window {
    /// `limit` lines from the line `offset` on.
    ///
    /// # Errors
    /// An offset of 0; a limit of 0 or above [`LIMIT`].
    pub fn lines(offset: u64, limit: u64) -> Result<Self, WindowFault> {
        match (offset, limit) {
            (0, _) => Err(WindowFault::Offset),
            (_, 1..=LIMIT) => Ok(Window { first: offset, last: offset.saturating_add(limit - 1) }),
            _ => Err(WindowFault::Limit(limit)),
        }
    }

    /// From a line to a line, both included; 0 is the file's first or last.
    ///
    /// # Errors
    /// An end before the start.
    pub fn range(start: u64, end: u64) -> Result<Self, WindowFault> {
        let window = Window { first: start.max(1), last: if end == 0 { u64::MAX } else { end } };
        if window.last < window.first {
            return Err(WindowFault::Backwards { start, end });
        }
        Ok(window)
    }

    /// The first line.
    #[must_use]
    pub fn first(self) -> u64 {
        self.first
    }

    /// The last line.
    #[must_use]
    pub fn last(self) -> u64 {
        self.last
    }

    pub(crate) fn selection(self, caps: Caps) -> Selection {
        Selection {
            first: self.first,
            last: self.last,
            line_characters: caps.line_characters,
            bytes: caps.bytes,
        }
    }
}

/// How much is shown at most; it bounds the memory of a read as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    /// Characters of a line.
    pub line_characters: usize,
    /// Bytes of all lines.
    pub bytes: usize,
}

impl Default for Caps {
    fn default() -> Self {
        Caps { line_characters: LINE_CHARACTERS, bytes: SELECTION_BYTES }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_are_checked() {
        assert_eq!(Window::lines(0, 5), Err(WindowFault::Offset));
        assert_eq!(Window::lines(1, 0), Err(WindowFault::Limit(0)));
        assert_eq!(Window::lines(1, 2001), Err(WindowFault::Limit(2001)));
        assert_eq!(Window::lines(3, 2), Ok(Window { first: 3, last: 4 }));
        assert_eq!(Window::range(0, 0), Ok(Window { first: 1, last: u64::MAX }));
        assert_eq!(Window::range(4, 3), Err(WindowFault::Backwards { start: 4, end: 3 }));
        assert_eq!(Window::range(0, 3), Ok(Window { first: 1, last: 3 }));
        assert_eq!(WindowFault::Limit(2001).to_string(), "limit: expected 1 to 2000, got 2001");
    }
}
