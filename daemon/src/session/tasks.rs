//! The tasks of a session: their numbers, how many may run, and which finished ones can still be read.
//!
//! A number is given when a task is about to start and never again, whether or not it starts. What a task is and how
//! it ends is `exec`'s; the table only finds it by name.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brattice_protocol::TaskId;

/// Finished tasks that can still be read by id. Older ones keep only their files until the session closes.
const KEPT_FINISHED: usize = 100;

/// What the table must know of a task.
pub(crate) trait Ends {
    /// Whether it has ended.
    fn has_ended(&self) -> bool;
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
    tasks: BTreeMap<u64, T>,
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
pub(crate) struct Slot<T: Ends> {
    number: u64,
    tasks: Arc<Tasks<T>>,
}

impl<T: Ends> Tasks<T> {
    /// An empty table.
    pub(crate) fn new(max_running: usize) -> Arc<Self> {
        let table = Table { next: 1, starting: 0, tasks: BTreeMap::new() };
        Arc::new(Tasks { table: Mutex::new(table), max_running })
    }

    /// A place for one more task.
    ///
    /// # Errors
    /// As many run as may.
    pub(crate) fn reserve(self: &Arc<Self>) -> Result<Slot<T>, TooManyTasks> {
        let mut table = self.table();
        let running = table.running();
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
        self.table().running()
    }

    fn table(&self) -> MutexGuard<'_, Table<T>> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Ends + Clone> Tasks<T> {
    /// The task of that name, if it is one of this session's that can still be read.
    pub(crate) fn find(&self, task: &TaskId) -> Option<T> {
        let number = task.as_str().strip_prefix("bash-")?.parse().ok()?;
        // Only the one spelling: `bash-01` and `bash-+1` parse too.
        let found = self.table().tasks.get(&number).cloned();
        found.filter(|_| *task == id(number))
    }

    /// Those that run.
    pub(crate) fn all_running(&self) -> Vec<T> {
        self.table().tasks.values().filter(|task| !task.has_ended()).cloned().collect()
    }
}

impl<T: Ends> Table<T> {
    fn running(&self) -> usize {
        self.starting + self.tasks.values().filter(|task| !task.has_ended()).count()
    }

    fn forget_oldest_finished(&mut self) {
        let finished: Vec<u64> = self
            .tasks
            .iter()
            .filter(|(_, task)| task.has_ended())
            .map(|(number, _)| *number)
            .collect();
        for number in finished.iter().take(finished.len().saturating_sub(KEPT_FINISHED)) {
            self.tasks.remove(number);
        }
    }
}

impl<T: Ends> Slot<T> {
    /// The task's id.
    pub(crate) fn id(&self) -> TaskId {
        id(self.number)
    }

    /// The task has started.
    pub(crate) fn fill(self, task: T) {
        let mut table = self.tasks.table();
        table.tasks.insert(self.number, task);
        table.forget_oldest_finished();
    }
}

impl<T: Ends> Drop for Slot<T> {
    fn drop(&mut self) {
        self.tasks.table().starting -= 1;
    }
}

fn id(number: u64) -> TaskId {
    TaskId::new(format!("bash-{number}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[derive(Clone, Debug, Default)]
    struct Fake(Arc<AtomicBool>);

    impl Fake {
        fn end(&self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    impl Ends for Fake {
        fn has_ended(&self) -> bool {
            self.0.load(Ordering::SeqCst)
        }
    }

    fn start(tasks: &Arc<Tasks<Fake>>) -> Fake {
        let fake = Fake::default();
        tasks.reserve().unwrap().fill(fake.clone());
        fake
    }

    #[test]
    fn numbers_only_ever_grow() {
        let tasks = Tasks::<Fake>::new(4);
        start(&tasks).end();
        drop(tasks.reserve().unwrap());
        start(&tasks);
        let found = ["bash-1", "bash-2", "bash-3", "bash-03", "bash-+3", "bash-4", "x"]
            .map(|name| tasks.find(&TaskId::new(name)).is_some());
        assert_eq!(found, [true, false, true, false, false, false, false]);
        assert_eq!(tasks.reserve().unwrap().id(), TaskId::new("bash-4"));
    }

    #[test]
    fn one_more_than_may_run_is_refused_until_one_ends() {
        let tasks = Tasks::<Fake>::new(2);
        let first = start(&tasks);
        let slot = tasks.reserve().unwrap();
        assert_eq!(tasks.reserve().unwrap_err(), TooManyTasks { running: 2 });
        drop(slot);
        start(&tasks);
        assert_eq!(tasks.running(), 2);
        assert!(tasks.reserve().is_err());
        first.end();
        assert_eq!((tasks.running(), tasks.all_running().len()), (1, 1));
        assert!(tasks.reserve().is_ok());
    }

    #[test]
    fn only_the_newest_finished_tasks_can_be_read_and_every_running_one() {
        let tasks = Tasks::<Fake>::new(2);
        let running = start(&tasks);
        for _ in 0..KEPT_FINISHED + 5 {
            start(&tasks).end();
        }
        // The newest had not ended when it was taken in, so one more than is kept is still there.
        assert_eq!(tasks.table().tasks.len(), 1 + KEPT_FINISHED + 1);
        assert!(tasks.find(&TaskId::new("bash-1")).is_some() && !running.has_ended());
        assert!(tasks.find(&TaskId::new("bash-5")).is_none());
    }
}
