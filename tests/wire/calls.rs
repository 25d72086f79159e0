//! Tool calls: ids that never run twice, cancels, faults in arguments as results.

use brattice_client::Notice;
use brattice_protocol::ErrorCode;
use brattice_protocol::hello::Watch;
use brattice_protocol::outcome::Cause;
use brattice_tests::{World, eventually};
use serde_json::{Value, json};

fn numbered(call: &str, command: &str) -> serde_json::Value {
    json!({"call": call, "name": "bash", "arguments": {"command": command, "description": "A test's command"}})
}

#[test]
fn a_call_sent_again_is_answered_and_not_run_again() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let first = session.end(session.begin_call(numbered("a", "echo x >> log; cat log")));
    let again = session.end(session.begin_call(numbered("a", "echo x >> log; cat log")));
    first.exits(0).says("x");
    assert_eq!(again.result, first.result);
    let command = "echo y >> slow; while [ ! -e go ]; do sleep 0.05; done; cat slow";
    let (one, two) =
        (session.begin_call(numbered("b", command)), session.begin_call(numbered("b", command)));
    eventually("the command runs", || world.ws().join("slow").exists().then_some(()));
    world.file("go", "");
    session.end(one).exits(0).says("y");
    session.end(two).exits(0).says("y");
    world.finish();
}

#[test]
fn a_call_id_with_other_arguments_is_invalid() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    session.end(session.begin_call(numbered("a", "echo 1"))).exits(0);
    let error = session.try_end(session.begin_call(numbered("a", "touch ran"))).unwrap_err();
    assert!(error.is(ErrorCode::Invalid) && error.message.contains('a'), "{error:?}");
    assert!(!world.ws().join("ran").exists());
    world.session("workspace-write").open().run("echo another session has its own ids").exits(0);
    world.finish();
}

#[test]
fn a_cancelled_call_stops_its_tree_and_tells_what_it_had() {
    let world = World::new();
    for mode in ["read-only", "danger-full-access"] {
        let session = world.session(mode).watching(&[Watch::Output]).open();
        let call = session.begin_call(numbered("c", "echo so-far; setsid sleep 900 & sleep 900"));
        assert_eq!(session.output_of("c").data, "so-far\n");
        session.request("tools.cancel", json!({"call": "c"})).unwrap();
        let reply = session.end(call);
        assert!(reply.is_error());
        assert_eq!(reply.cause(), Cause::Killed);
        reply.holds("so-far\n").holds("[cancelled]");
        assert_eq!(world.strays(), [], "{mode}");
        session.request("tools.cancel", json!({"call": "c"})).unwrap();
        session.request("tools.cancel", json!({"call": "never-was"})).unwrap();
        session.run("echo on").exits(0).says("on");
    }
    world.finish();
}

#[test]
fn a_dropped_connection_cancels_nothing() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let call = session.begin(
        json!({"command": "touch started; while [ ! -e go ]; do sleep 0.05; done; touch done"}),
    );
    eventually("the command runs", || world.ws().join("started").exists().then_some(()));
    drop((call, session));
    world.file("go", "");
    eventually("the command goes on", || world.ws().join("done").exists().then_some(()));
    world.finish();
}

#[test]
fn faults_in_arguments_are_results_that_name_them() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let cases = [
        (json!({}), "command"),
        (json!({"command": 7}), "command"),
        (json!({"command": "touch ran", "timeoutMs": "soon"}), "timeoutMs"),
        (json!({"command": "touch ran", "workdir": 1}), "workdir"),
        (json!({"command": "touch ran", "nosuch": 1}), "nosuch"),
        (json!({"command": "touch ran", "run_in_background": "yes"}), "run_in_background"),
        (
            json!({"command": "touch ran", "sandbox_permissions": "danger-full-access"}),
            "sandbox_permissions",
        ),
    ];
    for (arguments, name) in cases {
        session.bash(arguments).is_refused().holds(name);
    }
    let dsh = world.session("workspace-write").with("toolset", json!("dsh")).open();
    let undescribed =
        dsh.end(dsh.begin_call(json!({"name": "bash", "arguments": {"command": "touch ran"}})));
    assert!(undescribed.is_refused().holds("description").text().starts_with("Error: "));
    dsh.bash(json!({"command": "echo ignored keys", "nosuch": 1})).exits(0).says("ignored keys");
    session
        .end(session.begin_call(json!({"name": "nosuchtool", "arguments": {}})))
        .is_refused()
        .holds("nosuchtool");
    assert!(!world.ws().join("ran").exists());
    world.finish();
}

#[test]
fn arguments_that_are_no_object_are_a_result_that_names_them() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let cases = [
        (json!(null), "null"),
        (json!("touch ran"), "text"),
        (json!(["touch ran"]), "an array"),
        (json!(7), "a number"),
    ];
    for (arguments, came) in cases {
        let call = session.begin_call(json!({"name": "bash", "arguments": arguments}));
        session.end(call).is_refused().holds("`arguments`").holds("an object").holds(came);
    }
    let absent = session.end(session.begin_call(json!({"name": "bash"})));
    absent.is_refused().holds("`command`");
    assert!(!world.ws().join("ran").exists());
    world.finish();
}

