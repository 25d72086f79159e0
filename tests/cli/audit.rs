//! `brattice audit`: the log for people and for programs, without a daemon, and what becomes of it when somebody changes it.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Stdio};

use brattice_protocol::audit::{Event, Head, Line, TornTail};
use brattice_tests::{Native, World, eventually};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::cli_world::{brattice_in, client, ended};

/// A world whose daemon was started, stopped, started and stopped: four lines at least.
fn with_a_log() -> World {
    let mut world = World::new();
    for is_last in [false, true] {
        world.daemon().signal(Signal::TERM);
        world.daemon().wait();
        if !is_last {
            world.start();
        }
    }
    world
}

fn file(world: &World) -> PathBuf {
    world.state().join("audit/00000001.jsonl")
}

fn lines(path: &Path) -> Vec<String> {
    fs::read_to_string(path).unwrap().split_inclusive('\n').map(str::to_owned).collect()
}

fn verify(world: &World, more: &[&str]) -> Native {
    brattice_in(world, &[&["audit", "verify"], more].concat())
}

#[test]
fn the_newest_lines_are_shown_last_and_no_daemon_is_started_for_that() {
    let world = with_a_log();
    let told = brattice_in(&world, &["audit", "tail"]);
    let shown: Vec<&str> = told.succeeded().stdout.lines().collect();
    assert_eq!(shown.len(), lines(&file(&world)).len().min(10));
    let last = shown.last().unwrap();
    assert!(last.ends_with(" daemon stopped   end=in_order"), "{last}");
    let one = brattice_in(&world, &["audit", "tail", "-n", "1"]);
    assert_eq!(one, ended(0, &format!("{last}\n"), ""));
    let none = brattice_in(&world, &["audit", "tail", "-n", "0"]);
    assert_eq!(none, ended(0, "", ""));
    let data = brattice_in(&world, &["audit", "tail", "-n", "2", "--json"]);
    let written = lines(&file(&world));
    assert_eq!(data, ended(0, &written[written.len() - 2..].concat(), ""), "as they stand there");
    assert!(!world.socket().exists());
}

#[test]
fn a_log_that_nobody_touched_is_whole() {
    let world = with_a_log();
    let written = lines(&file(&world));
    let folder = file(&world).parent().unwrap().to_owned();
    let told = verify(&world, &["--json"]);
    let data: Value = serde_json::from_str(&told.succeeded().stdout).unwrap();
    assert_eq!((&data["whole"], &data["first"]), (&Value::from(true), &Value::from(1)));
    let head: Head = serde_json::from_value(data["head"].clone()).unwrap();
    assert_eq!(head.seq, written.len() as u64);
    let expected =
        format!("no change found: lines 1 to {} in {}\nhead: {head}\n", head.seq, folder.display());
    assert_eq!(verify(&world, &["--noted", &head.to_string()]), ended(0, &expected, ""));
    // The hash is the one that anybody can compute.
    let last = world.native(&format!("tail -n 1 {} | sha256sum", file(&world).display()));
    assert!(last.stdout.starts_with(&head.sha256.to_string()), "{last:?}");
    let copy = world.out().join("kept");
    world.setup(&format!("cp -r {} {}", folder.display(), copy.display()));
    verify(&world, &["--folder", copy.to_str().unwrap()]).succeeded();
}

#[test]
fn a_changed_a_removed_and_a_torn_line_are_found_with_their_place() {
    let world = with_a_log();
    let path = file(&world);
    let written = lines(&path);
    let changed = |text: String, place: u64, words: &str| {
        fs::write(&path, text).unwrap();
        let told = verify(&world, &[]);
        assert_eq!((told.code, told.stderr.as_str()), (Some(1), ""), "{told:?}");
        let begin = format!("changed: {}:{place}: ", path.display());
        assert!(told.stdout.starts_with(&begin) && told.stdout.contains(words), "{told:?}");
        let data: Value = serde_json::from_str(&verify(&world, &["--json"]).stdout).unwrap();
        assert_eq!(
            (&data["whole"], &data["file"], &data["line"]),
            (&Value::from(false), &Value::from("00000001.jsonl"), &Value::from(place))
        );
    };
    changed(written.concat().replacen("\"uid\":", "\"gid\":", 1), 2, "one of the two was changed");
    changed([&written[..1], &written[2..]].concat().concat(), 2, "lines are missing");
    changed(written[1..].concat(), 1, "the log begins with line 2");
    changed(format!("{}\n{}", &written[0][..40], written[1..].concat()), 1, "no line of the log");

    let head: Value = serde_json::from_str(
        &{
            fs::write(&path, written.concat()).unwrap();
            verify(&world, &["--json"])
        }
        .stdout,
    )
    .unwrap();
    let noted = format!("{}:{}", head["head"]["seq"], head["head"]["sha256"].as_str().unwrap());
    fs::write(&path, written[..written.len() - 1].concat()).unwrap();
    verify(&world, &[]).succeeded();
    let told = verify(&world, &["--noted", &noted]);
    assert_eq!(told.code, Some(1), "{told:?}");
    assert!(told.stdout.contains("was noted and is missing"), "{told:?}");
}

