//! Plans: what a person is shown, what counts as their consent, and what does not.

use brattice_client::Notice;
use brattice_protocol::ErrorCode;
use brattice_protocol::audit::Actor;
use brattice_protocol::plan::{PlanAnswer, PlanDecision};
use brattice_protocol::question::{QuestionOutcome, Response};
use brattice_tests::{Pending, Reply, Session, World, error_prefix, eventually};
use serde_json::{Value, json};

use crate::{call, declares, opening};

/// The toolsets that have the tool.
const BOTH: [&str; 2] = ["standard", "dsh"];

fn show(session: &Session, plan: &str) -> Pending {
    session.begin_call(json!({"name": "exit_plan_mode", "arguments": {"plan": plan}}))
}

fn write(session: &Session, content: &str) -> Reply {
    call(session, "write", json!({"file_path": "a", "content": content}))
}

fn planning(world: &World, toolset: &str) -> Session {
    opening(world, toolset).with("plan", json!(true)).judging().open()
}

fn tools_changed(session: &Session) {
    session
        .notice("tools.changed", |notice| matches!(notice, Notice::ToolsChanged(_)).then_some(()));
}

#[test]
fn b113_only_a_plain_approval_ends_plan_mode() {
    for toolset in BOTH {
        let (world, prefix) = (World::new(), error_prefix(toolset));
        let session = planning(&world, toolset);
        assert!(declares(&session, "exit_plan_mode"));

        let shown = show(&session, "# Rename\n\n1. do x");
        let asked = session.planned();
        assert_eq!(asked.request().plan, "# Rename\n\n1. do x");
        assert_eq!(asked.request().session.as_str(), session.id());
        asked.keep_planning(Some("use y"));
        let kept = session.end(shown);
        kept.says(&format!(
            "{prefix}the user did not approve the plan and keeps planning; plan mode goes on\nThe user says: use y"
        ));
        assert!(kept.is_error());
        let facts = &kept.result.structured_content;
        assert_eq!(
            (&facts["outcome"], &facts["feedback"]),
            (&json!("kept_planning"), &json!("use y"))
        );

        let refused = write(&session, "x");
        refused.holds("[sandbox: final: plan mode]");
        assert!(refused.is_error() && !world.ws().join("a").exists());

        let fault = session.end(show(&session, "no heading"));
        fault.says(&format!(
            "{prefix}argument `plan`: expected Markdown that begins with a heading, such as `# Plan`, got \"no heading\""
        ));
        assert!(fault.is_error());
        session.is_asked_no_question();

        let shown = show(&session, "# Rename\n\n1. do y");
        session.planned().approve();
        let approved = session.end(shown);
        approved.says(
            "the user approved the plan: plan mode is over, and the session's mode is workspace-write; carry the plan out",
        );
        assert!(!approved.is_error());
        tools_changed(&session);
        assert!(!declares(&session, "exit_plan_mode"));
        assert!(!write(&session, "y").is_error());
        assert_eq!(world.native("cat a").stdout, "y");

        let again = session.end(show(&session, "# Again"));
        again.says(&format!("{prefix}no plan mode is active, so that there is nothing to approve"));
        assert!(again.is_error());
        session.is_asked_no_question();
        world.finish();
    }
}

#[test]
fn a_plan_is_over_with_the_patience_of_its_call() {
    let world = World::new();
    let session = planning(&world, "standard");
    let shown = session.begin_call(json!({
        "name": "exit_plan_mode", "arguments": {"plan": "# One"}, "patience_ms": 300,
    }));
    let asked = session.planned();
    let told = session.end(shown);
    told.says(
        "nobody decided within 0.3 s, which is as long as this call waits for a person; plan mode goes on",
    );
    assert!(told.is_error());
    asked.approve();
    assert_eq!(world.sessions()[0]["plan"], true, "a late answer approves nothing");
    world.finish();
}

