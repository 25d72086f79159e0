//! The disk that the tasks of all sessions take together, and its limit.
//!
//! Finished tasks are counted by what their files hold, running ones by what was seen when their files were last looked at:
//! before a task starts, and every few seconds, while all of them together could reach the limit. Beyond it the oldest
//! finished output of all sessions goes first (`registry` knows the sessions); where that is not enough a new task is
//! refused. A running one is never touched.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use brattice_protocol::TaskId;
use tokio::sync::{Notify, mpsc, oneshot};

use crate::exec::record;
use crate::workers::{Lane, Workers};

use super::tasks::Removable;

/// The streams of a task that may be files.
const STREAMS: [&str; 2] = ["stdout", "stderr"];

/// Between two looks at running tasks that could reach the limit.
const LOOK_PAUSE: Duration = Duration::from_secs(2);

/// Starts that wait for room. A further one waits for its place among them.
const WAITING: usize = 64;

/// As much as may be is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the output of running tasks takes {running} of the {limit} bytes that all tasks may have")]
pub(crate) struct Full {
    /// What running tasks have.
    pub(crate) running: u64,
    /// What may be.
    pub(crate) limit: u64,
}

/// What all tasks of a daemon take.
#[derive(Debug)]
pub(super) struct Space {
    limit: u64,
    /// The most that one running task takes.
    most_of_one: u64,
    finished: AtomicU64,
    /// The paths of running tasks' streams, without their extensions, and what they held when they were last looked at.
    running: Mutex<HashMap<PathBuf, u64>>,
    /// What there is has changed, and may be too much.
    changed: Notify,
    starts: mpsc::Sender<oneshot::Sender<()>>,
    waiting: tokio::sync::Mutex<mpsc::Receiver<oneshot::Sender<()>>>,
    workers: Workers,
}

/// A running task's part; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Part {
    space: Arc<Space>,
    stem: PathBuf,
}

/// Room is wanted. Whoever waits for it goes on when this is dropped.
pub(super) struct Wanted {
    /// How many bytes.
    pub(super) more: u64,
    _waiting: Option<oneshot::Sender<()>>,
}

impl Wanted {
    /// What may be removed for it, one after the other: rather than refuse a start, all that is finished.
    pub(super) fn removable(&self) -> &'static [Removable] {
        match self.more {
            0 => &[Removable::ButNewest],
            _ => &[Removable::ButNewest, Removable::All],
        }
    }
}

impl Space {
    /// Nothing yet.
    pub(super) fn new(limit: u64, spool: u64, workers: Workers) -> Self {
        let (starts, waiting) = mpsc::channel(WAITING);
        Space {
            limit,
            most_of_one: spool.saturating_mul(STREAMS.len() as u64),
            finished: AtomicU64::new(0),
            running: Mutex::default(),
            changed: Notify::new(),
            starts,
            waiting: tokio::sync::Mutex::new(waiting),
            workers,
        }
    }

    /// A part for one more running task; room is made for it where there is none.
    ///
    /// # Errors
    /// Those that run take all there is.
    pub(super) async fn admit(
        self: &Arc<Self>,
        folder: &Path,
        task: &TaskId,
    ) -> Result<Part, Full> {
        if self.could_exceed(1) {
            self.look().await;
            if self.exceeds(1) {
                self.ask_for_room().await;
            }
            if self.exceeds(1) {
                return Err(Full { running: self.seen(), limit: self.limit });
            }
        }
        Ok(self.part(folder, task))
    }

    /// The part of a task that runs already.
    pub(super) fn part(self: &Arc<Self>, folder: &Path, task: &TaskId) -> Part {
        let stem = record::path(folder, task, "");
        self.running().insert(stem.clone(), 0);
        if self.could_exceed(0) {
            self.changed.notify_one();
        }
        Part { space: self.clone(), stem }
    }

    /// A finished task has so many bytes.
    pub(super) fn add(&self, bytes: u64) {
        self.finished.fetch_add(bytes, Ordering::Relaxed);
        if self.exceeds(0) {
            self.changed.notify_one();
        }
    }

