//! `brattice daemon restart`, and clients that survive the daemon.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdout, Stdio};

use brattice_tests::{Native, Process, World, eventually};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::cli_world::{brattice_in, client, configure, ended};
use crate::tasks::{listed, start, task};

/// Said once by a client whose daemon went away.
const GONE: &str = "brattice: the daemon went away, its tasks go on: connecting again\n";

/// Prints lines to both streams until `go` exists, and then what tells that nothing is missing.
const LINES: &str = "i=0; until [ -e go ]; do i=$((i+1)); echo \"line $i\"; echo \"error $i\" >&2; sleep 0.005; done; \
                     echo \"$i lines\"; exit 7";

fn spawn(world: &World, arguments: &[&str]) -> Child {
    client(world, arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Kills the daemon, and nothing else, and starts another.
fn replace(world: &mut World) {
    world.daemon().signal(Signal::KILL);
    world.daemon().wait();
    world.start();
}

/// Asserts that every line of [`LINES`] is there once, in order; `told` is what the client itself said.
fn is_whole(stdout: &str, stderr: &str, told: &str) {
    let (lines, last) = stdout.trim_end().rsplit_once('\n').unwrap();
    let count: usize = last.strip_suffix(" lines").unwrap().parse().unwrap();
    let numbered = |word: &str| (1..=count).map(|i| format!("{word} {i}\n")).collect::<String>();
    assert!(format!("{lines}\n") == numbered("line"), "{count} lines are not {lines}");
    // What the client says stands somewhere in between.
    assert_eq!(stderr.replacen(told, "", 1), numbered("error"));
    assert!(stderr.contains(told), "{stderr}");
}

/// Ends what a client started in a world whose own daemon is gone.
fn finish(mut world: World) {
    for session in world.sessions() {
        brattice_in(&world, &["session", "close", session["session"].as_str().unwrap()])
            .succeeded();
    }
    brattice_in(&world, &["daemon", "stop"]).succeeded();
    world.daemon().wait();
    world.is_quiet();
    assert!(!world.socket().exists());
}

fn pid(world: &World) -> u64 {
    let told = brattice_in(world, &["daemon", "status", "--json"]);
    let status: Value = serde_json::from_str(&told.succeeded().stdout).unwrap();
    status["pid"].as_u64().unwrap()
}

#[test]
fn a_restart_keeps_the_background_tasks() {
    let mut world = World::new();
    let before = pid(&world);
    let name = start(&world, &[], LINES);
    let told = brattice_in(&world, &["daemon", "restart"]);
    let after = pid(&world);
    assert_ne!(before, after);
    let socket = world.socket();
    let expected = format!(
        "restarted: process {after} instead of {before}, at {}\n1 background task goes on\n",
        socket.display()
    );
    assert_eq!(told.succeeded().stdout, expected);
    world.daemon().wait();
    assert_eq!(listed(&world)[0]["status"], "running");
    world.file("go", "");
    assert_eq!(task(&world, &["wait", &name]).code, Some(7));
    let output = task(&world, &["output", &name]);
    is_whole(&output.stdout, &output.stderr, "");
    finish(world);
}

#[test]
fn a_restart_that_would_fail_keeps_the_daemon_that_runs() {
    let mut world = World::new();
    let before = pid(&world);
    start(&world, &[], "until [ -e go ]; do sleep 0.01; done");
    let config = configure(&world, "[session]\nmood = \"good\"\n");
    let refused = brattice_in(&world, &["daemon", "restart"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(125), ""), "{refused:?}");
    let told = format!(
        "brattice: another daemon would not start, so the one that runs goes on, process {before}\n  \
         caused by: it would end with exit status: 1: the configuration {} is faulty: ",
        config.display()
    );
    assert!(refused.stderr.starts_with(&told) && refused.stderr.contains("mood"), "{refused:?}");
    let data = brattice_in(&world, &["daemon", "restart", "--json"]);
    let data: Value = serde_json::from_str(&data.stderr).unwrap();
    assert_eq!(data["error"]["message"], told[10..].split_once('\n').unwrap().0);
    assert_eq!((pid(&world), listed(&world).len()), (before, 1));

    configure(&world, "[session]\nmode = \"read-only\"\n");
    brattice_in(&world, &["daemon", "restart"]).succeeded();
    world.daemon().wait();
    assert_ne!(pid(&world), before);
    assert_eq!(listed(&world)[0]["status"], "running");
    world.file("go", "");
    finish(world);
}

#[test]
fn a_restart_where_no_daemon_runs_starts_one_and_adopts() {
    let mut world = World::new();
    let name = start(&world, &[], "until [ -e go ]; do sleep 0.01; done; exit 4");
    world.daemon().signal(Signal::KILL);
    world.daemon().wait();
    let told = brattice_in(&world, &["daemon", "restart", "--json"]);
    let data: Value = serde_json::from_str(&told.succeeded().stdout).unwrap();
    assert_eq!((&data["replaced"], &data["running"]), (&Value::Null, &Value::from(1)), "{data}");
    assert_eq!(data["pid"], pid(&world));
    world.file("go", "");
    assert_eq!(task(&world, &["wait", &name]).code, Some(4));
    finish(world);
}

#[test]
fn a_task_that_ends_while_no_daemon_runs_is_known_to_the_next_one() {
    let mut world = World::new();
    let name = start(&world, &[], "until [ -e go ]; do sleep 0.01; done; echo out; exit 6");
    world.daemon().signal(Signal::KILL);
    world.daemon().wait();
    world.file("go", "");
    world.is_quiet();
    world.start();
    assert_eq!(task(&world, &["wait", &name]), ended(6, "bash-1: completed, exit code: 6\n", ""));
    assert_eq!(task(&world, &["output", &name]), ended(0, "out\n", ""));
    world.finish();
}

#[test]
fn following_goes_on_over_daemons_that_are_killed() {
    let mut world = World::new();
    let name = start(&world, &[], LINES);
    let following = spawn(&world, &["--no-start", "task", "output", &name, "-f"]);
    for _ in 0..3 {
        let seen = listed(&world)[0]["bytes"].as_u64().unwrap();
        eventually("more is printed", || {
            (listed(&world)[0]["bytes"].as_u64().unwrap() > seen + 100).then_some(())
        });
        replace(&mut world);
    }
    world.file("go", "");
    let followed = Native::gather(following);
    assert_eq!(followed.code, Some(0), "{followed:?}");
    is_whole(&followed.stdout, &followed.stderr, GONE);
    world.finish();
}

#[test]
fn a_wait_goes_on_over_a_daemon_that_is_killed() {
    let mut world = World::new();
    let name = start(&world, &[], "until [ -e go ]; do sleep 0.01; done; exit 9");
    let waiting = spawn(&world, &["--no-start", "task", "wait", &name]);
    eventually("it is connected", || (connections(&world) == 2).then_some(()));
    replace(&mut world);
    world.file("go", "");
    assert_eq!(Native::gather(waiting), ended(9, "bash-1: completed, exit code: 9\n", GONE));
    world.finish();
}

/// Connections of the daemon, the one that asks included.
fn connections(world: &World) -> u64 {
    let told = brattice_in(world, &["daemon", "status", "--json"]);
    let status: Value = serde_json::from_str(&told.succeeded().stdout).unwrap();
    status["connections"].as_u64().unwrap()
}

fn first_line(child: &mut Child) -> BufReader<ChildStdout> {
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert_eq!(line, "line 1\n");
    reader
}

/// The rest of what a client prints, and its exit status.
fn rest(mut child: Child, mut reader: BufReader<ChildStdout>) -> (Option<i32>, String, String) {
    let mut stderr = child.stderr.take().unwrap();
    let errors = std::thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).unwrap();
        text
    });
    let mut stdout = "line 1\n".to_owned();
    reader.read_to_string(&mut stdout).unwrap();
    let status = eventually("the client ends", || child.try_wait().unwrap());
    (status.code(), stdout, errors.join().unwrap())
}

