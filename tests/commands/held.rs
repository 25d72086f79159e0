//! The call that never returns: children that hold the pipes after their shell is gone.

use std::time::{Duration, Instant};

use brattice_protocol::hello::Watch;
use brattice_protocol::tools::Stream;
use brattice_tests::World;
use serde_json::{Value, json};

/// Without the tools for background tasks nothing goes on after its call.
fn without_task_tools() -> Value {
    json!({"disable": ["task_output"]})
}

/// The call returns long before the sleeper would, and the sleeper is stopped and told.
fn returns_at_once(commands: &[&str]) {
    let world = World::new();
    for mode in ["workspace-write", "danger-full-access"] {
        let session = world.session(mode).with("options", without_task_tools()).open();
        for command in commands {
            let start = Instant::now();
            let reply = session.run_for(300_000, command);
            assert!(start.elapsed() < Duration::from_secs(60), "{command}: {:?}", start.elapsed());
            reply.exits(0).says("started\n[stopped 1 process left running]");
            let left = reply.outcome().left_running.as_ref().expect("it tells what was left");
            assert_eq!((left.count, left.stopped, left.task.as_ref()), (1, Some(true), None));
            assert_eq!(left.processes[0].name, "sleep");
            assert_eq!(world.strays(), [], "{command}: nothing is left when the call returns");
        }
    }
    world.finish();
}

#[test]
fn b027_a_silent_background_child_does_not_hold_the_call() {
    returns_at_once(&[
        "sleep 900 & echo started",
        "sleep 900 </dev/null >/dev/null & echo started",
        "setsid sleep 900 & echo started",
    ]);
}

#[test]
fn b027_neither_does_a_coprocess_a_substitution_or_a_closed_stdout() {
    returns_at_once(&[
        "coproc sleep 900; echo started",
        "echo started > >(cat; exec sleep 900); until grep -q sleep /proc/$!/comm; do sleep 0.01; done",
        "sleep 900 >&- 2>&- & echo started",
        "(setsid nohup sleep 900 >/dev/null 2>&1 &); echo started",
    ]);
}

#[test]
fn t001_t003_t006_no_shape_of_a_background_command_holds_the_call() {
    returns_at_once(&[
        "sleep 1000 & echo started",
        "setsid sleep 1000 & echo started",
        r#"eval "sle""ep 900 &"; echo started"#,
    ]);
}

#[test]
fn t002_a_chatty_holder_does_not_hold_the_call() {
    let world = World::new();
    let session = world.session("workspace-write").with("options", without_task_tools()).open();
    let reply = session.run_for(300_000, "(while :; do echo t; sleep .01; done) & echo done");
    reply.exits(0).holds("done");
    assert!(reply.outcome().duration_ms < 60_000);
    assert_eq!(world.strays(), []);
    world.finish();
}

#[test]
fn t007_the_shells_exit_code_is_reported_whatever_it_left() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    session
        .run("sleep 900 & exit 7")
        .exits(7)
        .says("(no output)\n[1 process still running: now task bash-1]\n[exit code: 7]");
    let session = world.session("workspace-write").with("options", without_task_tools()).open();
    session
        .run("sleep 900 & exit 7")
        .exits(7)
        .says("(no output)\n[stopped 1 process left running]\n[exit code: 7]");
    world.finish();
}

#[test]
fn t012_a_heredoc_without_a_last_newline_ends_there() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    session.run("cat <<'EOF' > f\nx\nEOF").exits(0).says("(no output)");
    assert_eq!(std::fs::read_to_string(world.ws().join("f")).unwrap(), "x\n");
    world.finish();
}

#[test]
fn t022_a_job_that_is_no_job_is_told_and_the_sleeper_counted() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let reply = session.run("sleep 900 & kill %2; echo $?");
    reply
        .exits(0)
        .holds("1\n[stderr]\n")
        .holds("no such job")
        .holds("[1 process still running: now task bash-1]");
    session.run("sleep 900 & kill %1; wait; echo $?").exits(0).lacks("running");
    world.finish();
}

#[test]
fn t026_a_double_fork_in_its_own_session_does_not_escape() {
    let world = World::new();
    for mode in ["read-only", "workspace-write", "danger-full-access"] {
        let session = world.session(mode).with("options", without_task_tools()).open();
        let reply = session
            .run("setsid nohup bash -c '(sleep 900 &)' >/dev/null 2>&1 & sleep 0.5; echo hi");
        reply.exits(0).says("hi\n[stopped 1 process left running]");
        assert_eq!(world.strays(), [], "{mode}");
    }
    world.finish();
}

#[test]
fn t064_what_comes_first_is_not_lost() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    session.run("echo A; sleep .5").exits(0).says("A");
    world.finish();
}

#[test]
fn t072_output_of_a_running_command_is_seen_by_watchers() {
    let world = World::new();
    let session = world.session("workspace-write").watching(&[Watch::Output]).open();
    let call = session.begin_call(json!({
        "call": "watched",
        "name": "bash",
        "arguments": {"command": "python3 -c 'import time; print(1); time.sleep(900)'", "description": "Print and wait"},
    }));
    let seen = session.output_of("watched");
    assert_eq!((seen.stream, seen.offset), (Stream::Stdout, 0));
    assert!(seen.data.starts_with('1'), "{seen:?}");
    session.request("tools.cancel", json!({"call": "watched"})).unwrap();
    let reply = session.end(call);
    assert!(reply.is_error());
    reply.holds("1").holds("[cancelled]");
    world.finish();
}
