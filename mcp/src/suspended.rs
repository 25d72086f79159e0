//! Calls that wait for a form (2026-07-28): their request was answered with it, and the client sends another one with what was
//! filled in. The state that it carries is a handle and nothing more: unguessable, used once, good for the same tool and
//! arguments only.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::call::{Asked, Running};
use crate::question::Question;

/// Calls that wait so at once; one more, and the oldest is given up.
const MOST: usize = 16;

/// How long one is kept: as long as the daemon keeps a question open, by default.
const KEPT: Duration = Duration::from_secs(600);

/// The calls.
#[derive(Debug, Default)]
pub(crate) struct Suspended(Mutex<VecDeque<Waiting>>);

/// A call that waits.
#[derive(Debug)]
pub(crate) struct Waiting {
    state: String,
    since: Instant,
    /// The call.
    pub(crate) running: Running,
    /// What was asked; the daemon's question may be over.
    pub(crate) question: Box<Question>,
}

impl Suspended {
    /// Keeps a call, and gives the handle to find it by, and one that is given up for it.
    pub(crate) fn put(&self, running: Running, question: Box<Question>) -> (String, Vec<Waiting>) {
        let state = handle();
        let since = Instant::now();
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut given_up = Vec::new();
        let is_old = |oldest: &Waiting| oldest.since.elapsed() > KEPT;
        while all.len() >= MOST || all.front().is_some_and(is_old) {
            given_up.extend(all.pop_front());
        }
        all.push_back(Waiting { state: state.clone(), since, running, question });
        (state, given_up)
    }

    /// The call of a handle, if it is of this tool with these arguments.
    pub(crate) fn take(&self, state: &str, asked: &Asked) -> Option<Waiting> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let index =
            all.iter().position(|kept| kept.state == state && *kept.running.asked == *asked)?;
        all.remove(index)
    }
}

/// A name that nobody guesses.
fn handle() -> String {
    uuid::Uuid::new_v4().to_string()
}
