//! How a task ended, told as it was: B050, B051, B053, B059, T018, T031, T032, T073 to T075, T082.

use std::time::{Duration, Instant};

use brattice_protocol::outcome::Cause;
use brattice_tests::{World, eventually};
use serde_json::json;

use crate::{line, read, read_end, start, start_with, tool};

#[test]
fn b050_a_killed_task_is_no_success() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let task =
        start(&session, "for i in $(seq 100); do echo row $i; sleep 0.2; done; echo SUMMARY");
    eventually("a row is printed", || read(&session, &task).contains("row").then_some(()));
    let kill = tool(&session, "task_kill", json!({"task_id": task, "reason": "not needed"}));
    kill.says(&format!(
        "stopping {task}: SIGTERM was sent to everything that it started, SIGKILL follows 5 s later to what is left"
    ));
    let end = read_end(&session, &task);
    assert!(!end.contains("SUMMARY"), "{end}");
    let status = "[status: killed, signal: SIGTERM, by task_kill: not needed]";
    assert_eq!(end.lines().last(), Some(status));
    assert!(line(&session, &task).starts_with("killed, signal: SIGTERM, by task_kill: not needed"));
    world.finish();
}

#[test]
fn b051_t075_a_kill_an_exit_137_and_a_signal_are_three_things() {
    let world = World::new();
    for toolset in ["standard", "dsh"] {
        let session = world.session("workspace-write").with("toolset", json!(toolset)).open();
        let killed = start(&session, "sleep 300");
        tool(&session, "task_kill", json!({"task_id": killed}));
        let exited = start(&session, "sleep 0.3; exit 137");
        let signaled = start(&session, "kill -9 $$");
        let ends = [&killed, &exited, &signaled].map(|task| {
            let end = read_end(&session, task);
            end.lines().last().unwrap_or_default().to_owned()
        });
        let by = if toolset == "standard" { ", by task_kill" } else { "" };
        let expected = [
            format!("[status: killed, signal: SIGTERM{by}]"),
            "[status: completed, exit code: 137]".to_owned(),
            "[status: killed, signal: SIGKILL]".to_owned(),
        ];
        assert_eq!(ends, expected);
        let lines = [&killed, &exited, &signaled].map(|task| line(&session, task));
        let told = if toolset == "standard" {
            "killed, signal: SIGTERM, by task_kill"
        } else {
            "killed —"
        };
        for (line, start) in
            lines.iter().zip([told, "completed, exit code: 137", "killed, signal: SIGKILL"])
        {
            assert!(line.starts_with(start), "{line}");
        }
    }
    world.finish();
}

#[test]
fn b053_t031_a_killed_task_leaves_no_server() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    world.file(
        "tree.sh",
        "python3 -c '\nimport os, signal, socket, time\nif os.fork() == 0:\n os.setsid(); signal.signal(signal.SIGTERM, signal.SIG_IGN)\n \
         s = socket.socket(); s.bind((\"127.0.0.1\", 0)); s.listen(); print(s.getsockname()[1], flush=True); time.sleep(900)\ntime.sleep(900)'",
    );
    let task = start(&session, "bash tree.sh");
    let port: u16 = eventually("the server says its port", || {
        read(&session, &task).lines().next()?.parse().ok()
    });
    let begun = Instant::now();
    let kill = tool(&session, "task_kill", json!({"task_id": task}));
    assert!(begun.elapsed() < Duration::from_secs(4), "it returns at once");
    assert!(!kill.is_error());
    assert_eq!(read(&session, &task).lines().last(), Some("[status: stopping]"));
    tool(&session, "task_kill", json!({"task_id": task})).holds("is being stopped already");
    let end = read_end(&session, &task);
    assert!(begun.elapsed() >= Duration::from_secs(5), "the grace passes first");
    assert_eq!(end.lines().last(), Some("[status: killed, signal: SIGTERM, by task_kill]"));
    let bind = format!(
        "python3 -c 'import socket; s = socket.socket(); s.bind((\"127.0.0.1\", {port})); print(\"free\")'"
    );
    session.run(&bind).exits(0).says("free");
    assert_eq!(world.strays(), []);
    tool(&session, "task_kill", json!({"task_id": task})).holds("had ended already");
    world.finish();
}

