//! How a question ends without an answer: nothing runs, and the call says why in words of its own.

use brattice_protocol::approval::{ApprovalChoice, ApprovalOutcome, ApprovalRequest};
use brattice_protocol::audit::Actor;
use brattice_protocol::{ErrorCode, RpcError};
use brattice_tests::{Session, World, eventually};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::{DANGER, ask, asking, configured, world};

/// A call of this id that asks.
fn call(id: &str) -> Value {
    json!({"name": "bash", "call": id, "arguments": asking("touch $OUT/ran", DANGER)})
}

/// Waits until an operator who only looks sees a question.
fn open(world: &World) -> ApprovalRequest {
    eventually("a question is open", || {
        let list = brattice_tests::Wire::open(&world.control())
            .request("approval.list", json!({}))
            .unwrap();
        serde_json::from_value(list["approvals"].get(0)?.clone()).ok()
    })
}

fn nothing_ran(world: World) {
    assert!(!world.out().join("ran").exists());
    world.finish();
}

/// Whether the daemon has noticed that the session's client is gone.
fn is_detached(world: &World) {
    eventually("the daemon has noticed", || {
        (world.sessions()[0]["attached"] == json!(false)).then_some(())
    });
}

#[test]
fn a_call_that_is_cancelled_withdraws_its_question() {
    let world = world();
    let operator = world.operator();
    let session = world.session("workspace-write").answering().open();
    let pending = session.begin_call(call("c"));
    let (question, told) = (session.question(), operator.pending());
    session.request("tools.cancel", json!({"call": "c"})).unwrap();
    session
        .end(pending)
        .is_refused()
        .says("the call was cancelled before its approval was answered; nothing ran\n[cancelled]");
    let settled = operator.settled(&told.id);
    assert_eq!((settled.outcome, settled.by), (ApprovalOutcome::Withdrawn, Actor::Client));
    let own = session.notice("approval.settled", |notice| match notice {
        brattice_client::Notice::ApprovalSettled(settled) => Some(settled),
        _ => None,
    });
    assert_eq!(own, settled, "its own client closes its dialog, too");
    question.choose(ApprovalChoice::AllowOnce);
    let error = operator.respond(&told.id, ApprovalChoice::AllowOnce).unwrap_err();
    assert!(error.is(ErrorCode::Refused) && error.message.contains("withdrawn"), "{error:?}");
    nothing_ran(world);
}

#[test]
fn a_client_that_vanishes_with_nobody_else_there_has_not_answered() {
    let world = world();
    let session = world.session("workspace-write").answering().open();
    let id = session.id().to_owned();
    let pending = session.begin_call(call("c"));
    drop((session.question(), open(&world)));
    // The dropped question was dismissed; the next one stays open.
    session.end(pending).is_refused();
    let pending = session.begin_call(call("d"));
    let question = session.question();
    abandon(session, pending, question);
    is_detached(&world);
    let again = world.resume(&id).answering().open();
    again
        .end(again.begin_call(call("d")))
        .is_refused()
        .says("whoever was asked to approve this command has gone without an answer; nothing ran");
    nothing_ran(world);
}

/// Drops a client with all that waits of it, its question unanswered.
fn abandon(session: Session, pending: brattice_tests::Pending, question: brattice_tests::Question) {
    pending.abandon();
    drop(session);
    // Its connection is over, so that nothing is answered by this.
    drop(question);
}

#[test]
fn a_client_that_vanishes_leaves_the_question_to_an_operator() {
    let world = world();
    let operator = world.operator();
    let session = world.session("workspace-write").answering().open();
    let id = session.id().to_owned();
    let pending = session.begin_call(json!({
        "name": "bash", "call": "c", "arguments": asking("echo ran", DANGER),
    }));
    let question = session.question();
    let told = operator.pending();
    abandon(session, pending, question);
    is_detached(&world);
    let settled = operator.respond(&told.id, ApprovalChoice::AllowOnce).unwrap();
    assert_eq!(settled.outcome, ApprovalOutcome::AllowedOnce);
    let again = world.resume(&id).open();
    let params = json!({"name": "bash", "call": "c", "arguments": asking("echo ran", DANGER)});
    again.end(again.begin_call(params)).exits(0).says("ran");
    world.finish();
}

