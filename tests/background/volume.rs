//! A task that prints without end: disk under the cap, memory flat, reads fast, with a daemon and without.

use std::env;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use brattice_protocol::outcome::Cause;
use brattice_tests::{Process, Session, World, eventually};
use serde_json::json;

use crate::survival::printed_so_far;

/// Seconds that it prints; a minute in the long form.
const SECONDS: &str = "BRATTICE_RUNAWAY_SECONDS";

/// Bytes of a stream that are kept, and what its file may have beyond that until its middle is dropped.
const CAP: u64 = (64 << 20) + (8 << 20);

/// Growth of a process's memory that is noise.
const NOISE_KIB: u64 = 4096;

/// Bytes on disk of all files in a folder.
fn on_disk(folder: &Path) -> u64 {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    files.filter_map(|file| file.metadata().ok()).map(|file| file.blocks() * 512).sum()
}

/// The largest of some looks during a time.
fn most(during: Duration, mut look: impl FnMut() -> u64) -> u64 {
    let begun = Instant::now();
    let mut most = 0;
    while begun.elapsed() < during {
        most = most.max(look());
        thread::sleep(Duration::from_millis(20));
    }
    most
}

/// Reads the tail ten times and tells the median.
fn read_tail(session: &Session, task: &str) -> Duration {
    let mut times: Vec<Duration> = (0..10)
        .map(|_| {
            // Where the machine is busy, what was the tail may have been dropped before it is read: that is skipped, and
            // said.
            let (piece, took) = eventually("the tail is read", || {
                let offset = session.task(task).bytes - 8192;
                let begun = Instant::now();
                let piece = session.read(task, json!({"offset": offset, "limit": 8192}));
                assert!(!piece.data.is_empty() || piece.skipped > 0, "{piece:?}");
                (!piece.data.is_empty()).then(|| (piece, begun.elapsed()))
            });
            let lines: Vec<&str> = piece.data.lines().collect();
            let whole = &lines[1..lines.len() - 1];
            assert!(whole.iter().all(|line| *line == "invalid input!"), "{whole:?}");
            took
        })
        .collect();
    times.sort();
    times[times.len() / 2]
}

#[test]
fn b055_t035_t037_a_runaway_task_is_bounded_with_a_daemon_and_without() {
    let seconds: u64 = env::var(SECONDS).map_or(6, |text| text.parse().expect("it is a number"));
    let half = Duration::from_secs(seconds) / 2;
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let task = session.start("yes 'invalid input!'");
    // From here on its middle is dropped.
    printed_so_far(&session, &task, 200 << 20);
    let (supervisor, tasks) = (world.supervisor(&id), world.folder(&id).join("tasks"));
    let daemon = world.daemon().pid();
    let memory = |pid: u32| Process::kib(pid, "VmRSS");
    let before = (memory(daemon), memory(supervisor.pid));

    let disk = most(half, || on_disk(&tasks));
    assert!(disk < CAP, "{disk} bytes on disk");
    let tail = read_tail(&session, &task);
    assert!(tail < Duration::from_millis(250), "reading the tail took {tail:?}");
    let after = (memory(daemon), memory(supervisor.pid));
    assert!(
        after.0 < before.0 + NOISE_KIB && after.1 < before.1 + NOISE_KIB,
        "resident KiB of daemon and supervisor: {before:?} before, {after:?} after"
    );

    world.kill_daemon();
    let disk = most(half, || on_disk(&tasks));
    assert!(disk < CAP, "{disk} bytes on disk without a daemon");
    assert!(memory(supervisor.pid) < before.1 + NOISE_KIB);
    world.start();
    let session = world.resume(&id).open();
    let tail = read_tail(&session, &task);
    assert!(tail < Duration::from_millis(250), "reading the tail took {tail:?}");
    assert!(memory(world.daemon().pid()) < before.0 + NOISE_KIB);

    session.kill(&task);
    let outcome = session.wait_for(&task);
    assert_eq!(outcome.cause, Cause::Killed);
    let kept = outcome.stdout.bytes - outcome.stdout.dropped;
    assert!(kept < CAP && outcome.stdout.dropped > 0, "{:?}", outcome.stdout);
    assert!(on_disk(&tasks) < CAP);
    world.finish();
}
