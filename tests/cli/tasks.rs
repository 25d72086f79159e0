//! `brattice task`: background tasks that outlive the client that started them.

use std::io::Write;
use std::process::Stdio;

use brattice_tests::{Native, World, brattice, eventually, pointed};
use serde_json::Value;

use crate::cli_world::{brattice_in, client, ended};

/// Starts a task and gives its name, `SESSION/TASK`.
pub(crate) fn start(world: &World, flags: &[&str], command: &str) -> String {
    let arguments: Vec<&str> =
        ["task", "start"].iter().chain(flags).copied().chain(["--", command]).collect();
    let told = brattice_in(world, &arguments);
    let name = told.succeeded().stdout.strip_suffix('\n').unwrap().to_owned();
    assert_eq!(told, ended(0, &format!("{name}\n"), ""));
    name
}

/// Runs `brattice task` with these arguments.
pub(crate) fn task(world: &World, arguments: &[&str]) -> Native {
    let arguments: Vec<&str> = ["task"].iter().chain(arguments).copied().collect();
    brattice_in(world, &arguments)
}

/// The tasks as data.
pub(crate) fn listed(world: &World) -> Vec<Value> {
    serde_json::from_str(&task(world, &["list", "--json"]).succeeded().stdout).unwrap()
}

fn session_of(name: &str) -> &str {
    name.split_once('/').unwrap().0
}

#[test]
fn a_task_outlives_its_client_and_is_listed_read_and_waited_for() {
    let world = World::new();
    let name =
        start(&world, &[], "until [ -e go ]; do sleep 0.01; done; echo out; echo err >&2; exit 3");
    let running = listed(&world);
    assert_eq!((running.len(), &running[0]["status"]), (1, &Value::from("running")));
    assert_eq!(format!("{}/bash-1", running[0]["session"].as_str().unwrap()), name);
    assert_eq!(world.sessions()[0]["attached"], false, "its client is gone");
    world.file("go", "");
    let waited = task(&world, &["wait", "bash-1"]);
    assert_eq!(waited, ended(3, "bash-1: completed, exit code: 3\n", ""));
    assert_eq!(task(&world, &["output", "bash-1"]), ended(0, "out\n", "err\n"));
    assert_eq!(task(&world, &["output", &name, "--stderr"]), ended(0, "err\n", ""));
    let over = listed(&world);
    assert_eq!((&over[0]["status"], &over[0]["exit_code"]), (&"completed".into(), &3.into()));
    assert_eq!(over[0]["bytes"], 8);
    world.finish();
}

#[test]
fn the_list_is_a_table_for_people() {
    let world = World::new();
    assert_eq!(task(&world, &["list"]), ended(0, "", "brattice: no tasks\n"));
    assert_eq!(task(&world, &["list", "--json"]), ended(0, "[]\n", ""));
    let name = start(&world, &["--label", "nap"], "sleep 900\n# a second line");
    let told = task(&world, &["list", "--session", &session_of(&name)[..10]]);
    let lines: Vec<&str> = told.succeeded().stdout.lines().collect();
    assert_eq!(lines.len(), 2, "{told:?}");
    for (title, cell) in [
        ("TASK", "bash-1"),
        ("SESSION", &name[..8]),
        ("LABEL", "nap"),
        ("STATUS", "running"),
        ("COMMAND", "sleep 900 …"),
    ] {
        let column = lines[0].find(title).unwrap();
        assert!(lines[1][column..].starts_with(cell), "{title}: {told:?}");
    }
    assert_eq!(world.sessions()[0]["label"], "nap");
    assert_eq!(task(&world, &["list", "--session", "nosuch"]).code, Some(125));
    world.finish();
}

#[test]
fn t066_whoever_follows_reads_from_the_first_line_to_the_last() {
    let world = World::new();
    let name = start(&world, &[], "echo first; until [ -e go ]; do sleep 0.01; done; echo last");
    eventually("the first line is there", || {
        (task(&world, &["output", &name]).stdout == "first\n").then_some(())
    });
    let mut command = client(&world, &["task", "output", &name, "-f"]);
    let following =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    world.file("go", "");
    let followed = following.wait_with_output().unwrap();
    assert_eq!(
        (followed.status.code(), followed.stdout.as_slice()),
        (Some(0), &b"first\nlast\n"[..])
    );
    assert_eq!(task(&world, &["output", &name, "--follow"]), ended(0, "first\nlast\n", ""));
    world.finish();
}