#[test]
fn run_survives_a_daemon_that_is_killed() {
    let mut world = World::new();
    let mut child = spawn(&world, &["--no-start", "run", "--", LINES]);
    let reader = first_line(&mut child);
    for _ in 0..3 {
        replace(&mut world);
        eventually("the client is back", || {
            world
                .sessions()
                .first()
                .is_some_and(|session| session["attached"] == true)
                .then_some(())
        });
    }
    world.file("go", "");
    let (code, stdout, stderr) = rest(child, reader);
    assert_eq!(code, Some(7), "{stderr}");
    is_whole(&stdout, &stderr, GONE);
    assert_eq!(world.sessions(), Vec::<Value>::new());
    world.finish();
}

#[test]
fn run_starts_the_next_daemon_where_none_comes() {
    let mut world = World::new();
    let before = pid(&world);
    let mut child = spawn(&world, &["run", "--", LINES]);
    let reader = first_line(&mut child);
    world.daemon().signal(Signal::KILL);
    world.daemon().wait();
    eventually("the client started another", || world.socket().exists().then_some(()));
    world.file("go", "");
    let (code, stdout, stderr) = rest(child, reader);
    assert_eq!(code, Some(7), "{stderr}");
    // Root's client says what it started.
    let stderr: String = stderr
        .lines()
        .filter(|line| !line.contains("as root"))
        .map(|line| format!("{line}\n"))
        .collect();
    is_whole(&stdout, &stderr, GONE);
    assert_ne!(pid(&world), before);
    finish(world);
}

