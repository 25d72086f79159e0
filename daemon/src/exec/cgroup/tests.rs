//! Real groups, where this process has a delegated one, and files that stand in for a group's controllers anywhere.
//!
//! Where there is no group, or no controller of memory, the tests of those say on standard error that they did not run, and
//! fail with `BRATTICE_REQUIRE_CGROUPS=1`, for machines that are there to run them.

use std::ffi::CString;
use std::fs;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use brattice_policy::Limits;
use brattice_policy::enforce::cgroup::{Controller, Delegation, Standing};
use brattice_policy::sys::spawn::{Child, ControllingTerminal, Exec, Place};
use rustix::fs::{FlockOperation, fcntl_lock, flock};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::claim::sweep;
use super::*;
use crate::exec::cgroup::tree::TreeError;
use crate::exec::testing::confine;
use crate::session::testing::Scratch;

/// Says that a test does not run here; an error where it must.
fn not_run(why: &dyn std::fmt::Display) {
    let must = std::env::var_os("BRATTICE_REQUIRE_CGROUPS").is_some_and(|value| value == "1");
    assert!(!must, "this test must run here, and cannot: {why}");
    eprintln!("NOT RUN, although it counts as passed: {why}");
}

/// A session's groups; without a delegated group `None`, for this very reason.
fn tree() -> Option<(Tree, std::path::PathBuf)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let session = format!("test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let claimed = claim();
    match (Tree::open(&session), Delegation::find()) {
        (Ok(tree), Ok(found)) => {
            assert!(claimed.is_ok(), "{claimed:?}");
            Some((tree, found.folder.join("brattice").join(session)))
        }
        (Err(TreeError::Unavailable(told)), Err(why)) => {
            assert_eq!(told, why);
            not_run(&why);
            None
        }
        (tree, found) => panic!("{tree:?}, but {found:?}"),
    }
}

/// A program in a group, started from behind every layer.
struct Program(Pid);

impl Program {
    fn start(group: &Group, script: &str) -> Program {
        let [procs, _kill] = group.descriptors().unwrap();
        let script = CString::new(script).unwrap();
        let keeper = std::thread::spawn(move || {
            let command = confine();
            let text = |text: &str| CString::new(text).unwrap();
            let place = Place { ruleset: Some(command.as_fd()), group: Some(procs.as_fd()) };
            let exec = Exec {
                candidates: &[text("/bin/bash")],
                argv: &[text("bash"), text("-c"), script],
                environment: &[text("PATH=/usr/bin:/bin")],
                directory: c"/",
                descriptors: &[],
                terminal: ControllingTerminal::None,
            };
            Child::fork(&place).unwrap().exec(&exec).unwrap()
        });
        Program(Pid::from_raw(keeper.join().unwrap().cast_signed()).unwrap())
    }

    fn group(&self) -> String {
        fs::read_to_string(format!("/proc/{}/cgroup", self.0.as_raw_nonzero())).unwrap()
    }

