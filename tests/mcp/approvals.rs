//! Approvals over MCP: an operator first, a form where the configuration trusts it, else an id that an operator may still allow.

use std::fs;

use brattice_protocol::approval::ApprovalChoice;
use brattice_tests::{Native, World};
use serde_json::{Value, json};

use crate::peer::{Peer, STATEFUL, command, text};
use crate::{asking, trusting};

const COMMAND: &str = "echo ran >> $OUT/log";

fn log(world: &World) -> String {
    fs::read_to_string(world.out().join("log")).unwrap_or_default()
}

fn forms() -> Value {
    json!({"elicitation": {"form": {}}})
}

/// Which approval a result lacks.
#[track_caller]
fn required(result: &Value) -> String {
    let told = &result["_meta"]["dev.brattice/approval_required"];
    assert_eq!(&result["structuredContent"]["approval_required"], told, "{result:#}");
    assert_eq!(result["isError"], true);
    let id = told["id"].as_str().unwrap_or_else(|| panic!("none: {result:#}")).to_owned();
    assert_eq!(told["command"], format!("brattice approve {id}"));
    assert!(text(result).starts_with("approval_required: "), "{result:#}");
    assert!(text(result).contains(&format!("`brattice approve {id}`")), "{result:#}");
    id
}

/// The form of a result that asks for it, and the state to send back.
#[track_caller]
fn form(result: &Value) -> (Value, Value) {
    assert_eq!(result["resultType"], "input_required", "{result:#}");
    let asked = &result["inputRequests"]["approval"];
    assert_eq!(asked["method"], "elicitation/create");
    (asked["params"].clone(), result["requestState"].clone())
}

/// The same call with a form that was filled in.
fn filled(call: Value, state: &Value, response: Value) -> Value {
    let mut params = call;
    params["requestState"] = state.clone();
    params["inputResponses"] = json!({"approval": response});
    params
}

fn allowing() -> Value {
    json!({"action": "accept", "content": {"decision": "allow_once"}})
}

#[test]
fn with_nobody_to_ask_the_result_says_how_to_allow_it_and_the_same_call_then_runs() {
    let world = trusting(false).start();
    for (number, mut peer) in
        [Peer::stateful(&world, STATEFUL, json!({})), Peer::stateless(&world, json!({}))]
            .into_iter()
            .enumerate()
    {
        let id = required(&peer.call(asking(COMMAND)));
        assert_eq!(required(&peer.call(asking(COMMAND))), id, "it is one question");
        let mut approve = command(&world, &[]);
        // The same program, as a person calls it.
        let program = approve.get_program().to_owned();
        let variables: Vec<_> = approve
            .get_envs()
            .map(|(name, value)| (name.to_owned(), value.unwrap().to_owned()))
            .collect();
        approve = std::process::Command::new(program);
        approve.args(["approve", &id]).env_clear().envs(variables);
        Native::run(&mut approve).succeeded();
        let result = peer.call(asking(COMMAND));
        assert_eq!(result["structuredContent"]["escalated_from"], "workspace-write", "{result:#}");
        assert_eq!(log(&world).lines().count(), number + 1);
        assert_ne!(required(&peer.call(asking(COMMAND))), id, "it was used");
        assert_eq!(log(&world).lines().count(), number + 1);
    }
    world.finish();
}

#[test]
fn a_form_is_a_request_where_there_are_requests_and_its_answer_counts_where_it_is_trusted() {
    let world = trusting(true).start();
    let mut peer = Peer::stateful(&world, STATEFUL, forms());
    let id = peer.begin("tools/call", asking(COMMAND));
    let asked = peer.asked("elicitation/create");
    let message = asked["params"]["message"].as_str().unwrap();
    for line in ["command: echo ran >> $OUT/log", "the model's reason: the test wants it"] {
        assert!(message.contains(line), "{message}");
    }
    let folder = format!("folder: {}", world.ws().canonicalize().unwrap().display());
    assert!(message.contains(&folder), "{message}");
    assert_eq!(
        asked["params"]["requestedSchema"]["properties"]["decision"]["enum"],
        json!(["allow_once", "allow_always", "reject_once"])
    );
    assert_eq!(log(&world), "", "nothing runs before the answer");
    peer.answer(&asked, allowing());
    let result = peer.end(id).unwrap();
    assert_eq!(result["isError"], false, "{result:#}");
    assert_eq!(log(&world), "ran\n");
    let answers = [
        (json!({"action": "decline"}), "the user rejected this command; nothing ran"),
        (json!({"action": "cancel"}), "the user dismissed the approval"),
        (json!({"action": "accept", "content": {}}), "the user dismissed the approval"),
        (
            json!({"action": "accept", "content": {"decision": true}}),
            "the user dismissed the approval",
        ),
        (
            json!({"action": "accept", "content": {"decision": "reject_once", "reason": "no need"}}),
            "the user rejected this command (no need); nothing ran",
        ),
    ];
    for (number, (answer, words)) in answers.into_iter().enumerate() {
        let id = peer.begin("tools/call", asking(&format!("{COMMAND} # {number}")));
        let asked = peer.asked("elicitation/create");
        peer.answer(&asked, answer);
        let result = peer.end(id).unwrap();
        assert!(text(&result).contains(words), "{result:#}");
    }
    assert_eq!(log(&world), "ran\n");
    drop(peer);
    world.finish();
}

