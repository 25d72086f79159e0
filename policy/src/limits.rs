//! Default limits of sessions and commands.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Limits that hold for every session of a daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Between SIGTERM and SIGKILL for processes that a foreground call left running.
    pub leftover_grace: Duration,
    /// `RLIMIT_NOFILE` of a command.
    pub open_files: u64,
    /// Running tasks of one session; the next one is refused.
    pub max_tasks: usize,
    /// Bytes kept of a stream of a task: half head, half tail.
    pub spool: u64,
    /// Sessions of one daemon.
    pub max_sessions: usize,
    /// Longest command text in bytes.
    pub max_command: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            leftover_grace: Duration::from_secs(2),
            open_files: 4096,
            max_tasks: 64,
            spool: 64 << 20,
            max_sessions: 64,
            max_command: 1 << 20,
        }
    }
}
