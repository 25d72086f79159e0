//! The daemon is killed: what runs in the background goes on, and the next daemon has it.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use brattice_protocol::outcome::Cause;
use brattice_protocol::task::TaskStatus;
use brattice_tests::{Process, Session, World, eventually};
use serde_json::json;

use crate::ends::ended;

/// Numbers in pieces, so that daemons can die in the middle of them.
const SLOW_NUMBERS: &str =
    "for i in $(seq 40); do seq $((i * 50000 - 49999)) $((i * 50000)); sleep 0.03; done; exit 42";

/// What `seq` prints up to this number.
pub(crate) fn numbers(last: u64) -> Vec<u8> {
    (1..=last).flat_map(|number| format!("{number}\n").into_bytes()).collect()
}

/// Waits until a task has printed so many bytes.
pub(crate) fn printed_so_far(session: &Session, task: &str, bytes: u64) {
    eventually("it prints", || (session.task(task).bytes >= bytes).then_some(()));
}

#[test]
fn t063_output_is_whole_after_two_dead_daemons() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let task = session.start(SLOW_NUMBERS);
    printed_so_far(&session, &task, 1_000_000);
    world.restart();
    let session = world.resume(&id).open();
    printed_so_far(&session, &task, 6_000_000);
    world.restart();
    let session = world.resume(&id).open();
    let outcome = session.wait_for(&task);
    assert_eq!((outcome.cause, outcome.exit_code), (Cause::Exited, Some(42)));
    let expected = numbers(2_000_000);
    assert_eq!(outcome.stdout.bytes, expected.len() as u64);
    assert!(session.output(&task) == expected, "the output differs");
    world.finish();
}

#[test]
fn t063_a_slow_reader_gets_every_byte_over_a_dead_daemon() {
    let mut world = World::new();
    let mut session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let task = session.start(SLOW_NUMBERS);
    let (mut all, mut is_restarted) = (Vec::new(), false);
    loop {
        let params = json!({"offset": all.len(), "limit": 50_000, "wait_ms": 60_000});
        let piece = session.read(&task, params);
        assert_eq!((piece.offset, piece.skipped), (all.len() as u64, 0));
        if piece.data.is_empty() {
            break assert_eq!(piece.status, TaskStatus::Completed);
        }
        all.extend(brattice_tests::bytes(&piece));
        if all.len() > 5_000_000 && !is_restarted {
            world.restart();
            session = world.resume(&id).open();
            is_restarted = true;
        }
    }
    assert!(all == numbers(2_000_000), "{} bytes differ from what was printed", all.len());
    world.finish();
}

fn world_sleeps(world: &World) -> bool {
    world.strays().iter().any(|process| process.arguments == "sleep 900")
}

#[test]
fn t010_whoever_reads_a_daemons_output_learns_its_end_while_a_task_lives() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let (id, task) = (session.id().to_owned(), session.start("sleep 900"));
    eventually("it sleeps", || world_sleeps(&world).then_some(()));
    assert!(!world.daemon().output_has_ended());
    world.daemon().kill();
    let dead = Instant::now();
    eventually("the pipe ends", || world.daemon().output_has_ended().then_some(()));
    assert!(dead.elapsed() < Duration::from_secs(1), "{:?}", dead.elapsed());
    assert!(world_sleeps(&world), "{:?}", world.strays());
    world.start();
    let session = world.resume(&id).open();
    assert_eq!(session.task(&task).status, TaskStatus::Running);
    world.finish();
}

#[test]
fn t021_t094_a_task_of_a_dead_daemon_runs_and_can_be_killed() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let task = session.start("setsid sleep 900 & sleep 900");
    let before = session.task(&task);
    world.restart();
    let session = world.resume(&id).open();
    let after = session.task(&task);
    assert_eq!(
        (after.status, after.command, after.background),
        (TaskStatus::Running, before.command, true)
    );
    eventually("its processes are counted", || (session.task(&task).processes == 3).then_some(()));
    session.kill(&task);
    let outcome = session.wait_for(&task);
    assert_eq!((outcome.cause, outcome.exit_code), (Cause::Killed, None));
    assert_eq!(world.strays(), []);
    world.finish();
}

#[test]
fn b062_a_loop_goes_on_without_its_daemon_and_is_killed_by_the_next() {
    let mut world = World::new();
    let session = world.session("danger-full-access").open();
    let id = session.id().to_owned();
    let task = session.start("while :; do date >> $OUT/alive; sleep 0.05; done");
    let alive = world.out().join("alive");
    let size = || alive.metadata().map_or(0, |file| file.len());
    let grows = || {
        let before = size();
        eventually("it goes on", || (size() > before).then_some(()));
    };
    grows();
    world.kill_daemon();
    grows();
    world.start();
    let session = world.resume(&id).open();
    assert_eq!(session.task(&task).status, TaskStatus::Running);
    session.kill(&task);
    assert_eq!(session.wait_for(&task).cause, Cause::Killed);
    let last = size();
    thread::sleep(Duration::from_millis(300));
    assert_eq!(size(), last);
    world.finish();
}

