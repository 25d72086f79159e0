//! Calls that do not wait for a person, or not long: the question stays open, and the same call, sent again, runs once by its answer.

use std::fs;

use brattice_protocol::ApprovalId;
use brattice_protocol::approval::{ApprovalChoice, ApprovalRequired};
use brattice_protocol::outcome::Cause;
use brattice_tests::{Pending, Reply, Session, World, eventually};
use serde_json::{Value, json};

use crate::{DANGER, asking, configured, world};

const COMMAND: &str = "echo ran >> $OUT/log";

/// Makes a call that waits so long for a person.
fn begin(session: &Session, arguments: Value, patience_ms: u64) -> Pending {
    session.begin_call(json!({"name": "bash", "arguments": arguments, "patience_ms": patience_ms}))
}

/// Makes a call that waits for nobody.
fn send(session: &Session, arguments: Value) -> Reply {
    session.end(begin(session, arguments, 0))
}

/// Which approval a result lacks.
#[track_caller]
fn required(reply: &Reply) -> ApprovalRequired {
    reply.is_refused().holds("approval_required: nobody has allowed this yet");
    let told = reply.result.meta.get("dev.brattice/approval_required").cloned().unwrap();
    let required: ApprovalRequired = serde_json::from_value(told).unwrap();
    assert_eq!(required.command, format!("brattice approve {}", required.id));
    let outcome = reply.outcome();
    assert_eq!(
        (outcome.cause, outcome.approval_required.as_ref()),
        (Cause::Rejected, Some(&required))
    );
    required
}

fn log(world: &World) -> String {
    fs::read_to_string(world.out().join("log")).unwrap_or_default()
}

/// Answers a question as `brattice approve` does: an operator who comes for that alone.
fn answer(world: &World, id: &ApprovalId, choice: ApprovalChoice) {
    world.operator().respond(id, choice).unwrap();
}

#[test]
fn with_nobody_there_the_question_stays_and_the_same_call_runs_once_by_its_answer() {
    let world = world();
    let session = world.session("workspace-write").open();
    let first = required(&send(&session, asking(COMMAND, DANGER)));
    let again = required(&send(&session, asking(COMMAND, DANGER)));
    assert_eq!(first.id, again.id, "it is one question, however often the call is sent");
    answer(&world, &first.id, ApprovalChoice::AllowOnce);
    send(&session, asking(COMMAND, DANGER)).exits(0);
    assert_eq!(log(&world), "ran\n");
    let next = required(&send(&session, asking(COMMAND, DANGER)));
    assert_ne!(next.id, first.id, "it was used");
    assert_eq!(log(&world), "ran\n");
    world.finish();
}

#[test]
fn c1_what_was_answered_is_for_the_same_arguments_session_and_modes_only() {
    let world = world();
    let session = world.session("workspace-write").open();
    let other = world.session("workspace-write").open();
    let question = required(&send(&session, asking(COMMAND, DANGER)));
    answer(&world, &question.id, ApprovalChoice::AllowOnce);
    let with = |name: &str, value: Value| {
        let mut arguments = asking(COMMAND, DANGER);
        arguments[name] = value;
        arguments
    };
    let elsewhere = world.ws().join("sub");
    fs::create_dir(&elsewhere).unwrap();
    let others = [
        with("command", json!("echo ran >> $OUT/log ")),
        with("timeoutMs", json!(1000)),
        with("stdin", json!(false)),
        with("justification", json!("another reason")),
        with("workdir", json!(elsewhere)),
    ];
    for arguments in others {
        assert_ne!(required(&send(&session, arguments.clone())).id, question.id, "{arguments}");
    }
    assert_ne!(required(&send(&other, asking(COMMAND, DANGER))).id, question.id);
    assert_eq!(log(&world), "");
    session.request("session.update", json!({"mode": "read-only"})).unwrap();
    assert_ne!(required(&send(&session, asking(COMMAND, DANGER))).id, question.id);
    session.request("session.update", json!({"mode": "workspace-write"})).unwrap();
    send(&session, asking(COMMAND, DANGER)).exits(0);
    assert_eq!(log(&world), "ran\n");
    world.finish();
}

#[test]
fn what_was_allowed_for_the_session_is_not_used_up() {
    let world = world();
    let session = world.session("workspace-write").open();
    let question = required(&send(&session, asking(COMMAND, DANGER)));
    answer(&world, &question.id, ApprovalChoice::AllowAlways);
    send(&session, asking(COMMAND, DANGER)).exits(0);
    send(&session, asking(COMMAND, DANGER)).exits(0);
    assert_eq!(log(&world), "ran\nran\n");
    world.finish();
}

#[test]
fn a_rejection_is_told_to_the_same_call() {
    let world = world();
    let session = world.session("workspace-write").open();
    let question = required(&send(&session, asking(COMMAND, DANGER)));
    world.operator().reject(&question.id, "too much").unwrap();
    send(&session, asking(COMMAND, DANGER)).is_refused().says(
        "the user rejected this very command before (too much), and is not asked again; nothing ran",
    );
    assert_eq!(log(&world), "");
    world.finish();
}

