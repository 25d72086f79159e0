//! Operators: what they are told, whose answer counts, and that it counts once.

use std::fs;
use std::thread;

use brattice_protocol::approval::{ApprovalChoice, ApprovalOutcome, ApprovalSettled};
use brattice_protocol::audit::Actor;
use brattice_protocol::{ErrorCode, RpcError};
use brattice_tests::{Session, Wire, World};
use serde_json::json;

use crate::{DANGER, ask, world};

const COMMAND: &str = "echo ran >> $OUT/log";

fn log(world: &World) -> String {
    fs::read_to_string(world.out().join("log")).unwrap_or_default()
}

#[test]
fn an_operator_is_told_lists_and_answers() {
    let world = world();
    let session = world.session("workspace-write").open();
    let operator = world.operator();
    let call = ask(&session, COMMAND, DANGER);
    let told = operator.pending();
    assert_eq!(operator.list().approvals, std::slice::from_ref(&told));
    assert_eq!(told.command.as_deref(), Some(COMMAND));
    let settled = operator.respond(&told.id, ApprovalChoice::AllowOnce).unwrap();
    assert_eq!(
        settled,
        ApprovalSettled {
            id: told.id.clone(),
            session: told.session.clone(),
            call: told.call.clone(),
            outcome: ApprovalOutcome::AllowedOnce,
            by: Actor::Operator,
        }
    );
    assert_eq!(operator.settled(&told.id), settled);
    session.end(call).exits(0);
    assert_eq!(operator.list().approvals, []);
    assert_eq!(log(&world), "ran\n");
    world.finish();
}

#[test]
fn an_answer_that_is_replayed_changes_nothing() {
    let world = world();
    let session = world.session("workspace-write").open();
    let operator = world.operator();
    let call = ask(&session, COMMAND, DANGER);
    let first = operator.pending();
    operator.reject(&first.id, "no").unwrap();
    session.end(call).is_refused().says("the user rejected this command (no); nothing ran");
    let second = ask(&session, "echo other", DANGER);
    let other = operator.pending();
    assert_ne!(first.id, other.id);
    for choice in [ApprovalChoice::AllowOnce, ApprovalChoice::AllowAlways] {
        let error = operator.respond(&first.id, choice).unwrap_err();
        assert_eq!(
            (error.is(ErrorCode::Refused), error.message.as_str()),
            (true, format!("approval {} was rejected already, by the operator", first.id).as_str())
        );
    }
    assert_eq!(operator.list().approvals, std::slice::from_ref(&other), "the other is still open");
    operator.respond(&other.id, ApprovalChoice::RejectOnce).unwrap();
    session.end(second).is_refused();
    assert_eq!(log(&world), "");
    world.finish();
}

#[test]
fn of_two_operators_who_race_one_settles_it_and_both_are_told() {
    let world = world();
    let session = world.session("workspace-write").open();
    for round in 0..20 {
        let (one, two) = (world.operator(), world.operator());
        let call = ask(&session, &format!("{COMMAND} # {round}"), DANGER);
        let id = one.pending().id;
        assert_eq!(two.pending().id, id);
        let answer = |operator: brattice_tests::Operator, choice, id: &_| {
            let answered = operator.respond(id, choice);
            (answered, operator.settled(id))
        };
        let (first, second) = thread::scope(|scope| {
            let first = scope.spawn(|| answer(one, ApprovalChoice::AllowOnce, &id));
            let second = scope.spawn(|| answer(two, ApprovalChoice::RejectOnce, &id));
            (first.join().unwrap(), second.join().unwrap())
        });
        assert_eq!(first.1, second.1, "both are told the same");
        let reply = session.end(call);
        match first.1.outcome {
            ApprovalOutcome::AllowedOnce => {
                assert!(first.0.is_ok() && second.0.is_err());
                reply.exits(0);
            }
            ApprovalOutcome::Rejected => {
                assert!(first.0.is_err() && second.0.is_ok());
                reply.is_refused();
            }
            other => panic!("{other:?}"),
        }
    }
    let allowed = world
        .audited(&["approval_settled"])
        .iter()
        .filter(|line| line["outcome"] == "allowed_once")
        .count();
    assert_eq!(log(&world).lines().count(), allowed, "each yes ran once, each no not at all");
    world.finish();
}

