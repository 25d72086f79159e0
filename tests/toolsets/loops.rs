//! The loop detector and the counters of a turn.

use brattice_tests::{Session, World};
use serde_json::{Value, json};

const LINE: &str = "[LOOP_DETECTED: same call and result 3 times in a row]";

fn call(session: &Session, name: &str, arguments: Value) -> String {
    session.end(session.begin_call(json!({"name": name, "arguments": arguments}))).text()
}

#[test]
fn the_third_equal_call_and_each_further_one_is_told() {
    let world = World::new();
    for toolset in ["standard", "minimal"] {
        let session = world.session("workspace-write").with("toolset", json!(toolset)).open();
        let run = || call(&session, "bash", json!({"command": "echo same; exit 3"}));
        let exit =
            if toolset == "standard" { "[exit code: 3]" } else { "[exit code: exit status 3]" };
        let plain = format!("same\n{exit}");
        let told = |number| {
            format!("{plain}\n[LOOP_DETECTED: same call and result {number} times in a row]")
        };
        let texts: Vec<_> = (0..4).map(|_| run()).collect();
        assert_eq!(texts, [plain.clone(), plain.clone(), told(3), told(4)], "{toolset}");
    }
    world.finish();
}

#[test]
fn any_difference_or_a_new_turn_starts_again() {
    let world = World::new();
    world.file("count", "");
    let session = world.session("workspace-write").open();
    let same = || call(&session, "bash", json!({"command": "echo same"}));
    let twice = || assert_eq!([same(), same()], ["same", "same"]);
    twice();
    assert_eq!(call(&session, "bash", json!({"command": "echo  same"})), "same");
    twice();
    assert_eq!(call(&session, "bash", json!({"command": "echo same", "timeoutMs": 5000})), "same");
    twice();
    session.request("session.turn", json!({})).unwrap();
    twice();
    assert_eq!(same(), format!("same\n{LINE}"));
    // The same call with another result each time.
    for number in 1..5 {
        let text = call(&session, "bash", json!({"command": "echo >> count; wc -l < count"}));
        assert_eq!(text, number.to_string());
    }
    world.finish();
}

#[test]
fn closing_lines_are_not_compared_and_the_length_of_what_is_cut_is() {
    let world = World::new();
    world.file("runs", "");
    let session = world.session("workspace-write").open();
    let varying =
        || call(&session, "bash", json!({"command": "echo >> runs; exit $(wc -l < runs)"}));
    let texts: Vec<_> = (0..3).map(|_| varying()).collect();
    assert_eq!(texts[1], "(no output)\n[exit code: 2]");
    assert_eq!(texts[2], format!("(no output)\n[exit code: 3]\n{LINE}"));
    world.file("long", "");
    let growing = json!({"command": "printf '%0100000d' 0 >> long; cat long"});
    for _ in 0..3 {
        assert!(!call(&session, "bash", growing.clone()).contains("LOOP"), "its length differs");
    }
    world.finish();
}

#[test]
fn waiting_for_a_task_is_no_loop_and_breaks_none() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let start = json!({"command": "sleep 300", "run_in_background": true});
    let started = call(&session, "bash", start);
    assert_eq!(started, "started background task bash-1");
    let poll = || call(&session, "task_output", json!({"task_id": "bash-1"}));
    for _ in 0..4 {
        assert_eq!(poll(), "(no new output)\n[status: running]");
        assert!(!call(&session, "task_list", json!({})).contains("LOOP"));
    }
    let same = || call(&session, "bash", json!({"command": "true"}));
    let texts: Vec<_> = (0..3)
        .map(|_| {
            poll();
            same()
        })
        .collect();
    assert_eq!(texts[2], format!("(no output)\n{LINE}"));
    session.request("session.close", json!({})).unwrap();
    world.finish();
}

#[test]
fn the_option_switches_it_and_the_line_is_the_last() {
    let world = World::new();
    let open = |toolset: &str, options: Value| {
        world
            .session("workspace-write")
            .with("toolset", json!(toolset))
            .with("options", options)
            .open()
    };
    let third = |session: &Session| {
        let texts: Vec<_> =
            (0..3).map(|_| call(session, "bash", json!({"command": "true"}))).collect();
        texts[2].clone()
    };
    let on = || json!({"loop_detector": true});
    assert_eq!(
        third(&open("dsh", json!({}))),
        "Error: argument `description`: expected text, got nothing"
    );
    assert_eq!(third(&open("glrs", json!({}))), "[exit 0]");
    assert_eq!(third(&open("standard", json!({"loop_detector": false}))), "(no output)");
    assert_eq!(third(&open("glrs", on())), format!("[exit 0]\n{LINE}"));
    let refused = third(&open("dsh", on()));
    assert!(refused.starts_with("Error: ") && refused.ends_with(LINE), "{refused}");
    // Ends of background tasks come before it.
    let session = open("standard", json!({}));
    call(&session, "bash", json!({"command": "true"}));
    call(&session, "bash", json!({"command": "true"}));
    let task = session.request("task.start", json!({"command": "true"})).unwrap()["task"].clone();
    session.request("task.wait", json!({"tasks": [task], "timeout_ms": 60_000})).unwrap();
    assert!(call(&session, "bash", json!({"command": "true"})).ends_with(LINE));
    world.finish();
}

#[test]
fn a_turn_tells_its_counters_and_begins_anew() {
    let world = World::new();
    let session = world.session("workspace-write").with("toolset", json!("minimal")).open();
    let turn = |commands| json!({"counters": {"commands": commands, "file_ops": 0, "skills": 0}});
    session.run("true").exits(0);
    session.run("exit 7").exits(7);
    assert_eq!(session.request("session.turn", json!({})).unwrap(), turn(2));
    assert_eq!(session.request("session.turn", json!({})).unwrap(), turn(0));
    world.finish();
}
