//! Questions: who is asked, what an answer is, and that none is ever made up.

use brattice_client::Notice;
use brattice_protocol::ErrorCode;
use brattice_protocol::audit::Actor;
use brattice_protocol::question::{Answer, QuestionOutcome, Response};
use brattice_tests::{Pending, Session, World, chosen, error_prefix, eventually};
use serde_json::{Value, json};

use crate::{call, declares, opening};

/// The toolsets that have the tool, and its name.
const ALL: [(&str, &str); 3] =
    [("standard", "ask_user_question"), ("dsh", "ask_user_question"), ("glrs", "ask_user")];

/// A question as the toolset takes it.
fn arguments(toolset: &str) -> Value {
    match toolset {
        "glrs" => json!({"questions": [{"question": "Which?", "options": ["A", "B"]}]}),
        _ => json!({"questions": [
            {"id": "db", "question": "Which?", "options": [{"label": "A"}, {"label": "B"}]},
        ]}),
    }
}

fn begin(session: &Session, toolset: &str, tool: &str) -> Pending {
    session.begin_call(json!({"name": tool, "call": "ask", "arguments": arguments(toolset)}))
}

#[test]
fn b117_without_anybody_to_ask_the_tool_is_absent_and_says_so() {
    for (toolset, tool) in ALL {
        let (world, prefix) = (World::new(), error_prefix(toolset));
        let session = opening(&world, toolset).open();
        assert!(!declares(&session, tool), "{toolset}");
        let told = call(&session, tool, arguments(toolset));
        told.says(&format!(
            "{prefix}nobody can answer: the session's client answers no questions, and no operator is attached; nobody was asked"
        ));
        assert!(told.is_error());
        assert_eq!(world.audited(&["question_asked"]), Vec::<Value>::new());
        world.finish();
    }
}

#[test]
fn b117_a_question_stays_open_whatever_approvals_are_set_to_and_is_answered_by_a_person() {
    for (toolset, tool) in ALL {
        let world = World::new();
        let opening = opening(&world, toolset).with("approval", json!("never"));
        let session = opening.judging().open();
        assert!(declares(&session, tool), "{toolset}");
        let pending = begin(&session, toolset, tool);
        let asked = session.asked();
        let id = asked.request().questions[0].id.clone();
        // Other calls of the session go on meanwhile, and it is still open after them.
        session.run("echo on").exits(0);
        let operator = world.answerer();
        assert_eq!(operator.inquiries().questions, [asked.request().clone()]);
        asked.answer(&[chosen(&id, &["B"])]);
        let answered = session.end(pending);
        let text = match toolset {
            "glrs" => "Q: Which?\nA: B",
            _ => r#"{"answers":[{"id":"db","selected":["B"]}]}"#,
        };
        answered.says(text);
        assert!(!answered.is_error());
        let facts = &answered.result.structured_content;
        assert_eq!(
            (&facts["outcome"], &facts["answers"][0]["selected"]),
            (&json!("answered"), &json!(["B"]))
        );
        world.finish();
    }
}

#[test]
fn b117_a_client_that_is_gone_has_not_answered() {
    for (toolset, tool) in ALL {
        let (world, prefix) = (World::new(), error_prefix(toolset));
        let session = opening(&world, toolset).judging().open();
        let id = session.id().to_owned();
        let pending = begin(&session, toolset, tool);
        let asked = session.asked();
        pending.abandon();
        // Dropped before its client, a question is declined.
        drop(session);
        drop(asked);
        let settled =
            eventually("it is settled", || world.audited(&["question_settled"]).into_iter().next());
        assert_eq!(
            (&settled["outcome"], &settled["by"]),
            (&json!("not_answered"), &json!("daemon"))
        );
        assert_eq!(settled.get("answers"), None);
        // Its result waits for whoever takes the session over.
        let session = world.resume(&id).open();
        let told = session.end(begin(&session, toolset, tool));
        told.says(&format!("{prefix}not answered: whoever was asked has gone without an answer"));
        assert!(told.is_error());
        world.finish();
    }
}

#[test]
fn a_question_is_over_with_the_patience_of_its_call() {
    for (toolset, tool) in ALL {
        let world = World::new();
        let operator = world.answerer();
        let session = opening(&world, toolset).open();
        let pending = session.begin_call(json!({
            "name": tool, "arguments": arguments(toolset), "patience_ms": 300,
        }));
        let asked = operator.questions();
        let told = session.end(pending);
        told.says(&format!(
            "{}not answered within 0.3 s, which is as long as this call waits for a person; a later answer reaches nobody",
            error_prefix(toolset)
        ));
        assert!(told.is_error());
        assert_eq!(told.result.structured_content["outcome"], "expired");
        let settled = operator.settled_inquiry(&asked.id);
        assert_eq!((settled.outcome, settled.by), (QuestionOutcome::Expired, Actor::Daemon));
        world.finish();
    }
}

