//! What a person is asked by forms besides commands: changes of files, questions of the model, and plans.

use brattice_protocol::ApprovalId;
use brattice_protocol::approval::ApprovalChoice;
use brattice_protocol::plan::{PlanAnswer, PlanDecision};
use brattice_protocol::question::Response;
use brattice_tests::{Wire, World, chosen};
use serde_json::{Value, json};

use crate::peer::{Peer, STATEFUL, text};
use crate::trusting;

/// The last revision in which no field takes several values.
const UNTITLED: &str = "2025-06-18";

/// What the entry for another answer is called.
const OTHER: &str = "Something else, in my own words";

fn forms() -> Value {
    json!({"elicitation": {"form": {}}})
}

/// A client of each era that shows forms.
fn both(world: &World) -> [Peer; 2] {
    [Peer::stateful(world, STATEFUL, forms()), Peer::stateless(world, forms())]
}

/// A call whose form is there.
struct Asked {
    call: Value,
    name: &'static str,
    form: Value,
    way: Way,
}

/// How the form came.
enum Way {
    /// As a request, while the call goes on.
    Request { call: i64, request: Value },
    /// As a result, with this state.
    Result(Value),
}

impl Asked {
    /// Makes a call that asks by a form of this name.
    #[track_caller]
    fn begin(peer: &mut Peer, name: &'static str, call: Value) -> Asked {
        let id = peer.begin("tools/call", call.clone());
        let come = peer.wait("a form", |message| {
            message["id"] == id || message["method"] == "elicitation/create"
        });
        if come["method"] == "elicitation/create" {
            let form = come["params"].clone();
            return Asked { call, name, form, way: Way::Request { call: id, request: come } };
        }
        let result = &come["result"];
        assert_eq!(result["resultType"], "input_required", "{come:#}");
        let asked = &result["inputRequests"][name];
        assert_eq!(asked["method"], "elicitation/create", "{come:#}");
        let (form, way) = (asked["params"].clone(), Way::Result(result["requestState"].clone()));
        Asked { call, name, form, way }
    }

    #[track_caller]
    fn message(&self) -> &str {
        self.form["message"].as_str().unwrap_or_else(|| panic!("none: {:#}", self.form))
    }

    fn fields(&self) -> &Value {
        &self.form["requestedSchema"]["properties"]
    }

    /// Sends the form back, and gives the call's result.
    #[track_caller]
    fn answer(self, peer: &mut Peer, response: Value) -> Value {
        match self.way {
            Way::Request { call, request } => {
                peer.answer(&request, response);
                peer.end(call).unwrap()
            }
            Way::Result(state) => {
                let mut params = self.call;
                params["requestState"] = state;
                params["inputResponses"] = json!({self.name: response});
                peer.call(params)
            }
        }
    }
}

fn accepted(content: Value) -> Value {
    json!({"action": "accept", "content": content})
}

/// A call that asks for more than the session may to write a file.
fn writing(world: &World, name: &str, content: &str) -> Value {
    json!({"name": "write", "arguments": {
        "file_path": world.out().join(name), "content": content,
        "sandbox_permissions": "danger-full-access", "justification": "the test wants it",
    }})
}

fn asking() -> Value {
    questions("Why?")
}

/// The same with another last question.
fn questions(why: &str) -> Value {
    json!({"name": "ask_user_question", "arguments": {"questions": [
        {"id": "db", "question": "Which?", "header": "Database",
         "options": [{"label": "A", "description": "the first"}, {"label": "B"}]},
        {"id": "os", "question": "Where?", "options": [{"label": "C"}, {"label": "D"}], "multi_select": true},
        {"id": "why", "question": why},
    ]}})
}

fn planned(plan: &str) -> Value {
    json!({"name": "exit_plan_mode", "arguments": {"plan": plan}})
}

/// Has the one session plan from now on.
fn plan_mode(world: &World) {
    let session = world.sessions()[0]["session"].clone();
    let params = json!({"session": session, "plan": true});
    Wire::open(&world.control()).request("session.update", params).unwrap();
}

