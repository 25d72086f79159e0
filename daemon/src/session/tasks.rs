//! The tasks of a session: their numbers, how many may run, and which finished ones can still be read.
//!
//! ```text
//! reserve ─► starting ─fill─► running ─ends─► finished ──(100 later ends of calls' tasks)────────► forgotten
//!                                                │   └──(10,000 later ends in the background)────► forgotten
//!                                                └──(`state` bytes in all sessions)──► its files removed, its facts stay
//! ```
//!
//! A number is given when a task is about to start and never again, whether or not it starts. What a task is and how
//! it ends is `exec`'s; the table only finds it by name. Ends are noticed at each look at the table, so that a task that
//! has ended never counts as running.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brattice_protocol::TaskId;

use super::space::Space;
use crate::exec::spec::{Placement, Timestamp};

/// Finished tasks of calls that can still be read by id: what they printed stood in their results.
const KEPT_FOREGROUND: usize = 100;

/// Finished background tasks that can still be read by id.
const KEPT_BACKGROUND: usize = 10_000;

/// What the table must know of a task.
pub(crate) trait Entry: Clone {
    /// Whether it has ended.
    fn has_ended(&self) -> bool;

    /// When it ended.
    fn ended_at(&self) -> Timestamp;

    /// Who waits, or waited, for it.
    fn placement(&self) -> Placement;

    /// Bytes that it has on disk once it has ended.
    fn bytes_on_disk(&self) -> u64;

    /// Removes what it printed from the disk. It has ended.
    fn discard(&self);

    /// Removes all of it from the disk. It has ended.
    fn forget(&self);
}

/// The tasks of one session.
#[derive(Debug)]
pub(crate) struct Tasks<T: Entry> {
    table: Mutex<Table<T>>,
    max_running: usize,
    space: Arc<Space>,
}

#[derive(Debug)]
struct Table<T> {
    next: u64,
    starting: usize,
    running: BTreeMap<u64, T>,
    finished: BTreeMap<u64, Finished<T>>,
    /// Those of calls, in the order of their ends.
    foreground: VecDeque<u64>,
    /// Those of the background, likewise.
    background: VecDeque<u64>,
}

#[derive(Debug)]
struct Finished<T> {
    task: T,
    /// On disk; 0 once its files are removed.
    bytes: u64,
}

/// What an earlier daemon's session had.
#[derive(Debug)]
pub(super) struct Earlier<T> {
    /// The highest number that was given.
    pub(super) highest: u64,
    /// By number.
    pub(super) running: Vec<(u64, T)>,
    /// By number.
    pub(super) finished: Vec<(u64, T)>,
}

/// As many tasks run as may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{running} tasks are running in this session, which is as many as may")]
pub(crate) struct TooManyTasks {
    /// How many.
    pub(crate) running: usize,
}

/// A number and a place for a task that is about to start; given back when it is dropped.
#[derive(Debug)]
pub(crate) struct Slot<T: Entry> {
    number: u64,
    tasks: Arc<Tasks<T>>,
}

/// Which output of finished tasks may be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Removable {
    /// All but the newest one's of each session, whatever its size (each of its streams has a cap), because its result has
    /// just named it.
    ButNewest,
    /// All.
    All,
}

impl<T: Entry> Tasks<T> {
    /// An empty table.
    pub(super) fn new(max_running: usize, space: Arc<Space>) -> Arc<Self> {
        let nothing = Earlier { highest: 0, running: Vec::new(), finished: Vec::new() };
        Tasks::restored(max_running, space, nothing)
    }

    /// The table of a session that an earlier daemon had.
    pub(super) fn restored(
        max_running: usize,
        space: Arc<Space>,
        earlier: Earlier<T>,
    ) -> Arc<Self> {
        let Earlier { highest, running, mut finished } = earlier;
        let mut table = Table {
            next: highest + 1,
            starting: 0,
            running: running.into_iter().collect(),
            finished: BTreeMap::new(),
            foreground: VecDeque::new(),
            background: VecDeque::new(),
        };
        finished.sort_by_key(|(number, task)| (task.ended_at(), *number));
        for (number, task) in finished {
            table.finish(number, task, &space);
        }
        Arc::new(Tasks { table: Mutex::new(table), max_running, space })
    }

    fn table(&self) -> MutexGuard<'_, Table<T>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for one more task.
    ///
    /// # Errors
    /// As many run as may.
    pub(crate) fn reserve(self: &Arc<Self>) -> Result<Slot<T>, TooManyTasks> {
        self.settle();
        let mut table = self.table();
        let running = table.starting + table.running.len();
        if running >= self.max_running {
            return Err(TooManyTasks { running });
        }
        let number = table.next;
        table.next += 1;
        table.starting += 1;
        Ok(Slot { number, tasks: self.clone() })
    }

    /// How many run or are about to.
    pub(crate) fn running(&self) -> usize {
        self.settle();
        let table = self.table();
        table.starting + table.running.len()
    }

