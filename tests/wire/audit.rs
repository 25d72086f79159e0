//! The audit log: what is in it, who may read it, and what it says after crashes and full disks.

use std::fs;
use std::path::{Path, PathBuf};

use brattice_protocol::ErrorCode;
use brattice_protocol::audit::{
    Break, Change, DaemonEnd, Digest, Event, FileNumber, Line, Place, Tail, TornTail, Verified,
    verify,
};
use brattice_protocol::hello::Role;
use brattice_tests::{CONFINED, Process, Session, Wire, World, eventually};
use rustix::process::Signal;
use serde_json::{Value, json};

fn tail(world: &World, params: Value) -> Tail {
    let answer = Wire::open(&world.control()).request("audit.tail", params).unwrap();
    serde_json::from_value(answer).unwrap()
}

/// The events of all that `audit.tail` tells.
fn events(world: &World) -> Vec<Event> {
    let lines = tail(world, json!({"lines": 1000})).lines;
    lines.into_iter().map(|line| serde_json::from_value::<Line>(line).unwrap().event).collect()
}

fn folder(world: &World) -> PathBuf {
    world.state().join("audit")
}

/// The log's files, oldest first.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn verdict(folder: &Path) -> Result<Verified, Break> {
    let mut lines = Vec::new();
    for path in files(folder) {
        let file: FileNumber = path.file_name().unwrap().to_str().unwrap().parse().unwrap();
        let bytes = fs::read(path).unwrap();
        let pieces = bytes.split_inclusive(|byte| *byte == b'\n');
        lines.extend(
            (1..).zip(pieces).map(|(line, text)| Ok((Place { file, line }, text.to_vec()))),
        );
    }
    let verdict: Result<_, std::convert::Infallible> = verify(lines, None);
    verdict.unwrap_or_else(|never| match never {})
}

/// A program that connects to a socket once, or until a file appears.
const KNOCK: &str = r#"
import os, socket, sys, time
while True:
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(sys.argv[1])
        s.makefile().readline()
    if len(sys.argv) < 3 or os.path.exists(sys.argv[2]): break
    time.sleep(0.02)
"#;

/// A session whose commands knock at the daemon's sockets.
fn knocking(world: &World) -> Session {
    world.file("knock.py", KNOCK);
    world.session("danger-full-access").open()
}

#[test]
fn a_daemon_tells_its_beginning_and_its_end() {
    let mut world = World::new();
    let started = |world: &mut World| Event::DaemonStarted {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        pid: world.daemon().pid(),
        uid: rustix::process::geteuid().as_raw(),
    };
    let is_of_the_daemon =
        |event: &Event| matches!(event, Event::DaemonStarted { .. } | Event::DaemonStopped { .. });
    let told =
        |world: &World| events(world).into_iter().filter(is_of_the_daemon).collect::<Vec<_>>();
    let first = started(&mut world);
    assert_eq!(told(&world), std::slice::from_ref(&first));
    world.daemon().signal(Signal::TERM);
    world.daemon().wait();
    world.start();
    let stopped = Event::DaemonStopped { end: DaemonEnd::InOrder };
    assert_eq!(told(&world), [first, stopped, started(&mut world)]);
    let head = tail(&world, json!({})).head;
    assert_eq!(verdict(&folder(&world)).unwrap().head, head);
    world.finish();
}

#[test]
fn s7_a_peer_that_is_refused_is_recorded() {
    let world = World::new();
    let session = knocking(&world);
    for (path, socket) in [(world.socket(), Role::Client), (world.control(), Role::Operator)] {
        session.run(&format!("exec python3 knock.py {}", path.display())).exits(0);
        let is_refusal = |event: &Event| matches!(event, Event::PeerRefused { .. });
        let Some(Event::PeerRefused { socket: told, pid: Some(pid), uid, reason }) =
            events(&world).into_iter().rfind(is_refusal)
        else {
            panic!("{:#?}", events(&world))
        };
        assert_eq!((told, uid), (socket, Some(rustix::process::geteuid().as_raw())));
        let begin = format!("process {pid} belongs to a task (supervisor ");
        assert!(reason.starts_with(&begin), "{reason}");
    }
    world.finish();
}

#[test]
fn the_log_is_told_to_operators_only_and_in_bounds() {
    let world = World::new();
    let error = world.wire().request("audit.tail", json!({})).unwrap_err();
    assert!(error.is(ErrorCode::Refused), "{error:?}");
    let mut operator = Wire::open(&world.control());
    for (params, expected) in [
        (json!({"lines": 0}), "params.lines: expected 1 to 1000 lines, got 0"),
        (json!({"lines": 1001}), "params.lines: expected 1 to 1000 lines, got 1001"),
        (
            json!({"wait_ms": 1}),
            "params.wait_ms: expected \"after\" with it, the line to wait beyond",
        ),
        (
            json!({"follow": true}),
            "params.follow: unknown field `follow`, expected one of `lines`, `after`, `wait_ms`",
        ),
    ] {
        let error = operator.request("audit.tail", params).unwrap_err();
        assert!(error.is(ErrorCode::Invalid), "{error:?}");
        assert_eq!(error.message, expected);
    }
    let last = operator.request("audit.tail", json!({"after": 0, "lines": 1})).unwrap();
    assert_eq!(last["lines"][0]["event"], "daemon_started");
    world.finish();
}

