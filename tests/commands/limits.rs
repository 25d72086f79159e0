//! Deadlines: what is left after one (nothing), what is kept (everything printed), what is told.

use std::net::TcpStream;

use brattice_protocol::outcome::Cause;
use brattice_tests::{Reply, World};
use serde_json::json;

fn timed_out(reply: &Reply, limit: u64) {
    assert_eq!(reply.cause(), Cause::TimedOut, "{:?}", reply.text());
    assert!(!reply.is_error(), "a limit that passes is no failed call");
    reply.holds(&format!("[timed out after {limit}ms]"));
    // SIGKILL follows after five seconds; beyond that is what a busy machine takes, not what somebody waited for.
    let took = reply.outcome().duration_ms;
    assert!((limit..limit + 20_000).contains(&took), "{:?}", reply.outcome());
}

#[test]
fn b030_a_deadline_ends_everything_that_the_shell_started() {
    let world = World::new();
    world.file("spin_b030.py", "import time\nwhile True: time.sleep(0.2)\n");
    for mode in ["workspace-write", "danger-full-access"] {
        let session = world.session(mode).open();
        let reply = session.run_for(1500, "(python3 spin_b030.py); echo never");
        timed_out(&reply, 1500);
        reply.says("(no output)\n[timed out after 1500ms]\n[killed by signal: SIGTERM]");
        assert_eq!(world.strays(), [], "{mode}");
        session.run("pgrep -fc '[s]pin_b030' || true").exits(0).says("0");
    }
    world.finish();
}

#[test]
fn b031_what_ignores_sigterm_is_killed_after_the_grace() {
    let world = World::new();
    for mode in ["workspace-write", "danger-full-access"] {
        let session = world.session(mode).open();
        let reply = session
            .run_for(1000, r#"bash -c 'trap "" TERM HUP INT; while :; do sleep 1; done' & wait"#);
        timed_out(&reply, 1000);
        assert_eq!(world.strays(), [], "{mode}");
        let reply = session.run_for(
            3000,
            r#"timeout 1 bash -c 'trap "" TERM; (trap "" TERM; sleep 333) & sleep 333'; echo rc=$?"#,
        );
        timed_out(&reply, 3000);
        assert_eq!(world.strays(), [], "{mode}");
    }
    world.finish();
}

#[test]
fn b033_what_was_printed_before_a_deadline_is_kept() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let reply =
        session.run_for(1500, "for i in 1 2 3; do echo step-$i; done; echo oops >&2; sleep 300");
    timed_out(&reply, 1500);
    reply.says("step-1\nstep-2\nstep-3\n[stderr]\noops\n[timed out after 1500ms]\n[killed by signal: SIGTERM]");
    world.finish();
}

#[test]
fn b034_t083_the_limit_that_was_asked_for_is_the_limit() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    session.run_for(100_000, "echo A; sleep 3; echo B").exits(0).says("A\nB");
    let reply = session.run_for(1000, "echo A; sleep 4; touch late");
    timed_out(&reply, 1000);
    reply.says("A\n[timed out after 1000ms]\n[killed by signal: SIGTERM]");
    session.run("sleep 6; ls late 2>/dev/null | wc -l").exits(0).says("0");
    session
        .run_for(99_999_999_999, "true")
        .exits(0)
        .says("(no output)\n[timeout clamped to 600000ms]");
    world.finish();
}

#[test]
fn a_limit_that_is_no_number_of_milliseconds_is_refused() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    for limit in [json!("5000"), json!(-1), json!(null), json!([1])] {
        let reply = session.bash(json!({"command": "touch ran", "timeoutMs": limit}));
        if limit.is_null() && !reply.is_error() {
            continue;
        }
        reply.is_refused().holds("timeoutMs");
        assert!(!world.ws().join("ran").exists(), "{limit}");
    }
    world.finish();
}

#[test]
fn t008_a_server_in_the_foreground_ends_at_its_deadline_and_frees_its_port() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let reply = session.run_for(4000, "python3 -m http.server 0 --bind 127.0.0.1");
    timed_out(&reply, 4000);
    let text = reply.text();
    let port: u16 = text
        .split("port ")
        .nth(1)
        .and_then(|rest| rest.split(' ').next())
        .unwrap()
        .parse()
        .unwrap();
    assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "port {port} is still served");
    world.finish();
}

#[test]
fn t019_t024_t031_nothing_lives_when_the_result_is_told() {
    let world = World::new();
    for mode in ["read-only", "workspace-write", "danger-full-access"] {
        let session = world.session(mode).open();
        for command in
            ["for i in 1 2; do (while :; do :; done) & done; wait", "sh -c 'sleep 999; true'"]
        {
            timed_out(&session.run_for(1000, command), 1000);
            assert_eq!(world.strays(), [], "{mode}: {command}");
        }
    }
    world.finish();
}

#[test]
fn t025_a_shell_that_ignores_sigterm_is_killed_and_says_so() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let reply = session.run_for(1000, "trap '' TERM; while :; do sleep 1; done");
    timed_out(&reply, 1000);
    assert_eq!(reply.outcome().signal.as_deref(), Some("SIGKILL"));
    assert!(
        (5_500..20_000).contains(&reply.outcome().duration_ms),
        "SIGKILL comes after the grace, and not much later: {:?}",
        reply.outcome()
    );
    reply.holds("[timed out after 1000ms]\n[killed by signal: SIGKILL]");
    world.finish();
}

#[test]
fn t025_in_dsh_the_grace_is_shorter() {
    let world = World::new();
    let grace = |toolset: &str| {
        let session = world.session("workspace-write").with("toolset", json!(toolset)).open();
        let reply = session.run_for(1000, "trap '' TERM; while :; do sleep 0.1; done");
        timed_out(&reply, 1000);
        reply.outcome().duration_ms
    };
    let (dsh, standard) = (grace("dsh"), grace("standard"));
    assert!(dsh >= 3_500 && standard >= 5_500, "dsh {dsh} ms, standard {standard} ms");
    world.finish();
}

#[test]
fn t032_t073_a_trap_gets_its_grace_and_the_end_stays_a_timeout() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let reply =
        session.run_for(1000, "trap 'sleep 2; echo cleaned; exit 0' TERM; sleep 100 & wait");
    timed_out(&reply, 1000);
    assert_eq!((reply.code(), reply.outcome().signal.as_deref()), (Some(0), None));
    reply.holds("cleaned\n[timed out after 1000ms]");
    world.finish();
}

#[test]
fn t086_partial_output_comes_with_the_deadline() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let reply = session.run_for(2000, "seq 1000; sleep 300");
    timed_out(&reply, 2000);
    reply.holds("\n1000\n[timed out after 2000ms]");
    world.finish();
}
