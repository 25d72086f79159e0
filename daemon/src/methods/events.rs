//! `events.watch`, on the control socket only: what happens, told to whoever watches.
//!
//! ```text
//! anything ──► audit log ──a line was written──► one task a watcher ──notification──► its bounded queue
//! ```
//!
//! What is told is read from the log, so that nothing is kept for a watcher: one that reads slowly is behind, and one that is
//! too far behind passes lines over and is told how many. What could not be written into the log is not told either; the
//! log's own line says how much that was.

use std::sync::Arc;
use std::time::Duration;

use brattice_protocol::audit::MAX_LINES;
use brattice_protocol::events::{EventNotice, MAX_NAMES, NOTIFICATION, WatchParams, Watching};
use brattice_protocol::{ErrorCode, RpcError, SessionId};
use serde_json::Value;

use super::Methods;
use crate::audit::{Audit, Told, Wanted};
use crate::fault::chain;
use crate::server::{Connection, Delivery};

/// How often a watcher without news is asked whether it is still there.
const LOOK: Duration = Duration::from_secs(5);

/// How long a watcher whose queue is full is left alone.
const PAUSE: Duration = Duration::from_millis(50);

/// Which events are told.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Filter {
    events: Option<Vec<String>>,
    session: Option<SessionId>,
}

impl Filter {
    fn takes(&self, line: &Value) -> bool {
        let field = |name: &str| line.get(name).and_then(Value::as_str);
        let is_named = |names: &Vec<String>| {
            field("event").is_some_and(|event| names.iter().any(|name| name == event))
        };
        self.events.as_ref().is_none_or(is_named)
            && self.session.as_ref().is_none_or(|id| field("session") == Some(id.as_str()))
    }
}

impl Methods {
    pub(super) fn events_watch(
        &self,
        from: &Arc<Connection>,
        params: WatchParams,
    ) -> Result<Watching, RpcError> {
        let WatchParams { events, session, after } = params;
        let names = events.as_ref().map_or(1, Vec::len);
        if !(1..=MAX_NAMES).contains(&names) {
            let text = format!("params.events: expected 1 to {MAX_NAMES} names, got {names}");
            return Err(RpcError::new(ErrorCode::Invalid, text));
        }
        if !self.watchers.insert(from.id()) {
            let text = "this connection watches events already";
            return Err(RpcError::new(ErrorCode::Refused, text));
        }
        let head = self.audit.standing().head.map_or(0, |head| head.seq);
        let after = after.unwrap_or(head);
        let filter = Filter { events, session };
        tokio::spawn(watch(self.audit.clone(), from.clone(), filter, after));
        // It may have gone meanwhile, after its end was heard.
        if !from.is_open() {
            self.watchers.remove(&from.id());
        }
        Ok(Watching { after })
    }
}

/// Tells lines after that number, for as long as the watcher is there.
async fn watch(audit: Arc<Audit>, client: Arc<Connection>, filter: Filter, mut after: u64) {
    let mut written = audit.written();
    let mut skipped = 0;
    while client.is_open() {
        match tokio::time::timeout(LOOK, written.wait_for(|last| *last > after)).await {
            Ok(Ok(_)) => {}
            Ok(Err(_)) => return,
            Err(_) => continue,
        }
        let lines = read(&audit, after).await;
        let Some(Told { lines, skipped: missed }) = lines.filter(|told| !told.lines.is_empty())
        else {
            // Nothing that could be read: a file system that fails is not asked without a pause.
            tokio::time::sleep(LOOK).await;
            continue;
        };
        skipped += missed;
        for line in lines {
            after = line.get("seq").and_then(Value::as_u64).unwrap_or(after);
            if filter.takes(&line) {
                tell(&client, &EventNotice { event: line, skipped }).await;
                skipped = 0;
            }
        }
    }
}

async fn read(audit: &Arc<Audit>, seq: u64) -> Option<Told> {
    let audit = audit.clone();
    let wanted = Wanted::After { seq, lines: MAX_LINES };
    match tokio::task::spawn_blocking(move || audit.tail(wanted)).await {
        Ok(Ok(told)) => Some(told),
        Ok(Err(error)) => {
            tracing::warn!(error = %chain(&error), "events cannot be told to whoever watches");
            None
        }
        Err(error) => {
            tracing::warn!(%error, "events cannot be told to whoever watches");
            None
        }
    }
}

/// Queues one event; where the queue is full, once the client has read some of it.
async fn tell(client: &Connection, notice: &EventNotice) {
    while client.notify(NOTIFICATION, notice) == Delivery::Dropped && client.is_open() {
        tokio::time::sleep(PAUSE).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_was_asked_for_is_told() {
        let denial = json!({"seq": 1, "event": "denial", "session": "s"});
        let started = json!({"seq": 2, "event": "daemon_started"});
        let cut = json!({"seq": 3, "event": "call", "cut": 70_000});
        let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
        let session = || Some(SessionId::new("s"));
        let cases = [
            (None, None, [true, true, true]),
            (names(&["denial", "call"]), None, [true, false, true]),
            (None, session(), [true, false, false]),
            (names(&["denial"]), Some(SessionId::new("t")), [false, false, false]),
        ];
        for (events, session, expected) in cases {
            let filter = Filter { events, session };
            assert_eq!(
                [&denial, &started, &cut].map(|line| filter.takes(line)),
                expected,
                "{filter:?}"
            );
        }
    }
}
