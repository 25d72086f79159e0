//! The observer's end, at a moment of nobody's choosing: what is trapped fails, what ran there is stopped and says why,
//! and the session goes on.

use brattice_protocol::outcome::Cause;
use brattice_tests::{CONFINED, Process, Session, World, bytes, eventually};
use serde_json::json;

/// Makes folders outside without end; tells each errno that is another one than the last, by a file opened before.
const PROGRAM: &str = "
import errno, itertools, os
last = None
for number in itertools.count():
    try:
        os.mkdir(f\"{os.environ['OUT']}/{number}\")
        now = 'made'
    except OSError as error:
        now = errno.errorcode[error.errno]
    if now != last:
        print(now, flush=True)
    last = now
    if now == 'made':
        break
";

fn made(world: &World) -> Vec<std::ffi::OsString> {
    let entries = std::fs::read_dir(world.out()).unwrap();
    entries.map(|entry| entry.unwrap().file_name()).filter(|name| name != "program.py").collect()
}

fn with_program() -> World {
    let world = World::new();
    std::fs::write(world.out().join("program.py"), PROGRAM).unwrap();
    world
}

/// What a task has said while it runs.
fn so_far(session: &Session, task: &str) -> Vec<u8> {
    bytes(&session.read(task, json!({"stream": "stdout"})))
}

/// The launcher of a session's only mode: the one process that its supervisor started itself.
fn launcher(world: &World, session: &str) -> Process {
    let supervisor = world.supervisor(session).pid;
    let launches =
        |process: &Process| process.parent == supervisor && process.arguments.ends_with(" launch");
    eventually("a launcher", || Process::below(supervisor).into_iter().find(launches))
}

#[test]
fn with_its_observer_killed_a_command_gets_nothing_through_and_is_stopped() {
    for mode in CONFINED {
        let world = with_program();
        let session = world.session(mode).open();
        let task = session.start("trap '' TERM; python3 -B $OUT/program.py");
        eventually("a refusal", || (so_far(&session, &task) == b"EACCES\n").then_some(()));
        launcher(&world, session.id()).kill();
        let end = session.wait_for(&task);
        assert_eq!(
            (end.cause, end.reason.as_deref()),
            (Cause::Killed, Some("its launcher was killed"))
        );
        assert!(
            ["EACCES\n", "EACCES\nENOSYS\n"].contains(&session.printed(&task).as_str()),
            "{}",
            session.printed(&task)
        );
        assert_eq!(made(&world), Vec::<std::ffi::OsString>::new());
        session.run("echo goes on").exits(0).says("goes on");
        world.native("python3 -B $OUT/program.py").succeeded();
        assert_eq!(made(&world), ["0"], "the twin makes one");
        world.finish();
    }
}

#[test]
fn with_its_supervisor_killed_a_command_gets_nothing_through() {
    for mode in CONFINED {
        let world = with_program();
        let session = world.session(mode).open();
        let task = session.start("trap '' TERM; python3 -B $OUT/program.py");
        eventually("a refusal", || (so_far(&session, &task) == b"EACCES\n").then_some(()));
        world.supervisor(session.id()).kill();
        assert_eq!(session.wait_for(&task).cause, Cause::Lost);
        eventually("nothing is left", || world.strays().is_empty().then_some(()));
        assert_eq!(made(&world), Vec::<std::ffi::OsString>::new());
        world.finish();
    }
}

/// The calls fall at every point of the observer's work, the kill does as well.
#[test]
fn at_whatever_point_it_is_killed() {
    let world = with_program();
    let session = world.session("workspace-write").open();
    for round in 0..20u64 {
        let tasks: Vec<String> =
            (0..3).map(|_| session.start("python3 -B $OUT/program.py")).collect();
        for task in &tasks {
            eventually("a refusal", || (so_far(&session, task) == b"EACCES\n").then_some(()));
        }
        // A spread of moments, none of them special.
        std::thread::sleep(std::time::Duration::from_micros(round * 137));
        let observer = launcher(&world, session.id());
        observer.kill();
        for task in &tasks {
            assert_eq!(session.wait_for(task).cause, Cause::Killed);
        }
        assert_eq!(made(&world), Vec::<std::ffi::OsString>::new());
    }
    world.finish();
}
