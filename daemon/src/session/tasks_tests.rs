//! Tests of a session's table of tasks.

use super::*;
use crate::workers::Workers;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Clone, Debug)]
struct Fake(Arc<Facts>);

#[derive(Debug)]
struct Facts {
    placement: Placement,
    /// 0 while it runs.
    ended_at: AtomicU64,
    bytes: AtomicU64,
    is_discarded: AtomicBool,
    is_forgotten: AtomicBool,
}

impl Fake {
    fn new(placement: Placement) -> Self {
        let (ended_at, bytes) = (AtomicU64::new(0), AtomicU64::new(0));
        let (is_discarded, is_forgotten) = (AtomicBool::new(false), AtomicBool::new(false));
        Fake(Arc::new(Facts { placement, ended_at, bytes, is_discarded, is_forgotten }))
    }

    fn end_with(&self, at: u64, bytes: u64) {
        self.0.bytes.store(bytes, Ordering::SeqCst);
        self.0.ended_at.store(at, Ordering::SeqCst);
    }

    fn is_discarded(&self) -> bool {
        self.0.is_discarded.load(Ordering::SeqCst)
    }

    fn is_forgotten(&self) -> bool {
        self.0.is_forgotten.load(Ordering::SeqCst)
    }
}

impl Entry for Fake {
    fn has_ended(&self) -> bool {
        self.ended_at().0 > 0
    }

    fn ended_at(&self) -> Timestamp {
        Timestamp(self.0.ended_at.load(Ordering::SeqCst))
    }

    fn placement(&self) -> Placement {
        self.0.placement
    }

    fn bytes_on_disk(&self) -> u64 {
        self.0.bytes.load(Ordering::SeqCst)
    }

    fn discard(&self) {
        assert!(!self.0.is_discarded.swap(true, Ordering::SeqCst), "once");
    }

    fn forget(&self) {
        assert!(!self.0.is_forgotten.swap(true, Ordering::SeqCst), "once");
    }
}

fn table(max_running: usize) -> (Arc<Tasks<Fake>>, Arc<Space>) {
    let space = Arc::new(Space::new(100, 1, Workers::start().unwrap()));
    (Tasks::new(max_running, space.clone()), space)
}

fn start(tasks: &Arc<Tasks<Fake>>, placement: Placement) -> Fake {
    let fake = Fake::new(placement);
    tasks.reserve().unwrap().fill(fake.clone());
    fake
}

fn start_and_end(tasks: &Arc<Tasks<Fake>>, placement: Placement, at: u64, bytes: u64) -> Fake {
    let fake = start(tasks, placement);
    fake.end_with(at, bytes);
    fake
}

#[test]
fn numbers_only_ever_grow() {
    let (tasks, _) = table(4);
    start(&tasks, Placement::Foreground).end_with(1, 0);
    drop(tasks.reserve().unwrap());
    start(&tasks, Placement::Foreground);
    let found = ["bash-1", "bash-2", "bash-3", "bash-03", "bash-+3", "bash-4", "x"]
        .map(|name| tasks.find(&TaskId::new(name)).is_some());
    assert_eq!(found, [true, false, true, false, false, false, false]);
    assert_eq!(tasks.reserve().unwrap().id(), TaskId::new("bash-4"));
}

#[test]
fn t097_a_restored_table_goes_on_after_the_highest_number() {
    let ended = Fake::new(Placement::Background);
    ended.end_with(5, 7);
    let running = Fake::new(Placement::Background);
    let earlier = Earlier { highest: 9, running: vec![(8, running)], finished: vec![(3, ended)] };
    let space = Arc::new(Space::new(100, 1, Workers::start().unwrap()));
    let tasks = Tasks::restored(4, space.clone(), earlier);
    assert_eq!(tasks.reserve().unwrap().id(), TaskId::new("bash-10"));
    let found = [3, 8, 9].map(|number| tasks.find(&TaskId::numbered(number)).is_some());
    assert_eq!((found, tasks.running()), ([true, true, false], 1));
    space.add(94);
    assert!(space.exceeds(0), "what is on disk is counted");
}

#[test]
fn one_more_than_may_run_is_refused_until_one_ends() {
    let (tasks, _) = table(2);
    let first = start(&tasks, Placement::Background);
    let slot = tasks.reserve().unwrap();
    assert_eq!(tasks.reserve().unwrap_err(), TooManyTasks { running: 2 });
    drop(slot);
    start(&tasks, Placement::Foreground);
    assert_eq!(tasks.running(), 2);
    assert!(tasks.reserve().is_err());
    first.end_with(1, 0);
    assert_eq!((tasks.running(), tasks.all_running().len()), (1, 1));
    assert!(tasks.reserve().is_ok());
}

#[test]
fn the_last_that_ended_can_be_read_and_every_running_one() {
    let (tasks, space) = table(2);
    start(&tasks, Placement::Foreground);
    let background = start_and_end(&tasks, Placement::Background, 1, 1);
    let end = |_| start_and_end(&tasks, Placement::Foreground, 2, 1);
    let early: Vec<Fake> = (0..5).map(end).collect();
    let kept: Vec<Fake> = (0..KEPT_FOREGROUND).map(end).collect();
    tasks.settle();
    let found = [1, 2, 7, 8].map(|number| tasks.find(&TaskId::numbered(number)).is_some());
    assert_eq!(found, [true, true, false, true]);
    assert!(early.iter().all(Fake::is_forgotten), "files go with what is forgotten");
    assert!(!kept.iter().chain([&background]).any(Fake::is_forgotten));
    space.add(0);
    assert!(space.exceeds(0));
    drop(tasks);
    assert!(!space.exceeds(0), "a session that goes takes nothing any more");
}

#[test]
fn lists_hold_the_background_and_what_runs() {
    let (tasks, _) = table(4);
    start_and_end(&tasks, Placement::Foreground, 1, 0);
    start_and_end(&tasks, Placement::Background, 1, 0);
    start(&tasks, Placement::Foreground);
    let told: Vec<_> =
        tasks.all_told().iter().map(|task| (task.placement(), task.has_ended())).collect();
    assert_eq!(told, [(Placement::Background, true), (Placement::Foreground, false)]);
}

#[test]
fn output_goes_oldest_first_and_that_of_the_newest_stays() {
    let (tasks, space) = table(4);
    let [second, first, third] = [(7, 40), (5, 30), (9, 50)]
        .map(|(at, bytes)| start_and_end(&tasks, Placement::Background, at, bytes));
    let call = start_and_end(&tasks, Placement::Foreground, 6, 1);
    // Each ends before the next look, so the order of ends is that of the table.
    for _ in 0..4 {
        tasks.settle();
    }
    assert!(space.exceeds(0));
    let mut gone = Vec::new();
    while let Some(at) = tasks.oldest(Removable::ButNewest) {
        gone.push(at.0);
        tasks.discard_oldest(Removable::ButNewest);
    }
    assert!(!space.exceeds(0));
    assert_eq!(gone.len(), 3);
    let discarded = [&first, &second, &third, &call].map(Fake::is_discarded);
    assert_eq!(discarded, [true, true, false, true]);
    // Rather than refuse a start, that one goes, too.
    assert!(tasks.oldest(Removable::All).is_some());
    tasks.discard_oldest(Removable::All);
    assert_eq!((third.is_discarded(), tasks.oldest(Removable::All)), (true, None));
    assert!(tasks.find(&TaskId::new("bash-1")).is_some(), "its facts stay");
}
