//! Tasks that are in the way: of their own end, of the next daemon, of their neighbours. B056, T034.

use std::time::{Duration, Instant};

use brattice_protocol::TaskId;
use brattice_protocol::hello::Watch;
use brattice_tests::{World, eventually};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::{line, read_end, start, tool};

/// Locks whatever it may read, in every way that a reader can, as soon as it can, and says so.
const LOCK_ALL: &str = "\
import fcntl, os, sys, time
held = [open(path) for path in sys.argv[1:]]
for file in held:
    fcntl.flock(file, fcntl.LOCK_EX)
print('watching', flush=True)
for file in held:
    while True:
        try:
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            break
        except OSError:
            pass
print('locked', flush=True)
open(os.environ['TMPDIR'] + '/locked', 'w').close()
time.sleep(900)
";

#[test]
fn a_command_that_locks_what_it_may_read_keeps_no_daemon_from_starting() {
    let mut world = World::new();
    world.file("lock.py", LOCK_ALL);
    let idle = world.session("workspace-write").open();
    let idle_id = idle.id().to_owned();
    let session = world.session("read-only").open();
    let id = session.id().to_owned();
    let locks = [
        world.state().join("state.lock"),
        world.socket().with_file_name("brattice.lock"),
        world.folder(&idle_id).join("lock"),
    ];
    let [state, sockets, supervisor] = locks.map(|path| path.display().to_string());
    let task = start(&session, &format!("exec python3 lock.py {state} {sockets} {supervisor}"));
    let says = |session: &brattice_tests::Session, word: &str| {
        eventually(word, || {
            let output = session.request("task.output", json!({"task": task})).unwrap();
            output["data"].as_str()?.contains(word).then_some(())
        });
    };
    says(&session, "watching");
    // The moments without a daemon are its chance; an idle supervisor ends then.
    world.kill_daemon();
    let marker = world.folder(&id).join("tmp/locked");
    eventually("all is locked", || marker.exists().then_some(()));
    let begun = Instant::now();
    world.start();
    let session = world.resume(&id).open();
    assert!(line(&session, &task).starts_with("running"));
    says(&session, "locked");
    world.restart();
    assert!(begun.elapsed() < Duration::from_secs(60));
    let session = world.resume(&id).open();
    world.resume(&idle_id).open().run("echo on").exits(0).says("on");
    tool(&session, "task_kill", json!({"task_id": task}));
    read_end(&session, &task);
    world.finish();
}

#[test]
fn a_supervisor_that_hangs_keeps_no_daemon_from_starting() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let task = start(&session, "sleep 900");
    let supervisor = world.supervisor(&id);
    let signal = |signal| {
        let pid = Pid::from_raw(supervisor.pid.cast_signed()).unwrap();
        kill_process(pid, signal).unwrap();
    };
    world.kill_daemon();
    signal(Signal::STOP);
    world.start();
    world.session("workspace-write").open().run("echo on").exits(0).says("on");
    signal(Signal::CONT);
    let session = eventually("it is taken over after all", || world.resume(&id).try_open().ok());
    assert!(line(&session, &task).starts_with("running"));
    world.finish();
}

/// Whenever it comes, a call's withdrawal leaves nothing that cannot be stopped.
#[test]
fn a_call_that_is_withdrawn_when_its_shell_has_ended_leaves_nothing_unkillable() {
    let world = World::new();
    let session = world.session("workspace-write").watching(&[Watch::Output]).open();
    for call in ["one", "two", "three"] {
        let arguments = json!({"command": "sleep 900 & echo hi", "description": "Leave one"});
        let pending =
            session.begin_call(json!({"call": call, "name": "bash", "arguments": arguments}));
        assert_eq!(session.output_of(call).data, "hi\n");
        session.request("tools.cancel", json!({"call": call})).unwrap();
        let text = session.end(pending).text();
        if let Some((_, rest)) = text.split_once("now task ") {
            let task = TaskId::new(rest.trim_end_matches(']'));
            tool(&session, "task_kill", json!({"task_id": task}));
            read_end(&session, &task);
        }
        eventually("nothing is left", || world.strays().is_empty().then_some(()));
    }
    world.finish();
}

#[test]
fn a_process_whose_first_thread_has_ended_is_seen_and_killed() {
    let world = World::new();
    world.file(
        "threads.py",
        "import ctypes, threading, time\nthreading.Thread(target=time.sleep, args=(900,)).start()\n\
         open('runs', 'w').close()\nctypes.CDLL(None).pthread_exit(0)\n",
    );
    for mode in ["workspace-write", "danger-full-access"] {
        let session = world.session(mode).open();
        session
            .run("python3 threads.py & while [ ! -e runs ]; do sleep 0.05; done; sleep 0.2; echo hi; rm runs")
            .exits(0)
            .says("hi\n[1 process still running: now task bash-1]");
        let task = TaskId::new("bash-1");
        assert!(line(&session, &task).ends_with("1 process)"), "{}", line(&session, &task));
        tool(&session, "task_kill", json!({"task_id": task}));
        let end = read_end(&session, &task);
        assert_eq!(end.lines().last(), Some("[status: killed, exit code: 0, by task_kill]"));
    }
    world.finish();
}

#[test]
fn b056_a_search_does_not_read_its_own_output() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    world.file("a.txt", "needle\n");
    let task = start(&session, "grep -R needle . ; echo finished");
    let end = read_end(&session, &task);
    assert_eq!(end, "./a.txt:needle\nfinished\n[status: completed, exit code: 0]");
    session.run("grep -rl needle . | sort").exits(0).says("./a.txt");
    world.finish();
}

#[test]
fn t034_what_calls_left_counts_towards_the_limit() {
    let world = crate::configured::configured("[limits]\nmax_tasks = 2\n").start();
    let session = world.session("workspace-write").open();
    for _ in 0..2 {
        session.run("sleep 900 & echo hi").exits(0).holds("1 process still running: now task");
    }
    session.run("echo more").is_refused().holds("2 tasks are running in this session");
    tool(&session, "task_kill", json!({"task_id": "bash-1"}));
    read_end(&session, &TaskId::new("bash-1"));
    session.run("echo more").exits(0).says("more");
    world.finish();
}
