//! The ledger of a session's calls: a call id runs once, however often it is sent.
//!
//! ```text
//! admit ──new──► Running ──finish──► Finished ──(1,000 later calls)──► forgotten
//!   │               │                   └──(32 MiB of later results, 256 MiB of all sessions')──► ResultDropped
//!   │               ├──withdraw──► Finished for those who wait, and the id is free again
//!   │               └──dropped──► Broken, and the id is free again
//!   └──known──► the state of the first one, to wait for
//! ```
//!
//! The ledger keeps what decides whether two calls are equal as a hash, not the arguments, and results as
//! the text that goes on the wire. Which ids were taken outlives the daemon (`taken`). Where results outgrow their share the oldest are dropped but their ids stay: sent
//! again, such a call is told so and still never runs twice. Running calls are the session's tasks; how many there may
//! be is limited there.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use brattice_protocol::tools::CallParams;
use brattice_protocol::{CallId, ErrorCode, RpcError};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use tokio::sync::watch;

use super::taken::{Digest, Taken};
use crate::server::Body;

/// Longest call id in bytes.
const MAX_ID: usize = 256;

/// Finished calls that are remembered.
const KEPT_CALLS: usize = 1_000;

/// Bytes of results that a session remembers in all.
const KEPT_BYTES: usize = 32 << 20;

/// Bytes of results that all sessions of a daemon remember together. Beyond it a session that gets a new result drops
/// older ones of its own.
const KEPT_BYTES_OF_ALL: usize = 256 << 20;

/// What all ledgers of a daemon remember together.
#[derive(Debug, Default)]
pub(super) struct Budget(AtomicUsize);

/// All calls of a session that can still be named.
#[derive(Debug)]
pub(crate) struct Calls {
    ledger: Mutex<Ledger>,
    /// Ids that were made here so far.
    made: AtomicU64,
}

#[derive(Debug)]
struct Ledger {
    calls: HashMap<CallId, Known>,
    /// Oldest first; the flag says whether the result is still there.
    finished: VecDeque<(CallId, usize)>,
    bytes: usize,
    budget: Arc<Budget>,
    /// Ids that the next daemon must know.
    taken: Taken,
}

#[derive(Debug)]
struct Known {
    digest: Digest,
    state: Arc<watch::Sender<CallState>>,
    cancel: Arc<watch::Sender<Wish>>,
}

#[derive(Clone, Debug)]
enum CallState {
    Running,
    Finished(Body),
    ResultDropped,
    /// An earlier daemon took it.
    Earlier,
    Broken,
}

/// What the client wants of a call that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    Finish,
    Cancel,
}

/// What becomes of a `tools.call`.
#[derive(Debug)]
pub(crate) enum Admission {
    /// It is the first of its id: run it.
    New(RunningCall),
    /// It was sent before: wait for what the first one gives.
    Known(KnownCall),
}

/// The right and the duty to run one call. Dropped unfinished (a panic on the way), waiters are told and the id is
/// free again.
#[derive(Debug)]
pub(crate) struct RunningCall {
    id: CallId,
    calls: Arc<Calls>,
    digest: Digest,
    patience: Patience,
    cancel: watch::Receiver<Wish>,
    settled: bool,
}

/// How long a call waits for a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Patience {
    /// As long as its question is open.
    Question,
    /// So long at most; the question stays open.
    Limited(Duration),
}

/// A call that is run elsewhere, or was.
#[derive(Debug)]
pub(crate) struct KnownCall {
    id: CallId,
    state: watch::Receiver<CallState>,
}

impl Calls {
    /// The ledger of a session with this folder: empty but for the ids that an earlier daemon took.
    pub(super) fn new(budget: Arc<Budget>, folder: &Path) -> Arc<Self> {
        let taken = Taken::of(folder);
        let earlier = |(call, digest): &(CallId, Digest)| {
            (call.clone(), Known::new(*digest, CallState::Earlier))
        };
        let calls: HashMap<_, _> = taken.all().map(earlier).collect();
        let finished = taken.all().map(|(call, _)| (call.clone(), 0)).collect();
        let ledger = Ledger { calls, finished, bytes: 0, budget, taken };
        Arc::new(Calls { ledger: Mutex::new(ledger), made: AtomicU64::new(0) })
    }

