//! The disk that the tasks of all sessions take together, and its limit.
//!
//! Finished tasks are counted by what their files hold. Running ones are looked at only when they could reach the limit: then
//! a new task is refused. What is finished goes first, the oldest of all sessions before the others; a running one is
//! never touched.

use std::collections::HashSet;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brattice_protocol::TaskId;
use tokio::sync::Notify;

use crate::exec::record;

/// The streams of a task that may be files.
const STREAMS: [&str; 2] = ["stdout", "stderr"];

/// As much as may be is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the output of running tasks takes {used} bytes of the {limit} that all tasks may have")]
pub(crate) struct Full {
    /// What there is.
    pub(crate) used: u64,
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
    /// The paths of running tasks' streams, without their extensions.
    running: Mutex<HashSet<PathBuf>>,
    /// There is more than there may be.
    exceeded: Notify,
}

/// A running task's part; given back when it is dropped.
#[derive(Debug)]
pub(super) struct Part {
    space: Arc<Space>,
    stem: PathBuf,
}

impl Space {
    /// Nothing yet.
    pub(super) fn new(limit: u64, spool: u64) -> Self {
        Space {
            limit,
            most_of_one: spool * STREAMS.len() as u64,
            finished: AtomicU64::new(0),
            running: Mutex::default(),
            exceeded: Notify::new(),
        }
    }

    /// A part for one more running task.
    ///
    /// # Errors
    /// Those that run take all there is.
    pub(super) fn admit(self: &Arc<Self>, folder: &Path, task: &TaskId) -> Result<Part, Full> {
        let running = self.running();
        if self.most_of_one.saturating_mul(running.len() as u64 + 1) > self.limit {
            let used = running.iter().map(|stem| on_disk(stem)).sum();
            if used >= self.limit {
                return Err(Full { used, limit: self.limit });
            }
        }
        drop(running);
        Ok(self.part(folder, task))
    }

    /// The part of a task that runs already.
    pub(super) fn part(self: &Arc<Self>, folder: &Path, task: &TaskId) -> Part {
        let stem = record::path(folder, task, "");
        self.running().insert(stem.clone());
        Part { space: self.clone(), stem }
    }

    /// A finished task has so many bytes.
    pub(super) fn add(&self, bytes: u64) {
        let used = self.finished.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if used > self.limit {
            self.exceeded.notify_one();
        }
    }

    /// They are gone.
    pub(super) fn subtract(&self, bytes: u64) {
        self.finished.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Whether finished tasks take more than they may.
    pub(super) fn is_exceeded(&self) -> bool {
        self.finished.load(Ordering::Relaxed) > self.limit
    }

    /// Returns when they may.
    pub(super) async fn exceeded(&self) {
        self.exceeded.notified().await;
    }

    fn running(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
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

    #[test]
    fn running_tasks_are_looked_at_when_they_could_reach_the_limit() {
        let scratch = Scratch::new();
        scratch.folder(record::TASKS);
        scratch.file("tasks/bash-1.stdout", &"x".repeat(9000));
        let space = Arc::new(Space::new(16_384, 4096));
        let admit = |number| space.admit(&scratch.path(""), &TaskId::numbered(number));
        let first = admit(1).unwrap();
        let second = admit(2).unwrap();
        // 12 KiB are there, and three could reach 24.
        let third = admit(3).unwrap();
        scratch.file("tasks/bash-2.stderr", &"x".repeat(4096));
        assert_eq!(admit(4).unwrap_err(), Full { used: 16_384, limit: 16_384 });
        drop(first);
        admit(4).unwrap();
        drop((second, third));
    }

    #[tokio::test]
    async fn what_is_finished_is_counted_until_it_is_gone() {
        let space = Space::new(10, 1);
        space.add(10);
        assert!(!space.is_exceeded());
        space.add(1);
        space.exceeded().await;
        assert!(space.is_exceeded());
        space.subtract(10);
        assert!(!space.is_exceeded());
    }
}
