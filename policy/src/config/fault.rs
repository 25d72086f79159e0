//! What is wrong with a configuration's text, and where.

use std::fmt;
use std::ops::Range;

/// Why a text is no configuration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// It is no TOML, or holds a key or a value that is not known.
    #[error("{at}: {message}")]
    Text {
        /// Where.
        at: Position,
        /// What stands there and what was expected.
        message: String,
    },
    /// A user's file bounds what only the operator bounds.
    #[error("{at}: [ceiling] belongs into the operator's file")]
    UsersCeiling {
        /// Where.
        at: Position,
    },
}

/// A place in a text, both counted from 1; columns are characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character of the line.
    pub column: usize,
}

impl Position {
    /// Where a range of bytes begins; the beginning of the text where nobody knows.
    pub(super) fn of(text: &str, bytes: Option<Range<usize>>) -> Self {
        let start = bytes.map_or(0, |range| range.start).min(text.len());
        let before = text.get(..start).unwrap_or_default();
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        Position {
            line: before.bytes().filter(|byte| *byte == b'\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}
