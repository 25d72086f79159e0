//! Progress of one call, where its request has a token: the output's tail, at most ten times a second, and a sign of life from
//! time to time while it prints nothing or waits for a person, for clients that count the time since the last one.
//!
//! A task of its own tells it, so that a client that reads slowly keeps no call from its end. None is told after the result.

use std::time::{Duration, Instant};

use brattice_client::protocol::tools::CallOutput;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::tail::Tail;

/// The least time between two notifications.
const PACE: Duration = Duration::from_millis(100);

/// The longest, while a call runs.
const SIGN_OF_LIFE: Duration = Duration::from_secs(10);

/// The progress of a call.
#[derive(Debug)]
pub(crate) struct Progress(Option<Telling>);

#[derive(Debug)]
struct Telling {
    tail: watch::Sender<Tail>,
    over: CancellationToken,
    task: JoinHandle<()>,
}

impl Progress {
    /// Of a request with this token.
    pub(crate) fn of(peer: &Peer<RoleServer>, token: Option<ProgressToken>) -> Self {
        Progress(token.map(|token| {
            let (tail, changes) = watch::channel(Tail::default());
            let over = CancellationToken::new();
            let task = tokio::spawn(tell(peer.clone(), token, changes, over.clone()));
            Telling { tail, over, task }
        }))
    }

    /// It printed something.
    pub(crate) fn hear(&self, output: &CallOutput) {
        if let Some(telling) = &self.0 {
            telling.tail.send_modify(|tail| tail.add(output));
        }
    }

    /// The call is over: returns once nothing more is told.
    pub(crate) async fn stop(self) {
        if let Some(Telling { tail: _, over, task }) = self.0 {
            over.cancel();
            // It panics nowhere, and is not aborted.
            drop(task.await);
        }
    }
}

async fn tell(
    peer: Peer<RoleServer>,
    token: ProgressToken,
    mut tail: watch::Receiver<Tail>,
    over: CancellationToken,
) {
    let begun = Instant::now();
    loop {
        tokio::select! {
            biased;
            () = over.cancelled() => return,
            changed = tail.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(SIGN_OF_LIFE) => {}
        }
        // Seconds: they grow, whatever is printed.
        let progress = begun.elapsed().as_secs_f64();
        let mut told = ProgressNotificationParam::new(token.clone(), progress);
        told.message = tail.borrow_and_update().text();
        if peer.notify_progress(told).await.is_err() {
            return;
        }
        tokio::select! {
            biased;
            () = over.cancelled() => return,
            () = tokio::time::sleep(PACE) => {}
        }
    }
}