#[test]
fn t021_a_kill_that_was_answered_is_done_whatever_becomes_of_the_daemon() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let supervisor = world.supervisor(&id);
    let mut tasks = Vec::new();
    let mut session = Some(session);
    for _ in 0..5 {
        let open = session.take().unwrap_or_else(|| world.resume(&id).open());
        let task = open.start("sleep 908");
        // It hears nothing until the daemon is gone.
        supervisor.stop();
        open.kill(&task);
        world.kill_daemon();
        supervisor.resume();
        drop(open);
        world.start();
        tasks.push(task);
    }
    let session = world.resume(&id).open();
    for task in tasks {
        let outcome = session.wait_for(&task);
        let told = (outcome.cause, outcome.reason.as_deref());
        assert_eq!(told, (Cause::Killed, Some("by the client")), "{task}");
    }
    world.is_quiet();
    world.finish();
}

#[test]
fn b062_a_session_that_closes_ends_its_loop_at_once() {
    let world = World::new();
    let session = world.session("danger-full-access").open();
    session.start("while :; do date >> $OUT/alive; sleep 0.05; done");
    let alive = world.out().join("alive");
    eventually("it runs", || alive.exists().then_some(()));
    session.request("session.close", json!({})).unwrap();
    let last = alive.metadata().unwrap().len();
    assert_eq!(world.strays(), []);
    thread::sleep(Duration::from_millis(300));
    assert_eq!(alive.metadata().unwrap().len(), last);
    world.finish();
}

#[test]
fn input_goes_on_to_work_after_a_restart() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let task = session.start_with(json!({"command": "cat; echo end", "stdin": true}));
    session.input(&task, "one\n");
    printed_so_far(&session, &task, 4);
    world.restart();
    let session = world.resume(&id).open();
    session.input(&task, "two\n");
    printed_so_far(&session, &task, 8);
    world.restart();
    let session = world.resume(&id).open();
    session.request("task.input", json!({"task": task, "data": "three\n", "eof": true})).unwrap();
    assert_eq!(session.wait_for(&task).exit_code, Some(0));
    assert_eq!(session.printed(&task), "one\ntwo\nthree\nend\n");
    world.finish();
}

#[test]
fn a_terminal_goes_on_to_work_after_a_restart() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let command = "stty -echo; trap 'stty size' WINCH; while read -r line; do echo \"got $line\"; done; echo end";
    let task = session.start_with(json!({"command": command, "tty": true}));
    session.input(&task, "one\n");
    eventually("it reads", || {
        let piece = session.read(&task, json!({}));
        piece.data.contains("got one").then_some(())
    });
    world.restart();
    let session = world.resume(&id).open();
    session.request("task.resize", json!({"task": task, "rows": 33, "cols": 99})).unwrap();
    // bash looks at its traps after the next line.
    session.input(&task, "two\n");
    session.input(&task, "\u{4}");
    assert_eq!(session.wait_for(&task).exit_code, Some(0));
    let printed = session.printed(&task);
    assert!(printed.contains("33 99\r\n"), "{printed:?}");
    assert!(printed.contains("got two\r\n") && printed.ends_with("end\r\n"), "{printed:?}");
    world.finish();
}

#[test]
fn t082_time_limits_hold_while_no_daemon_lives() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let timed = session.start_with(json!({"command": "echo so far; sleep 90", "timeout_ms": 1500}));
    let idle = session.start_with(
        json!({"command": "for i in 1 2 3; do echo $i; sleep 0.3; done; sleep 90", "idle_timeout_ms": 1500}),
    );
    world.kill_daemon();
    world.is_quiet();
    world.start();
    let session = world.resume(&id).open();
    for (task, printed) in [(&timed, "so far\n"), (&idle, "1\n2\n3\n")] {
        let outcome = session.wait_for(task);
        assert_eq!((outcome.cause, outcome.exit_code), (Cause::TimedOut, None), "{outcome:?}");
        assert_eq!(session.printed(task), printed);
        assert_eq!(session.task(task).status, TaskStatus::Killed);
    }
    let ran = session.wait_for(&timed).duration_ms;
    // The limit counts from the request, the duration from the program's start.
    assert!((1300..20_000).contains(&ran), "{ran} ms");
    world.finish();
}

#[test]
fn t082_time_limits_hold_over_a_restart() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let task = session.start_with(json!({"command": "sleep 90", "timeout_ms": 2000}));
    world.restart();
    let session = world.resume(&id).open();
    let outcome = session.wait_for(&task);
    assert_eq!(outcome.cause, Cause::TimedOut);
    assert!((1800..20_000).contains(&outcome.duration_ms), "{outcome:?}");
    world.finish();
}