#[test]
fn a_call_that_finds_no_place_says_so_and_runs_when_it_is_sent_again() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let start = || session.request("task.start", json!({"argv": ["sleep", "900"]}));
    let tasks: Vec<_> = (0..64).map(|_| start().unwrap()["task"].clone()).collect();
    assert!(start().unwrap_err().is(ErrorCode::Busy));
    let call = || session.end(session.begin_call(numbered("late", "echo ran")));
    let full = call();
    full.is_refused().holds("64 tasks are running").holds("stop one");
    assert!(full.outcome.is_none());
    session.request("task.kill", json!({"task": tasks[0]})).unwrap();
    let params = json!({"tasks": [tasks[0]], "timeout_ms": 60_000});
    session.request("task.wait", params).unwrap();
    call().exits(0).says("ran");
    world.finish();
}

#[test]
fn a_call_without_an_id_gets_one_that_can_be_sent_again() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let mut unnamed = numbered("", "echo x >> log; cat log");
    unnamed.as_object_mut().unwrap().remove("call");
    let first = session.end(session.begin_call(unnamed.clone()));
    let made = first.exits(0).result.meta["dev.brattice/call"].clone();
    unnamed["call"] = made;
    assert_eq!(session.end(session.begin_call(unnamed)).result, first.result);
    world.finish();
}

#[test]
fn declarations_have_the_shape_that_was_asked_for() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let list = |params| session.request("tools.list", params).unwrap()["tools"].clone();
    let mcp = list(json!({}));
    assert_eq!(
        (&mcp[0]["name"], &mcp[0]["inputSchema"]["type"]),
        (&json!("bash"), &json!("object"))
    );
    let names: Vec<&String> =
        mcp[0]["inputSchema"]["properties"].as_object().unwrap().keys().collect();
    for name in ["sandbox_permissions", "justification"] {
        assert!(names.iter().any(|declared| *declared == name), "{names:?}");
    }
    assert_eq!(list(json!({"format": "openai"}))[0]["function"]["name"], "bash");
    assert_eq!(list(json!({"format": "anthropic"}))[0]["input_schema"]["type"], "object");
    let disable = json!({"disable": ["bash", "task_kill"]});
    let without = world.session("workspace-write").with("options", disable).open();
    let tools = without.request("tools.list", json!({})).unwrap()["tools"].clone();
    let names: Vec<&Value> = tools.as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    let left = [
        "read",
        "write",
        "edit",
        "grep",
        "glob",
        "web_fetch",
        "task_output",
        "task_list",
        "task_input",
        "todo_write",
    ];
    assert_eq!(names, left);
    let all = list(json!({"withheld": true}));
    for name in ["ask_user_question", "exit_plan_mode"] {
        let is_listed =
            |tools: &Value| tools.as_array().unwrap().iter().any(|tool| tool["name"] == name);
        assert_eq!((is_listed(&mcp), is_listed(&all)), (false, true), "{name}");
    }
    without.run("echo x").is_refused().holds("bash");
    world.finish();
}

#[test]
fn a_call_is_told_from_its_start_to_its_end() {
    let world = World::new();
    let session = world.session("workspace-write").watching(&[Watch::Output]).open();
    session.end(session.begin_call(numbered("told", "printf out; printf err >&2"))).exits(0);
    let mut seen = Vec::new();
    session.notice("call.finished", |notice| match notice {
        Notice::CallStarted(started) => {
            seen.push(format!(
                "started {} {} {}",
                started.call,
                started.tool,
                started.kind.as_str()
            ));
            None
        }
        Notice::CallOutput(output) => {
            seen.push(format!("{:?} {} {}", output.stream, output.offset, output.data));
            None
        }
        Notice::CallFinished(finished) => {
            seen.push(format!("finished {} {:?}", finished.call, finished.status));
            Some(())
        }
        _ => None,
    });
    seen[1..3].sort();
    assert_eq!(
        seen,
        ["started told bash execute", "Stderr 0 err", "Stdout 0 out", "finished told Completed"]
    );
    world.finish();
}

#[test]
fn output_in_many_small_pieces_is_told_twenty_times_a_second_at_most_and_whole() {
    let world = World::new();
    let session = world.session("workspace-write").watching(&[Watch::Output]).open();
    let drip = "for i in $(seq 1000); do printf %04d $i; sleep 0.002; done";
    let reply = session.end(session.begin_call(numbered("drip", drip)));
    let seconds = reply.exits(0).outcome().duration_ms.div_ceil(1000);
    let (mut told, mut text) = (0, String::new());
    session.notice("call.finished", |notice| match notice {
        Notice::CallOutput(output) => {
            assert_eq!(output.offset, text.len() as u64, "nothing is left out");
            (told, text) = (told + 1, text.clone() + &output.data);
            None
        }
        Notice::CallFinished(_) => Some(()),
        _ => None,
    });
    assert_eq!(text, (1..=1000).map(|number| format!("{number:04}")).collect::<String>());
    // The last piece may follow at once.
    assert!((2..=20 * seconds + 1).contains(&told), "{told} in {seconds} s");
    world.finish();
}

#[test]
fn a_turn_counts_its_commands() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let turn = |commands| json!({"counters": {"commands": commands, "file_ops": 0, "skills": 0}});
    session.run("true").exits(0);
    session.run("false").exits(1);
    assert_eq!(session.request("session.turn", json!({})).unwrap(), turn(2));
    assert_eq!(session.request("session.turn", json!({})).unwrap(), turn(0));
    world.finish();
}