#[test]
fn a_form_is_a_result_where_there_are_no_requests() {
    let world = trusting(true).start();
    let mut peer = Peer::stateless(&world, forms());
    let (params, state) = form(&peer.call(asking(COMMAND)));
    assert!(params["message"].as_str().unwrap().contains("command: echo ran >> $OUT/log"));
    assert_eq!(log(&world), "");
    let result = peer.call(filled(asking(COMMAND), &state, allowing()));
    assert_eq!((&result["resultType"], &result["isError"]), (&json!("complete"), &json!(false)));
    assert_eq!(log(&world), "ran\n");
    let (_, state) = form(&peer.call(asking(COMMAND)));
    let result = peer.call(filled(asking(COMMAND), &state, json!({"action": "decline"})));
    assert!(text(&result).contains("the user rejected this command"), "{result:#}");
    assert_eq!(log(&world), "ran\n");
    drop(peer);
    world.finish();
}

#[test]
fn c1_a_state_is_for_its_own_call_and_once() {
    let world = trusting(true).start();
    let mut peer = Peer::stateless(&world, forms());
    let (_, state) = form(&peer.call(asking(COMMAND)));
    let forged = [json!("none"), json!(""), json!("00000000-0000-4000-8000-000000000000")];
    for state in &forged {
        form(&peer.call(filled(asking(COMMAND), state, allowing())));
    }
    let other = asking("echo other >> $OUT/log");
    form(&peer.call(filled(other, &state, allowing())));
    assert_eq!(log(&world), "", "a state that is not its own allows nothing");
    peer.call(filled(asking(COMMAND), &state, allowing()));
    assert_eq!(log(&world), "ran\n");
    form(&peer.call(filled(asking(COMMAND), &state, allowing())));
    assert_eq!(log(&world), "ran\n", "a state is used once");
    drop(peer);
    world.finish();
}

#[test]
fn an_mcp_client_that_is_not_trusted_is_not_asked() {
    let world = trusting(false).start();
    for mut peer in [Peer::stateful(&world, STATEFUL, forms()), Peer::stateless(&world, forms())] {
        required(&peer.call(asking(COMMAND)));
        assert_eq!(peer.rest(), Vec::<Value>::new());
    }
    assert_eq!(log(&world), "");
    world.finish();
}

#[test]
fn a_client_that_shows_no_forms_is_not_asked() {
    let world = trusting(true).start();
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}})] {
        let mut peer = Peer::stateless(&world, capabilities.clone());
        required(&peer.call(asking(&format!("{COMMAND} # {capabilities}"))));
        let mut peer = Peer::stateful(&world, STATEFUL, capabilities.clone());
        required(&peer.call(asking(&format!("{COMMAND} # {capabilities}"))));
    }
    world.finish();
}

#[test]
fn an_operator_who_is_there_comes_before_the_client() {
    let world = trusting(true).start();
    let operator = world.operator();
    let mut peer = Peer::stateful(&world, STATEFUL, forms());
    let id = peer.begin("tools/call", asking(COMMAND));
    let question = operator.pending();
    operator.respond(&question.id, ApprovalChoice::AllowOnce).unwrap();
    let result = peer.end(id).unwrap();
    assert_eq!(result["isError"], false, "{result:#}");
    assert_eq!(peer.rest(), Vec::<Value>::new(), "the client was not asked");
    assert_eq!(log(&world), "ran\n");
    drop(peer);
    world.finish();
}

#[test]
fn a_client_that_could_not_ask_leaves_it_to_an_operator() {
    let world = trusting(true).start();
    let mut peer = Peer::stateful(&world, STATEFUL, forms());
    let id = peer.begin("tools/call", asking(COMMAND));
    let asked = peer.asked("elicitation/create");
    let error = json!({"code": -32603, "message": "no window"});
    peer.send(&json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}));
    let approval = required(&peer.end(id).unwrap());
    world
        .operator()
        .respond(&brattice_protocol::ApprovalId::new(approval), ApprovalChoice::AllowOnce)
        .unwrap();
    assert_eq!(peer.call(asking(COMMAND))["isError"], false);
    assert_eq!(log(&world), "ran\n");
    drop(peer);
    world.finish();
}

#[test]
fn a_call_that_is_cancelled_takes_its_form_back() {
    let world = trusting(true).start();
    let mut peer = Peer::stateful(&world, STATEFUL, forms());
    let id = peer.begin("tools/call", asking(COMMAND));
    let asked = peer.asked("elicitation/create");
    peer.notify("notifications/cancelled", json!({"requestId": id}));
    let withdrawn = peer.wait("its withdrawal", |told| told["method"] == "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], asked["id"]);
    peer.answer(&asked, allowing());
    peer.request("ping", json!({})).unwrap();
    assert_eq!(log(&world), "");
    drop(peer);
    world.finish();
}

#[test]
fn no_tool_grants_anything() {
    let world = World::new();
    let mut peer = Peer::stateful(&world, STATEFUL, forms());
    let listed = peer.request("tools/list", json!({})).unwrap();
    let names =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap());
    let granting: Vec<&str> = names
        .filter(|name| {
            ["approv", "grant", "allow", "mode", "session", "policy"]
                .iter()
                .any(|word| name.contains(word))
        })
        .collect();
    assert_eq!(granting, ["exit_plan_mode"], "which asks a person");
    let plan = json!({"name": "exit_plan_mode", "arguments": {"plan": "do it"}});
    assert_eq!(peer.call(plan)["isError"], true, "no plan mode is on");
    for name in ["approval.respond", "session.update", "brattice_approve"] {
        assert_eq!(peer.call(json!({"name": name, "arguments": {}}))["isError"], true);
        assert_eq!(peer.request(name, json!({})).unwrap_err()["code"], -32601);
    }
    drop(peer);
    world.finish();
}
