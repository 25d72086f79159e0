//! Which denials ground which escalation.

use std::sync::Arc;

use super::*;
use crate::exec::denials::tests::{denial, record};
use crate::exec::spec::{Stdin, Streams, Timestamp};

/// No number.
const NONE: [u64; 0] = [];

fn facts(task: &str, line: &str, workdir: &str, mode: Mode) -> TaskFacts {
    let KnownLine { title, digest } = KnownLine::of(line);
    TaskFacts {
        task: TaskId::new(task),
        kind: TaskKind::Bash,
        title,
        digest,
        cwd: Some(workdir.into()),
        stdin: Stdin::Null,
        streams: Streams::Separate,
        mode,
        layers: Arc::default(),
        started: Timestamp(1),
        timeout: None,
        idle_timeout: None,
    }
}

fn make() -> TaskFacts {
    facts("bash-1", "make install", "/ws", Mode::WorkspaceWrite)
}

fn command<'a>(line: &'a str, workdir: &'a str) -> Asked<'a> {
    let command = Some((line, Path::new(workdir)));
    Asked { command, paths: &[], wanted: Mode::DangerFullAccess }
}

fn numbers(store: &DenialStore, asked: &Asked<'_>) -> Vec<u64> {
    store.grounds(asked).iter().map(|known| known.record.number).collect()
}

#[test]
fn the_same_line_in_the_same_folder_is_grounded() {
    let store = DenialStore::default();
    store.learn(&make(), &[record(1, "/etc/a", 1), record(2, "/etc/b", 1)]);
    assert_eq!(numbers(&store, &command("make install", "/ws")), [1, 2]);
    for (line, workdir) in [("make install ", "/ws"), ("make", "/ws"), ("make install", "/ws/sub")]
    {
        assert_eq!(numbers(&store, &command(line, workdir)), NONE, "{line:?} in {workdir}");
    }
    let argv = TaskFacts { kind: TaskKind::Argv, ..facts("bash-2", "rm x", "/ws", Mode::ReadOnly) };
    store.learn(&argv, &[record(3, "/ws/x", 1)]);
    assert_eq!(numbers(&store, &command("rm x", "/ws")), NONE, "words are no line");
}

#[test]
fn long_lines_that_begin_alike_are_two_commands() {
    let (one, other) = ("x".repeat(2_000), "x".repeat(2_001));
    let store = DenialStore::default();
    store.learn(&facts("bash-1", &one, "/ws", Mode::ReadOnly), &[record(1, "/ws/x", 1)]);
    assert_eq!(numbers(&store, &command(&one, "/ws")), [1]);
    assert_eq!(numbers(&store, &command(&other, "/ws")), NONE);
}

#[test]
fn the_same_path_is_grounded_whoever_met_it() {
    let store = DenialStore::default();
    let moved = Denial { second_path: Some("/etc/b".to_owned()), ..denial("/etc/a") };
    let moved = DenialRecord { denial: moved, ..record(1, "/etc/a", 1) };
    store.learn(&make(), &[moved, record(2, "/etc/c", 1)]);
    let paths = |paths: &[&str]| {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        let asked = Asked { command: None, paths: &paths, wanted: Mode::DangerFullAccess };
        numbers(&store, &asked)
    };
    assert_eq!(paths(&["/etc/a"]), [1]);
    assert_eq!(paths(&["/etc/b", "/etc/c"]), [1, 2]);
    assert_eq!(paths(&["/etc", "/etc/d"]), NONE);
    assert_eq!(paths(&[]), NONE);
}

#[test]
fn only_a_mode_that_lifts_it_is_grounded() {
    let store = DenialStore::default();
    let inside = |number| {
        let inside = Denial { needs: Mode::WorkspaceWrite, ..denial("/ws/a") };
        DenialRecord { denial: inside, ..record(number, "/ws/a", 1) }
    };
    let read_only = facts("bash-1", "make", "/ws", Mode::ReadOnly);
    store.learn(&read_only, &[inside(1), record(2, "/etc/a", 1)]);
    let wanted = |wanted| numbers(&store, &Asked { wanted, ..command("make", "/ws") });
    assert_eq!(wanted(Mode::WorkspaceWrite), [1]);
    assert_eq!(wanted(Mode::DangerFullAccess), [1, 2]);
    assert_eq!(wanted(Mode::ReadOnly), NONE, "it is not wider");
}

#[test]
fn the_newest_are_remembered_in_their_order_and_each_once() {
    let store = DenialStore::default();
    let (later, earlier) = (record(7, "/etc/b", 1), record(3, "/etc/a", 1));
    store.learn(&make(), [&later]);
    store.learn(&make(), [&earlier]);
    store.learn(&make(), [&record(3, "/etc/a", 5)]);
    let known = store.grounds(&command("make install", "/ws"));
    let counts = known.iter().map(|known| (known.record.number, known.record.count));
    assert_eq!(counts.collect::<Vec<_>>(), [(3, 5), (7, 1)]);
    assert_eq!((known[0].task.as_str(), known[0].mode), ("bash-1", Mode::WorkspaceWrite));
    for number in 0..MOST as u64 {
        store.learn(&make(), [&record(100 + number, "/etc/c", 1)]);
    }
    let kept = numbers(&store, &command("make install", "/ws"));
    assert_eq!((kept.len(), kept[0], kept[MOST - 1]), (MOST, 100, 99 + MOST as u64));
}