#[test]
fn a_dismissed_question_is_no_error_and_no_answer() {
    for (toolset, tool) in ALL {
        let world = World::new();
        let session = opening(&world, toolset).judging().open();
        let pending = begin(&session, toolset, tool);
        session.asked().dismiss();
        let told = session.end(pending);
        told.says("[the user dismissed the questions without an answer]");
        assert!(!told.is_error());
        let facts = &told.result.structured_content;
        assert_eq!((&facts["outcome"], &facts["answers"]), (&json!("dismissed"), &json!([])));
        world.finish();
    }
}

#[test]
fn what_is_no_answer_counts_for_nothing() {
    let world = World::new();
    let mut wire = crate::wire::Answering::open(&world, &["question"]);
    for answer in [
        json!({"answers": []}),
        json!({"answers": [{"id": "db", "selected": []}]}),
        json!({"answers": [{"id": "db", "selected": ["C"]}]}),
        json!({"answers": [{"id": "other", "selected": ["A"]}]}),
        json!({"answers": [{"id": "db", "selected": ["A", "B"]}]}),
        json!({"dismissed": false}),
        json!("A"),
        json!(null),
    ] {
        let text = wire.call("ask_user_question", arguments("standard"), answer.clone());
        assert_eq!(text, "not answered: whoever was asked has gone without an answer", "{answer}");
    }
    let own = json!({"answers": [{"id": "db", "selected": [], "custom": "neither"}]});
    let text = wire.call("ask_user_question", arguments("standard"), own);
    assert_eq!(text, r#"{"answers":[{"id":"db","selected":[],"custom":"neither"}]}"#);
    world.finish();
}

#[test]
fn an_operator_makes_the_tool_appear_answers_and_makes_it_disappear() {
    let world = World::new();
    let session = opening(&world, "standard").open();
    let changed = || {
        session.notice("tools.changed", |notice| {
            matches!(notice, Notice::ToolsChanged(_)).then_some(())
        });
    };
    assert!(!declares(&session, "ask_user_question"));
    let operator = world.answerer();
    changed();
    assert!(declares(&session, "ask_user_question"));
    let pending = begin(&session, "standard", "ask_user_question");
    let asked = operator.questions();
    let wrong = Response::Answered(vec![chosen("db", &["C"])]);
    let refused = operator.answer(&asked.id, wrong).unwrap_err();
    assert!(refused.is(ErrorCode::Invalid), "{refused:?}");
    assert_eq!(
        refused.message,
        format!("question {}: answers: \"C\" is no option of question \"db\"", asked.id)
    );
    let own = Answer { id: "db".to_owned(), selected: Vec::new(), custom: Some("C".to_owned()) };
    let told = operator.answer(&asked.id, Response::Answered(vec![own])).unwrap();
    assert_eq!((told.outcome, told.by), (QuestionOutcome::Answered, Actor::Operator));
    session.end(pending).says(r#"{"answers":[{"id":"db","selected":[],"custom":"C"}]}"#);

    let pending = begin_again(&session);
    let asked = operator.questions();
    assert_eq!(operator.inquiries().questions, [asked]);
    drop(operator);
    session.end(pending).says("not answered: whoever was asked has gone without an answer");
    changed();
    assert!(!declares(&session, "ask_user_question"));
    let answers: Vec<Value> = world
        .audited(&["question_settled"])
        .into_iter()
        .map(|line| line["answers"].clone())
        .collect();
    assert_eq!(answers, [json!([{"id": "db", "selected": [], "custom": "C"}]), Value::Null]);
    world.finish();
}

fn begin_again(session: &Session) -> Pending {
    session.begin_call(json!({"name": "ask_user_question", "arguments": arguments("standard")}))
}

#[test]
fn questions_end_with_their_call_and_are_bounded() {
    let world = World::new();
    let opening = opening(&world, "standard").with("options", json!({"loop_detector": false}));
    let session = opening.judging().open();
    let pending: Vec<Pending> = (0..8).map(|_| begin_again(&session)).collect();
    let asked: Vec<_> = pending.iter().map(|_| session.asked()).collect();
    let refused = call(&session, "ask_user_question", arguments("standard"));
    refused
        .says("8 questions and plans of this session wait for an answer already; nobody was asked");
    let calls: Vec<Value> =
        asked.iter().map(|asked| json!({"call": asked.request().call})).collect();
    for params in calls {
        session.request("tools.cancel", params).unwrap();
    }
    for pending in pending {
        let told = session.end(pending);
        told.says("the questions were withdrawn before anybody answered\n[cancelled]");
        assert!(told.is_error());
    }
    world.finish();
}