    /// The task of that name, if it is one of this session's that can still be read.
    pub(crate) fn find(&self, task: &TaskId) -> Option<T> {
        let (number, table) = (task.number()?, self.table());
        let finished = || table.finished.get(&number).map(|finished| &finished.task);
        table.running.get(&number).or_else(finished).cloned()
    }

    /// Those that run.
    pub(crate) fn all_running(&self) -> Vec<T> {
        self.settle();
        self.table().running.values().cloned().collect()
    }

    /// The background tasks that are known, and those of calls that run, by number.
    pub(crate) fn all_told(&self) -> Vec<T> {
        self.settle();
        let table = self.table();
        let mut numbers: Vec<u64> =
            table.background.iter().chain(table.running.keys()).copied().collect();
        numbers.sort_unstable();
        let finished = |number: &u64| table.finished.get(number).map(|finished| &finished.task);
        numbers
            .iter()
            .filter_map(|number| table.running.get(number).or_else(|| finished(number)).cloned())
            .collect()
    }

    /// Takes note of ends, and forgets finished tasks beyond those that are kept.
    pub(crate) fn settle(&self) {
        // What is removed is a task's own business, which the table's lock does not wait for.
        let forgotten = self.table().settle(&self.space);
        forgotten.iter().for_each(Entry::forget);
    }

    /// When the oldest finished task ended whose output may be removed.
    pub(super) fn oldest(&self, of: Removable) -> Option<Timestamp> {
        let table = self.table();
        table.oldest(of).and_then(|number| Some(table.finished.get(&number)?.task.ended_at()))
    }

    /// Removes the output of that one.
    pub(super) fn discard_oldest(&self, of: Removable) {
        let discarded = {
            let mut table = self.table();
            let oldest = table.oldest(of);
            oldest.and_then(|number| table.finished.get_mut(&number)?.give_back(&self.space))
        };
        discarded.iter().for_each(Entry::discard);
    }
}

impl<T: Entry> Table<T> {
    /// Moves what has ended, and returns what is to be forgotten.
    fn settle(&mut self, space: &Space) -> Vec<T> {
        let ended: Vec<u64> = self
            .running
            .iter()
            .filter(|(_, task)| task.has_ended())
            .map(|(number, _)| *number)
            .collect();
        for number in ended {
            if let Some(task) = self.running.remove(&number) {
                self.finish(number, task, space);
            }
        }
        let mut forgotten = Vec::new();
        for (order, kept) in
            [(&mut self.foreground, KEPT_FOREGROUND), (&mut self.background, KEPT_BACKGROUND)]
        {
            while order.len() > kept
                && let Some(number) = order.pop_front()
            {
                if let Some(mut finished) = self.finished.remove(&number) {
                    finished.give_back(space);
                    forgotten.push(finished.task);
                }
            }
        }
        forgotten
    }

    fn finish(&mut self, number: u64, task: T, space: &Space) {
        let bytes = task.bytes_on_disk();
        space.add(bytes);
        match task.placement() {
            Placement::Foreground => self.foreground.push_back(number),
            Placement::Background => self.background.push_back(number),
        }
        self.finished.insert(number, Finished { task, bytes });
    }

    /// The number of the task that ended first of those whose output is on disk and may be removed.
    fn oldest(&self, of: Removable) -> Option<u64> {
        let ended = |number: &u64| self.finished.get(number).map(|found| found.task.ended_at());
        let newest = [self.foreground.back(), self.background.back()]
            .into_iter()
            .flatten()
            .max_by_key(|number| ended(number))
            .filter(|_| of == Removable::ButNewest);
        let with_bytes = |order: &VecDeque<u64>| {
            let has_bytes =
                |number: &&u64| self.finished.get(number).is_some_and(|found| found.bytes > 0);
            order.iter().filter(|number| Some(*number) != newest).find(has_bytes).copied()
        };
        [with_bytes(&self.foreground), with_bytes(&self.background)]
            .into_iter()
            .flatten()
            .min_by_key(|number| ended(number))
    }
}

impl<T: Entry> Finished<T> {
    /// The task, if it has files to be removed; they are no longer counted.
    fn give_back(&mut self, space: &Space) -> Option<T> {
        let bytes = std::mem::take(&mut self.bytes);
        space.subtract(bytes);
        (bytes > 0).then(|| self.task.clone())
    }
}

impl<T: Entry> Drop for Tasks<T> {
    /// What is on disk goes with the session's folder, or is counted by the next daemon.
    fn drop(&mut self) {
        let space = self.space.clone();
        for finished in self.table().finished.values_mut() {
            finished.give_back(&space);
        }
    }
}

impl<T: Entry> Slot<T> {
    /// The task has started.
    pub(crate) fn fill(self, task: T) {
        self.tasks.table().running.insert(self.number, task);
    }

    /// The task's id.
    pub(crate) fn id(&self) -> TaskId {
        TaskId::numbered(self.number)
    }
}

impl<T: Entry> Drop for Slot<T> {
    fn drop(&mut self) {
        self.tasks.table().starting -= 1;
    }
}

#[cfg(test)]
#[path = "tasks_tests.rs"]
mod tests;