    /// The signal that ended it.
    fn signal(self) -> Option<i32> {
        let (_, status) = waitpid(Some(self.0), WaitOptions::empty()).unwrap().unwrap();
        std::mem::forget(self);
        status.terminating_signal()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        kill_process(self.0, Signal::KILL).ok();
        waitpid(Some(self.0), WaitOptions::empty()).ok();
    }
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn number(path: &Path, key: &str) -> Option<u64> {
    file::number(&file::read(path), key)
}

#[test]
fn a_program_enters_its_group_before_its_exec_and_is_killed_with_all_of_it() {
    let Some((tree, folder)) = tree() else { return };
    let group = tree.group("1", &Limits::default()).unwrap();
    assert!(!group.is_populated());
    let program = Program::start(&group, "(setsid sleep 1000 &); sleep 1000; :");
    let own = folder.strip_prefix(Delegation::find().unwrap().folder).unwrap().join("1");
    assert!(program.group().contains(&format!("/{}\n", own.display())), "{}", program.group());
    let procs = folder.join("1/cgroup.procs");
    eventually("both sleep", || fs::read_to_string(&procs).unwrap().lines().count() == 3);
    assert_eq!(group.remove(), Err(rustix::io::Errno::BUSY));
    group.kill().unwrap();
    assert_eq!(program.signal(), Some(9));
    eventually("nothing is left", || !group.is_populated());
    drop(group);
    assert!(!fs::exists(folder.join("1")).unwrap());
    drop(tree);
    assert!(!fs::exists(folder).unwrap());
}

#[test]
fn what_was_used_is_counted_for_processes_that_nobody_waited_for_too() {
    let Some((tree, _)) = tree() else { return };
    let group = tree.group("1", &Limits::default()).unwrap();
    assert_eq!(group.cpu(), Some(Duration::ZERO));
    let program = Program::start(&group, "(while :; do :; done &); exit 0");
    assert_eq!(program.signal(), None);
    eventually("time is counted", || group.cpu() > Some(Duration::from_millis(100)));
    group.kill().unwrap();
    eventually("nothing is left", || !group.is_populated());
}

#[test]
fn a_session_is_one_supervisors_and_what_a_dead_one_left_is_removed() {
    let Some((tree, folder)) = tree() else { return };
    let session = folder.file_name().unwrap().to_str().unwrap().to_owned();
    assert!(matches!(Tree::open(&session), Err(TreeError::Held { path }) if path == folder));
    let group = tree.group("1", &Limits::default()).unwrap();
    let program = Program::start(&group, "sleep 1000");
    sweep();
    assert!(group.is_populated(), "a session whose supervisor lives is left alone");
    // Neither is dropped, as when a supervisor is killed: only the lock goes.
    std::mem::forget(group);
    let tree = std::mem::ManuallyDrop::new(tree);
    tree.abandon();
    let again = Tree::open(&session).unwrap();
    assert_eq!(program.signal(), Some(9));
    assert_eq!(file::folders(&folder), [""; 0].map(std::path::PathBuf::from));
    again.group("1", &Limits::default()).unwrap();

    let again = std::mem::ManuallyDrop::new(again);
    again.abandon();
    sweep();
    assert!(!fs::exists(folder).unwrap());
}

#[test]
fn t081_limits_are_written_to_the_controllers_files_and_ends_for_want_of_memory_are_read() {
    let scratch = Scratch::new();
    let files = [
        "memory.max",
        "memory.swap.max",
        "memory.oom.group",
        "memory.events",
        "pids.max",
        "cpu.max",
        "cpu.stat",
        "cgroup.procs",
        "cgroup.kill",
    ];
    files.iter().for_each(|name| drop(scratch.file(name, "")));
    let limits =
        Limits { memory: Some(64 << 20), pids: Some(8), cpu: Some(50), ..Limits::default() };
    let group = Group::over(scratch.path(""), &Controller::ALL, &limits).unwrap();
    let expected =
        [("memory.max", "67108864"), ("memory.swap.max", "0"), ("memory.oom.group", "1")];
    for (name, value) in
        expected.into_iter().chain([("pids.max", "8"), ("cpu.max", "50000 100000")])
    {
        assert_eq!(file::read(&scratch.path(name)), value, "{name}");
    }
    assert_eq!((group.oom_kills(), group.cpu()), (0, None));
    scratch.file("memory.events", "low 0\nhigh 0\nmax 12\noom 1\noom_kill 3\noom_group_kill 1\n");
    scratch.file("cpu.stat", "usage_usec 1500\nuser_usec 1000\nsystem_usec 500\n");
    assert_eq!((group.oom_kills(), group.cpu()), (3, Some(Duration::from_micros(1500))));
    group.kill().unwrap();
    assert_eq!(file::read(&scratch.path("cgroup.kill")), "1");
    // Without a file for a limit there is no group, rather than one without the limit.
    fs::remove_file(scratch.path("pids.max")).unwrap();
    assert!(Group::over(scratch.path(""), &Controller::ALL, &limits).is_err());
}

#[test]
fn whoever_may_only_read_a_group_keeps_no_session_from_it() {
    let Some((tree, folder)) = tree() else { return };
    let session = folder.file_name().unwrap().to_str().unwrap().to_owned();
    let tree = std::mem::ManuallyDrop::new(tree);
    tree.abandon();
    let (group, file) =
        (fs::File::open(&folder).unwrap(), fs::File::open(folder.join(claim::LOCKED)).unwrap());
    flock(&group, FlockOperation::LockExclusive).unwrap();
    fcntl_lock(&file, FlockOperation::LockShared).unwrap();
    let again = Tree::open(&session).unwrap();
    assert!(matches!(Tree::open(&session), Err(TreeError::Held { path }) if path == folder));
    again.group("1", &Limits::default()).unwrap();
    let again = std::mem::ManuallyDrop::new(again);
    again.abandon();
    let file = fs::File::open(folder.join(claim::LOCKED)).unwrap();
    fcntl_lock(&file, FlockOperation::LockShared).unwrap();
    sweep();
    assert!(!fs::exists(folder).unwrap(), "a reader's lock is no supervisor");
}

#[test]
fn t081_limits_hold_where_their_controllers_are() {
    let Some((tree, folder)) = tree() else { return };
    let limits =
        Limits { memory: Some(64 << 20), pids: Some(8), cpu: Some(50), ..Limits::default() };
    let group = tree.group("1", &limits).unwrap();
    let file = |name: &str| file::read(&folder.join("1").join(name)).trim().to_owned();
    let standings = Delegation::find().unwrap().standings();
    for (controller, standing) in standings {
        let (name, value) = match controller {
            Controller::Memory => ("memory.max", "67108864"),
            Controller::Pids => ("pids.max", "8"),
            Controller::Cpu => ("cpu.max", "50000 100000"),
        };
        let expected = if standing == Standing::Enabled { value } else { "" };
        assert_eq!(file(name), expected, "{controller:?}");
    }
    let is_limited = |wanted| standings.contains(&(wanted, Standing::Enabled));
    if !is_limited(Controller::Memory) {
        not_run(&"memory is not a controller of cgroup v2 here");
    } else {
        assert_eq!(group.oom_kills(), 0);
        let program =
            Program::start(&group, "x=$(head -c 200000000 /dev/zero | tr '\\0' x); sleep 1000");
        assert_eq!(program.signal(), Some(9), "it ends whole, bash too");
        assert!(group.oom_kills() > 0);
        eventually("nothing is left", || !group.is_populated());
    }
    if is_limited(Controller::Pids) {
        let program = Program::start(&group, "for i in {1..20}; do sleep 1000 & done; wait");
        eventually("the bomb is refused", || {
            number(&folder.join("1/pids.events"), "max").is_some_and(|refused| refused > 0)
        });
        group.kill().unwrap();
        assert_eq!(program.signal(), Some(9));
    }
    eventually("nothing is left", || !group.is_populated());
}
