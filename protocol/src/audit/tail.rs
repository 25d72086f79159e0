//! `audit.tail`, on the control socket: the newest lines of the log, and those that come.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Head;

/// Lines that are told unless more are asked for.
pub const DEFAULT_LINES: usize = 10;

/// Most lines of one answer.
pub const MAX_LINES: usize = 1_000;

/// Parameters of `audit.tail`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TailParams {
    /// At most so many lines: 1 to [`MAX_LINES`]; [`DEFAULT_LINES`] unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<usize>,
    /// Only lines after the one of this number, the oldest of them first. Unless given, the newest lines are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
    /// How long to wait for a line after `after`; 0 unless given, 60,000 at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_ms: Option<u64>,
}

/// The result of `audit.tail`: at most 256 KiB of lines, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tail {
    /// The lines; each is a [`super::Line`], or an event that only a newer version knows. A line beyond 64 KiB is told by
    /// its [`super::Header`] and `cut`, its length in bytes; the log's file has it whole.
    pub lines: Vec<Value>,
    /// Lines after `after` that are too old to be told by this method.
    #[serde(default)]
    pub skipped: u64,
    /// The newest line; absent before the log could be opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Head>,
    /// Why the log cannot be written just now; commands are refused meanwhile. Absent where it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<String>,
    /// Events that could not be written so far; the log will tell their number once it can be written again.
    #[serde(default)]
    pub lost: u64,
}