#[test]
fn of_a_client_and_an_operator_who_race_one_settles_it() {
    let world = world();
    let session: Session = world.session("workspace-write").answering().open();
    let operator = world.operator();
    for round in 0..20 {
        let call = ask(&session, &format!("{COMMAND} # {round}"), DANGER);
        let (question, id) = (session.question(), operator.pending().id);
        let answered: Result<ApprovalSettled, RpcError> = thread::scope(|scope| {
            scope.spawn(move || question.choose(ApprovalChoice::AllowOnce));
            operator.respond(&id, ApprovalChoice::RejectOnce)
        });
        let settled = operator.settled(&id);
        let reply = session.end(call);
        match settled.by {
            Actor::Client => {
                assert!(answered.is_err() && settled.outcome == ApprovalOutcome::AllowedOnce);
                reply.exits(0);
            }
            Actor::Operator => {
                assert_eq!(answered.unwrap(), settled);
                reply.is_refused();
            }
            other => panic!("{other:?}"),
        }
    }
    world.finish();
}

#[test]
fn agents_can_neither_list_nor_answer() {
    let world = world();
    let operator = world.operator();
    let session = world.session("workspace-write").answering().open();
    let call = ask(&session, COMMAND, DANGER);
    let (question, told) = (session.question(), operator.pending());
    let respond = json!({"id": told.id, "option": "allow_once"});
    let mut stranger = Wire::open(&world.socket());
    for (method, params) in [("approval.list", json!({})), ("approval.respond", respond.clone())] {
        let error = stranger.request(method, params).unwrap_err();
        assert!(error.is(ErrorCode::Refused), "{method}: {error:?}");
    }
    // Nor does the session's own client, but by its answer to the question.
    let error = session.request("approval.respond", respond).unwrap_err();
    assert!(error.is(ErrorCode::Refused), "{error:?}");
    // An answer under the question's number, by somebody who was not asked, is one to nothing.
    stranger
        .send(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"outcome\":\"selected\",\"option\":\"allow_once\"}}\n")
        .unwrap();
    stranger.request("session.list", json!({})).unwrap();
    assert_eq!(operator.list().approvals, std::slice::from_ref(&told), "it is still open");
    question.choose(ApprovalChoice::RejectOnce);
    session.end(call).is_refused();
    assert_eq!(log(&world), "");
    world.finish();
}

#[test]
fn faults_in_an_answer_are_named_and_settle_nothing() {
    let world = world();
    let operator = world.operator();
    let session = world.session("workspace-write").with("toolset", json!("dsh")).open();
    let call = ask(&session, COMMAND, DANGER);
    let told = operator.pending();
    let mut wire = Wire::open(&world.control());
    for (params, part) in [
        (json!({"id": told.id, "option": "yes"}), "params.option"),
        (json!({"id": told.id}), "option"),
        (json!({"id": told.id, "option": "allow_once", "more": 1}), "more"),
        (
            json!({"id": told.id, "option": "reject_once", "reason": "x".repeat(1025)}),
            "params.reason",
        ),
        (json!({"id": told.id, "option": "allow_always"}), "does not offer that answer"),
    ] {
        let error = wire.request("approval.respond", params).unwrap_err();
        assert!(error.is(ErrorCode::Invalid) && error.message.contains(part), "{error:?}");
    }
    let error =
        wire.request("approval.respond", json!({"id": "x", "option": "allow_once"})).unwrap_err();
    assert!(error.is(ErrorCode::Refused), "{error:?}");
    operator.respond(&told.id, ApprovalChoice::AllowOnce).unwrap();
    session.end(call).exits(0);
    world.finish();
}
