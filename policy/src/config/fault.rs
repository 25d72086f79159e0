//! What is wrong with a configuration's text, and where.

use std::fmt;
use std::ops::Range;

/// A fault and its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {kind}")]
pub struct Fault {
    /// Where it is.
    pub at: Position,
    /// What it is.
    pub kind: FaultKind,
}

/// What is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultKind {
    /// It is no TOML.
    #[error("{0}")]
    Syntax(String),
    /// A key that nothing reads.
    #[error("unknown key {key:?} in {section}: expected one of {known}")]
    UnknownKey {
        /// The key.
        key: String,
        /// Where it stands.
        section: String,
        /// The keys there are.
        known: String,
    },
    /// A value that its key does not take.
    #[error("{key}: expected {expected}, got {came}")]
    Value {
        /// The key with its section.
        key: String,
        /// What it takes.
        expected: String,
        /// What stands there.
        came: String,
    },
    /// A key that must be there is not.
    #[error("{section}: the key {key:?} is missing: expected {expected}")]
    Missing {
        /// The key.
        key: &'static str,
        /// Where it should stand.
        section: String,
        /// What it takes.
        expected: &'static str,
    },
    /// A user's file bounds what only the operator bounds.
    #[error("[ceiling] belongs into the operator's file, /etc/brattice/config.toml")]
    UsersCeiling,
    /// An example of a rule is another case than it says.
    #[error("{list}: {example:?} {finding} {argv}")]
    Example {
        /// The key that holds it.
        list: &'static str,
        /// The command line.
        example: String,
        /// What was found of it.
        finding: &'static str,
        /// The rule's words.
        argv: String,
    },
}

/// A place in a text, both counted from 1; columns are characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character of the line.
    pub column: usize,
}

/// All that is wrong with a text, in the order of the text; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// The faults, unless there are none.
    pub(super) fn of(mut faults: Vec<Fault>) -> Result<(), Faults> {
        faults.sort_by_key(|fault| fault.at);
        if faults.is_empty() { Ok(()) } else { Err(Faults(faults)) }
    }

    /// Each of them.
    pub fn iter(&self) -> impl Iterator<Item = &Fault> {
        self.0.iter()
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, fault) in self.0.iter().enumerate() {
            if number > 0 {
                f.write_str("; ")?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}

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
