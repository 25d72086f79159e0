//! Processes that a call leaves running: B063, T001 to T005, T014, T017, T022, T026.

use brattice_protocol::TaskId;
use brattice_tests::{World, eventually};
use serde_json::json;

use crate::{line, read, read_end, start, tool};

#[test]
fn t014_t002_what_a_call_leaves_goes_on_as_its_own_task() {
    let world = World::new();
    for mode in ["read-only", "workspace-write", "danger-full-access"] {
        let session = world.session(mode).open();
        let reply = session
            .run("(while [ ! -e ${TMPDIR:-/tmp}/stop-$BRATTICE_SESSION_ID ]; do echo t; sleep .01; done; echo bye) & echo done");
        reply.exits(0).holds("done").holds(" still running: now task bash-1]");
        let left = reply.outcome().left_running.clone().expect("it tells what was left");
        let task = TaskId::new("bash-1");
        assert_eq!((left.stopped, left.task.as_ref()), (None, Some(&task)));
        assert!(left.count >= 1 && left.processes[0].name == "bash");
        assert!(line(&session, &task).starts_with("running"));
        let more = read(&session, &task);
        assert!(!more.contains("done"), "what the call showed is not shown again: {more}");
        session.run("touch ${TMPDIR:-/tmp}/stop-$BRATTICE_SESSION_ID").exits(0);
        let end = read_end(&session, &task);
        assert!(end.ends_with("bye\n[status: completed, exit code: 0]"), "{end}");
        session.request("session.close", json!({})).unwrap();
    }
    world.finish();
}

#[test]
fn b063_t005_a_server_that_a_call_left_is_there_in_the_next_one() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let serve = "import http.server, sys\ns = http.server.ThreadingHTTPServer(('127.0.0.1', int(sys.argv[1])), http.server.SimpleHTTPRequestHandler)\n\
                 open('port', 'w').write(str(s.server_address[1])); s.serve_forever()";
    world.file("serve.py", serve);
    session
        .run("nohup python3 serve.py 0 >/dev/null 2>&1 & while [ ! -s port ]; do sleep 0.05; done")
        .exits(0)
        .holds("[1 process still running: now task bash-1]");
    let port = std::fs::read_to_string(world.ws().join("port")).unwrap();
    let fetch = format!(
        "python3 -c 'import urllib.request as u; print(u.urlopen(\"http://127.0.0.1:{port}/\").status)'"
    );
    session.run(&fetch).exits(0).says("200");
    let second = start(&session, &format!("python3 serve.py {port}"));
    let end = read_end(&session, &second);
    assert!(
        end.contains("Address already in use")
            && end.ends_with("[status: completed, exit code: 1]"),
        "{end}"
    );
    session.run(&fetch).exits(0).says("200");
    world.finish();
}

#[test]
fn t017_t003_t026_every_leftover_is_seen_and_killed() {
    let world = World::new();
    for mode in ["workspace-write", "danger-full-access"] {
        let session = world.session(mode).open();
        session
            .run("for i in 1 2; do sleep 900 & done; setsid nohup bash -c '(sleep 900 &)' >/dev/null 2>&1 & sleep 0.5; echo hi")
            .exits(0)
            .says("hi\n[3 processes still running: now task bash-1]");
        let task = TaskId::new("bash-1");
        assert!(line(&session, &task).ends_with("3 processes)"), "{}", line(&session, &task));
        tool(&session, "task_kill", json!({"task_id": task, "reason": "enough"}));
        let end = read_end(&session, &task);
        assert_eq!(
            end.lines().last(),
            Some("[status: killed, exit code: 0, by task_kill: enough]")
        );
        assert_eq!(world.strays(), [], "{mode}");
    }
    world.finish();
}

#[test]
fn leftovers_are_stopped_where_the_tools_for_them_are_disabled() {
    let world = World::new();
    let options = json!({"disable": ["task_list"]});
    let session = world.session("workspace-write").with("options", options).open();
    session.run("sleep 900 & echo hi").exits(0).says("hi\n[stopped 1 process left running]");
    assert_eq!(world.strays(), []);
    let reply = session.bash(json!({"command": "true", "run_in_background": true}));
    reply.is_refused().holds("`run_in_background`");
    world.finish();
}

#[test]
fn a_closed_session_ends_what_was_left() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    session.run("sleep 900 & echo hi").exits(0).holds("now task bash-1");
    session.request("session.close", json!({})).unwrap();
    assert_eq!(world.strays(), []);
    world.finish();
}

#[test]
fn the_end_of_what_was_left_is_told() {
    let world = World::new();
    let session =
        world.session("workspace-write").with("options", json!({"loop_detector": false})).open();
    session.run("(while [ ! -e stop ]; do sleep 0.05; done) & exit 5").exits(5);
    world.file("stop", "");
    let told = eventually("it is told", || {
        let text = session.run("echo next").exits(0).text();
        (text != "next").then_some(text)
    });
    assert_eq!(told, "next\n[background task bash-1: completed, exit code: 5]");
    world.finish();
}
