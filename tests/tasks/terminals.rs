//! Tasks with a terminal of their own: `tty: true`.

use brattice_tests::{World, eventually};
use serde_json::json;

use crate::{read, read_end, start_with, tool};

#[test]
fn a_task_with_a_terminal_has_a_real_one() {
    let world = World::new();
    for mode in ["read-only", "workspace-write", "danger-full-access"] {
        let session = world.session(mode).open();
        let command = "test -t 0 && test -t 1 && test -t 2 && stty size && echo $TERM && echo on tty > /dev/tty";
        let task = start_with(&session, json!({"command": command, "tty": true}));
        let end = read_end(&session, &task);
        assert_eq!(
            end, "24 80\nxterm-256color\non tty\n[status: completed, exit code: 0]",
            "{mode}"
        );
    }
    world.finish();
}

#[test]
fn what_is_typed_reaches_the_foreground_job() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let task = start_with(&session, json!({"command": "PS1='> ' bash --norc -i", "tty": true}));
    let typed = |text: &str| {
        let reply = tool(&session, "task_input", json!({"task_id": task, "text": text}));
        assert!(!reply.is_error(), "{}", reply.text());
    };
    let sees = |what: &str| {
        let mut seen = String::new();
        eventually(what, || {
            seen += &read(&session, &task);
            seen.contains(what).then_some(())
        });
    };
    sees(">");
    typed("echo $((6 * 7))\n");
    sees("42");
    typed("sleep 900\n");
    let sleeps = || world.strays().iter().any(|process| process.arguments == "sleep 900");
    eventually("it sleeps", || sleeps().then_some(()));
    typed("\x03");
    eventually("Ctrl-C ends it", || (!sleeps()).then_some(()));
    tool(&session, "task_input", json!({"task_id": task, "text": "exit 3\n"}));
    assert!(read_end(&session, &task).ends_with("[status: completed, exit code: 3]"));
    world.finish();
}

#[test]
fn a_terminal_is_resized_and_its_input_ends() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let command = "trap 'stty size' WINCH; echo ready; cat; stty size";
    let task = start_with(&session, json!({"command": command, "tty": true}));
    eventually("it is ready", || read(&session, &task).contains("ready").then_some(()));
    session.request("task.resize", json!({"task": task, "rows": 50, "cols": 132})).unwrap();
    tool(&session, "task_input", json!({"task_id": task, "text": "", "eof": true}));
    let end = read_end(&session, &task);
    assert!(end.contains("50 132") && end.ends_with("[status: completed, exit code: 0]"), "{end}");
    world.finish();
}
