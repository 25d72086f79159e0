//! What goes from the daemon to a worker; the answer to a call is its number and the worker's own value.

use serde::{Deserialize, Serialize};

/// Daemon to worker.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToWorker<Q> {
    /// Do this.
    Call {
        /// Its number, by which it is answered.
        id: u64,
        /// What.
        request: Q,
    },
    /// Nobody waits for that call any more.
    Cancel {
        /// Its number.
        id: u64,
    },
}
