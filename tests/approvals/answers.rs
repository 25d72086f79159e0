//! What the session's own client is asked, and what becomes of its answer.

use std::fs;

use brattice_protocol::approval::{
    ApprovalAnswer, ApprovalChoice, ApprovalOption, ApprovalRequest,
};
use brattice_protocol::outcome::Cause;
use brattice_protocol::{CallId, Mode};
use serde_json::{Value, json};

use crate::{DANGER, ask, asking, world};

#[test]
fn b001_b015_what_was_allowed_runs_once_and_nothing_runs_by_itself() {
    let world = world();
    let session = world.session("workspace-write").answering().open();
    world.file("log", "");
    let command = "echo once >> log; echo data > $OUT/result";
    session.run(command).exits(1);
    session.run("wc -l < log").exits(0).says("1");
    let call = ask(&session, command, DANGER);
    session.question().choose(ApprovalChoice::AllowOnce);
    let reply = session.end(call);
    reply.exits(0).says("(no output)");
    let outcome = reply.outcome();
    assert_eq!(
        (outcome.sandbox.mode, outcome.escalated_from),
        (Mode::DangerFullAccess, Some(Mode::WorkspaceWrite))
    );
    assert_eq!(fs::read_to_string(world.out().join("result")).unwrap(), "data\n");
    let plain = session.run("wc -l < log");
    assert_eq!((plain.exits(0).text().as_str(), plain.outcome().escalated_from), ("2", None));
    // The yes was to one command, once: the same and another are asked about anew.
    for command in [command, "echo other > $OUT/other"] {
        let call = ask(&session, command, DANGER);
        session.question().choose(ApprovalChoice::RejectOnce);
        session.end(call).is_refused();
    }
    assert!(!world.out().join("other").exists());
    world.finish();
}

#[test]
fn the_question_shows_the_exact_command_folder_modes_and_reason() {
    let world = world();
    fs::create_dir(world.ws().join("sub")).unwrap();
    std::os::unix::fs::symlink("sub", world.ws().join("link")).unwrap();
    let session = world.session("read-only").answering().open();
    let command = "printf '\u{1b}[2J\u{202e}'\n# \"two\" lines";
    let mut arguments = asking(command, "workspace-write");
    arguments["workdir"] = json!("link");
    arguments["description"] = json!("Show it");
    let call = session.begin_call(json!({"name": "bash", "call": "c-7", "arguments": arguments}));
    let question = session.question();
    let ApprovalRequest { id, expires, .. } = question.request().clone();
    let option = |id| ApprovalOption::from(id);
    assert_eq!(
        *question.request(),
        ApprovalRequest {
            id,
            session: session.opened().session.clone(),
            call: CallId::new("c-7"),
            tool: "bash".to_owned(),
            title: "Show it".to_owned(),
            kind: "execute".to_owned(),
            command: Some(command.to_owned()),
            diff: Vec::new(),
            workdir: world.ws().join("sub").display().to_string(),
            from: Mode::ReadOnly,
            to: Mode::WorkspaceWrite,
            justification: Some("the test wants it".to_owned()),
            rule: None,
            denials: Vec::new(),
            options: vec![
                option(ApprovalChoice::AllowOnce),
                option(ApprovalChoice::AllowAlways),
                option(ApprovalChoice::RejectOnce),
            ],
            expires,
        }
    );
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_millis();
    let left = u128::from(expires).saturating_sub(now);
    assert!((500_000..=600_000).contains(&left), "10 minutes, not {left} ms");
    question.choose(ApprovalChoice::AllowOnce);
    session.end(call).exits(0);
    world.finish();
}

#[test]
fn b016_a_wider_mode_applies_as_asked_and_no_further() {
    let world = world();
    let session = world.session("read-only").answering().open();
    session.run("echo hi > note.txt").exits(1);
    let allowed = |command: &str| {
        let call = ask(&session, command, "workspace-write");
        session.question().choose(ApprovalChoice::AllowOnce);
        session.end(call)
    };
    allowed("echo hi > note.txt").exits(0);
    assert_eq!(fs::read_to_string(world.ws().join("note.txt")).unwrap(), "hi\n");
    let outside = allowed("echo hi > $OUT/x");
    outside.exits(1);
    assert_eq!(outside.outcome().sandbox.mode, Mode::WorkspaceWrite);
    assert!(!world.out().join("x").exists());
    session.run("echo again > note2.txt").exits(1);
    world.finish();
}

#[test]
fn a_rejection_runs_nothing_is_told_with_its_reason_and_is_remembered() {
    let world = world();
    let session = world.session("workspace-write").answering().open();
    let call = ask(&session, "touch $OUT/ran", DANGER);
    let reason = Some("use the cache instead".to_owned());
    let option = ApprovalChoice::RejectOnce;
    session.question().answer(ApprovalAnswer::Selected { option, reason });
    let reply = session.end(call);
    reply.is_refused().says("the user rejected this command (use the cache instead); nothing ran");
    let outcome = reply.outcome();
    assert_eq!(
        (outcome.cause, outcome.exit_code, outcome.task.clone(), outcome.sandbox.mode),
        (Cause::Rejected, None, None, Mode::WorkspaceWrite)
    );
    session.bash(asking("touch $OUT/ran", DANGER)).is_refused().says(
        "the user rejected this very command before (use the cache instead), and is not asked again; nothing ran",
    );
    session.is_asked_nothing();
    // Another command is another question, and after the user has spoken so is this one.
    let other = ask(&session, "touch $OUT/other", DANGER);
    session.question().choose(ApprovalChoice::AllowOnce);
    session.end(other).exits(0);
    session.request("session.turn", json!({})).unwrap();
    let again = ask(&session, "touch $OUT/ran", DANGER);
    session.question().choose(ApprovalChoice::AllowOnce);
    session.end(again).exits(0);
    assert!(world.out().join("ran").exists());
    world.finish();
}

