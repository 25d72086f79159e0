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
//! The ledger keeps what decides whether two calls are equal as two keyed hashes, not the arguments, and results as
//! the text that goes on the wire. Where results outgrow their share the oldest are dropped but their ids stay: sent
//! again, such a call is told so and still never runs twice. Running calls are the session's tasks; how many there may
//! be is limited there.

use std::collections::hash_map::{Entry, RandomState};
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher as _;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brattice_protocol::tools::CallParams;
use brattice_protocol::{CallId, ErrorCode, RpcError};
use serde_json::Value;
use tokio::sync::watch;

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
    keys: [RandomState; 2],
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
}

#[derive(Debug)]
struct Known {
    digest: [u64; 2],
    state: Arc<watch::Sender<CallState>>,
    cancel: Arc<watch::Sender<Wish>>,
}

#[derive(Clone, Debug)]
enum CallState {
    Running,
    Finished(Body),
    ResultDropped,
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
    cancel: watch::Receiver<Wish>,
    settled: bool,
}

/// A call that is run elsewhere, or was.
#[derive(Debug)]
pub(crate) struct KnownCall {
    id: CallId,
    state: watch::Receiver<CallState>,
}

impl Calls {
    /// An empty ledger.
    pub(super) fn new(budget: Arc<Budget>) -> Arc<Self> {
        let ledger = Ledger { calls: HashMap::new(), finished: VecDeque::new(), bytes: 0, budget };
        let keys = [RandomState::new(), RandomState::new()];
        Arc::new(Calls { ledger: Mutex::new(ledger), keys, made: AtomicU64::new(0) })
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
        let digest = self.digest(params);
        let mut ledger = self.ledger();
        let id = params.call.clone().unwrap_or_else(|| self.make_id(&ledger));
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
                let (cancel, wish) = watch::channel(Wish::Finish);
                let state = watch::Sender::new(CallState::Running);
                free.insert(Known { digest, state: Arc::new(state), cancel: Arc::new(cancel) });
                Ok(Admission::New(RunningCall {
                    id,
                    calls: self.clone(),
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

    /// Equal for equal tools and arguments. Keyed, so that no client can look for two calls that collide; keys of
    /// objects are sorted already.
    fn digest(&self, params: &CallParams<Value>) -> [u64; 2] {
        let text = params.arguments.to_string();
        [0, 1].map(|key: usize| self.keys[key].hash_one((&params.name, &text)))
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
        if let Some(known) = self.ledger().calls.remove(id) {
            known.state.send_replace(state);
        }
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
