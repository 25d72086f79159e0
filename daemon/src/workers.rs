//! Threads that may wait for a disk: all that there will ever be, started before the daemon serves.
//!
//! ```text
//!  run(lane, work) ── a place in the line, or a wait for one ──► line ──► one of the lane's threads ──► its answer
//! ```
//!
//! A runtime's own pool starts a thread when one is needed, and panics when the user has as many processes as they may
//! have: just when somebody must still be able to read a task, stop it or close its session. Here nothing is started
//! later, so nothing can fail to. The runtime's threads never wait for a disk themselves, but for the state folder's small
//! files: a line that is appended, a file that is asked for its name (`session::reads`, `session::taken`, `audit`).

use std::collections::VecDeque;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Semaphore, oneshot};

/// What waits for a thread of a lane, or has one. What finds no place waits in its caller.
const PLACES: usize = 256;

/// Kinds of work that must not wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Files of the state folder.
    State,
    /// Trees of it that are removed, which may be large.
    Trees,
    /// All else: a workspace may lie on a file system that answers late, or never.
    Elsewhere,
}

impl Lane {
    const ALL: [Lane; 3] = [Lane::State, Lane::Trees, Lane::Elsewhere];

    /// How many threads it has.
    const fn threads(self) -> usize {
        match self {
            Lane::State | Lane::Elsewhere => 4,
            Lane::Trees => 2,
        }
    }

    /// Its threads' name, for whoever looks at the process.
    const fn name(self) -> &'static str {
        match self {
            Lane::State => "state",
            Lane::Trees => "trees",
            Lane::Elsewhere => "elsewhere",
        }
    }
}

/// A thread ended, or the daemon does, before the work was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it was interrupted")]
pub(crate) struct Interrupted;

/// The threads. Clones are the same ones.
#[derive(Clone, Debug)]
pub(crate) struct Workers(Arc<[Line; 3]>);

type Work = Box<dyn FnOnce() + Send>;

/// The work of one lane.
#[derive(Debug)]
struct Line {
    waiting: Mutex<Waiting>,
    /// There is some.
    more: Condvar,
    places: Arc<Semaphore>,
}

#[derive(Default)]
struct Waiting(VecDeque<Work>);

impl std::fmt::Debug for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} waiting", self.0.len())
    }
}

impl Workers {
    /// Starts all threads. They end with the process.
    ///
    /// # Errors
    /// There may not be so many.
    pub(crate) fn start() -> io::Result<Workers> {
        let workers = Workers(Arc::new(Lane::ALL.map(|_| Line::new())));
        for lane in Lane::ALL {
            for _ in 0..lane.threads() {
                let own = workers.clone();
                let thread = std::thread::Builder::new().name(lane.name().to_owned());
                thread.spawn(move || own.line(lane).serve())?;
            }
        }
        Ok(workers)
    }

    /// Has a thread of the lane do the work, and returns what comes of it. Work that has its place is done even if nobody
    /// waits for it any more.
    ///
    /// # Errors
    /// See [`Interrupted`].
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        lane: Lane,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Interrupted> {
        let line = self.line(lane);
        let place = line.places.clone().acquire_owned().await.map_err(|_| Interrupted)?;
        let (answer, answered) = oneshot::channel();
        line.push(Box::new(move || {
            let done = work();
            drop(place);
            // Whoever asked may have gone.
            answer.send(done).ok();
        }));
        answered.await.map_err(|_| Interrupted)
    }

    /// The same for work whose outcome nobody waits for. Called inside the runtime.
    pub(crate) fn post(&self, lane: Lane, work: impl FnOnce() + Send + 'static) {
        let own = self.clone();
        tokio::spawn(async move {
            if let Err(error) = own.run(lane, work).await {
                tracing::error!(%error, lane = lane.name(), "work was not done");
            }
        });
    }

    fn line(&self, lane: Lane) -> &Line {
        let [state, trees, elsewhere] = &*self.0;
        match lane {
            Lane::State => state,
            Lane::Trees => trees,
            Lane::Elsewhere => elsewhere,
        }
    }
}

impl Line {
    fn new() -> Self {
        let places = Arc::new(Semaphore::new(PLACES));
        Line { waiting: Mutex::default(), more: Condvar::new(), places }
    }

    fn push(&self, work: Work) {
        self.waiting().0.push_back(work);
        self.more.notify_one();
    }

    /// Does what comes, for ever.
    fn serve(&self) {
        loop {
            let work = self.next();
            // A fault in one piece of work is told to whoever waits for it, by the sender that is dropped.
            if catch_unwind(AssertUnwindSafe(work)).is_err() {
                tracing::error!("a thread that waits for the disk has panicked");
            }
        }
    }

    fn next(&self) -> Work {
        let mut waiting = self.waiting();
        loop {
            match waiting.0.pop_front() {
                Some(work) => return work,
                None => {
                    waiting = self.more.wait(waiting).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    fn threads() -> usize {
        std::fs::read_dir("/proc/self/task").unwrap().count()
    }

    #[tokio::test]
    async fn more_work_than_there_are_places_is_done_by_the_threads_there_are() {
        let workers = Workers::start().unwrap();
        let before = threads();
        let all: Vec<_> = (0..3 * PLACES)
            .map(|number| {
                let workers = workers.clone();
                tokio::spawn(async move { workers.run(Lane::State, move || number).await })
            })
            .collect();
        for (number, done) in all.into_iter().enumerate() {
            assert_eq!(done.await.unwrap(), Ok(number));
        }
        // Other tests of this process end threads meanwhile, and start none of these.
        assert!(threads() <= before, "{} after {before}", threads());
    }

    #[tokio::test]
    async fn a_lane_that_hangs_holds_up_no_other() {
        let workers = Workers::start().unwrap();
        let (release, released) = mpsc::channel::<()>();
        let released = Arc::new(Mutex::new(released));
        let (begin, mut begun) = tokio::sync::mpsc::unbounded_channel();
        for _ in 0..Lane::Elsewhere.threads() {
            let (released, begin) = (released.clone(), begin.clone());
            workers.post(Lane::Elsewhere, move || {
                begin.send(()).unwrap();
                released.lock().unwrap().recv().ok();
            });
        }
        for _ in 0..Lane::Elsewhere.threads() {
            begun.recv().await.unwrap();
        }
        let stuck = workers.run(Lane::Elsewhere, || 1);
        tokio::pin!(stuck);
        let waited = tokio::time::timeout(Duration::from_millis(50), &mut stuck).await;
        assert!(waited.is_err(), "every thread of the lane waits");
        assert_eq!(workers.run(Lane::State, || 2).await, Ok(2));
        assert_eq!(workers.run(Lane::Trees, || 3).await, Ok(3));
        drop(release);
        assert_eq!(stuck.await, Ok(1));
    }

    #[tokio::test]
    async fn work_that_panics_is_told_and_takes_no_thread_with_it() {
        let workers = Workers::start().unwrap();
        for _ in 0..3 * Lane::Trees.threads() {
            assert_eq!(
                workers.run(Lane::Trees, || panic!("as asked")).await,
                Err::<(), _>(Interrupted)
            );
        }
        assert_eq!(workers.run(Lane::Trees, || 1).await, Ok(1));
    }
}