#[test]
fn run_survives_a_restart_in_order() {
    let mut world = World::new();
    let mut child = spawn(&world, &["run", "--", LINES]);
    let reader = first_line(&mut child);
    brattice_in(&world, &["daemon", "restart"]).succeeded();
    world.daemon().wait();
    world.file("go", "");
    let (code, stdout, stderr) = rest(child, reader);
    assert_eq!(code, Some(7), "{stderr}");
    let stderr: String = stderr
        .lines()
        .filter(|line| !line.contains("as root"))
        .map(|line| format!("{line}\n"))
        .collect();
    is_whole(&stdout, &stderr, GONE);
    finish(world);
}

#[test]
fn input_goes_on_by_way_of_the_next_daemon() {
    let mut world = World::new();
    let script = "echo line 1; while read -r word; do echo \"got $word\"; done; exit 2";
    let mut child = spawn(&world, &["--no-start", "run", "--", script]);
    let mut reader = first_line(&mut child);
    let mut input = child.stdin.take().unwrap();
    let mut expected = "line 1\n".to_owned();
    for word in ["one", "two", "three"] {
        input.write_all(format!("{word}\n").as_bytes()).unwrap();
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        assert_eq!(line, format!("got {word}\n"));
        expected += &line;
        replace(&mut world);
    }
    drop(input);
    let (code, stdout, stderr) = rest(child, reader);
    assert_eq!((code, stdout.as_str(), stderr.as_str()), (Some(2), "line 1\n", GONE));
    world.finish();
}

#[test]
fn ctrl_c_after_a_restart_still_stops_the_tree() {
    let mut world = World::new();
    let mut child =
        spawn(&world, &["--no-start", "run", "--", "echo line 1; setsid sleep 900 & sleep 900"]);
    let reader = first_line(&mut child);
    replace(&mut world);
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let (code, _, stderr) = rest(child, reader);
    assert_eq!(code, Some(130), "{stderr}");
    world.is_quiet();
    world.finish();
}

#[test]
fn a_command_whose_supervisor_died_as_well_is_lost_and_said_so() {
    let mut world = World::new();
    let mut child = spawn(&world, &["--no-start", "run", "--", "echo line 1; sleep 900"]);
    let reader = first_line(&mut child);
    let pid = world.daemon().pid();
    let supervisors: Vec<Process> =
        Process::below(pid).into_iter().filter(|process| process.parent == pid).collect();
    assert_eq!(supervisors.len(), 1, "{supervisors:?}");
    world.daemon().signal(Signal::KILL);
    for process in supervisors {
        kill_process(Pid::from_raw(process.pid.cast_signed()).unwrap(), Signal::KILL).ok();
    }
    world.daemon().wait();
    world.start();
    let (code, stdout, stderr) = rest(child, reader);
    assert_eq!((code, stdout.as_str()), (Some(125), "line 1\n"), "{stderr}");
    assert!(stderr.starts_with(GONE) && stderr.lines().count() > 1, "{stderr}");
    world.is_quiet();
    world.finish();
}