    /// They are gone.
    pub(super) fn subtract(&self, bytes: u64) {
        self.finished.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Whether all tasks would take more than they may with so many more bytes.
    pub(super) fn exceeds(&self, more: u64) -> bool {
        let known = self.finished.load(Ordering::Relaxed).saturating_add(self.seen());
        known.saturating_add(more) > self.limit
    }

    /// Returns when room is wanted. One at a time waits for that.
    pub(super) async fn wanted(&self) -> Wanted {
        let mut waiting = self.waiting.lock().await;
        loop {
            tokio::select! {
                Some(start) = waiting.recv() => return Wanted { more: 1, _waiting: Some(start) },
                () = self.changed.notified() => {}
                () = tokio::time::sleep(LOOK_PAUSE), if self.could_exceed(0) => self.look().await,
            }
            if self.exceeds(0) {
                return Wanted { more: 0, _waiting: None };
            }
        }
    }

    async fn ask_for_room(&self) {
        let (start, answered) = oneshot::channel();
        if self.starts.send(start).await.is_ok() {
            // The answer is that the other side is dropped.
            answered.await.ok();
        }
    }

    /// Whether so many more running tasks than there are could reach the limit.
    fn could_exceed(&self, more: u64) -> bool {
        let running = self.running().len() as u64 + more;
        let most = self.most_of_one.saturating_mul(running);
        most.saturating_add(self.finished.load(Ordering::Relaxed)) > self.limit
    }

    /// Looks at the files of running tasks.
    async fn look(&self) {
        let stems: Vec<PathBuf> = self.running().keys().cloned().collect();
        if stems.is_empty() {
            return;
        }
        let measure = move || stems.into_iter().map(|stem| (on_disk(&stem), stem)).collect();
        // Without an answer what was seen before counts.
        let seen: Vec<(u64, PathBuf)> =
            self.workers.run(Lane::State, measure).await.unwrap_or_default();
        let mut running = self.running();
        for (bytes, stem) in seen {
            // It may have ended meanwhile.
            running.entry(stem).and_modify(|known| *known = bytes);
        }
    }

    /// What running tasks held when they were last looked at.
    fn seen(&self) -> u64 {
        self.running().values().sum()
    }

    fn running(&self) -> MutexGuard<'_, HashMap<PathBuf, u64>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.space.running().remove(&self.stem);
    }
}

/// What a task's streams hold, holes not counted.
fn on_disk(stem: &Path) -> u64 {
    let blocks = |stream: &&str| stem.with_extension(stream).metadata().map(|file| file.blocks());
    STREAMS.iter().filter_map(|stream| blocks(stream).ok()).map(|blocks| blocks * 512).sum()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::session::testing::Scratch;

    fn space(limit: u64, spool: u64) -> Arc<Space> {
        Arc::new(Space::new(limit, spool, Workers::start().unwrap()))
    }

    /// Gives `each` bytes back for each time that room is wanted, as long as there are finished ones.
    fn give_back(space: &Arc<Space>, each: u64) {
        let space = space.clone();
        tokio::spawn(async move {
            loop {
                let wanted = space.wanted().await;
                while space.exceeds(wanted.more) && space.finished.load(Ordering::Relaxed) >= each {
                    space.subtract(each);
                }
            }
        });
    }

    #[tokio::test]
    async fn running_tasks_are_looked_at_when_they_could_reach_the_limit() {
        let scratch = Scratch::new();
        scratch.folder(record::TASKS);
        scratch.file("tasks/bash-1.stdout", &"x".repeat(9000));
        let space = space(16_384, 4096);
        give_back(&space, 1);
        let folder = scratch.path("");
        let admit = async |number| space.admit(&folder, &TaskId::numbered(number)).await;
        let first = admit(1).await.unwrap();
        let second = admit(2).await.unwrap();
        // 12 KiB are there, and three could reach 24.
        let third = admit(3).await.unwrap();
        scratch.file("tasks/bash-2.stderr", &"x".repeat(4096));
        let full = Full { running: 16_384, limit: 16_384 };
        assert_eq!(admit(4).await.unwrap_err(), full);
        drop(first);
        admit(4).await.unwrap();
        drop((second, third));
    }

    #[tokio::test]
    async fn what_is_finished_goes_for_what_runs_and_for_what_is_to_run() {
        let scratch = Scratch::new();
        scratch.folder(record::TASKS);
        let space = space(16_384, 8192);
        give_back(&space, 1000);
        let folder = scratch.path("");
        let running = space.admit(&folder, &TaskId::numbered(1)).await.unwrap();
        space.add(8000);
        assert!(!space.exceeds(0));
        // It has grown, and with what is finished there is too much.
        scratch.file("tasks/bash-1.stdout", &"x".repeat(12_000));
        let next = space.admit(&folder, &TaskId::numbered(2)).await.unwrap();
        assert_eq!(space.finished.load(Ordering::Relaxed), 4000);
        drop((running, next));
    }

    #[tokio::test]
    async fn a_running_task_that_grows_is_seen_without_anybody_who_asks() {
        let scratch = Scratch::new();
        scratch.folder(record::TASKS);
        let space = space(16_384, 8192);
        let running = space.part(&scratch.path(""), &TaskId::numbered(1));
        space.add(8000);
        scratch.file("tasks/bash-1.stdout", &"x".repeat(12_000));
        assert!(!space.exceeds(0), "nobody has looked yet");
        assert_eq!(space.wanted().await.more, 0);
        assert!(space.exceeds(0));
        drop(running);
        assert!(!space.exceeds(0));
    }

    #[tokio::test]
    async fn what_is_finished_is_counted_until_it_is_gone() {
        let space = space(10, 1);
        space.add(10);
        assert_eq!((space.exceeds(0), space.exceeds(1)), (false, true));
        space.add(1);
        assert_eq!(space.wanted().await.more, 0);
        assert!(space.exceeds(0));
        space.subtract(10);
        assert!(!space.exceeds(0));
    }
}
