//! `events.watch`, on the control socket: what happens in the daemon, told as it is written into the audit log.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::SessionId;

/// The notification that tells one event.
pub const NOTIFICATION: &str = "event";

/// Names of events that one `events.watch` may list.
pub const MAX_NAMES: usize = 64;

/// Parameters of `events.watch`. A connection watches once.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WatchParams {
    /// Only events of these names, such as `denial` or `task_finished`; all unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<Vec<String>>,
    /// Only events of this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionId>,
    /// From after the line of this number on; what happens from now on unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
}

/// The result of `events.watch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watching {
    /// Lines of the log after the one of this number are told; 0 before there is one.
    pub after: u64,
}

/// Parameters of the notification `event`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EventNotice {
    /// The line of the log, as `audit.tail` tells it: an event beyond 64 KiB by its header and its length.
    pub event: Value,
    /// Lines of the log that were passed over since the notification before, because this client reads too slowly. Which
    /// of them it had asked for is not known; the log has them.
    #[serde(default)]
    pub skipped: u64,
}
