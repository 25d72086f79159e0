//! The tasks of a session: their numbers, how many may run, and which finished ones can still be read.
//!
//! ```text
//! reserve ─► starting ─fill─► running ─ends─► finished ──(100 later ends)──► forgotten, its files removed
//!                                                └──(512 MiB of later spools)──► its files removed, its facts stay
//! ```
//!
//! A number is given when a task is about to start and never again, whether or not it starts. What a task is and how
//! it ends is `exec`'s; the table only finds it by name. Ends are noticed at each look at the table, so that a task that
//! has ended never counts as running.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brattice_protocol::TaskId;

/// Finished tasks that can still be read by id.
const KEPT_FINISHED: usize = 100;

/// Bytes on disk of all finished tasks of a session. The newest one keeps its files whatever their size (each of its two
/// streams has a cap), because its result has just named them.
const KEPT_BYTES: u64 = 512 << 20;

/// What the table must know of a task.
pub(crate) trait Entry: Clone {
    /// Whether it has ended.
    fn has_ended(&self) -> bool;

    /// Bytes that it has on disk once it has ended.
    fn bytes_on_disk(&self) -> u64;

    /// Removes what it has on disk. It has ended.
    fn discard(&self);
}

/// The tasks of one session.
#[derive(Debug)]
pub(crate) struct Tasks<T> {
    table: Mutex<Table<T>>,
    max_running: usize,
}

#[derive(Debug)]
struct Table<T> {
    next: u64,
    starting: usize,
    running: BTreeMap<u64, T>,
    /// In the order of their ends.
    finished: VecDeque<Finished<T>>,
    /// Of all finished ones.
    bytes: u64,
}

#[derive(Debug)]
struct Finished<T> {
    number: u64,
    task: T,
    /// On disk; 0 once its files are removed.
    bytes: u64,
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
pub(crate) struct Slot<T> {
    number: u64,
    tasks: Arc<Tasks<T>>,
}

impl<T> Tasks<T> {
    /// An empty table.
    pub(crate) fn new(max_running: usize) -> Arc<Self> {
        let table = Table {
            next: 1,
            starting: 0,
            running: BTreeMap::new(),
            finished: VecDeque::new(),
            bytes: 0,
        };
        Arc::new(Tasks { table: Mutex::new(table), max_running })
    }

    fn table(&self) -> MutexGuard<'_, Table<T>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Entry> Tasks<T> {
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
        let number = task.as_str().strip_prefix("bash-")?.parse().ok()?;
        // Only the one spelling: `bash-01` and `bash-+1` parse too.
        self.table().find(number).filter(|_| *task == id(number))
    }

    /// Those that run.
    pub(crate) fn all_running(&self) -> Vec<T> {
        self.settle();
        self.table().running.values().cloned().collect()
    }

    /// Takes note of ends, and removes files of finished tasks beyond what is kept.
    pub(crate) fn settle(&self) {
        // What is removed is a task's own business, which the table's lock does not wait for.
        let discarded = self.table().settle();
        discarded.iter().for_each(Entry::discard);
    }
}

impl<T: Entry> Table<T> {
    fn find(&self, number: u64) -> Option<T> {
        let finished = || self.finished.iter().find(|finished| finished.number == number);
        self.running.get(&number).or_else(|| Some(&finished()?.task)).cloned()
    }

    /// Moves what has ended, and returns whose files are to be removed.
    fn settle(&mut self) -> Vec<T> {
        let Table { running, finished, bytes: total, .. } = self;
        running.retain(|number, task| {
            let has_ended = task.has_ended();
            if has_ended {
                let bytes = task.bytes_on_disk();
                *total += bytes;
                finished.push_back(Finished { number: *number, task: task.clone(), bytes });
            }
            !has_ended
        });
        let mut discarded = Vec::new();
        while self.finished.len() > KEPT_FINISHED
            && let Some(mut forgotten) = self.finished.pop_front()
        {
            discarded.extend(forgotten.discard(&mut self.bytes));
        }
        for older in 0..self.finished.len().saturating_sub(1) {
            if self.bytes <= KEPT_BYTES {
                break;
            }
            discarded.extend(self.finished[older].discard(&mut self.bytes));
        }
        discarded
    }
}

impl<T: Entry> Finished<T> {
    /// The task, if it has files to be removed; they are no longer counted.
    fn discard(&mut self, total: &mut u64) -> Option<T> {
        *total -= self.bytes;
        (std::mem::take(&mut self.bytes) > 0).then(|| self.task.clone())
    }
}

impl<T: Entry> Slot<T> {
    /// The task has started.
    pub(crate) fn fill(self, task: T) {
        self.tasks.table().running.insert(self.number, task);
    }
}

impl<T> Slot<T> {
    /// The task's id.
    pub(crate) fn id(&self) -> TaskId {
        id(self.number)
    }
}

impl<T> Drop for Slot<T> {
    fn drop(&mut self) {
        self.tasks.table().starting -= 1;
    }
}

fn id(number: u64) -> TaskId {
    TaskId::new(format!("bash-{number}"))
}

#[cfg(test)]
#[path = "tasks_tests.rs"]
mod tests;
