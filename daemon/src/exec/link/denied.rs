//! What a running task was denied, as its supervisor tells it bit by bit.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::exec::denials::{DenialRecord, Denials, Tally};

/// What is known by now, and who waits for more.
#[derive(Debug)]
pub(super) struct Denied {
    denials: Mutex<Denials>,
    /// The number of the newest record.
    newest: watch::Sender<u64>,
}

impl Default for Denied {
    fn default() -> Self {
        Denied { denials: Mutex::default(), newest: watch::Sender::new(0) }
    }
}

impl Denied {
    /// What is known.
    pub(super) fn now(&self) -> Denials {
        self.locked().clone()
    }

    /// Returns as soon as there is a record after the one of this number.
    pub(super) async fn beyond(&self, number: u64) {
        let mut newest = self.newest.subscribe();
        // The sender lives as long as this does, so the wait cannot fail.
        drop(newest.wait_for(|newest| *newest > number).await);
    }

    /// A new kind.
    pub(super) fn learn(&self, record: DenialRecord) {
        let newest = {
            let mut denials = self.locked();
            denials.learn(record);
            denials.newest()
        };
        self.newest.send_replace(newest);
    }

    /// How often, by now.
    pub(super) fn count(&self, tally: &Tally) {
        self.locked().count(tally);
    }

    /// All of it, from a supervisor that an earlier daemon started.
    pub(super) fn set(&self, denials: Denials) {
        let newest = denials.newest();
        *self.locked() = denials;
        self.newest.send_replace(newest);
    }

    fn locked(&self) -> MutexGuard<'_, Denials> {
        self.denials.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exec::denials::tests::{denials, record};

    #[tokio::test]
    async fn whoever_waits_is_told_of_a_new_kind_and_not_of_a_repeat() {
        let denied = Denied::default();
        denied.learn(record(3, "/a", 1));
        denied.beyond(2).await;
        denied.learn(record(3, "/a", 1));
        denied.count(&Tally { counts: vec![5], total: 5, ..Tally::default() });
        {
            let mut waiting = std::pin::pin!(denied.beyond(3));
            tokio::select! {
                biased;
                () = &mut waiting => unreachable!("a repeat is no news"),
                () = std::future::ready(()) => {}
            }
            denied.learn(record(4, "/b", 1));
            waiting.await;
        }
        let mut expected = denials(&[record(3, "/a", 5), record(4, "/b", 1)]);
        assert_eq!(denied.now(), expected);
        expected.total = 9;
        denied.set(expected.clone());
        assert_eq!(denied.now(), expected);
    }
}
