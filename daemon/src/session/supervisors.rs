//! The processes below which everything is a command: each session's supervisor, for as long as it lives.
//!
//! A supervisor outlives its session's place in the registry (commands have a grace when a session closes), and its
//! commands must not reach the daemon as clients even then. So the numbers are kept apart from the sessions: from
//! before the first command can run until the process was reaped.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::registry::Registry;
use crate::server::Descent;

/// The supervisors that live.
#[derive(Debug, Default)]
pub(super) struct Supervisors(Mutex<HashSet<u32>>);

impl Supervisors {
    /// Knows a supervisor from now on until it has died.
    pub(super) fn know(
        self: &Arc<Self>,
        pid: u32,
        died: impl Future<Output = ()> + Send + 'static,
    ) {
        self.pids().insert(pid);
        let living = self.clone();
        tokio::spawn(async move {
            died.await;
            living.pids().remove(&pid);
        });
    }

    /// Whether `pid` is a supervisor that lives.
    pub(super) fn contains(&self, pid: u32) -> bool {
        self.pids().contains(&pid)
    }

    fn pids(&self) -> MutexGuard<'_, HashSet<u32>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Descent for Registry {
    fn is_supervisor(&self, pid: u32) -> bool {
        self.shared.supervisors.contains(pid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::sync::oneshot;

    #[tokio::test]
    async fn a_supervisor_is_known_until_it_has_died() {
        let supervisors = Arc::new(Supervisors::default());
        let (dies, died) = oneshot::channel::<()>();
        supervisors.know(7, async move { died.await.unwrap() });
        assert_eq!([7, 8].map(|pid| supervisors.contains(pid)), [true, false]);
        dies.send(()).unwrap();
        while supervisors.contains(7) {
            tokio::task::yield_now().await;
        }
    }
}