#[test]
fn an_operator_who_is_there_is_waited_for_as_long_as_the_call_has_patience() {
    let world = world();
    let session = world.session("workspace-write").open();
    let operator = world.operator();
    let call = begin(&session, asking(COMMAND, DANGER), 60_000);
    operator.respond(&operator.pending().id, ApprovalChoice::AllowOnce).unwrap();
    session.end(call).exits(0);
    let impatient = required(&session.end(begin(&session, asking(COMMAND, DANGER), 50)));
    assert_eq!(operator.list().approvals[0].id, impatient.id, "it is open");
    let call = begin(&session, asking(COMMAND, DANGER), 60_000);
    operator.respond(&impatient.id, ApprovalChoice::AllowOnce).unwrap();
    session.end(call).exits(0);
    assert_eq!(log(&world), "ran\nran\n");
    world.finish();
}

#[test]
fn who_waits_for_an_operator_that_goes_waits_no_longer() {
    let world = world();
    let session = world.session("workspace-write").open();
    let operator = world.operator();
    let call = begin(&session, asking(COMMAND, DANGER), 60_000);
    let question = operator.pending();
    drop(operator);
    assert_eq!(required(&session.end(call)).id, question.id);
    world.finish();
}

#[test]
fn of_two_equal_calls_the_latest_waits_and_runs_by_the_answer() {
    let world = world();
    let session = world.session("workspace-write").open();
    let operator = world.operator();
    let first = begin(&session, asking(COMMAND, DANGER), 60_000);
    let question = operator.pending();
    let second = begin(&session, asking(COMMAND, DANGER), 60_000);
    assert_eq!(required(&session.end(first)).id, question.id, "it waits no longer");
    operator.respond(&question.id, ApprovalChoice::AllowOnce).unwrap();
    session.end(second).exits(0);
    assert_eq!(log(&world), "ran\n");
    world.finish();
}

#[test]
fn a_call_that_is_withdrawn_takes_its_question_with_it() {
    let world = world();
    let session = world.session("workspace-write").open();
    let operator = world.operator();
    let params = json!({
        "name": "bash", "call": "c", "arguments": asking(COMMAND, DANGER), "patience_ms": 60_000,
    });
    let call = session.begin_call(params);
    let question = operator.pending();
    session.request("tools.cancel", json!({"call": "c"})).unwrap();
    session.end(call).is_refused().holds("[cancelled]");
    let refused = operator.respond(&question.id, ApprovalChoice::AllowOnce).unwrap_err();
    assert_eq!(
        refused.message,
        format!("approval {} was withdrawn already, by the client", question.id)
    );
    world.finish();
}

#[test]
fn an_answer_after_the_time_is_over_allows_nothing() {
    let world = configured("escalation = \"any\"\napproval_ttl = \"1s\"\n").start();
    let session = world.session("workspace-write").open();
    let question = required(&send(&session, asking(COMMAND, DANGER)));
    let operator = world.operator();
    eventually("the question ends", || operator.list().approvals.is_empty().then_some(()));
    let refused = operator.respond(&question.id, ApprovalChoice::AllowOnce).unwrap_err();
    assert_eq!(
        refused.message,
        format!("approval {} was expired already, by the daemon", question.id)
    );
    drop(operator);
    assert_ne!(required(&send(&session, asking(COMMAND, DANGER))).id, question.id);
    world.finish();
}

#[test]
fn a_session_that_closes_takes_its_questions_with_it() {
    let world = world();
    let session = world.session("workspace-write").open();
    required(&send(&session, asking(COMMAND, DANGER)));
    let operator = world.operator();
    assert_eq!(operator.list().approvals.len(), 1);
    session.request("session.close", json!({})).unwrap();
    eventually("the question ends", || operator.list().approvals.is_empty().then_some(()));
    world.finish();
}

#[test]
fn a_rules_question_stays_open_as_well() {
    let rule = "[[rule]]\nargv = [\"touch\"]\ndecision = \"ask\"\nreason = \"publishing\"\n";
    let world = World::builder().configured(rule).start();
    let session = world.session("workspace-write").open();
    let touch = json!({"command": "touch it", "description": "A test's command"});
    let question = required(&send(&session, touch.clone()));
    answer(&world, &question.id, ApprovalChoice::AllowOnce);
    send(&session, touch).exits(0);
    assert!(world.ws().join("it").exists());
    world.finish();
}

#[test]
fn open_questions_are_bounded() {
    let world = world();
    let session = world.session("workspace-write").open();
    for number in 0..8 {
        required(&send(&session, asking(&format!("{COMMAND} # {number}"), DANGER)));
    }
    send(&session, asking(COMMAND, DANGER))
        .is_refused()
        .holds("8 approvals of this session wait for an answer already");
    world.finish();
}
