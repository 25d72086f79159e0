//! Cancelling, and what is left of a search after it.

use std::thread;
use std::time::{Duration, Instant};

use brattice_search::{Cancel, GrepQuery, Output, Stop};

use crate::tree::Tree;

/// Far more than a cancel takes, and far less than the searches here would.
const PATIENCE: Duration = Duration::from_secs(2);

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// Waits until there are so many threads: the kernel lists one for a moment after it was joined.
fn wait_for_threads(count: usize) {
    let deadline = Instant::now() + PATIENCE;
    while threads() != count {
        assert!(Instant::now() < deadline, "{} threads, not {count}", threads());
        thread::yield_now();
    }
}

/// Begins to search, cancels, and measures what the search did after that.
fn cancelled(query: &GrepQuery) -> Duration {
    let before = threads();
    let cancel = Cancel::new();
    let canceller = cancel.clone();
    let cancelling = thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        canceller.cancel();
        Instant::now()
    });
    let found = brattice_search::grep(query, &cancel).unwrap();
    let ended = Instant::now();
    assert_eq!(found.stop, Stop::Cancelled);
    let cancelled = cancelling.join().unwrap();
    wait_for_threads(before);
    ended.duration_since(cancelled)
}

#[test]
fn a_search_that_was_cancelled_before_finds_nothing() {
    let tree = Tree::of(&[("a.txt", "x\n")]);
    let cancel = Cancel::new();
    cancel.cancel();
    let found = brattice_search::grep(&tree.query("x"), &cancel).unwrap();
    assert_eq!((found.files, found.stop), (vec![], Stop::Cancelled));
    assert_eq!(brattice_search::glob(&tree.glob_query("*"), &cancel).unwrap().files.len(), 0);
}

#[test]
fn large_files_do_not_delay_a_cancel() {
    let tree = Tree::new();
    tree.write("0", &b"filler filler filler filler\n".repeat(2_000_000));
    for name in 1..1000 {
        std::fs::hard_link(tree.path("0"), tree.path(&name.to_string())).unwrap();
    }
    assert!(cancelled(&tree.query(r"\w+ \d+ nothing")) < PATIENCE);
    assert!(cancelled(&GrepQuery { output: Output::Count, ..tree.query("f") }) < PATIENCE);
}

#[test]
fn many_files_do_not_delay_a_cancel() {
    let tree = Tree::new();
    tree.write("0/0", b"filler\n");
    for folder in 0..4 {
        std::fs::create_dir_all(tree.path(&folder.to_string())).unwrap();
        for name in 1..10_000 {
            let path = tree.path(&format!("{folder}/{name}"));
            std::fs::hard_link(tree.path("0/0"), path).unwrap();
        }
    }
    // However fast the search is, one that begins after the cancel ends with it.
    let cancel = Cancel::new();
    let canceller = cancel.clone();
    let cancelling = thread::spawn(move || canceller.cancel());
    let mut found = brattice_search::grep(&tree.query("nothing"), &cancel).unwrap();
    while found.stop != Stop::Cancelled {
        found = brattice_search::grep(&tree.query("nothing"), &cancel).unwrap();
    }
    cancelling.join().unwrap();
    assert_eq!(found.files, []);
}
