//! `bash` in `minimal`: both streams in one, the beginning of long output, a limit of 30 s.

use brattice_protocol::outcome::Cause;
use brattice_tests::{Session, World};
use serde_json::json;

fn open(world: &World) -> Session {
    world.session("workspace-write").with("toolset", json!("minimal")).open()
}

#[test]
fn t070_both_streams_stand_in_the_order_of_their_arrival() {
    let world = World::new();
    let session = open(&world);
    let reply = session.run("for i in 1 2 3; do echo o$i; echo e$i >&2; done");
    reply.exits(0).says("o1\ne1\no2\ne2\no3\ne3");
    assert_eq!((reply.outcome().stdout.bytes, reply.outcome().stderr.as_ref()), (18, None));
    world.finish();
}

#[test]
fn its_words_are_its_own() {
    let world = World::new();
    world.setup("mkdir sub");
    let opening = world.session("workspace-write").with("toolset", json!("minimal"));
    let session = opening.with("cwd", json!("sub")).open();
    session.run("pwd").exits(0).says(&world.ws().join("sub").display().to_string());
    session.run("true").exits(0).says("(no output)");
    session.run("echo x; exit 3").exits(3).says("x\n[exit code: exit status 3]");
    session.run("exit 3").exits(3).says("(no output)\n[exit code: exit status 3]");
    session.run("shopt -q login_shell").exits(1);
    session.bash(json!({"command": "echo a", "timeoutMs": 1, "nosuch": 1})).exits(0).says("a");
    session.bash(json!({"command": 7})).is_refused().holds("`command`: expected");
    world.finish();
}

#[test]
fn b035_a_signal_is_told_in_words() {
    let world = World::new();
    let session = open(&world);
    for (signal, words) in
        [("KILL", "killed"), ("TERM", "terminated"), ("SEGV", "segmentation fault")]
    {
        let reply = session.run(&format!("echo part-one; kill -{signal} $$; sleep 5"));
        reply.says(&format!("part-one\n[exit code: signal: {words}]"));
        assert_eq!((reply.cause(), reply.code(), reply.is_error()), (Cause::Signaled, None, false));
    }
    world.finish();
}

#[test]
fn b043_the_beginning_of_long_output_is_shown_and_the_rest_counted() {
    let world = World::new();
    let session = open(&world);
    let reply = session.run("printf 'é%.0s' {1..8001}; exit 2");
    let shown = "é".repeat(8_000);
    reply.exits(2).says(&format!(
        "{shown}\n[output truncated: 1 characters omitted]\n[exit code: exit status 2]"
    ));
    session.run("printf 'é%.0s' {1..8000}").exits(0).says(&shown);
    let long = session.run("yes é | head -n 2000000; echo end >&2");
    long.exits(0).holds("\n[output truncated: 3992004 characters omitted]");
    let outcome = long.outcome();
    assert_eq!((outcome.stdout.bytes, outcome.stdout.shown), (6_000_004, [0, 12_000]));
    assert!(outcome.stdout.file.is_some(), "the whole is kept");
    world.finish();
}

#[test]
fn t040_what_was_not_kept_is_not_counted_and_the_line_says_so() {
    let world = World::new();
    let opening = world.session("workspace-write").with("toolset", json!("minimal"));
    let session = opening.with("options", json!({"max_output": 5})).open();
    let reply = session.run("head -c 80000000 /dev/zero | tr '\\0' x");
    let text = reply.exits(0).text();
    let omitted = text
        .strip_prefix("xxxxx\n[output truncated: more than ")
        .unwrap_or_else(|| panic!("{text}"));
    let omitted: u64 = omitted.strip_suffix(" characters omitted]").unwrap().parse().unwrap();
    let outcome = reply.outcome();
    assert_eq!(outcome.stdout.bytes, 80_000_000);
    assert_eq!(omitted, 80_000_000 - outcome.stdout.dropped - 5);
    world.finish();
}

#[test]
fn b030_b033_the_limit_is_told_last_and_what_was_printed_is_kept() {
    let world = World::new();
    let session = open(&world);
    let reply = session.run("echo step-1; echo oops >&2; (sleep 300); echo never");
    reply.says("step-1\noops\n[error: 30s timeout exceeded]");
    assert_eq!((reply.cause(), reply.is_error()), (Cause::TimedOut, false));
    assert!(reply.outcome().duration_ms >= 30_000);
    assert_eq!(world.strays(), []);
    world.finish();
}

#[test]
fn b027_t001_what_a_call_leaves_is_stopped() {
    let world = World::new();
    let session = open(&world);
    session
        .run("sleep 900 & echo started")
        .exits(0)
        .says("started\n[stopped 1 process left running]");
    assert_eq!(world.strays(), []);
    world.finish();
}
