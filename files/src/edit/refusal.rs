//! Why an edit cannot be applied.

use super::MOST_PLACES;
use super::hint::Hint;
use serde::{Deserialize, Serialize};

/// One edit that cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("edit {}: {reason}", edit + 1)]
pub struct Refusal {
    /// Which one, from 0.
    pub edit: usize,
    /// Why.
    pub reason: Reason,
}

/// The reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum Reason {
    /// Nothing cannot be found. A file is made or replaced whole by writing it.
    #[error("the old text must not be empty; to create or replace a file, write it")]
    Empty,
    /// Nothing would change. Line ends alone are no difference.
    #[error("nothing to change: old and new text are the same")]
    Identical,
    /// It occurs nowhere.
    #[error("the old text was not found{}", .hint.as_ref().map(|hint| format!("; {hint}")).unwrap_or_default())]
    NotFound {
        /// What looks alike, if anything does.
        hint: Option<Hint>,
    },
    /// It occurs more than once.
    #[error("the old text occurs {places}; add lines around it, or replace all")]
    Ambiguous {
        /// Where.
        places: Places,
    },
    /// Two edits of one call want the same characters.
    #[error("overlaps edit {} in line {line}", .other + 1)]
    Overlap {
        /// The other one, from 0.
        other: usize,
        /// Where the later one begins.
        line: u64,
    },
    /// An earlier edit of the call has the same old text.
    #[error("has the same old text as edit {}", .first + 1)]
    Repeated {
        /// The earlier one, from 0.
        first: usize,
    },
    /// More places than one call may replace.
    #[error("the old text occurs more than {MOST_PLACES} times")]
    TooMany,
}

/// Where a text occurs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Places {
    /// Lines in which it begins, the first ten.
    pub lines: Vec<u64>,
    /// How often it was found, overlaps included.
    pub count: usize,
    /// Whether that is all.
    pub counted: Counted,
}

/// How far a count went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Counted {
    /// To the end.
    All,
    /// Until it was enough.
    AtLeast,
}

impl std::fmt::Display for Places {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.counted == Counted::AtLeast {
            f.write_str("at least ")?;
        }
        let lines: Vec<String> = self.lines.iter().map(u64::to_string).collect();
        let more = if self.lines.len() < self.count { ", …" } else { "" };
        write!(f, "{} times (lines {}{more})", self.count, lines.join(", "))
    }
}

/// All of them, a line each.
pub(super) fn listed(refusals: &[Refusal]) -> String {
    refusals.iter().map(Refusal::to_string).collect::<Vec<_>>().join("\n")
}
