//! C3: questions are bounded in number and length, and one session's do not keep another's from being asked.

use brattice_protocol::approval::ApprovalChoice;
use serde_json::json;

use crate::{DANGER, ask, asking, world};

#[test]
fn c3_a_session_asks_so_many_questions_at_once_and_no_more() {
    let world = world();
    let operator = world.operator();
    let session = world.session("workspace-write").open();
    let calls: Vec<_> =
        (0..8).map(|number| ask(&session, &format!("echo {number}"), DANGER)).collect();
    let told: Vec<_> = calls.iter().map(|_| operator.pending()).collect();
    session.bash(asking("echo more", DANGER)).is_refused().says(
        "8 approvals of this session wait for an answer already, and more are not asked; nothing ran",
    );
    let other = world.session("workspace-write").open();
    let call = ask(&other, "echo other", DANGER);
    operator.respond(&operator.pending().id, ApprovalChoice::AllowOnce).unwrap();
    other.end(call).exits(0).says("other");
    session.run("echo on").exits(0).says("on");
    for request in &told {
        operator.respond(&request.id, ApprovalChoice::RejectOnce).unwrap();
    }
    for call in calls {
        session.end(call).is_refused();
    }
    world.finish();
}

#[test]
fn a_command_that_cannot_be_shown_whole_is_not_asked_about() {
    let world = world();
    let session = world.session("workspace-write").answering().open();
    let fits = format!("echo {}", "x".repeat((32 << 10) - 5));
    let call = ask(&session, &fits, DANGER);
    let question = session.question();
    assert_eq!(question.request().command.as_deref(), Some(fits.as_str()));
    question.choose(ApprovalChoice::RejectOnce);
    session.end(call).is_refused();
    session.bash(asking(&format!("{fits}x"), DANGER)).is_refused().holds("32769 bytes is too long");
    session.is_asked_nothing();
    world.finish();
}

#[test]
fn a_list_is_as_long_as_an_answer_may_be() {
    let world = world();
    let operator = world.operator();
    let sessions: Vec<_> = (0..8).map(|_| world.session("workspace-write").open()).collect();
    let command = format!("# {}", "\u{1}".repeat(32_000));
    let calls: Vec<_> = sessions
        .iter()
        .flat_map(|session| (0..8).map(move |_| session))
        .map(|session| (session, session.begin(asking(&command, DANGER))))
        .collect();
    let list = brattice_tests::eventually("all are open", || {
        let list = operator.list();
        (list.approvals.len() + list.omitted == 64).then_some(list)
    });
    assert!((1..64).contains(&list.approvals.len()), "{}", list.approvals.len());
    let last = world.session("workspace-write").open();
    last.bash(asking("true", DANGER)).is_refused().holds("64 approvals of all sessions wait");
    for session in &sessions {
        session.request("session.update", json!({"approval": "never"})).unwrap();
    }
    for (session, call) in calls {
        session.end(call).is_refused();
    }
    world.finish();
}