#[test]
fn a_change_of_files_is_put_to_the_client_with_its_diff() {
    let world = trusting(true).start();
    for (number, mut peer) in both(&world).into_iter().enumerate() {
        let name = format!("new-{number}");
        let path = world.out().join(&name);
        let asked = Asked::begin(
            &mut peer,
            "approval",
            writing(&world, &name, "one\ntwo\u{1b}[2J\nnote: fine\n"),
        );
        let shown = format!(
            "\nchange: {} (new)\n│ +one\n│ +two\\u{{1b}}[2J\n│ +note: fine\nfolder: ",
            path.display()
        );
        assert!(asked.message().contains(&shown), "{}", asked.message());
        assert!(!path.exists(), "nothing is written before the answer");
        let result = asked.answer(&mut peer, accepted(json!({"decision": "allow_once"})));
        assert_eq!(result["isError"], false, "{result:#}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\u{1b}[2J\nnote: fine\n");
        let asked = Asked::begin(&mut peer, "approval", writing(&world, "no", "one\n"));
        let result = asked.answer(&mut peer, json!({"action": "decline"}));
        assert!(text(&result).contains("the user rejected this"), "{result:#}");
        assert!(!world.out().join("no").exists());
    }
    world.finish();
}

#[test]
fn a_change_that_is_too_long_for_a_form_stays_for_an_operator() {
    let world = trusting(true).start();
    for (number, mut peer) in both(&world).into_iter().enumerate() {
        let name = format!("long-{number}");
        let call = writing(&world, &name, &"a line of a long file\n".repeat(2_700));
        let result = peer.call(call.clone());
        let id = &result["_meta"]["dev.brattice/approval_required"]["id"];
        let id = ApprovalId::new(id.as_str().unwrap_or_else(|| panic!("none: {result:#}")));
        assert_eq!(peer.rest(), Vec::<Value>::new(), "no part of it was shown");
        world.operator().respond(&id, ApprovalChoice::AllowOnce).unwrap();
        let result = peer.call(call);
        assert_eq!(result["isError"], false, "{result:#}");
        assert!(world.out().join(&name).exists());
    }
    world.finish();
}

#[test]
fn questions_are_a_form_whose_answers_count_whether_it_is_trusted_or_not() {
    let world = trusting(false).start();
    for mut peer in both(&world) {
        let asked = Asked::begin(&mut peer, "question", asking());
        assert_eq!(
            asked.message(),
            "The model asks you 3 questions:\nDatabase\n│ Which?\nQuestion 2\n│ Where?\nQuestion 3\n│ Why?"
        );
        assert_eq!(
            asked.fields()["question_01"]["oneOf"],
            json!([
                {"const": "A", "title": "A: the first"}, {"const": "B", "title": "B"},
                {"const": OTHER, "title": OTHER},
            ])
        );
        assert_eq!(asked.fields()["question_02"]["type"], "array");
        let content = json!({
            "question_01": OTHER, "question_01_own_words": "neither", "question_02": ["C", "D"],
            "question_03": "because",
        });
        let result = asked.answer(&mut peer, accepted(content));
        assert_eq!(result["isError"], false, "{result:#}");
        assert_eq!(
            text(&result),
            r#"{"answers":[{"id":"db","selected":[],"custom":"neither"},{"id":"os","selected":["C","D"]},{"id":"why","selected":[],"custom":"because"}]}"#
        );
        let unanswered = [
            json!({"action": "decline"}),
            json!({"action": "cancel"}),
            accepted(json!({})),
            accepted(json!({"question_01": "C", "question_02": ["C"], "question_03": "x"})),
        ];
        for response in unanswered {
            let asked = Asked::begin(&mut peer, "question", questions(&response.to_string()));
            let result = asked.answer(&mut peer, response.clone());
            let told = "[the user dismissed the questions without an answer]";
            assert_eq!(text(&result), told, "{response}");
            assert_eq!(result["isError"], false);
        }
    }
    world.finish();
}

