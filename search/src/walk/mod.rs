//! Walking a tree with several threads, as if it were one that goes in the order of paths.
//!
//! ```text
//!  queue, by position:  [0] folder   [1..4] files   [4] folder …        a worker takes the first: it
//!                          │            │                               lists a folder ─▶ more work, in its place
//!                          ▼            ▼                               or has the job look at a batch of files
//!  done, by position:   records wait here until nothing before them is outstanding, then are folded in order
//! ```
//!
//! `schedule` has the queue and the order, `list` reads folders and decides what in them is walked. A [`Job`] says what
//! is done with files; a [`Fold`] what with its records, and when it has enough.

mod list;
mod position;
mod schedule;

use std::thread;

use crate::cancel::Cancel;
use crate::pattern::Filter;
use crate::query::{Ignored, Root, RootKind, Unreadable, UserRules};
use crate::rules::Ruleset;

pub(crate) use list::{Batch, Gone, gone};
pub(crate) use schedule::Stop;

/// More threads than this gain nothing: directories and the page cache are shared.
const MOST_THREADS: usize = 16;

/// What is done with the files of a tree.
pub(crate) trait Job: Sync {
    /// What a thread keeps from batch to batch.
    type Local;
    /// What comes of a batch.
    type Record: Send;

    /// How many files are looked at in one go.
    const BATCH: usize;

    /// What a thread begins with.
    fn local(&self) -> Self::Local;

    /// Looks at some files, and gives up early once `stop` says so.
    fn run(&self, local: &mut Self::Local, batch: &Batch<'_>, stop: &Stop<'_>) -> Self::Record;
}

/// Whether more is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    More,
    Enough,
}

/// What part of all that is wanted a record holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Weight {
    pub(crate) results: usize,
    pub(crate) bytes: usize,
}

/// Puts records together, in the order of paths.
pub(crate) trait Fold: Send {
    /// What the job makes of a batch.
    type Record: Send;

    /// What a record holds.
    fn weigh(&self, record: &Self::Record) -> Weight;

    /// How much is wanted on the whole; a record that begins beyond it will not be folded.
    fn wanted(&self) -> Weight;

    /// Takes the next record.
    fn fold(&mut self, record: Self::Record) -> Flow;

    /// Takes note of a folder or a file of rules.
    fn unreadable(&mut self, unreadable: Unreadable);
}

/// What a walk needs to know.
pub(crate) struct Walk<'a> {
    pub(crate) root: &'a Root,
    pub(crate) filter: &'a Filter,
    pub(crate) ignored: Ignored,
    pub(crate) ruleset: Ruleset,
    pub(crate) cancel: &'a Cancel,
}

impl<'a> Walk<'a> {
    /// Reads the rules above a root.
    pub(crate) fn new(
        root: &'a Root,
        filter: &'a Filter,
        (ignored, user): (Ignored, UserRules),
        cancel: &'a Cancel,
    ) -> Self {
        // Rules have no say about a root, so that for a file there is nothing to read.
        let ruled = if root.kind == RootKind::File { Ignored::Include } else { ignored };
        let ruleset = Ruleset::above(&root.real, ruled, user);
        Walk { root, filter, ignored, ruleset, cancel }
    }

    /// Walks the tree to its end, to where the fold has enough, or to a cancel. A root that is a file is one file.
    pub(crate) fn run<J, F>(&mut self, job: &J, mut fold: F) -> F
    where
        J: Job,
        F: Fold<Record = J::Record>,
    {
        for unreadable in std::mem::take(&mut self.ruleset.unreadable) {
            fold.unreadable(unreadable);
        }
        let first = match self.root.kind {
            RootKind::Folder => list::first(self.ruleset.above.clone()),
            RootKind::File => list::only_file(),
        };
        let schedule = schedule::Schedule::new(first, fold, self.cancel);
        let (walk, shared) = (&*self, &schedule);
        let threads = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
        thread::scope(|scope| {
            let start = |_| thread::Builder::new().spawn_scoped(scope, || walk.work(job, shared));
            // Where no more threads are to be had, those that there are do all.
            let started: Vec<_> = (1..threads).map_while(|index| start(index).ok()).collect();
            walk.work(job, shared);
            // The scope alone would only wait until they have nothing left to do, not until they are gone.
            for thread in started {
                if let Err(panic) = thread.join() {
                    std::panic::resume_unwind(panic);
                }
            }
        });
        schedule.into_fold()
    }

    /// What each thread does.
    fn work<J, F>(&self, job: &J, schedule: &schedule::Schedule<'_, F>)
    where
        J: Job,
        F: Fold<Record = J::Record>,
    {
        let _leave = schedule.leave_on_panic();
        let mut local = job.local();
        let mut lister = list::Lister::new(self);
        let stop = schedule.stop();
        while let Some((position, work)) = schedule.take(J::BATCH) {
            match work {
                list::Work::Folder(folder) => {
                    let (more, unreadable) = lister.list(folder, &position, &stop);
                    schedule.listed(position, more, unreadable);
                }
                list::Work::Files(run) => {
                    let record = job.run(&mut local, &run.batch(self.root), &stop);
                    schedule.finished(position, record);
                }
            }
        }
    }
}