#[test]
fn t071_offsets_stay_where_output_outgrew_its_cap() {
    let world = World::new();
    let name =
        start(&world, &[], "echo FIRST; head -c 100M /dev/zero | tr '\\0' x; echo; echo LAST");
    task(&world, &["wait", &name]).succeeded();
    let total: u64 = 6 + (100 << 20) + 1 + 5;
    assert_eq!(listed(&world)[0]["bytes"], total);
    assert_eq!(task(&world, &["output", &name, "--tail-bytes", "6"]), ended(0, "\nLAST\n", ""));
    assert_eq!(
        task(&world, &["output", &name, "--offset", &(total - 5).to_string()]),
        ended(0, "LAST\n", "")
    );
    let line = format!("{} task output {name} --json | wc -c", brattice().display());
    let told = Native::run(pointed(&world, "/bin/bash").args(["-c", &line]));
    let notes: Vec<Value> =
        told.stderr.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let skipped = notes[0]["skipped"].as_u64().unwrap();
    let shown: u64 = told.stdout.trim().parse().unwrap();
    assert_eq!(shown + skipped, total, "{told:?}");
    assert_eq!(notes[1]["stdout"]["next_offset"], total, "{told:?}");
    world.finish();
}

#[test]
fn a_task_that_was_stopped_says_so_and_leaves_nothing() {
    let world = World::new();
    let name = start(&world, &[], "trap '' TERM; setsid sleep 900 & sleep 900; sleep 900");
    let told = task(&world, &["kill", &name, "--reason", "not needed"]);
    assert_eq!(told, ended(0, "stopping bash-1\n", ""));
    let waited = task(&world, &["wait", &name]);
    assert_eq!(waited.code, Some(137), "{waited:?}");
    assert!(waited.stderr.contains("not needed"), "{waited:?}");
    assert_eq!(listed(&world)[0]["status"], "killed");
    world.is_quiet();
    let again = task(&world, &["kill", &name]);
    assert_eq!(again, ended(0, "bash-1 has ended before: killed, signal: SIGKILL\n", ""));
    world.finish();
}

#[test]
fn t025_a_kill_by_force_waits_for_no_grace_and_ends_one_that_has_begun() {
    let world = World::new();
    let stubborn = "trap '' TERM; touch \"$BRATTICE_SESSION_ID\"; sleep 900; sleep 900";
    let begun = std::time::Instant::now();
    let (one, other) = (start(&world, &[], stubborn), start(&world, &[], stubborn));
    for name in [&one, &other] {
        let deaf = world.ws().join(session_of(name));
        eventually("it is deaf", || deaf.exists().then_some(()));
    }
    assert_eq!(task(&world, &["kill", &one, "--force"]), ended(0, "stopping bash-1\n", ""));
    assert_eq!(task(&world, &["wait", &one]).code, Some(137));
    task(&world, &["kill", &other, "--reason", "enough"]).succeeded();
    task(&world, &["kill", &other, "--force", "--reason", "now"]).succeeded();
    let waited = task(&world, &["wait", &other]);
    assert_eq!(waited.code, Some(137), "{waited:?}");
    let told = "[killed: by an operator: enough]\n[killed by signal: SIGKILL]\n";
    assert_eq!(waited.stderr, told, "the first reason counts");
    // Twice the grace is what both would have taken.
    assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
    world.finish();
}

#[test]
fn a_task_is_typed_into_and_piped_into() {
    let world = World::new();
    let name = start(&world, &["--stdin"], "read -r word; echo \"got $word\"; cat; echo end");
    assert_eq!(task(&world, &["input", &name, "a word"]), ended(0, "", ""));
    world.setup("seq 50000 > numbers");
    let numbers = std::fs::File::open(world.ws().join("numbers")).unwrap();
    let mut command = client(&world, &["task", "input", &name, "--eof"]);
    assert_eq!(Native::run_with_stdin(command.stdin(numbers)), ended(0, "", ""));
    assert_eq!(task(&world, &["wait", &name]).code, Some(0));
    let numbers = world.native("cat numbers").stdout;
    assert_eq!(
        task(&world, &["output", &name]),
        ended(0, &format!("got a word\n{numbers}end\n"), "")
    );
    let refused = task(&world, &["input", &name, "more"]);
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(125), ""), "{refused:?}");
    world.finish();
}

#[test]
fn a_task_on_a_terminal_is_typed_into() {
    let world = World::new();
    let name =
        start(&world, &["--tty"], "test -t 0 && test -t 1 && read -r word; echo \"got $word\"");
    assert_eq!(task(&world, &["input", &name, "enter"]), ended(0, "", ""));
    assert_eq!(task(&world, &["wait", &name]).code, Some(0));
    let told = task(&world, &["output", &name]);
    assert!(told.stdout.contains("got enter"), "{told:?}");
    assert_eq!(told.stderr, "");
    world.finish();
}

#[test]
fn t085_a_limit_that_passes_is_124() {
    let world = World::new();
    let slow = start(&world, &["--timeout", "500ms"], "while :; do echo so-far; sleep 0.1; done");
    let waited = task(&world, &["wait", &slow]);
    assert_eq!(waited.code, Some(124), "{waited:?}");
    assert!(waited.stderr.starts_with("[timed out after 500ms]\n"), "{waited:?}");
    assert_eq!(waited.stdout, "bash-1: killed, timed out after 500ms\n");
    let silent = start(&world, &["--idle-timeout", "500ms"], "echo once; sleep 900");
    let waited = task(&world, &["wait", &silent]);
    assert_eq!(waited.code, Some(124), "{waited:?}");
    assert!(waited.stderr.contains("no output for 500ms"), "{waited:?}");
    assert_eq!(task(&world, &["output", &silent]).stdout, "once\n");
    world.is_quiet();
    world.finish();
}