#[test]
fn b113_a_client_that_says_no_says_nothing_or_is_gone_has_approved_nothing() {
    let world = World::new();
    let session = planning(&world, "standard");
    let id = session.id().to_owned();
    let gone =
        "nobody decided: whoever was shown the plan has gone without an answer; plan mode goes on";
    let shown = show(&session, "# One");
    session.planned().decline();
    session.end(shown).says(
        "nobody decided: nobody could be shown the plan (nobody was asked), and no operator is attached; plan mode goes on",
    );

    // On the bare wire, what no client of ours would answer: texts, empty decisions, a closed dialog.
    let mut wire = crate::wire::Answering::open(&world, &["plan"]);
    let answers = [
        (json!({"feedback": "yes, approve"}), gone),
        (json!("approve"), gone),
        (json!(null), gone),
        (json!({"decision": "yes"}), gone),
        (json!({"decision": "approve", "note": "but"}), gone),
        (
            json!({"dismissed": true}),
            "the user closed the plan without a decision; plan mode goes on",
        ),
    ];
    let count = answers.len();
    for (answer, expected) in answers {
        let text = wire.call("exit_plan_mode", json!({"plan": "# Two"}), answer.clone());
        assert_eq!(text, expected, "{answer}");
    }
    drop(wire);

    let shown = show(&session, "# Three");
    let asked = session.planned();
    shown.abandon();
    drop((asked, session));
    // One that was declined, those on the wire, one that was deserted.
    let settled = eventually("all are settled", || {
        Some(world.audited(&["question_settled"])).filter(|settled| settled.len() == 2 + count)
    });
    assert!(settled.iter().all(|line| line["outcome"] != "approved"), "{settled:?}");
    let session = world.resume(&id).open();
    assert_eq!((session.opened().mode.as_str(), session.opened().plan), ("read-only", true));
    world.finish();
}

#[test]
fn an_operator_judges_a_plan_and_the_first_answer_counts() {
    let world = World::new();
    let operator = world.answerer();
    let session = planning(&world, "dsh");
    let shown = show(&session, "# Rename");
    let (asked, plan) = (session.planned(), operator.plan());
    assert_eq!(*asked.request(), plan);
    let list = operator.inquiries();
    assert_eq!((list.plans, list.questions.len()), (vec![plan.clone()], 0));
    let answers = operator.answer(&plan.id, Response::Answered(Vec::new())).unwrap_err();
    assert!(answers.is(ErrorCode::Invalid), "{answers:?}");
    let feedback = Some("only the tests".to_owned());
    let decision = PlanAnswer { decision: PlanDecision::KeepPlanning, feedback };
    let told = operator.answer(&plan.id, Response::Decided(decision)).unwrap();
    assert_eq!((told.outcome, told.by), (QuestionOutcome::KeptPlanning, Actor::Operator));
    assert_eq!(operator.settled_inquiry(&plan.id), told);
    session.end(shown).holds("The user says: only the tests");
    asked.approve();
    session.is_heard();
    let late = PlanAnswer { decision: PlanDecision::Approve, feedback: None };
    let late = operator.answer(&plan.id, Response::Decided(late)).unwrap_err();
    assert_eq!(
        late.message,
        format!("question {} was kept for planning already, by the operator", plan.id)
    );
    assert_eq!(world.sessions()[0]["plan"], true);
    let lines = world.audited(&["plan_asked", "question_settled"]);
    let told: Vec<(&Value, &Value)> =
        lines.iter().map(|line| (&line["event"], &line["outcome"])).collect();
    assert_eq!(
        told,
        [
            (&json!("plan_asked"), &Value::Null),
            (&json!("question_settled"), &json!("kept_planning"))
        ]
    );
    world.finish();
}

#[test]
fn nobody_to_judge_a_plan_is_said_at_once_and_the_call_may_be_sent_again() {
    let world = World::new();
    let session = opening(&world, "standard").with("plan", json!(true)).open();
    let params = json!({"name": "exit_plan_mode", "call": "c", "arguments": {"plan": "# P"}});
    let refused = session.end(session.begin_call(params.clone()));
    refused.says(
        "nobody can answer: the session's client answers no plans, and no operator is attached; nobody was asked",
    );
    assert!(refused.is_error());
    let operator = world.answerer();
    let shown = session.begin_call(params);
    let plan = operator.plan();
    let approve = PlanAnswer { decision: PlanDecision::Approve, feedback: None };
    operator.answer(&plan.id, Response::Decided(approve)).unwrap();
    assert!(!session.end(shown).is_error());
    assert_eq!(world.sessions()[0]["plan"], false);
    world.finish();
}

#[test]
fn a_plan_ends_with_its_call_and_with_plan_mode() {
    let world = World::new();
    let session = planning(&world, "standard");
    let params = json!({"name": "exit_plan_mode", "call": "c", "arguments": {"plan": "# P"}});
    let shown = session.begin_call(params);
    let asked = session.planned();
    session.request("tools.cancel", json!({"call": "c"})).unwrap();
    session
        .end(shown)
        .says("the plan was withdrawn before anybody decided; plan mode goes on\n[cancelled]");
    asked.approve();
    session.is_heard();
    assert_eq!(world.sessions()[0]["plan"], true);

    let shown = show(&session, "# P");
    let asked = session.planned();
    session.request("session.update", json!({"plan": false})).unwrap();
    let over = session.end(shown);
    over.says("the plan was withdrawn before anybody decided; plan mode goes on");
    session.request("session.update", json!({"plan": true})).unwrap();
    asked.approve();
    session.is_heard();
    assert_eq!(world.sessions()[0]["plan"], true, "an old plan approves nothing");
    world.finish();
}
