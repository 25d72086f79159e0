//! What people call a session: every command takes as much of its id as no other session has, and says what there is where
//! that names none. And what they are shown of names that others chose.

use brattice_tests::{Native, World, brattice, pointed};
use serde_json::{Value, json};

use crate::cli_world::brattice_in;
use crate::tasks::{start, task};

/// Sessions, the oldest first, as much of whose ids as tells each from all others.
fn opened(world: &World, count: usize) -> Vec<(String, String)> {
    let names: Vec<String> = (0..count).map(|_| start(world, &[], "sleep 900")).collect();
    let ids: Vec<String> =
        names.iter().map(|name| name.split_once('/').unwrap().0.to_owned()).collect();
    let is_enough = |id: &String, length: usize| {
        ids.iter().filter(|other| other.starts_with(&id[..length])).count() == 1
    };
    let least = |id: &String| (1..=id.len()).find(|length| is_enough(id, *length)).unwrap();
    ids.iter().map(|id| (id.clone(), id[..least(id)].to_owned())).collect()
}

/// Every command that takes a session, with this one.
fn named(world: &World, session: &str) -> Vec<Native> {
    let command = json!({"command": "true"}).to_string();
    let lines: [&[&str]; 6] = [
        &["session", "show", session],
        &["call", "bash", &command, "--session", session],
        &["task", "list", "--session", session],
        &["task", "start", "--session", session, "--", "true"],
        &["task", "output", "bash-1", "--session", session],
        &["session", "close", session],
    ];
    lines.iter().map(|line| brattice_in(world, line)).collect()
}

#[test]
fn a_session_is_named_by_the_beginning_of_its_id_everywhere() {
    let world = World::new();
    let sessions = opened(&world, 3);
    for told in named(&world, &sessions[1].1) {
        assert_eq!(told.code, Some(0), "{told:?}");
    }
    let left: Vec<Value> = world.sessions().iter().map(|found| found["session"].clone()).collect();
    assert_eq!(left, [json!(sessions[0].0), json!(sessions[2].0)], "the second one is closed");
    world.finish();
}

#[test]
fn what_names_several_sessions_or_none_names_none_and_what_there_is_is_told() {
    let world = World::new();
    let sessions = opened(&world, 2);
    let common = &sessions[0].0[..1];
    for (name, begin) in [
        (common, format!("brattice: {common} begins several sessions: ")),
        ("nosuch", "brattice: no session nosuch; there are ".to_owned()),
        ("", "brattice: no session ''; there are ".to_owned()),
    ] {
        for told in named(&world, name) {
            assert_eq!((told.code, told.stdout.as_str()), (Some(125), ""), "{told:?}");
            assert!(told.stderr.starts_with(&begin), "{told:?}");
            for (id, _) in &sessions {
                assert!(told.stderr.contains(&id[..8]), "{told:?}");
            }
        }
    }
    assert_eq!(world.sessions().len(), 2);
    let unknown = task(&world, &["kill", "bash-7"]);
    assert!(unknown.stderr.starts_with("brattice: no task bash-7; there are "), "{unknown:?}");
    world.finish();
}

#[test]
fn no_label_and_no_command_reaches_the_terminal_as_it_is() {
    let world = World::new();
    let label = "nap\u{1b}[2J\u{202e}\nforged";
    let name = start(&world, &["--label", label], "sleep 900 # \u{1b}]0;title\u{7}");
    let session = name.split_once('/').unwrap().0;
    let hostile = |text: &str| text.contains(['\u{1b}', '\u{7}', '\u{202e}']);
    for line in [
        vec!["session", "list"],
        vec!["session", "show", session],
        vec!["task", "list"],
        vec!["audit", "tail"],
        vec!["task", "kill", "\u{1b}[2J"],
        vec!["session", "show", "nosuch"],
        vec!["\u{1b}[2J"],
    ] {
        let told = brattice_in(&world, &line);
        assert!(!hostile(&told.stdout) && !hostile(&told.stderr), "{line:?}: {told:?}");
        assert!(!told.stdout.contains("\nforged"), "{line:?}: {told:?}");
    }
    let line = format!("{} call $'\\e[2J' '{{}}'", brattice().display());
    let mut command = pointed(&world, "script");
    command.args(["-qefc", &line, "/dev/null"]).env("SHELL", "/bin/bash").env("NO_COLOR", "1");
    let screen = Native::run(&mut command);
    assert!(screen.stdout.contains("unknown tool `\\u{1b}[2J`"), "{screen:?}");
    assert!(!hostile(&screen.stdout), "{screen:?}");
    let shown = brattice_in(&world, &["session", "list"]).stdout;
    assert!(shown.contains("nap\\u{1b}[2J\\u{202e}\\nforged"), "{shown}");
    let data = brattice_in(&world, &["session", "list", "--json"]);
    let data: Value = serde_json::from_str(&data.stdout).unwrap();
    assert_eq!(data[0]["label"], label, "programs are told what it is");
    world.finish();
}

#[test]
fn times_are_milliseconds_everywhere() {
    let world = World::new();
    let before = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    start(&world, &[], "sleep 900");
    let opened = world.sessions()[0]["opened"].as_u64().unwrap();
    let tasks = task(&world, &["list", "--json"]);
    let tasks: Value = serde_json::from_str(&tasks.stdout).unwrap();
    let started = tasks[0]["started"].as_u64().unwrap();
    assert!(before.as_millis() as u64 <= opened && opened <= started, "{opened} {started}");
    world.finish();
}