#[test]
fn what_several_sessions_have_is_named_with_its_session() {
    let world = World::new();
    let (one, other) = (start(&world, &[], "exit 1"), start(&world, &[], "exit 2"));
    let ambiguous = task(&world, &["wait", "bash-1"]);
    assert_eq!((ambiguous.code, ambiguous.stdout.as_str()), (Some(125), ""), "{ambiguous:?}");
    for name in [&one, &other] {
        assert!(ambiguous.stderr.contains(&name[..8]), "{ambiguous:?}");
        let session = session_of(name);
        let expected = if name == &one { 1 } else { 2 };
        for words in [vec![name.as_str()], vec!["bash-1", "--session", session]] {
            let waited = task(&world, &[&["wait"], words.as_slice()].concat());
            assert_eq!(waited.code, Some(expected), "{words:?}: {waited:?}");
        }
    }
    let third = start(&world, &["--session", session_of(&other)], "exit 3");
    assert_eq!(third, format!("{}/bash-2", session_of(&other)));
    assert_eq!(task(&world, &["wait", "bash-2"]).code, Some(3));
    let unknown = task(&world, &["wait", "bash-9"]);
    assert_eq!(unknown.code, Some(125));
    assert!(unknown.stderr.contains("no task bash-9"), "{unknown:?}");
    world.finish();
}

#[test]
fn the_mode_and_its_roots_hold_in_the_background() {
    let world = World::new();
    let refused = start(&world, &["--mode", "read-only"], "echo x > f");
    assert_eq!(task(&world, &["wait", &refused]).code, Some(1));
    let out = world.out();
    let allowed = start(&world, &["--writable", out.to_str().unwrap()], "echo x > $OUT/f");
    assert_eq!(task(&world, &["wait", &allowed]).code, Some(0));
    assert!(!world.ws().join("f").exists() && out.join("f").exists());
    let missing = world.ws().join("missing");
    let failed = task(&world, &["start", "--workspace", missing.to_str().unwrap(), "--", "true"]);
    assert_eq!((failed.code, failed.stdout.as_str()), (Some(125), ""), "{failed:?}");
    assert_eq!(world.sessions().len(), 2, "no session is left of what did not start");
    world.finish();
}

#[test]
fn a_wait_shows_progress_on_a_terminal_and_nowhere_else() {
    let world = World::new();
    let script = "echo compiling; until [ -e go ]; do sleep 0.01; done; exit 5";
    let name = start(&world, &[], script);
    let line = format!("{} task wait {name}", brattice().display());
    let mut command = pointed(&world, "script");
    command
        .args(["-qefc", &line, "/dev/null"])
        .env("TERM", "xterm")
        .stdin(Stdio::null())
        .stdout(std::fs::File::create(world.out().join("screen")).unwrap());
    let mut watching = command.spawn().unwrap();
    let screen = || std::fs::read_to_string(world.out().join("screen")).unwrap();
    eventually("the line tells what was printed last", || {
        screen().contains("compiling").then_some(())
    });
    world.file("go", "");
    assert_eq!(watching.wait().unwrap().code(), Some(5));
    let seen = screen();
    assert!(seen.contains("\rbash-1: running for ") && seen.contains("CPU "), "{seen:?}");
    assert!(seen.ends_with("\r\u{1b}[Kbash-1: completed, exit code: 5\r\n"), "{seen:?}");
    assert_eq!(task(&world, &["wait", &name]), ended(5, "bash-1: completed, exit code: 5\n", ""));
    world.finish();
}

#[test]
fn a_reader_that_goes_away_ends_the_reading_and_not_the_task() {
    let world = World::new();
    let name = start(&world, &[], "while echo y; do sleep 0.01; done");
    let mut command = client(&world, &["task", "output", &name, "-f"]);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let status = eventually("the client ends", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(141));
    assert_eq!(listed(&world)[0]["status"], "running");
    task(&world, &["kill", &name]).succeeded();
    world.finish();
}

#[test]
fn a_command_of_run_is_a_task_like_any_other() {
    let world = World::new();
    let mut command = client(&world, &["run", "--", "echo ready; read -r word; echo got $word"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    eventually("it is listed", || {
        listed(&world).first().is_some_and(|task| task["status"] == "running").then_some(())
    });
    child.stdin.take().unwrap().write_all(b"it\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        (output.status.code(), output.stdout.as_slice()),
        (Some(0), &b"ready\ngot it\n"[..])
    );
    assert_eq!(listed(&world), Vec::<Value>::new(), "its session ended with it");
    world.finish();
}