#[test]
fn b059_in_dsh_no_limit_applies_in_the_background() {
    let world = World::new();
    let session = world.session("workspace-write").with("toolset", json!("dsh")).open();
    let command = "for i in 1 2 3 4; do sleep 0.5; echo job $i; done; echo ALL-DONE";
    let task = start_with(&session, json!({"command": command, "timeoutMs": 1000}));
    let end = read_end(&session, &task);
    assert_eq!(end, "job 1\njob 2\njob 3\njob 4\nALL-DONE\n[status: completed, exit code: 0]");
    world.finish();
}

#[test]
fn t082_in_standard_a_given_limit_applies_and_is_told() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let task = start_with(&session, json!({"command": "echo on; sleep 900", "timeoutMs": 1000}));
    let reply = tool(
        &session,
        "task_output",
        json!({"task_id": task, "wait": true, "timeout_ms": 600_000}),
    );
    reply.says("on\n[status: killed, timed out after 1000ms]");
    assert!(line(&session, &task).starts_with("killed, timed out"));
    assert_eq!(world.strays(), []);
    world.finish();
}

#[test]
fn t032_t073_a_trap_that_exits_0_is_still_a_kill() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let task =
        start(&session, "trap 'sleep 1; echo cleaned; exit 0' TERM; echo ready; sleep 100 & wait");
    eventually("the trap is set", || read(&session, &task).contains("ready").then_some(()));
    tool(&session, "task_kill", json!({"task_id": task}));
    let end = read_end(&session, &task);
    assert_eq!(end, "cleaned\n[status: killed, exit code: 0, by task_kill]");
    let waited = session.request("task.wait", json!({"tasks": [task], "timeout_ms": 0})).unwrap();
    assert_eq!(waited["outcome"]["cause"], json!(Cause::Killed));
    assert_eq!(waited["outcome"]["exit_code"], 0);
    world.finish();
}

#[test]
fn t074_the_code_of_a_background_command_is_its_own() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    for (command, status) in [
        ("exit 7", "[status: completed, exit code: 7]"),
        ("false | cat", "[status: completed, exit code: 0]"),
        ("nosuchcommand", "[status: completed, exit code: 127]"),
    ] {
        let task = start(&session, command);
        assert_eq!(read_end(&session, &task).lines().last(), Some(status), "{command}");
    }
    let reply =
        session.bash(json!({"command": "true", "run_in_background": true, "workdir": "gone"}));
    reply.is_refused().holds("does not exist");
    world.finish();
}

#[test]
fn t018_t037_a_list_tells_time_cpu_bytes_and_processes() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    assert_eq!(tool(&session, "task_list", json!({})).text(), "(no background tasks)");
    let task = start(&session, "echo hello; (while :; do :; done) & wait");
    let listed = eventually("it has used CPU time", || {
        let listed = line(&session, &task);
        let cpu = listed.split("CPU ").nth(1)?.split('s').next()?.parse::<f64>().ok()?;
        (cpu >= 0.1).then_some(listed)
    });
    assert!(listed.starts_with("running — echo hello; (while :; do :; done) & wait ("), "{listed}");
    assert!(
        listed.contains("6 bytes, last output ") && listed.ends_with("2 processes)"),
        "{listed}"
    );
    let list = tool(&session, "task_list", json!({}));
    assert!(list.lines().len() == 1 && !list.is_error());
    session.request("session.close", json!({})).unwrap();
    assert_eq!(world.strays(), []);
    world.finish();
}

/// As fast as it starts, it ends: nobody waits for it, and its output is there.
#[test]
fn t062_a_task_of_a_moment_is_found_with_its_output() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let task = start(&session, "echo done");
    assert_eq!(read_end(&session, &task), "done\n[status: completed, exit code: 0]");
    assert_eq!(world.strays(), []);
    world.finish();
}