#[test]
fn a_torn_line_is_told_and_is_no_change_once_it_is_accounted_for() {
    let mut world = World::new();
    world.daemon().signal(Signal::KILL);
    world.daemon().wait();
    let text = fs::read_to_string(file(&world)).unwrap();
    fs::write(file(&world), &text[..text.len() - 9]).unwrap();
    let told = verify(&world, &[]);
    assert!(told.succeeded().stdout.contains("has no line yet"), "{told:?}");
    world.start();
    let told = verify(&world, &[]);
    assert!(told.succeeded().stdout.contains("recovered        tails=[{\"bytes\":"), "{told:?}");
    world.finish();
}

#[test]
fn where_there_is_no_log_that_is_said() {
    let world = with_a_log();
    let nowhere = world.out().join("nowhere");
    for command in ["tail", "verify"] {
        let told = brattice_in(&world, &["audit", command, "--folder", nowhere.to_str().unwrap()]);
        let expected = format!(
            "brattice: there is no audit log in {}\n  hint: a daemon begins one; BRATTICE_STATE or --folder say where it is\n",
            nowhere.display()
        );
        assert_eq!(told, ended(125, "", &expected));
    }
    let bad = verify(&world, &["--noted", "7"]);
    assert!(bad.code == Some(125) && bad.stderr.contains("expected a line's number"), "{bad:?}");
}

/// A log that a test writes.
struct Written {
    folder: PathBuf,
    head: Head,
}

impl Written {
    /// Appends a line to a file and gives it.
    fn line(&mut self, file: &str) -> String {
        let tail = TornTail { file: file.parse().unwrap(), bytes: 1, sha256: self.head.sha256 };
        let mut line = Vec::new();
        let event = Event::Recovered { tails: vec![tail] };
        self.head = self.head.append(&mut line, 7, &event).unwrap();
        self.write(file, &line);
        String::from_utf8(line).unwrap()
    }

    fn write(&self, file: &str, bytes: &[u8]) {
        let path = self.folder.join(file);
        let mut open = fs::File::options().append(true).create(true).open(path).unwrap();
        open.write_all(bytes).unwrap();
    }
}

fn follow(world: &World, arguments: &[&str]) -> (Child, BufReader<ChildStdout>) {
    let mut command = client(world, &[&["audit", "tail", "-f"], arguments].concat());
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0).spawn().unwrap();
    let output = BufReader::new(child.stdout.take().unwrap());
    (child, output)
}

fn next(output: &mut BufReader<ChildStdout>) -> String {
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    line
}

#[test]
fn lines_are_followed_as_they_come_over_files_and_parts() {
    let world = with_a_log();
    let folder = world.out().join("log");
    fs::create_dir(&folder).unwrap();
    let (one, two) = ("00000001.jsonl", "00000002.jsonl");
    let mut log = Written { folder: folder.clone(), head: Head::START };
    let first = log.line(one);
    let (mut child, mut output) = follow(&world, &["--json", "--folder", folder.to_str().unwrap()]);
    assert_eq!(next(&mut output), first);
    let second = log.line(one);
    assert_eq!(next(&mut output), second);
    log.write(one, b"a part of a line");
    let third = log.line(two);
    assert_eq!(next(&mut output), third);
    let arguments = ["audit", "tail", "--json", "-n", "2", "--folder", folder.to_str().unwrap()];
    let newest = brattice_in(&world, &arguments);
    assert_eq!(newest, ended(0, &format!("{second}{third}"), ""), "from two files");

    fs::rename(&folder, world.out().join("elsewhere")).unwrap();
    let status = eventually("the program ends", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(125), "its log is gone");
}

#[test]
fn following_shows_the_next_daemon_and_ends_with_its_reader_or_a_signal() {
    let mut world = with_a_log();
    let (mut child, mut output) = follow(&world, &["-n", "0"]);
    world.start();
    let line = next(&mut output);
    assert!(line.contains(" daemon started   pid="), "{line}");
    drop(output);
    let status = eventually("it ends without a reader", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(141));

    let (mut child, mut output) = follow(&world, &["-n", "1", "--json"]);
    let told: Line = serde_json::from_str(&next(&mut output)).unwrap();
    assert!(matches!(told.event, Event::DaemonStarted { .. }), "{told:?}");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    eventually("it ends by a signal", || child.try_wait().unwrap());
    world.finish();
}
