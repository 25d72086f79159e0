//! What hundreds of calls leave behind: nothing.

use std::thread;
use std::time::{Duration, Instant};

use brattice_protocol::ErrorCode;
use brattice_tests::{PATIENCE, Process, World, eventually};
use serde_json::json;

/// Waits until a shell stands ready for the next command, as it does whenever nothing runs: what a measure of what is
/// there before has to count too.
fn rest(world: &mut World) {
    let daemon = world.daemon().pid();
    eventually("a shell stands ready", || {
        Process::below(daemon).iter().any(Process::stands_ready).then_some(())
    });
}

/// Descriptors of the daemon, zombies and processes below it.
fn left(world: &mut World) -> (usize, usize, usize) {
    let daemon = world.daemon().pid();
    let below = Process::below(daemon);
    let zombies = below.iter().filter(|process| process.state == 'Z').count();
    let supervisors =
        below.iter().filter(|process| process.parent == daemon).map(|process| process.pid);
    let descriptors = supervisors.chain([daemon]).filter_map(Process::descriptors).sum();
    (descriptors, zombies, below.len())
}

#[test]
fn t098_hundreds_of_calls_leave_no_descriptor_and_no_zombie() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    for _ in 0..20 {
        session.run("true").exits(0);
    }
    rest(&mut world);
    let before = left(&mut world);
    for number in 0..300 {
        session
            .run(&format!("echo {number}; (exit 3); true | cat"))
            .exits(0)
            .says(&number.to_string());
    }
    let mut now = before;
    let start = Instant::now();
    while start.elapsed() < PATIENCE / 2 {
        now = left(&mut world);
        if now.0 <= before.0 + 2 && now.1 == 0 && now.2 <= before.2 + 2 {
            return world.finish();
        }
        thread::sleep(Duration::from_millis(50));
    }
    panic!("descriptors, zombies, processes: {before:?} before, {now:?} after");
}

#[test]
fn t098_ended_commands_that_printed_much_hold_no_descriptor() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    session.run("true").exits(0);
    rest(&mut world);
    let before = left(&mut world).0;
    for _ in 0..150 {
        session.run("head -c 100000 /dev/zero | tr '\\0' x; head -c 100000 /dev/zero >&2").exits(0);
    }
    eventually("their descriptors are closed", || (left(&mut world).0 <= before + 2).then_some(()));
    // The last hundred can still be read; what was forgotten leaves no file.
    let output = |task: &str, offset: u64| {
        session.request("task.output", json!({"task": task, "offset": offset, "limit": 5}))
    };
    let piece = output("bash-52", 99_990).unwrap();
    assert_eq!((&piece["data"], &piece["skipped"]), (&json!("xxxxx"), &json!(0)));
    assert_eq!(output("bash-51", 0).unwrap_err().data.code, Some(ErrorCode::UnknownTask));
    let folder = world.state().join("sessions").join(session.id()).join("tasks");
    eventually("the files of forgotten commands are removed", || {
        let files = std::fs::read_dir(&folder).unwrap().flatten();
        let spools = files.filter(|file| file.file_name().to_string_lossy().contains(".std"));
        (spools.count() == 200).then_some(())
    });
    world.finish();
}

#[test]
fn t098_a_temporary_folder_of_any_depth_goes_with_its_session() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    let dig = "import os\nos.chdir(os.environ['TMPDIR'])\nfor n in range(5000):\n os.mkdir('d'); os.chdir('d')\n \
               open('f', 'w').close()\n os.chmod('f', 0)\n if n % 500 == 0: os.chmod('.', 0o300)\nos.chmod('..', 0)\n";
    world.file("dig.py", dig);
    let temp = session.run("echo $TMPDIR").text();
    // Natively: how deep it is, and not who dug, is what matters.
    world.native(&format!("TMPDIR={temp} python3 dig.py")).succeeded();
    session.request("session.close", json!({})).unwrap();
    assert!(!world.state().join("sessions").join(session.id()).exists());
    assert!(Process::of(world.daemon().pid()).is_some_and(|daemon| daemon.is_alive()));
    world.finish();
}

#[test]
fn t098_sessions_that_close_leave_nothing() {
    let mut world = World::new();
    let open_and_close = || {
        let session = world.session("workspace-write").open();
        session.run("echo hi > $TMPDIR/x; sleep 900 &").exits(0);
        let temp = session.run("echo $TMPDIR").text();
        session.request("session.close", json!({})).unwrap();
        assert!(!std::path::Path::new(&temp).exists(), "{temp} is removed with its session");
    };
    open_and_close();
    for _ in 0..10 {
        open_and_close();
    }
    let daemon = world.daemon().pid();
    eventually("no process is left below the daemon", || {
        Process::below(daemon).is_empty().then_some(())
    });
    assert_eq!(world.sessions().len(), 0);
    world.finish();
}

#[test]
fn t104_calls_at_the_same_time_do_not_mix() {
    let world = World::new();
    let sessions = [world.session("workspace-write").open(), world.session("read-only").open()];
    let calls: Vec<_> = (0..12)
        .map(|number| {
            let command = format!("for i in $(seq 2000); do echo task-{number}; done");
            (number, sessions[number % 2].begin(json!({"command": command, "timeoutMs": 300_000})))
        })
        .collect();
    for (number, call) in calls {
        let reply = sessions[number % 2].end(call);
        let lines = reply.exits(0).lines();
        assert_eq!(lines.len(), 2000);
        assert!(lines.iter().all(|line| *line == format!("task-{number}")));
    }
    world.finish();
}