#[test]
fn a_client_of_an_older_revision_ticks_what_may_be_several() {
    let world = World::new();
    let mut peer = Peer::stateful(&world, UNTITLED, json!({"elicitation": {}}));
    let asked = Asked::begin(&mut peer, "question", asking());
    let single = &asked.fields()["question_01"];
    assert_eq!(
        (&single["enum"], &single["enumNames"]),
        (&json!(["A", "B", OTHER]), &json!(["A: the first", "B", OTHER]))
    );
    assert_eq!(asked.fields()["question_02_option_02"]["type"], "boolean");
    let content = json!({
        "question_01": "B", "question_02_option_01": false, "question_02_option_02": true, "question_03": "x",
    });
    let result = asked.answer(&mut peer, accepted(content));
    assert_eq!(
        text(&result),
        r#"{"answers":[{"id":"db","selected":["B"]},{"id":"os","selected":["D"]},{"id":"why","selected":[],"custom":"x"}]}"#
    );
    drop(peer);
    world.finish();
}

#[test]
fn b113_a_plan_is_a_form_and_only_its_decision_to_approve_is_consent() {
    let eras: [fn(&World) -> Peer; 2] =
        [|world| Peer::stateful(world, STATEFUL, forms()), |world| Peer::stateless(world, forms())];
    for era in eras {
        // The only session is this client's.
        let world = trusting(true).start();
        let mut peer = era(&world);
        peer.request("tools/list", json!({})).unwrap();
        plan_mode(&world);
        let kept = "the user did not approve the plan and keeps planning; plan mode goes on";
        let closed = "the user closed the plan without a decision; plan mode goes on";
        let answers = [
            (
                accepted(json!({"decision": "keep_planning", "feedback": "approve y"})),
                format!("{kept}\nThe user says: approve y"),
            ),
            (json!({"action": "decline"}), kept.to_owned()),
            (json!({"action": "cancel"}), closed.to_owned()),
            (accepted(json!({"feedback": "approve"})), closed.to_owned()),
            (accepted(json!({"decision": "allow_once"})), closed.to_owned()),
        ];
        for (number, (response, told)) in answers.into_iter().enumerate() {
            let plan = planned(&format!("# Rename\n\n{number}. do x"));
            let asked = Asked::begin(&mut peer, "plan", plan);
            let shown = format!("\n│ # Rename\n│ \n│ {number}. do x");
            assert!(asked.message().ends_with(&shown), "{}", asked.message());
            let result = asked.answer(&mut peer, response.clone());
            assert_eq!((text(&result), &result["isError"]), (told.as_str(), &json!(true)));
            assert_eq!(world.sessions()[0]["plan"], true, "{response}");
        }
        let asked = Asked::begin(&mut peer, "plan", planned("# Rename\n\n1. do y"));
        let result = asked.answer(&mut peer, accepted(json!({"decision": "approve"})));
        assert_eq!(
            text(&result),
            "the user approved the plan: plan mode is over, and the session's mode is workspace-write; carry the plan out"
        );
        assert_eq!(world.sessions()[0]["plan"], json!(false));
        drop(peer);
        world.finish();
    }
}

#[test]
fn a_plan_is_not_put_to_a_client_that_is_not_trusted() {
    let world = trusting(false).start();
    let mut peer = Peer::stateful(&world, STATEFUL, forms());
    peer.request("tools/list", json!({})).unwrap();
    plan_mode(&world);
    let result = peer.call(planned("# Plan"));
    assert_eq!(
        text(&result),
        "nobody can answer: an MCP client's word on plans is not taken for a person's (`[mcp] trust_elicitation`), and no \
         operator is attached; nobody was asked"
    );
    assert_eq!(peer.rest(), Vec::<Value>::new());
    drop(peer);
    world.finish();
}

#[test]
fn an_operator_who_is_there_judges_a_plan_before_the_client() {
    let world = trusting(true).start();
    let operator = world.answerer();
    let mut peer = Peer::stateful(&world, STATEFUL, forms());
    peer.request("tools/list", json!({})).unwrap();
    plan_mode(&world);
    let id = peer.begin("tools/call", planned("# Plan"));
    let plan = operator.plan();
    let answer = PlanAnswer { decision: PlanDecision::Approve, feedback: None };
    operator.answer(&plan.id, Response::Decided(answer)).unwrap();
    let result = peer.end(id).unwrap();
    assert!(text(&result).starts_with("the user approved the plan"), "{result:#}");
    assert_eq!(peer.rest(), Vec::<Value>::new(), "the client was not asked");
    drop(peer);
    world.finish();
}

