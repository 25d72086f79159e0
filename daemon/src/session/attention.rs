//! Who waits for something of a session. One that no client holds is not closed while somebody does, an operator who
//! follows a task for instance, nor within its time after the last of them.
//!
//! Who is gone waits for nothing, though what was asked for may go on.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::session::Session;
use crate::server::{Connection, ConnectionId};

/// Who waits, and since when nobody does.
#[derive(Debug)]
pub(super) struct Attention(watch::Sender<Waiting>);

#[derive(Clone, Debug, Default)]
struct Waiting {
    /// For how much each connection waits.
    requests: BTreeMap<ConnectionId, usize>,
    /// When somebody last ceased to.
    ceased: Option<Instant>,
}

/// Somebody waits, for as long as this lives and the connection does.
#[derive(Debug)]
pub(crate) struct Attending {
    session: Arc<Session>,
    connection: ConnectionId,
}

impl Session {
    /// Somebody waits for something of it.
    pub(crate) fn attend(self: &Arc<Self>, from: &Connection) -> Attending {
        self.attention().begin(from.id());
        // It may have been told gone before it could be found here.
        if !from.is_open() {
            self.attention().forget(from.id());
        }
        Attending { session: self.clone(), connection: from.id() }
    }
}

impl Drop for Attending {
    fn drop(&mut self) {
        self.session.attention().end(self.connection);
    }
}

impl Default for Attention {
    fn default() -> Self {
        Attention(watch::Sender::new(Waiting::default()))
    }
}

impl Attention {
    fn begin(&self, connection: ConnectionId) {
        self.0.send_modify(|waiting| *waiting.requests.entry(connection).or_default() += 1);
    }

    fn end(&self, connection: ConnectionId) {
        self.0.send_if_modified(|waiting| match waiting.requests.get_mut(&connection) {
            Some(count @ 2..) => {
                *count -= 1;
                false
            }
            Some(_) => waiting.cease(connection),
            None => false,
        });
    }

    /// A connection is gone.
    pub(super) fn forget(&self, connection: ConnectionId) {
        self.0.send_if_modified(|waiting| waiting.cease(connection));
    }

    /// Returns once nobody has waited for so long, counted from `since` at the earliest.
    pub(super) async fn missing(&self, since: Instant, span: Duration) {
        let mut changes = self.0.subscribe();
        loop {
            let (is_missed, begun) = {
                let waiting = changes.borrow_and_update();
                (waiting.requests.is_empty(), waiting.ceased.map_or(since, |then| then.max(since)))
            };
            let left = span.saturating_sub(begun.elapsed());
            // The sender lives as long as this, so that its changes cannot end.
            let changed = changes.changed();
            match (is_missed, left) {
                (true, Duration::ZERO) => return,
                (true, left) => drop(tokio::time::timeout(left, changed).await),
                (false, _) => drop(changed.await),
            }
        }
    }
}

impl Waiting {
    /// Whether it had waited.
    fn cease(&mut self, connection: ConnectionId) -> bool {
        let had_waited = self.requests.remove(&connection).is_some();
        if had_waited {
            self.ceased = Some(Instant::now());
        }
        had_waited
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::task::{JoinHandle, yield_now};

    const SPAN: Duration = Duration::from_millis(50);
    const ONE: ConnectionId = ConnectionId(1);
    const OTHER: ConnectionId = ConnectionId(2);

    /// Waits until nobody has waited for a span that is over by now, but for those who wait.
    fn missing(attention: &Arc<Attention>) -> JoinHandle<()> {
        let attention = attention.clone();
        let long_ago = Instant::now().checked_sub(SPAN * 2).unwrap();
        tokio::spawn(async move { attention.missing(long_ago, SPAN).await })
    }

    async fn goes_on(missing: &JoinHandle<()>) {
        // Turns enough for whoever would return.
        for _ in 0..10 {
            yield_now().await;
        }
        assert!(!missing.is_finished(), "somebody still waits");
    }

    #[tokio::test]
    async fn nobody_is_missed_before_the_time_is_over() {
        let begun = Instant::now();
        Attention::default().missing(begun, SPAN).await;
        assert!(begun.elapsed() >= SPAN);
    }

    #[tokio::test]
    async fn who_waits_is_waited_for_and_the_time_begins_anew() {
        let attention = Arc::new(Attention::default());
        for connection in [ONE, ONE, OTHER] {
            attention.begin(connection);
        }
        let missing = missing(&attention);
        attention.end(OTHER);
        goes_on(&missing).await;
        attention.end(ONE);
        goes_on(&missing).await;
        let last = Instant::now();
        attention.end(ONE);
        missing.await.unwrap();
        assert!(last.elapsed() >= SPAN);
    }

    #[tokio::test]
    async fn who_is_gone_waits_for_nothing() {
        let attention = Arc::new(Attention::default());
        for connection in [ONE, ONE, OTHER] {
            attention.begin(connection);
        }
        let missing = missing(&attention);
        attention.forget(ONE);
        goes_on(&missing).await;
        attention.forget(OTHER);
        missing.await.unwrap();
        // Their requests end some time.
        for connection in [ONE, ONE, OTHER] {
            attention.end(connection);
        }
        attention.missing(Instant::now().checked_sub(SPAN * 2).unwrap(), SPAN).await;
    }
}
