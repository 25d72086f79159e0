//! The ledger of a session's calls: a call id runs once, however often it is sent.
//!
//! ```text
//! admit ──new──► Running ──finish──► Finished ──(1,000 later calls)──► forgotten
//!   │               │                   └──(32 MiB of later results)──► ResultDropped
//!   │               └──withdraw / dropped──► Refused, and the id is free again
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
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brattice_protocol::tools::{CallParams, CallResult};
use brattice_protocol::{CallId, ErrorCode, RpcError};
use tokio::sync::watch;

/// Longest call id in bytes.
const MAX_ID: usize = 256;

/// Finished calls that are remembered.
const KEPT_CALLS: usize = 1_000;

/// Bytes of results that are remembered in all.
const KEPT_BYTES: usize = 32 << 20;

/// All calls of a session that can still be named.
#[derive(Debug)]
pub(crate) struct Calls {
    ledger: Mutex<Ledger>,
    keys: [RandomState; 2],
}

#[derive(Debug, Default)]
struct Ledger {
    calls: HashMap<CallId, Known>,
    /// Oldest first; the flag says whether the result is still there.
    finished: VecDeque<(CallId, usize)>,
    bytes: usize,
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
    Finished(Arc<str>),
    ResultDropped,
    Refused(RpcError),
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
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Calls { ledger: Mutex::default(), keys: [RandomState::new(), RandomState::new()] })
    }

    /// Takes a call in, or finds that it was sent before.
    ///
    /// # Errors
    /// `invalid`, where the id was used for another tool or with other arguments, or is none.
    pub(crate) fn admit(self: &Arc<Self>, params: &CallParams) -> Result<Admission, RpcError> {
        let id = match &params.call {
            Some(id) if (1..=MAX_ID).contains(&id.as_str().len()) => id.clone(),
            Some(id) => {
                let came = id.as_str().len();
                let text = format!("params.call: expected 1 to {MAX_ID} bytes, got {came}");
                return Err(RpcError::new(ErrorCode::Invalid, text));
            }
            None => CallId::new(uuid::Uuid::now_v7().to_string()),
        };
        let digest = self.digest(params);
        let mut ledger = self.ledger();
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

    /// Equal for equal tools and arguments. Keyed, so that no client can look for two calls that collide; keys of
    /// objects are sorted already.
    fn digest(&self, params: &CallParams) -> [u64; 2] {
        let text = serde_json::to_string(&params.arguments).unwrap_or_default();
        [0, 1].map(|key: usize| self.keys[key].hash_one((&params.name, &text)))
    }

    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn finish(&self, id: &CallId, result: Arc<str>) {
        let mut ledger = self.ledger();
        let bytes = result.len();
        let Some(known) = ledger.calls.get(id) else {
            return;
        };
        known.state.send_replace(CallState::Finished(result));
        ledger.finished.push_back((id.clone(), bytes));
        ledger.bytes += bytes;
        ledger.shrink();
    }

    fn free(&self, id: &CallId, error: RpcError) {
        if let Some(known) = self.ledger().calls.remove(id) {
            known.state.send_replace(CallState::Refused(error));
        }
    }
}

impl Ledger {
    fn shrink(&mut self) {
        while self.finished.len() > KEPT_CALLS {
            if let Some((id, bytes)) = self.finished.pop_front() {
                self.bytes -= bytes;
                self.calls.remove(&id);
            }
        }
        // The newest result is kept whatever its size: somebody may be about to read it.
        for index in 0..self.finished.len().saturating_sub(1) {
            if self.bytes <= KEPT_BYTES {
                break;
            }
            let (id, bytes) = &mut self.finished[index];
            self.bytes -= std::mem::take(bytes);
            if let Some(known) = self.calls.get(id) {
                known.state.send_replace(CallState::ResultDropped);
            }
        }
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
    pub(crate) fn finish(mut self, result: &CallResult) {
        self.settled = true;
        match serde_json::to_string(result) {
            Ok(text) => self.calls.finish(&self.id, text.into()),
            Err(error) => self.calls.free(&self.id, broken(&self.id, &error.to_string())),
        }
    }

    /// Frees the id: the call did not run. Those who wait for it get the same error.
    pub(crate) fn withdraw(mut self, error: RpcError) {
        self.settled = true;
        self.calls.free(&self.id, error);
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        if !self.settled {
            self.calls.free(&self.id, broken(&self.id, "it was dropped unfinished"));
        }
    }
}

impl KnownCall {
    /// What the first call of this id gave, once it has.
    ///
    /// # Errors
    /// What the first call was refused with; `unavailable` where its result is no longer kept.
    pub(crate) async fn result(mut self) -> Result<CallResult, RpcError> {
        let state = match self.state.wait_for(|state| !matches!(state, CallState::Running)).await {
            Ok(state) => state.clone(),
            Err(_) => CallState::ResultDropped,
        };
        match state {
            CallState::Finished(text) => {
                serde_json::from_str(&text).map_err(|error| broken(&self.id, &error.to_string()))
            }
            CallState::Refused(error) => Err(error),
            CallState::Running | CallState::ResultDropped => {
                let text =
                    format!("call {:?} ran, and its result is no longer kept", self.id.as_str());
                Err(RpcError::new(ErrorCode::Unavailable, text)
                    .hint("read its task's output with task.output"))
            }
        }
    }
}

fn broken(id: &CallId, why: &str) -> RpcError {
    RpcError::new(ErrorCode::Unavailable, format!("call {:?} has no result: {why}", id.as_str()))
}

#[cfg(test)]
#[path = "calls_tests.rs"]
mod tests;
