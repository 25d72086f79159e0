//! Default limits of sessions and commands.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Limits that hold for every session of a daemon.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Between SIGTERM and SIGKILL for processes that a foreground call left running.
    pub leftover_grace: Duration,
    /// Of a command that a call waits for and names no limit for. A toolset may have its own, here and in the next two.
    pub timeout: Duration,
    /// The longest limit that such a call gets.
    pub max_timeout: Duration,
    /// Between SIGTERM and SIGKILL for a command that is stopped.
    pub kill_grace: Duration,
    /// `RLIMIT_NOFILE` of a command.
    pub open_files: u64,
    /// Bytes of memory of a command; what outgrows it is ended. Where its control group does not have the controller: of each of
    /// its processes, to which more is refused; but for the default, which is a group's alone.
    pub memory: Option<u64>,
    /// Processes and threads of a command; one more is refused to it. Where its control group has the controller.
    pub pids: Option<u64>,
    /// CPU time of a command in percent of one processor. Where its control group has the controller.
    pub cpu: Option<u32>,
    /// Running tasks of one session; the next one is refused.
    pub max_tasks: usize,
    /// Bytes kept of a stream of a task: half head, half tail.
    pub spool: u64,
    /// Sessions of one daemon.
    pub max_sessions: usize,
    /// Longest command text in bytes.
    pub max_command: usize,
    /// How long a session without a client, and a supervisor without a daemon, keeps its tasks.
    pub detached_ttl: Duration,
    /// How long a person has to answer what is asked.
    #[serde(default)]
    pub approval_ttl: Duration,
    /// What becomes of processes that a foreground call leaves running.
    pub leftovers: LeftoverRule,
    /// Bytes on disk of all tasks of all sessions; finished ones go first, the oldest of them first.
    pub state: u64,
}

/// What becomes of processes that a foreground call leaves running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LeftoverRule {
    /// They become a background task, where the session has the tools for those.
    #[default]
    Adopt,
    /// They are stopped.
    Stop,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            leftover_grace: Duration::from_secs(2),
            timeout: Duration::from_secs(120),
            max_timeout: Duration::from_secs(600),
            kill_grace: Duration::from_secs(5),
            open_files: 4096,
            memory: Some(8 << 30),
            pids: Some(1024),
            cpu: None,
            max_tasks: 64,
            spool: 64 << 20,
            max_sessions: 64,
            max_command: 1 << 20,
            detached_ttl: Duration::from_secs(3600),
            approval_ttl: Duration::from_secs(600),
            leftovers: LeftoverRule::default(),
            state: 4 << 30,
        }
    }
}