    /// Takes a call in, or finds that it was sent before.
    ///
    /// # Errors
    /// `invalid`, where the id was used for another tool or with other arguments, or is none.
    pub(crate) fn admit(
        self: &Arc<Self>,
        params: &CallParams<Value>,
    ) -> Result<Admission, RpcError> {
        let came = params.call.as_ref().map_or(1, |id| id.as_str().len());
        if !(1..=MAX_ID).contains(&came) {
            let text = format!("params.call: expected 1 to {MAX_ID} bytes, got {came}");
            return Err(RpcError::new(ErrorCode::Invalid, text));
        }
        let digest = digest(params);
        let mut ledger = self.ledger();
        let ledger = &mut *ledger;
        let id = params.call.clone().unwrap_or_else(|| self.make_id(ledger));
        match ledger.calls.entry(id.clone()) {
            Entry::Occupied(known) if known.get().digest == digest => {
                Ok(Admission::Known(KnownCall { id, state: known.get().state.subscribe() }))
            }
            Entry::Occupied(_) => {
                let text = format!(
                    "call {:?} was already used with another tool or arguments",
                    id.as_str()
                );
                Err(RpcError::new(ErrorCode::Invalid, text).hint("give each call an id of its own"))
            }
            Entry::Vacant(free) => {
                let known = free.insert(Known::new(digest, CallState::Running));
                let wish = known.cancel.subscribe();
                if params.call.is_some() {
                    ledger.taken.take(&id, digest);
                }
                Ok(Admission::New(RunningCall {
                    id,
                    calls: self.clone(),
                    digest,
                    patience: Patience::of(params.patience_ms),
                    cancel: wish,
                    settled: false,
                }))
            }
        }
    }

    /// Asks a running call to stop. A finished or unknown one is left alone.
    pub(crate) fn cancel(&self, id: &CallId) {
        if let Some(known) = self.ledger().calls.get(id) {
            known.cancel.send_replace(Wish::Cancel);
        }
    }

    /// Returns when none of the calls that run now runs any more.
    pub(crate) async fn settled(&self) {
        let running: Vec<_> =
            self.ledger().calls.values().map(|known| known.state.subscribe()).collect();
        for mut state in running {
            // An error means that the call was forgotten, so it does not run.
            if state.wait_for(|state| !matches!(state, CallState::Running)).await.is_err() {
                continue;
            }
        }
    }

    /// An id that no client has used: it need only be unique in its session, where ids of clients are, too.
    fn make_id(&self, ledger: &Ledger) -> CallId {
        loop {
            let number = self.made.fetch_add(1, Ordering::Relaxed) + 1;
            let id = CallId::new(format!("call-{number}"));
            if !ledger.calls.contains_key(&id) {
                return id;
            }
        }
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, id: &CallId, result: Body) {
        let mut ledger = self.ledger();
        let bytes = result.as_str().len();
        let Some(known) = ledger.calls.get(id) else {
            return;
        };
        known.state.send_replace(CallState::Finished(result));
        ledger.finished.push_back((id.clone(), bytes));
        ledger.add(bytes);
        ledger.shrink();
    }

    fn free(&self, id: &CallId, state: CallState) {
        let mut ledger = self.ledger();
        if let Some(known) = ledger.calls.remove(id) {
            ledger.taken.free(id);
            known.state.send_replace(state);
        }
    }
}

/// Equal for equal tools and arguments, in every daemon; keys of objects are sorted already.
fn digest(params: &CallParams<Value>) -> Digest {
    let mut hash = Sha256::new();
    hash.update((params.name.len() as u64).to_le_bytes());
    hash.update(&params.name);
    hash.update(params.arguments.to_string());
    let hash = hash.finalize();
    let word = |from: usize| {
        hash.iter().skip(from).take(8).fold(0, |word, byte| word << 8 | u64::from(*byte))
    };
    [word(0), word(8)]
}

impl Patience {
    fn of(limit_ms: Option<u64>) -> Patience {
        limit_ms.map_or(Patience::Question, |ms| Patience::Limited(Duration::from_millis(ms)))
    }
}

