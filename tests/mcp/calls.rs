//! Calls: results and their facts, progress, cancellation, the background.

use std::time::Instant;

use brattice_tests::{World, eventually};
use serde_json::{Value, json};

use crate::bash;
use crate::peer::{Peer, STATEFUL, text};

#[test]
fn a_result_has_the_facts_of_the_socket() {
    let world = World::new();
    for mut peer in
        [Peer::stateful(&world, STATEFUL, json!({})), Peer::stateless(&world, json!({}))]
    {
        let mut result = peer.call(bash("echo out; echo err >&2; exit 3"));
        let facts = result["structuredContent"].take();
        assert_eq!(
            (&facts["cause"], &facts["exit_code"], &facts["stdout"]["bytes"]),
            (&json!("exited"), &json!(3), &json!(4))
        );
        let editor = json!({
            "kind": "execute", "title": "A test's command", "status": "completed",
            "locations": [], "content": [],
        });
        assert_eq!(result["_meta"]["dev.brattice/acp"], editor);
        assert_eq!(
            (text(&result), &result["isError"]),
            ("out\n[stderr]\nerr\n[exit code: 3]", &json!(false))
        );
    }
    world.finish();
}

#[test]
fn faults_of_a_call_are_results() {
    let world = World::new();
    let mut peer = Peer::stateful(&world, STATEFUL, json!({}));
    let cases = [
        (json!({"name": "nothing", "arguments": {}}), "nothing"),
        (json!({"name": "bash", "arguments": {}}), "`command`"),
        (json!({"name": "bash"}), "`command`"),
        (json!({"name": "bash", "arguments": {"command": 1}}), "`command`"),
        (json!({"name": "bash", "arguments": "ls"}), "expected an object"),
        (json!({"name": "bash", "arguments": ["ls"]}), "expected an object"),
    ];
    for (params, words) in cases {
        let result = peer.call(params.clone());
        assert_eq!(result["isError"], true, "{params}");
        assert!(text(&result).contains(words), "{params}: {result:#}");
        assert_eq!(result.get("structuredContent"), None, "{params}");
        assert_eq!(result.get("resultType"), None, "{params}");
    }
    let error = peer.request("tools/call", json!({"arguments": {}})).unwrap_err();
    assert_eq!(error["code"], -32602, "no tool is named");
    assert_eq!(peer.request("tools/none", json!({})).unwrap_err()["code"], -32601);
    drop(peer);
    world.finish();
}

#[test]
fn progress_tells_the_tail_at_most_ten_times_a_second_and_only_where_it_is_wanted() {
    let world = World::new();
    let mut peer = Peer::stateful(&world, STATEFUL, json!({}));
    let count = "for i in $(seq 200); do echo line $i; sleep 0.01; done";
    let begun = Instant::now();
    let mut params = bash(count);
    params["_meta"] = json!({"progressToken": "token"});
    let id = peer.begin("tools/call", params);
    peer.end(id).unwrap();
    let seconds = begun.elapsed().as_secs_f64();
    let told = peer.rest();
    let of = |told: &Value| told["method"] == "notifications/progress";
    assert!(
        told.iter().all(|told| of(told) && told["params"]["progressToken"] == "token"),
        "{told:#?}"
    );
    assert!(
        told.len() >= 2 && told.len() as f64 <= seconds * 10.0 + 1.0,
        "{} in {seconds} s",
        told.len()
    );
    let at: Vec<f64> =
        told.iter().map(|told| told["params"]["progress"].as_f64().unwrap()).collect();
    assert!(at.windows(2).all(|pair| pair[0] < pair[1]), "{at:?}");
    let last = told.last().unwrap()["params"]["message"].as_str().unwrap();
    assert!(last.lines().last().unwrap().starts_with("line "), "{last:?}");
    assert!(last.chars().count() <= 1_000);
    peer.call(bash(count));
    assert_eq!(peer.rest(), Vec::<Value>::new(), "nobody asked for it");
    drop(peer);
    world.finish();
}

#[test]
fn a_cancelled_call_stops_and_is_not_answered() {
    let world = World::new();
    for mut peer in
        [Peer::stateful(&world, STATEFUL, json!({})), Peer::stateless(&world, json!({}))]
    {
        let id = peer.begin("tools/call", bash("touch $WS/begun; sleep 300; touch $WS/over"));
        let begun = world.ws().join("begun");
        eventually("it runs", || begun.exists().then_some(()));
        peer.notify("notifications/cancelled", json!({"requestId": id, "reason": "enough"}));
        let idle = || world.sessions().iter().all(|session| session["running"] == 0);
        eventually("its command ends", || idle().then_some(()));
        assert_eq!(text(&peer.call(bash("echo next"))), "next\n");
        assert_eq!(peer.rest(), Vec::<Value>::new(), "a cancelled request has no answer");
        assert!(!world.ws().join("over").exists());
        std::fs::remove_file(begun).unwrap();
    }
    world.finish();
}

#[test]
fn a_background_task_is_read_and_killed() {
    let world = World::new();
    let mut peer = Peer::stateless(&world, json!({}));
    let mut start = bash("echo begun; sleep 300");
    start["arguments"]["run_in_background"] = json!(true);
    assert_eq!(text(&peer.call(start)), "started background task bash-1");
    let output = |peer: &mut Peer| {
        peer.call(json!({"name": "task_output", "arguments": {"task_id": "bash-1"}}))
    };
    eventually("it prints", || text(&output(&mut peer)).starts_with("begun\n").then_some(()));
    peer.call(json!({"name": "task_kill", "arguments": {"task_id": "bash-1"}}));
    eventually("it ends", || text(&output(&mut peer)).contains("[status: killed").then_some(()));
    drop(peer);
    world.finish();
}

#[test]
fn calls_run_beside_each_other() {
    let world = World::new();
    let mut peer = Peer::stateful(&world, STATEFUL, json!({}));
    let slow =
        peer.begin("tools/call", bash("while [ ! -e $WS/go ]; do sleep 0.02; done; echo slow"));
    assert_eq!(text(&peer.call(bash("touch $WS/go; echo fast"))), "fast\n");
    assert_eq!(text(&peer.end(slow).unwrap()), "slow\n");
    drop(peer);
    world.finish();
}
