//! Searching by name: the files that a glob matches, the newest first.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering as Memory};

use crate::cancel::Cancel;
use crate::pattern::Filter;
use crate::query::{Cause, Ignored, QueryError, Root, Unreadable, UnreadableList, UserRules};
use crate::walk::{Batch, Flow, Fold, Gone, Job, Stop, Walk, Weight, gone};

/// Which files to list.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GlobQuery {
    /// A folder, or a file, which is listed whatever rules and glob say of it. Results begin with it.
    pub root: PathBuf,
    /// What they match: `*.rs` at any depth, `src/**/*.rs` and `./*.rs` from the root, `!*.rs` all others. A component
    /// that begins with a dot reaches hidden names.
    pub pattern: String,
    /// What becomes of ignored and hidden files.
    pub ignored: Ignored,
    /// Whether the user's own ignore rules count among the rules.
    pub user_rules: UserRules,
    /// How many are wanted.
    pub max_results: usize,
}

/// Files that match.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listed {
    /// The newest, newest first by their last modification, down to nanoseconds; of the same time by path.
    #[serde(serialize_with = "crate::shown::paths")]
    pub files: Vec<PathBuf>,
    /// How many match on the whole. After a cancel, how many were seen.
    pub total: u64,
    /// Folders that could not be listed, and files that could not be asked for their time.
    pub unreadable: UnreadableList,
}

/// Lists files by name, the newest first.
///
/// # Errors
///
/// Where the pattern has a fault, or there is no such root. Folders that cannot be read are no error: they are told in
/// [`Listed::unreadable`].
pub fn glob(query: &GlobQuery, cancel: &Cancel) -> Result<Listed, QueryError> {
    let root = Root::find(&query.root)?;
    let filter = Filter::new(&query.pattern, &root)?;
    let job = Ages { root: &root, threshold: AtomicI64::new(i64::MIN) };
    let rules = (query.ignored, query.user_rules);
    let newest = Newest {
        wanted: query.max_results,
        threshold: &job.threshold,
        heap: BinaryHeap::new(),
        total: 0,
        unreadable: UnreadableList::default(),
    };
    let newest = Walk::new(&root, &filter, rules, cancel).run(&job, newest);
    let files = newest.heap.into_sorted_vec().into_iter();
    let files = files.map(|aged| root.show(&aged.relative)).collect();
    Ok(Listed { files, total: newest.total, unreadable: newest.unreadable })
}

/// A file and its time.
#[derive(Debug, PartialEq, Eq)]
struct Aged {
    modified: Time,
    relative: Vec<u8>,
}

/// Seconds since 1970, and nanoseconds.
type Time = (i64, i64);

/// What is listed later is greater.
impl Ord for Aged {
    fn cmp(&self, other: &Self) -> Ordering {
        let path = |aged| Path::new(OsStr::from_bytes(aged));
        let by_path = || path(&self.relative).cmp(path(&other.relative));
        other.modified.cmp(&self.modified).then_with(by_path)
    }
}

impl PartialOrd for Aged {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Asks files for their times.
struct Ages<'a> {
    root: &'a Root,
    /// Files older than this, in nanoseconds, will not be listed: so many newer ones are known.
    threshold: AtomicI64,
}

/// What came of a batch of files.
#[derive(Debug, Default)]
struct Seen {
    total: u64,
    /// Those that may be among the newest.
    files: Vec<Aged>,
    unreadable: Vec<Unreadable>,
}

impl Job for Ages<'_> {
    type Local = ();
    type Record = Seen;

    /// Large, for little is done for each file.
    const BATCH: usize = 512;

    fn local(&self) {}

    fn run(&self, (): &mut (), batch: &Batch<'_>, stop: &Stop<'_>) -> Seen {
        let mut seen = Seen::default();
        batch.each(|candidate| {
            match rustix::fs::lstat(candidate.path) {
                Ok(stat) => {
                    seen.total += 1;
                    let modified = (stat.st_mtime, stat.st_mtime_nsec as i64);
                    if nanoseconds(modified) >= self.threshold.load(Memory::Relaxed) {
                        seen.files.push(Aged { modified, relative: candidate.relative.to_vec() });
                    }
                }
                Err(errno) if gone(errno) == Gone::Yes => {}
                Err(errno) => seen.unreadable.push(Unreadable {
                    path: self.root.show(candidate.relative),
                    cause: Cause::Errno(errno.raw_os_error()),
                }),
            }
            if stop.is_wanted() { Flow::Enough } else { Flow::More }
        });
        seen
    }
}

fn nanoseconds((seconds, nanoseconds): Time) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(nanoseconds)
}

/// The newest files so far, the oldest of them on top of the heap.
struct Newest<'a> {
    wanted: usize,
    threshold: &'a AtomicI64,
    heap: BinaryHeap<Aged>,
    total: u64,
    unreadable: UnreadableList,
}

impl Fold for Newest<'_> {
    type Record = Seen;

    /// Any file may be the newest, so that none is ever too late.
    fn weigh(&self, _: &Seen) -> Weight {
        Weight::default()
    }

    fn wanted(&self) -> Weight {
        Weight::default()
    }

    fn fold(&mut self, seen: Seen) -> Flow {
        self.total += seen.total;
        for aged in seen.files {
            if self.heap.len() < self.wanted {
                self.heap.push(aged);
            } else if let Some(mut oldest) = self.heap.peek_mut()
                && aged < *oldest
            {
                *oldest = aged;
            }
        }
        if self.heap.len() == self.wanted
            && let Some(oldest) = self.heap.peek()
        {
            self.threshold.store(nanoseconds(oldest.modified), Memory::Relaxed);
        }
        seen.unreadable.into_iter().for_each(|unreadable| self.unreadable.add(unreadable));
        Flow::More
    }

    fn unreadable(&mut self, unreadable: Unreadable) {
        self.unreadable.add(unreadable);
    }
}
