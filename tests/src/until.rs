//! Waiting for a state instead of for a time.

use std::thread;
use std::time::{Duration, Instant};

/// How long a test waits for something that must come: long, for the machine may be busy with other tests.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Asks until there is an answer, for at most [`PATIENCE`].
///
/// # Panics
/// When the answer does not come.
#[track_caller]
pub fn eventually<T>(what: &str, ask: impl FnMut() -> Option<T>) -> T {
    within(PATIENCE, what, ask)
}

/// The same for at most this long, where what must come takes its time.
///
/// # Panics
/// When the answer does not come.
#[track_caller]
pub fn within<T>(patience: Duration, what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(start.elapsed() < patience, "waited {patience:?} in vain: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}
