//! Real groups, where this process has a delegated one; where it has none, the reason.

use std::ffi::CString;
use std::fs;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use brattice_policy::Limits;
use brattice_policy::enforce::cgroup::{Controller, Delegation, Standing};
use brattice_policy::sys::spawn::{Child, ControllingTerminal, Exec, Place};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::claim::sweep;
use super::*;
use crate::exec::cgroup::tree::TreeError;
use crate::exec::testing::confine;

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
    if is_limited(Controller::Memory) {
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
