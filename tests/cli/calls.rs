//! `brattice call`: in a session of its own, which ends with the call unless something goes on in it, and in another one.

use brattice_tests::World;
use serde_json::{Value, json};

use crate::cli_world::{brattice_in, ended};
use crate::tasks::{listed, task};

fn call(world: &World, flags: &[&str], arguments: &Value) -> brattice_tests::Native {
    let arguments = arguments.to_string();
    brattice_in(world, &[&["call", "bash", arguments.as_str()], flags].concat())
}

#[test]
fn what_a_call_starts_in_the_background_goes_on_and_is_named() {
    let world = World::new();
    let command = "until [ -e go ]; do sleep 0.01; done; echo out; exit 3";
    let told = call(&world, &[], &json!({"command": command, "run_in_background": true}));
    let session = world.sessions()[0]["session"].as_str().unwrap().to_owned();
    let note = format!("brattice: in the background, in a session of its own: {session}/bash-1\n");
    assert_eq!(told, ended(0, "started background task bash-1\n", &note));
    assert_eq!(listed(&world)[0]["status"], "running");
    world.file("go", "");
    let name = format!("{session}/bash-1");
    assert_eq!(task(&world, &["wait", &name]).code, Some(3));
    assert_eq!(task(&world, &["output", &name]).stdout, "out\n");
    world.finish();
}

#[test]
fn what_a_call_leaves_running_goes_on_as_its_result_says() {
    let world = World::new();
    let told = call(&world, &["--json"], &json!({"command": "sleep 900 & echo started"}));
    let result: Value = serde_json::from_str(&told.succeeded().stdout).unwrap();
    assert_eq!(result["structuredContent"]["left_running"]["task"], "bash-1");
    let session = world.sessions()[0]["session"].clone();
    let note: Value = serde_json::from_str(&told.stderr).unwrap();
    assert_eq!((&note["session"], &note["tasks"]), (&session, &json!(["bash-1"])));
    assert!(note["note"].as_str().unwrap().contains("in the background"), "{note}");
    assert_eq!(listed(&world)[0]["status"], "running");
    world.finish();
}

#[test]
fn a_call_that_leaves_nothing_leaves_no_session_and_names_no_file_of_it() {
    let world = World::new();
    let long = json!({"command": "head -c 100000 /dev/zero | tr '\\0' x; echo END"});
    let told = call(&world, &[], &long);
    let cut = "[stdout truncated: 36004 bytes omitted; file unavailable]\n";
    assert!(told.succeeded().stdout.ends_with(&format!("END\n{cut}")), "{told:?}");
    let told = call(&world, &["--json"], &long);
    let result: Value = serde_json::from_str(&told.succeeded().stdout).unwrap();
    let stdout = &result["structuredContent"]["stdout"];
    assert_eq!((&stdout["bytes"], stdout.get("file")), (&json!(100_004), None));
    assert_eq!(world.sessions(), Vec::<Value>::new());

    // Where the session stays the file does, too.
    let session = world.session("workspace-write").open();
    let told = call(&world, &["--session", session.id()], &long);
    let (_, rest) = told.succeeded().stdout.split_once("full output: ").unwrap();
    let file = std::fs::read(rest.trim_end().trim_end_matches(']')).unwrap();
    assert_eq!(file.len(), 100_004);
    world.finish();
}

#[test]
fn a_program_gets_the_result_and_nothing_else() {
    let world = World::new();
    world.file("f", "one\ntwo\n");
    let told = brattice_in(&world, &["call", "read", r#"{"file_path": "f", "limit": 1}"#]);
    let footer = "(Showing lines 1-1 of 2. Use offset=2 to continue.)";
    assert_eq!(told, ended(0, &format!("1|one\n{footer}\n"), ""));
    let told = brattice_in(&world, &["call", "write", r#"{"file_path": "f", "content": ""}"#]);
    assert_eq!(told.code, Some(1), "it has not been read in this session: {told:?}");
    let json = ["call", "--json", "glob", r#"{"pattern": "*"}"#];
    let result: Value =
        serde_json::from_str(&brattice_in(&world, &json).succeeded().stdout).unwrap();
    assert_eq!(result["structuredContent"]["matches"], json!([{"path": "f"}]));
    world.finish();
}

#[test]
fn run_names_no_file_that_goes_with_its_session() {
    let world = World::new();
    let told = brattice_in(&world, &["run", "--json", "--", "head -c 200000 /dev/zero"]);
    let outcome: Value = serde_json::from_str(told.stderr.lines().last().unwrap()).unwrap();
    assert_eq!(
        (&outcome["stdout"]["bytes"], outcome["stdout"].get("file")),
        (&json!(200_000), None)
    );
    world.finish();
}