#[test]
fn an_operator_may_be_faster_with_an_answer_than_the_client() {
    let world = World::new();
    let operator = world.answerer();
    for mut peer in both(&world) {
        let call = json!({"name": "ask_user_question", "arguments": {"questions": [
            {"id": "db", "question": "Which?", "options": [{"label": "A"}, {"label": "B"}]},
        ]}});
        let asked = Asked::begin(&mut peer, "question", call);
        let id = operator.questions().id;
        let answer = Response::Answered(vec![chosen("db", &["B"])]);
        operator.answer(&id, answer).unwrap();
        let result = match &asked.way {
            Way::Request { call, request } => {
                let withdrawn = peer.wait("the form's withdrawal", |told| {
                    told["method"] == "notifications/cancelled"
                });
                assert_eq!(withdrawn["params"]["requestId"], request["id"]);
                peer.end(*call).unwrap()
            }
            Way::Result(_) => asked.answer(&mut peer, accepted(json!({"question_01": "A"}))),
        };
        assert_eq!(text(&result), r#"{"answers":[{"id":"db","selected":["B"]}]}"#);
    }
    world.finish();
}

#[test]
fn b117_a_client_that_shows_no_forms_is_told_at_once_that_nobody_can_be_asked() {
    let world = trusting(true).start();
    let told = "not answered: nobody could be asked (the MCP client shows no forms), and no operator is attached";
    for capabilities in [json!({}), json!({"elicitation": {"url": {}}})] {
        for mut peer in [
            Peer::stateful(&world, STATEFUL, capabilities.clone()),
            Peer::stateless(&world, capabilities.clone()),
        ] {
            let result = peer.call(asking());
            assert_eq!((text(&result), &result["isError"]), (told, &json!(true)));
        }
    }
    let operator = world.answerer();
    for mut peer in
        [Peer::stateful(&world, STATEFUL, json!({})), Peer::stateless(&world, json!({}))]
    {
        let id = peer.begin("tools/call", asking());
        let asked = operator.questions();
        let mut why = chosen("why", &[]);
        why.custom = Some("x".to_owned());
        let answers = vec![chosen("db", &["A"]), chosen("os", &["C"]), why];
        operator.answer(&asked.id, Response::Answered(answers)).unwrap();
        let result = peer.end(id).unwrap();
        assert!(
            text(&result).starts_with(r#"{"answers":[{"id":"db","selected":["A"]}"#),
            "{result:#}"
        );
    }
    world.finish();
}

#[test]
fn a_call_waits_no_longer_than_45_seconds_and_what_comes_back_later_is_for_its_next_one() {
    let world = World::new();
    let [mut stateful, mut stateless] = both(&world);
    let left = Asked::begin(&mut stateful, "question", asking());
    let late = Asked::begin(&mut stateless, "question", asking());
    let Way::Request { call, request } = &left.way else { panic!("it is a request") };
    let withdrawn =
        stateful.wait("the form's withdrawal", |told| told["method"] == "notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], request["id"]);
    let result = stateful.end(*call).unwrap();
    assert_eq!(
        text(&result),
        "not answered within 45 s, which is as long as this call waits for a person; a later answer reaches nobody"
    );
    assert_eq!(result["structuredContent"]["outcome"], "expired");
    brattice_tests::eventually("both calls were given up", || {
        let settled = world.audited(&["question_settled"]);
        (settled.len() == 2 && settled.iter().all(|line| line["outcome"] == "expired"))
            .then_some(())
    });
    let content = json!({"question_01": "A", "question_02": ["C"], "question_03": "late"});
    let result = late.answer(&mut stateless, accepted(content));
    assert_eq!(
        text(&result),
        r#"{"answers":[{"id":"db","selected":["A"]},{"id":"os","selected":["C"]},{"id":"why","selected":[],"custom":"late"}]}"#
    );
    drop((stateful, stateless));
    world.finish();
}