#[test]
fn an_operator_who_leaves_as_the_last_one_ends_it() {
    let world = world();
    let operator = world.operator();
    let session = world.session("workspace-write").open();
    let pending = session.begin_call(call("c"));
    operator.pending();
    drop(operator);
    session.end(pending).is_refused().holds("has gone without an answer");
    nothing_ran(world);
}

#[test]
fn nobody_answers_in_time() {
    let world = configured("escalation = \"any\"\napproval_ttl = \"300ms\"\n").start();
    let operator = world.operator();
    let session = world.session("workspace-write").answering().open();
    let pending = session.begin_call(call("c"));
    let (question, told) = (session.question(), operator.pending());
    session
        .end(pending)
        .is_refused()
        .says("nobody answered the approval of this command within 0.3 s; nothing ran");
    let settled = operator.settled(&told.id);
    assert_eq!((settled.outcome, settled.by), (ApprovalOutcome::Expired, Actor::Daemon));
    question.choose(ApprovalChoice::AllowOnce);
    let error = operator.respond(&told.id, ApprovalChoice::AllowOnce).unwrap_err();
    assert!(error.message.contains("expired already"), "{error:?}");
    let line = &world.audited(&["approval_settled"])[0];
    assert_eq!((&line["outcome"], &line["by"]), (&json!("expired"), &json!("daemon")));
    nothing_ran(world);
}

#[test]
fn a_daemon_that_is_killed_has_started_nothing_and_the_next_knows_no_question() {
    let mut world = world();
    let session = world.session("workspace-write").answering().open();
    let id = session.id().to_owned();
    // Keeps the session over the restart.
    session.start("sleep 900");
    let pending = session.begin_call(call("c"));
    let question = session.question();
    let told = question.request().id.clone();
    world.kill_daemon();
    abandon(session, pending, question);
    world.start();
    let operator = world.operator();
    assert_eq!(operator.list().approvals, []);
    let error: RpcError = operator.respond(&told, ApprovalChoice::AllowOnce).unwrap_err();
    assert!(error.is(ErrorCode::Refused) && error.message.contains("is open"), "{error:?}");
    let again = world.resume(&id).answering().open();
    let error = again.try_end(again.begin_call(call("c"))).unwrap_err();
    assert!(error.is(ErrorCode::Unavailable), "{error:?}");
    again.is_asked_nothing();
    nothing_ran(world);
}

#[test]
fn a_daemon_that_ends_in_order_answers_the_call() {
    let mut world = world();
    let session = world.session("workspace-write").answering().open();
    let pending = session.begin_call(call("c"));
    let question = session.question();
    world.daemon().signal(Signal::TERM);
    session
        .end(pending)
        .is_refused()
        .says("the session or the daemon ended before the approval was answered; nothing ran");
    world.daemon().wait();
    drop((question, session));
    world.start();
    nothing_ran(world);
}

#[test]
fn a_session_that_is_closed_answers_the_call() {
    let world = world();
    let session = world.session("workspace-write").answering().open();
    let pending = session.begin_call(call("c"));
    let question = session.question();
    session.request("session.close", json!({})).unwrap();
    session.end(pending).is_refused().holds("the session or the daemon ended");
    drop(question);
    nothing_ran(world);
}

#[test]
fn approvals_that_are_switched_off_end_what_is_open() {
    let world = world();
    let session = world.session("workspace-write").answering().open();
    let pending = ask(&session, "touch $OUT/ran", DANGER);
    let question = session.question();
    session.request("session.update", json!({"approval": "never"})).unwrap();
    session
        .end(pending)
        .is_refused()
        .says("approval prompts were disabled before the approval was answered; nothing ran");
    question.choose(ApprovalChoice::AllowOnce);
    nothing_ran(world);
}