impl Known {
    fn new(digest: Digest, state: CallState) -> Known {
        let (state, cancel) = (watch::Sender::new(state), watch::Sender::new(Wish::Finish));
        Known { digest, state: Arc::new(state), cancel: Arc::new(cancel) }
    }
}

impl Ledger {
    fn add(&mut self, bytes: usize) {
        self.bytes += bytes;
        self.budget.0.fetch_add(bytes, Ordering::Relaxed);
    }

    fn subtract(&mut self, bytes: usize) {
        self.bytes -= bytes;
        self.budget.0.fetch_sub(bytes, Ordering::Relaxed);
    }

    fn is_within_bounds(&self) -> bool {
        self.bytes <= KEPT_BYTES && self.budget.0.load(Ordering::Relaxed) <= KEPT_BYTES_OF_ALL
    }

    fn shrink(&mut self) {
        while self.finished.len() > KEPT_CALLS {
            if let Some((id, bytes)) = self.finished.pop_front() {
                self.subtract(bytes);
                self.calls.remove(&id);
            }
        }
        // The newest result is kept whatever its size: somebody may be about to read it.
        for index in 0..self.finished.len().saturating_sub(1) {
            if self.is_within_bounds() {
                break;
            }
            let (id, bytes) = &mut self.finished[index];
            if let Some(known) = self.calls.get(id) {
                known.state.send_replace(CallState::ResultDropped);
            }
            let bytes = std::mem::take(bytes);
            self.subtract(bytes);
        }
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        self.subtract(self.bytes);
    }
}

impl RunningCall {
    /// The call's id.
    pub(crate) fn id(&self) -> &CallId {
        &self.id
    }

    /// What its tool and arguments are known by.
    pub(crate) fn digest(&self) -> Digest {
        self.digest
    }

    /// How long it waits for a person.
    pub(crate) fn patience(&self) -> Patience {
        self.patience
    }

    /// Resolves when the client wants the call to stop, else never.
    pub(crate) async fn cancelled(&self) {
        let mut wish = self.cancel.clone();
        if wish.wait_for(|wish| *wish == Wish::Cancel).await.is_err() {
            std::future::pending().await
        }
    }

    /// Gives the result to the ledger and to all who wait for it.
    pub(crate) fn finish(mut self, result: Body) {
        self.settled = true;
        self.calls.finish(&self.id, result);
    }

    /// Frees the id: the call did not run, and sent again it may. Those who wait for it get the same result.
    pub(crate) fn withdraw(mut self, result: Body) {
        self.settled = true;
        self.calls.free(&self.id, CallState::Finished(result));
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        if !self.settled {
            self.calls.free(&self.id, CallState::Broken);
        }
    }
}

impl KnownCall {
    /// What the first call of this id gave, once it has.
    ///
    /// # Errors
    /// `unavailable` where its result is no longer kept, or the daemon failed at it.
    pub(crate) async fn result(mut self) -> Result<Body, RpcError> {
        let state = match self.state.wait_for(|state| !matches!(state, CallState::Running)).await {
            Ok(state) => state.clone(),
            Err(_) => CallState::ResultDropped,
        };
        match state {
            CallState::Finished(result) => Ok(result),
            CallState::Broken => {
                let text =
                    format!("call {:?} has no result: the daemon failed at it", self.id.as_str());
                Err(RpcError::new(ErrorCode::Unavailable, text))
            }
            CallState::Earlier => {
                let text = format!(
                    "call {:?} was taken before the daemon was started again, and its result is not kept",
                    self.id.as_str()
                );
                Err(RpcError::new(ErrorCode::Unavailable, text)
                    .hint("task.list tells what it started in the background"))
            }
            CallState::Running | CallState::ResultDropped => {
                let text =
                    format!("call {:?} ran, and its result is no longer kept", self.id.as_str());
                Err(RpcError::new(ErrorCode::Unavailable, text)
                    .hint("read its task's output with task.output"))
            }
        }
    }
}

#[cfg(test)]
#[path = "calls_tests.rs"]
mod tests;