#[test]
fn a_call_in_flight_is_stopped_and_the_background_is_not() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let kept = session.start("sleep 901; echo never");
    let call = session.begin(
        json!({"command": "touch started; setsid sleep 902 & sleep 902", "timeoutMs": 600_000}),
    );
    eventually("the command runs", || world.ws().join("started").exists().then_some(()));
    world.kill_daemon();
    drop(call);
    eventually("what the call waited for is gone", || {
        let strays = world.strays();
        strays.iter().all(|process| !process.arguments.contains("902")).then_some(())
    });
    assert!(world.strays().iter().any(|process| process.arguments == "sleep 901"));
    world.start();
    let session = world.resume(&id).open();
    let stopped: Vec<_> =
        session.tasks().into_iter().filter(|task| task.task.as_str() != kept).collect();
    assert!(stopped.iter().all(|task| task.cause == Some(Cause::Killed)), "{stopped:?}");
    assert_eq!(session.task(&kept).status, TaskStatus::Running);
    world.finish();
}

#[test]
fn leftovers_of_a_call_that_were_adopted_go_on() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let reply = session.run("(sleep 0.7; echo late; sleep 903) & echo early; exit 3");
    let task = reply.exits(3).outcome().task.clone().expect("it is a task").as_str().to_owned();
    world.restart();
    let session = world.resume(&id).open();
    let summary = session.task(&task);
    assert_eq!(
        (summary.status, summary.exit_code, summary.background),
        (TaskStatus::Running, Some(3), true)
    );
    printed_so_far(&session, &task, 11);
    session.kill(&task);
    let outcome = session.wait_for(&task);
    assert_eq!((outcome.cause, outcome.exit_code), (Cause::Killed, Some(3)));
    assert_eq!(session.printed(&task), "early\nlate\n");
    world.is_quiet();
    world.finish();
}

#[test]
fn tasks_end_as_what_they_were_while_no_daemon_lives() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let gate = "until [ -e go ]; do sleep 0.02; done";
    let exits = session.start(&format!("{gate}; echo $$ > pid; printf half; exit 255"));
    let dies = session.start(&format!("{gate}; kill -9 $$"));
    let large = session.start(&format!("{gate}; seq 100000; seq 100000 >&2"));
    world.kill_daemon();
    world.file("go", "");
    world.is_quiet();
    eventually("the supervisor has nothing left to keep", || {
        world.supervisors().is_empty().then_some(())
    });
    world.start();
    let session = world.resume(&id).open();
    assert_eq!(ended(&session, &exits), (Cause::Exited, Some(255), None));
    assert_eq!(ended(&session, &dies), (Cause::Signaled, None, Some("SIGKILL".to_owned())));
    assert_eq!(ended(&session, &large), (Cause::Exited, Some(0), None));
    assert_eq!(session.printed(&exits), "half");
    assert!(session.output(&large) == numbers(100_000), "the output differs");
    let stderr = session.read(&large, json!({"stream": "stderr", "offset": 0}));
    assert_eq!(brattice_tests::bytes(&stderr), &numbers(100_000)[..256 << 10]);
    world.finish();
}

#[test]
fn an_upgraded_daemon_takes_over_what_the_old_one_started() {
    let builder = World::builder();
    let program = builder.root().join("bratticed");
    fs::copy(brattice_tests::bratticed(), &program).unwrap();
    let line = format!("shift; exec {} \"$@\"", program.display());
    let mut world = builder.wrapper(&["/bin/bash", "-c", &line, "bash"]).start();
    let session = world.session("read-only").open();
    let id = session.id().to_owned();
    let task = session.start_with(json!({"command": "cat; exit 6", "stdin": true}));
    world.kill_daemon();
    // As a package does it: the old program is no file any more.
    fs::remove_file(&program).unwrap();
    fs::copy(brattice_tests::bratticed(), &program).unwrap();
    world.start();
    let session = world.resume(&id).open();
    session.request("task.input", json!({"task": task, "data": "on\n", "eof": true})).unwrap();
    assert_eq!(ended(&session, &task), (Cause::Exited, Some(6), None));
    assert_eq!(session.printed(&task), "on\n");
    // Another mode needs another launcher, which the old supervisor starts.
    session.request("session.update", json!({"mode": "workspace-write"})).unwrap();
    session.run("touch file && ls").exits(0).says("file");
    world.finish();
}

#[test]
fn a_stranger_with_a_tasks_look_is_left_alone() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let id = session.id().to_owned();
    let task = session.start("exec sleep 904");
    let supervisor = world.supervisor(&id);
    let mut stranger =
        world.command("sleep").arg("904").env("BRATTICE_SESSION_ID", &id).spawn().unwrap();
    let looks_alike = Process::of(stranger.id()).unwrap();
    world.kill_daemon();
    // As after a restart of the machine: nothing of the session lives.
    supervisor.kill();
    eventually("the task's process is gone", || {
        let strays = world.strays();
        strays.iter().all(|process| process.pid == stranger.id()).then_some(())
    });
    world.start();
    let session = world.resume(&id).open();
    assert_eq!(session.task(&task).cause, Some(Cause::Lost));
    session.request("session.close", json!({})).unwrap();
    assert!(looks_alike.is_alive());
    stranger.kill().unwrap();
    stranger.wait().unwrap();
    world.finish();
}