#[test]
fn no_confined_command_writes_to_the_log() {
    let world = World::new();
    let before = files(&folder(&world));
    let file = before[0].display();
    for mode in CONFINED {
        let session = world.session(mode).open();
        session.run(&format!("echo x >> {file}")).exits(1);
        session.run(&format!("rm -f {file}")).exits(1);
        session.run(&format!("mv {file} {file}.old")).exits(1);
    }
    verdict(&folder(&world)).unwrap();
    world.finish();
}

#[test]
fn a_wait_ends_with_the_next_line_and_with_the_daemon() {
    let mut world = World::new();
    let session = knocking(&world);
    let head = tail(&world, json!({})).head.unwrap();
    let mut operator = Wire::open(&world.control());
    let waiting = operator.begin("audit.tail", json!({"after": head.seq, "wait_ms": 60_000}));
    session.run(&format!("python3 knock.py {}", world.socket().display())).exits(0);
    let told: Tail = serde_json::from_value(operator.wait(waiting).unwrap()).unwrap();
    assert_eq!((&told.lines[0]["seq"], told.skipped), (&json!(head.seq + 1), 0));
    assert_eq!(told.lines[0]["prev"], json!(head.sha256));

    let waiting = operator.begin("audit.tail", json!({"after": 1_000_000, "wait_ms": 60_000}));
    operator.request("audit.tail", json!({})).unwrap();
    let start = std::time::Instant::now();
    world.daemon().signal(Signal::TERM);
    operator.wait(waiting).unwrap();
    world.daemon().wait();
    assert!(start.elapsed().as_secs() < 15, "{:?}", start.elapsed());
}

#[test]
fn a_line_that_a_crash_tore_is_left_and_accounted_for() {
    let mut world = World::new();
    world.daemon().signal(Signal::KILL);
    world.daemon().wait();
    let file = files(&folder(&world)).remove(0);
    let whole = fs::read(&file).unwrap();
    let torn = &whole[..whole.len() - 30];
    fs::write(&file, torn).unwrap();
    assert_eq!(verdict(&folder(&world)).unwrap().unfinished, torn.len() as u64);

    world.start();
    let name = "00000001.jsonl".parse().unwrap();
    let tail = TornTail { file: name, bytes: torn.len() as u64, sha256: Digest::of(torn) };
    assert_eq!(events(&world)[0], Event::Recovered { tails: vec![tail] });
    assert_eq!(fs::read(&file).unwrap(), torn, "nothing was removed");
    let verified = verdict(&folder(&world)).unwrap();
    assert_eq!((verified.unfinished, verified.about.len()), (0, 1));
    world.finish();
}

#[test]
fn a_file_that_somebody_removes_is_missed_and_the_log_goes_on() {
    let world = World::new();
    let session = knocking(&world);
    let knock = || {
        session.run(&format!("python3 knock.py {}", world.socket().display())).exits(0);
    };
    knock();
    fs::remove_file(&files(&folder(&world))[0]).unwrap();
    knock();
    let changed = Event::LogChanged { file: FileNumber::FIRST, found: Change::Removed };
    assert_eq!(events(&world)[0], changed);
    assert!(world.log().contains("somebody else changed the audit log"), "{}", world.log());
    let fault = verdict(&folder(&world)).unwrap_err().to_string();
    assert!(fault.starts_with("00000002.jsonl:1: the log begins with line "), "{fault}");
    drop(session);
    world.finish();
}

#[test]
fn t042_what_a_full_disk_loses_is_counted_and_told_once_there_is_room() {
    let builder = World::builder();
    let mount = format!(
        "mount -t tmpfs -o size=1m,mode=700 tmpfs {}/state && exec {{}}",
        builder.root().display()
    );
    let mut world = builder.wrapper(&["unshare", "-rm", "/bin/bash", "-c", &mount]).start();
    // The daemon's own view of the file system.
    let inside = PathBuf::from(format!("/proc/{}/root", world.daemon().pid()));
    let inside = |path: PathBuf| inside.join(path.strip_prefix("/").unwrap());
    let session = knocking(&world);
    let command = format!("python3 knock.py {} stop", world.socket().display());
    session.request("task.start", json!({"command": command})).unwrap();

    let filler = inside(world.state().join("filler"));
    let full = fs::write(&filler, vec![0; 2 << 20]).unwrap_err();
    assert_eq!(full.raw_os_error(), Some(28), "{full}");
    let failing = eventually("the log cannot be written", || {
        Some(tail(&world, json!({}))).filter(|told| told.lost > 2)
    });
    let fault = failing.fault.unwrap();
    assert!(fault.starts_with("cannot write the audit log "), "{fault}");
    assert!(fault.ends_with("No space left on device (os error 28)"), "{fault}");
    assert!(Process::of(world.daemon().pid()).is_some_and(|daemon| daemon.is_alive()));

    fs::remove_file(&filler).unwrap();
    eventually("the log can be written again", || {
        Some(tail(&world, json!({}))).filter(|told| told.fault.is_none() && told.lost == 0)
    });
    fs::write(world.ws().join("stop"), "").unwrap();
    let gap = events(&world).into_iter().find_map(|event| match event {
        Event::Gap { lost, reason, .. } => Some((lost, reason)),
        _ => None,
    });
    let (lost, reason) = gap.expect("the log tells its gap");
    assert!(lost >= failing.lost && reason == fault, "{lost} {reason}");
    verdict(&inside(folder(&world))).unwrap();
    world.is_quiet();
}
