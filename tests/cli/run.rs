//! `brattice run`: one command, its streams and its exit status.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::Stdio;

use brattice_protocol::outcome::{Cause, CommandOutcome};
use brattice_tests::{Native, World, pointed};

use crate::cli_world::{brattice_in, client, ended};

#[test]
fn the_exit_status_is_the_commands_own() {
    let world = World::new();
    assert_eq!(
        brattice_in(&world, &["run", "--", "echo out; echo err >&2"]),
        ended(0, "out\n", "err\n")
    );
    assert_eq!(brattice_in(&world, &["run", "--", "exit 7"]), ended(7, "", ""));
    assert_eq!(brattice_in(&world, &["run", "--", "nosuchprogram"]).code, Some(127));
    assert_eq!(brattice_in(&world, &["run", "--", "kill -9 $$"]).code, Some(137));
    assert_eq!(brattice_in(&world, &["run", "--", "kill -TERM $$"]).code, Some(143));
    world.finish();
}

#[test]
fn a_limit_that_passes_is_124_and_a_failure_of_brattice_125() {
    let world = World::new();
    let timed_out =
        brattice_in(&world, &["run", "--timeout", "1s", "--", "echo so-far; sleep 900"]);
    assert_eq!(
        (timed_out.code, timed_out.stdout.as_str()),
        (Some(124), "so-far\n"),
        "{timed_out:?}"
    );
    assert_eq!(world.strays(), []);
    let missing = world.ws().join("missing");
    let failed =
        brattice_in(&world, &["run", "--workspace", missing.to_str().unwrap(), "--", "touch ran"]);
    assert_eq!((failed.code, failed.stdout.as_str()), (Some(125), ""));
    assert!(
        failed.stderr.contains(missing.to_str().unwrap())
            && failed.stderr.contains("does not exist"),
        "{failed:?}"
    );
    let socket = world.out().join("none.sock");
    let nobody = Native::run(
        client(&world, &["--no-start", "run", "--", "true"]).env("BRATTICE_SOCKET", socket),
    );
    assert_eq!(nobody.code, Some(125), "{nobody:?}");
    assert!(nobody.stderr.contains("none.sock"), "{nobody:?}");
    world.finish();
}

#[test]
fn one_argument_is_a_shell_line_and_several_are_words() {
    let world = World::new();
    assert_eq!(brattice_in(&world, &["run", "--", "echo a b | tr a-z A-Z"]), ended(0, "A B\n", ""));
    assert_eq!(
        brattice_in(&world, &["run", "--", "echo", "a  b", "|", "$HOME", "*"]),
        ended(0, "a  b | $HOME *\n", "")
    );
    assert_eq!(
        brattice_in(
            &world,
            &["run", "--", "python3", "-c", "import sys; sys.exit(len(sys.argv))", "x y"]
        )
        .code,
        Some(2)
    );
    world.finish();
}

#[test]
fn the_mode_and_its_roots_hold() {
    let world = World::new();
    assert_eq!(brattice_in(&world, &["run", "--", "echo x > f"]).code, Some(0));
    assert_eq!(
        brattice_in(&world, &["run", "--mode", "read-only", "--", "echo x > g"]).code,
        Some(1)
    );
    assert_eq!(brattice_in(&world, &["run", "--", "echo x > $OUT/f"]).code, Some(1));
    assert!(
        world.ws().join("f").exists()
            && !world.ws().join("g").exists()
            && !world.out().join("f").exists()
    );
    let out = world.out();
    assert_eq!(
        brattice_in(&world, &["run", "--writable", out.to_str().unwrap(), "--", "echo x > $OUT/f"])
            .code,
        Some(0)
    );
    assert_eq!(
        brattice_in(&world, &["run", "--mode", "danger-full-access", "--", "echo x > $HOME/f"])
            .code,
        Some(0)
    );
    let offline = brattice_in(
        &world,
        &["run", "--network", "none", "--", "python3", "-c", "import socket; socket.socket()"],
    );
    assert_eq!(offline.code, Some(1), "{offline:?}");
    assert!(offline.stderr.contains("PermissionError"), "{offline:?}");
    assert_eq!(brattice_in(&world, &["run", "--mode", "nosuch", "--", "true"]).code, Some(125));
    assert_eq!(
        brattice_in(&world, &["run", "--", "pwd"]),
        ended(0, &format!("{}\n", world.ws().display()), "")
    );
    world.finish();
}

#[test]
fn standard_input_is_passed_when_it_is_piped() {
    let world = World::new();
    world.setup("seq 100000 > numbers");
    let mut command = client(&world, &["run", "--", "wc -l; read -r x; echo rc=$?"]);
    let piped = Native::run_with_stdin(
        command.stdin(std::fs::File::open(world.ws().join("numbers")).unwrap()),
    );
    assert_eq!(piped, ended(0, "100000\nrc=1\n", ""));
    assert_eq!(brattice_in(&world, &["run", "--", "cat; echo end"]), ended(0, "end\n", ""));
    world.finish();
}

#[test]
fn output_is_streamed_before_the_end_and_input_as_it_comes() {
    let world = World::new();
    let mut command =
        client(&world, &["run", "--", "echo ready; read -r line; echo got $line; exit 3"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0).spawn().unwrap();
    let (mut input, mut output) =
        (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n", "it comes while the command waits");
    input.write_all(b"word\n").unwrap();
    line.clear();
    output.read_line(&mut line).unwrap();
    assert_eq!((line.as_str(), child.wait().unwrap().code()), ("got word\n", Some(3)));
    world.finish();
}

#[test]
fn every_byte_of_long_and_binary_output_arrives() {
    let world = World::new();
    let digest = |text: &str| text.split_whitespace().next().unwrap().to_owned();
    let program = "import sys; sys.stdout.buffer.write(bytes(range(256)) * 40000)";
    let expected = world.native(&format!("python3 -c '{program}' | sha256sum")).stdout;
    let shell = format!(
        "{} run -- python3 -c '{program}' | sha256sum",
        brattice_tests::brattice().display()
    );
    let seen = Native::run(pointed(&world, "/bin/bash").args(["-c", &shell]));
    assert_eq!(digest(&seen.stdout), digest(&expected), "{seen:?}");
    world.finish();
}

#[test]
fn with_json_the_outcome_is_data() {
    let world = World::new();
    let told = brattice_in(&world, &["run", "--json", "--", "echo hi; exit 3"]);
    assert_eq!(told.code, Some(3), "{told:?}");
    assert_eq!(told.stdout, "hi\n", "standard output is the command's own");
    let last = told.stderr.lines().last().unwrap();
    let outcome: CommandOutcome =
        serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {told:?}"));
    assert_eq!(
        (outcome.cause, outcome.exit_code, outcome.stdout.bytes),
        (Cause::Exited, Some(3), 3)
    );
    world.finish();
}
