//! Who does what next, and in which order what was done is put together.
//!
//! Workers always take the first of what is outstanding. So memory holds the listings along one path or, with several
//! threads, a few; and threads work close to the place up to which everything is known. What was done before that place
//! is folded at once; what was done beyond it waits, and what cannot be wanted any more, since more than enough lies
//! before it, is dropped together with all later work.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::list::Work;
use super::position::Position;
use super::{Flow, Fold, Weight};
use crate::cancel::Cancel;
use crate::query::Unreadable;

pub(super) struct Schedule<'a, F: Fold> {
    state: Mutex<State<F>>,
    /// Told when there is work, or will be no more.
    changed: Condvar,
    ended: AtomicBool,
    cancel: &'a Cancel,
}

struct State<F: Fold> {
    queue: BTreeMap<Position, Work>,
    running: Vec<Position>,
    done: BTreeMap<Position, Done<F::Record>>,
    fold: F,
    folded: Weight,
    waiting: Weight,
    idle: usize,
}

enum Done<R> {
    Folder(Vec<Unreadable>),
    Files(R),
}

/// Whether a worker should give up what it is at.
#[derive(Clone, Copy)]
pub(crate) struct Stop<'a> {
    ended: &'a AtomicBool,
    cancel: &'a Cancel,
}

impl Stop<'_> {
    pub(crate) fn is_wanted(&self) -> bool {
        self.ended.load(Ordering::Relaxed) || self.cancel.is_cancelled()
    }
}

/// Ends the schedule when a worker panics, which would else leave the others waiting for its part.
pub(super) struct Leave<'a, F: Fold>(&'a Schedule<'a, F>);

impl<F: Fold> Drop for Leave<'_, F> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.end();
        }
    }
}

impl<'a, F: Fold> Schedule<'a, F> {
    pub(super) fn new(first: Work, fold: F, cancel: &'a Cancel) -> Self {
        let state = State {
            queue: BTreeMap::from([(Position::root().below(0), first)]),
            running: Vec::new(),
            done: BTreeMap::new(),
            fold,
            folded: Weight::default(),
            waiting: Weight::default(),
            idle: 0,
        };
        let ended = AtomicBool::new(false);
        Schedule { state: Mutex::new(state), changed: Condvar::new(), ended, cancel }
    }

    pub(super) fn stop(&self) -> Stop<'_> {
        Stop { ended: &self.ended, cancel: self.cancel }
    }

    pub(super) fn leave_on_panic(&self) -> Leave<'_, F> {
        Leave(self)
    }

    pub(super) fn into_fold(self) -> F {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).fold
    }

    /// The first of what is outstanding, of files at most a batch; waits where others may yet find some.
    pub(super) fn take(&self, batch: usize) -> Option<(Position, Work)> {
        let mut state = self.lock();
        loop {
            if self.stop().is_wanted() {
                drop(state);
                self.end();
                return None;
            }
            if let Some(taken) = state.take(batch) {
                return Some(taken);
            }
            if state.running.is_empty() {
                drop(state);
                self.end();
                return None;
            }
            state.idle += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.idle -= 1;
        }
    }

    /// A folder was listed: what it holds takes its place.
    pub(super) fn listed(
        &self,
        position: Position,
        more: Vec<(Position, Work)>,
        unreadable: Vec<Unreadable>,
    ) {
        let mut state = self.lock();
        state.queue.extend(more);
        self.settle(state, position, Done::Folder(unreadable));
    }

    /// A batch was looked at.
    pub(super) fn finished(&self, position: Position, record: F::Record) {
        self.settle(self.lock(), position, Done::Files(record));
    }

    fn settle(
        &self,
        mut state: MutexGuard<'_, State<F>>,
        position: Position,
        done: Done<F::Record>,
    ) {
        state.running.retain(|running| *running != position);
        // What gave up since it was told to did not see all of its part.
        if self.stop().is_wanted() {
            return;
        }
        state.keep(position, done);
        let flow = state.advance();
        let wake = state.idle > 0 && (!state.queue.is_empty() || state.running.is_empty());
        drop(state);
        match flow {
            Flow::Enough => self.end(),
            Flow::More if wake => self.changed.notify_all(),
            Flow::More => {}
        }
    }

    fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
        // Whoever is about to wait holds the lock, and hears this once it does.
        drop(self.lock());
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State<F>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F: Fold> State<F> {
    fn take(&mut self, batch: usize) -> Option<(Position, Work)> {
        let (position, mut work) = self.queue.pop_first()?;
        if let Work::Files(run) = &mut work
            && let Some(rest) = run.split(batch)
        {
            self.queue.insert(position.after(batch), Work::Files(rest));
        }
        self.running.push(position.clone());
        Some((position, work))
    }

    fn keep(&mut self, position: Position, done: Done<F::Record>) {
        let weight = self.weigh(&done);
        self.waiting = self.waiting + weight;
        self.done.insert(position, done);
        self.drop_what_is_too_late();
    }

    fn weigh(&self, done: &Done<F::Record>) -> Weight {
        match done {
            Done::Folder(_) => Weight::default(),
            Done::Files(record) => self.fold.weigh(record),
        }
    }

    /// Drops the last record while the others alone are more than enough, and all work that comes after the last.
    fn drop_what_is_too_late(&mut self) {
        let wanted = self.fold.wanted();
        if !(self.folded + self.waiting).exceeds(wanted) {
            return;
        }
        while let Some((position, last)) = self.done.pop_last() {
            let weight = self.weigh(&last);
            if (self.folded + self.waiting - weight).exceeds(wanted) {
                self.waiting = self.waiting - weight;
                continue;
            }
            self.queue.split_off(&position);
            self.done.insert(position, last);
            return;
        }
    }

    /// Folds what nothing outstanding comes before.
    fn advance(&mut self) -> Flow {
        let queued = self.queue.first_key_value().map(|(position, _)| position);
        let outstanding = self.running.iter().chain(queued).min().cloned();
        while let Some(entry) = self.done.first_entry() {
            if outstanding.as_ref().is_some_and(|first| first < entry.key()) {
                break;
            }
            let done = entry.remove();
            let weight = self.weigh(&done);
            self.waiting = self.waiting - weight;
            self.folded = self.folded + weight;
            match done {
                Done::Folder(unreadable) => {
                    unreadable.into_iter().for_each(|unreadable| self.fold.unreadable(unreadable));
                }
                Done::Files(record) => {
                    if self.fold.fold(record) == Flow::Enough {
                        return Flow::Enough;
                    }
                }
            }
        }
        Flow::More
    }
}

impl std::ops::Add for Weight {
    type Output = Weight;

    fn add(self, other: Weight) -> Weight {
        Weight { results: self.results + other.results, bytes: self.bytes + other.bytes }
    }
}

impl std::ops::Sub for Weight {
    type Output = Weight;

    fn sub(self, other: Weight) -> Weight {
        Weight { results: self.results - other.results, bytes: self.bytes - other.bytes }
    }
}

impl Weight {
    fn exceeds(self, wanted: Weight) -> bool {
        self.results > wanted.results || self.bytes > wanted.bytes
    }
}
