//! Tests of a session's table of tasks.

use super::*;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Clone, Debug, Default)]
struct Fake(Arc<Facts>);

#[derive(Debug, Default)]
struct Facts {
    has_ended: AtomicBool,
    bytes: AtomicU64,
    is_discarded: AtomicBool,
}

impl Fake {
    fn end_with(&self, bytes: u64) {
        self.0.bytes.store(bytes, Ordering::SeqCst);
        self.0.has_ended.store(true, Ordering::SeqCst);
    }

    fn is_discarded(&self) -> bool {
        self.0.is_discarded.load(Ordering::SeqCst)
    }
}

impl Entry for Fake {
    fn has_ended(&self) -> bool {
        self.0.has_ended.load(Ordering::SeqCst)
    }

    fn bytes_on_disk(&self) -> u64 {
        self.0.bytes.load(Ordering::SeqCst)
    }

    fn discard(&self) {
        assert!(!self.0.is_discarded.swap(true, Ordering::SeqCst), "once");
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
    start(&tasks).end_with(0);
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
    first.end_with(0);
    assert_eq!((tasks.running(), tasks.all_running().len()), (1, 1));
    assert!(tasks.reserve().is_ok());
}

#[test]
fn the_last_that_ended_can_be_read_and_every_running_one() {
    let tasks = Tasks::<Fake>::new(2);
    start(&tasks);
    let early: Vec<Fake> = (0..5).map(|_| start_and_end(&tasks, 1)).collect();
    let kept: Vec<Fake> = (0..KEPT_FINISHED).map(|_| start_and_end(&tasks, 1)).collect();
    tasks.settle();
    let found = ["bash-1", "bash-6", "bash-7"].map(|name| tasks.find(&TaskId::new(name)).is_some());
    assert_eq!(found, [true, false, true]);
    assert!(early.iter().all(Fake::is_discarded), "files go with what is forgotten");
    assert!(!kept.iter().any(Fake::is_discarded));
    assert_eq!(tasks.table().bytes, KEPT_FINISHED as u64);
}

#[test]
fn spools_beyond_the_bound_are_removed_oldest_first_and_the_newest_stays() {
    let tasks = Tasks::<Fake>::new(2);
    let [first, second, third] =
        [KEPT_BYTES / 2, KEPT_BYTES / 2, 1].map(|bytes| start_and_end(&tasks, bytes));
    tasks.settle();
    assert_eq!([&first, &second, &third].map(Fake::is_discarded), [true, false, false]);
    assert!(tasks.find(&TaskId::new("bash-1")).is_some(), "its facts stay");
    let huge = start_and_end(&tasks, 2 * KEPT_BYTES);
    tasks.settle();
    assert_eq!([&second, &third, &huge].map(Fake::is_discarded), [true, true, false]);
}

fn start_and_end(tasks: &Arc<Tasks<Fake>>, bytes: u64) -> Fake {
    let fake = start(tasks);
    fake.end_with(bytes);
    fake
}