#[test]
fn b119_for_the_session_is_the_exact_command_folder_and_mode_without_a_question() {
    let world = world();
    fs::create_dir_all(world.ws().join("scratch")).unwrap();
    let session = world.session("read-only").answering().open();
    let command = "ls -d scratch && rm -rf ./scratch";
    let call = ask(&session, command, "workspace-write");
    session.question().choose(ApprovalChoice::AllowAlways);
    session.end(call).exits(0).says("scratch");
    fs::create_dir_all(world.ws().join("scratch")).unwrap();
    session.bash(asking(command, "workspace-write")).exits(0).says("scratch");
    session.is_asked_nothing();
    let reused = world.audited(&["approval_reused"]);
    assert_eq!(reused.len(), 1, "{reused:?}");
    let mut elsewhere = asking(command, "workspace-write");
    elsewhere["workdir"] = json!("/");
    for arguments in [
        asking("rm -rf ./keep", "workspace-write"),
        asking("rm -rf ./scratch", "workspace-write"),
        asking(command, DANGER),
        elsewhere,
    ] {
        let call = session.begin(arguments);
        session.question().choose(ApprovalChoice::RejectOnce);
        session.end(call).is_refused();
    }
    world.finish();
}

#[test]
fn in_dsh_nothing_is_allowed_for_the_session() {
    let world = world();
    let session = world.session("workspace-write").with("toolset", json!("dsh")).answering().open();
    let call = ask(&session, "echo hi", DANGER);
    let question = session.question();
    let offered: Vec<ApprovalChoice> =
        question.request().options.iter().map(|option| option.id).collect();
    assert_eq!(offered, [ApprovalChoice::AllowOnce, ApprovalChoice::RejectOnce]);
    question.choose(ApprovalChoice::AllowAlways);
    let reply = session.end(call);
    reply.is_refused().says(
        "Error: whoever was asked to approve this command has gone without an answer; nothing ran",
    );
    let call = ask(&session, "echo hi", DANGER);
    session.question().choose(ApprovalChoice::RejectOnce);
    session.end(call).is_refused().says("Error: the user rejected this command; nothing ran");
    world.finish();
}

#[test]
fn a_question_that_is_dismissed_is_no_consent_and_no_rejection() {
    let world = world();
    let session = world.session("workspace-write").answering().open();
    for _ in 0..2 {
        let call = ask(&session, "touch $OUT/ran", DANGER);
        session.question().answer(ApprovalAnswer::Cancelled);
        session
            .end(call)
            .is_refused()
            .says("the user dismissed the approval of this command without an answer; nothing ran");
    }
    // Dropped without an answer is the same.
    let call = ask(&session, "touch $OUT/ran", DANGER);
    drop(session.question());
    session.end(call).is_refused().holds("dismissed");
    assert!(!world.out().join("ran").exists());
    world.finish();
}

#[test]
fn a_call_that_is_sent_again_is_asked_about_once() {
    let world = world();
    let session = world.session("workspace-write").answering().open();
    let params: Value = json!({
        "name": "bash", "call": "once", "arguments": asking("echo ran >> $OUT/log", DANGER),
    });
    let (first, second) = (session.begin_call(params.clone()), session.begin_call(params.clone()));
    session.question().choose(ApprovalChoice::AllowOnce);
    session.end(first).exits(0);
    session.end(second).exits(0);
    session.end(session.begin_call(params)).exits(0);
    session.is_asked_nothing();
    assert_eq!(fs::read_to_string(world.out().join("log")).unwrap(), "ran\n");
    world.finish();
}

#[test]
fn question_and_answer_are_on_record() {
    let world = world();
    let session = world.session("workspace-write").answering().open();
    let call = ask(&session, "true", DANGER);
    let question = session.question();
    let id = json!(question.request().id);
    question.choose(ApprovalChoice::AllowOnce);
    session.end(call).exits(0);
    let lines = world.audited(&["approval_asked", "approval_settled", "task_started"]);
    let told: Vec<(&Value, &Value)> =
        lines.iter().map(|line| (&line["event"], &line["call"])).collect();
    let own = json!("call-1");
    assert_eq!(
        told,
        [
            (&json!("approval_asked"), &own),
            (&json!("approval_settled"), &own),
            (&json!("task_started"), &own)
        ]
    );
    assert_eq!(
        (&lines[0]["approval"], &lines[0]["from"], &lines[0]["to"]),
        (&id, &json!("workspace-write"), &json!(DANGER))
    );
    assert_eq!(
        (&lines[1]["approval"], &lines[1]["outcome"], &lines[1]["by"]),
        (&id, &json!("allowed_once"), &json!("client"))
    );
    assert_eq!(lines[2]["mode"], DANGER);
    world.finish();
}
