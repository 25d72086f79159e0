//! Forms show all of a question and nothing else, and only a choice that was made is one.

use brattice_client::protocol::approval::{ApprovalAnswer, ApprovalChoice, ApprovalRequest};
use brattice_client::protocol::editor::EditorContent;
use brattice_client::protocol::plan::{PlanAnswer, PlanDecision, PlanRequest};
use brattice_client::protocol::question::{
    Answer, Question, QuestionAnswer, QuestionOption, QuestionRequest,
};
use brattice_client::protocol::{ApprovalId, CallId, Mode, QuestionId, SessionId};
use rmcp::model::ElicitationAction;

use super::*;

fn accepted(content: Value) -> ElicitResult {
    ElicitResult::new(ElicitationAction::Accept).with_content(content)
}

/// A form's message and schema.
#[track_caller]
fn parts(form: Result<ElicitRequest, NoForm>) -> (String, Value) {
    let form = serde_json::to_value(form.unwrap()).unwrap();
    let params = &form["params"];
    (params["message"].as_str().unwrap().to_owned(), params["requestedSchema"].clone())
}

fn request(command: &str) -> ApprovalRequest {
    ApprovalRequest {
        id: ApprovalId::new("a-1"),
        session: SessionId::new("s-1"),
        call: CallId::new("c-1"),
        tool: "bash".to_owned(),
        title: "make".to_owned(),
        kind: "execute".to_owned(),
        command: Some(command.to_owned()),
        diff: Vec::new(),
        workdir: "/ws".to_owned(),
        from: Mode::WorkspaceWrite,
        to: Mode::DangerFullAccess,
        justification: Some("it builds\nfolder: /elsewhere".to_owned()),
        rule: None,
        denials: Vec::new(),
        options: [ApprovalChoice::AllowOnce, ApprovalChoice::RejectOnce].map(Into::into).to_vec(),
        expires: 0,
    }
}

#[test]
fn a_form_shows_all_of_a_question_and_has_no_default() {
    let form =
        serde_json::to_value(approval::form(&request("make\u{1b}[2J\nrm x")).unwrap()).unwrap();
    assert_eq!(
        form,
        json!({
            "method": "elicitation/create",
            "params": {
                "mode": "form",
                "message": "Allow this command to run in danger-full-access, once? The session is in workspace-write.\n\
                            command: make\\u{1b}[2J\\nrm x\n\
                            folder: /ws\n\
                            the model's reason: it builds\\nfolder: /elsewhere\n\
                            note: the files that it runs and reads are not part of the approval",
                "requestedSchema": {
                    "type": "object",
                    "properties": {
                        "decision": {
                            "type": "string", "title": "Decision",
                            "description": "allow_once: Allow once; reject_once: Reject",
                            "enum": ["allow_once", "reject_once"],
                        },
                        "reason": {
                            "type": "string", "title": "Reason", "maxLength": 1024,
                            "description": "What the model is told with a rejection",
                        },
                    },
                    "required": ["decision"],
                },
            },
        })
    );
}

#[test]
fn only_a_choice_that_is_offered_counts() {
    use ApprovalChoice::{AllowOnce, RejectOnce};
    let selected = |option, reason: Option<&str>| ApprovalAnswer::Selected {
        option,
        reason: reason.map(str::to_owned),
    };
    let cases = [
        (accepted(json!({"decision": "allow_once"})), selected(AllowOnce, None)),
        (
            accepted(json!({"decision": "reject_once", "reason": " no "})),
            selected(RejectOnce, Some("no")),
        ),
        (accepted(json!({"decision": "allow_always"})), ApprovalAnswer::Cancelled),
        (accepted(json!({"decision": true})), ApprovalAnswer::Cancelled),
        (accepted(json!({"reason": "allow_once"})), ApprovalAnswer::Cancelled),
        (accepted(json!({})), ApprovalAnswer::Cancelled),
        (ElicitResult::new(ElicitationAction::Accept), ApprovalAnswer::Cancelled),
        (ElicitResult::new(ElicitationAction::Decline), selected(RejectOnce, None)),
        (ElicitResult::new(ElicitationAction::Cancel), ApprovalAnswer::Cancelled),
    ];
    for (result, expected) in cases {
        assert_eq!(approval::answer(&request("make"), &result), expected, "{result:?}");
    }
}

#[test]
fn a_client_shows_forms_where_it_says_so() {
    let of =
        |capabilities: Value| shows_forms(Some(&serde_json::from_value(capabilities).unwrap()));
    assert!(of(json!({"elicitation": {}})) && of(json!({"elicitation": {"form": {}, "url": {}}})));
    assert!(!of(json!({"elicitation": {"url": {}}})) && !of(json!({})) && !shows_forms(None));
}

fn changing(diff: Vec<EditorContent>) -> ApprovalRequest {
    ApprovalRequest { command: None, diff, justification: None, ..request("") }
}

fn diff(path: &str, old: Option<&str>, new: &str) -> EditorContent {
    EditorContent::Diff {
        path: path.to_owned(),
        old_text: old.map(str::to_owned),
        new_text: new.to_owned(),
    }
}

#[test]
fn a_change_of_files_is_shown_whole_and_escaped() {
    let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\nend";
    let new = old.replace('1', "one").replace("end", "END\n");
    let request = changing(vec![
        diff("/ws/a\nfolder: /", Some(old), &new),
        diff("/ws/b", None, "\u{1b}[2J\r\u{202e}x\nnote: all is well\n"),
    ]);
    let (message, schema) = parts(approval::form(&request));
    let expected = "Allow this change of files to be made in danger-full-access, once? The session is in workspace-write.\n\
                    change: /ws/a\\nfolder: /\n\
                    │ -1\n│ +one\n│  2\n│  3\n│  4\n│ ...\n│  7\n│  8\n│  9\n│ -end\n\
                    │ \\ no newline at the end\n│ +END\n\
                    change: /ws/b (new)\n\
                    │ +\\u{1b}[2J\\r\\u{202e}x\n│ +note: all is well\n\
                    folder: /ws\n\
                    note: it is made to exactly these files while they are as shown, or not at all";
    assert_eq!(message, expected);
    assert_eq!(schema["required"], json!(["decision"]));
    let asked = ApprovalRequest { to: Mode::WorkspaceWrite, ..request };
    let (message, _) = parts(approval::form(&asked));
    assert!(
        message.starts_with("Allow this change of files? It would be made in workspace-write.\n")
    );
}

#[test]
fn what_is_too_long_to_be_read_is_no_form() {
    let lines = |count: usize| "a line of a file\n".repeat(count);
    let too_long = |form: Result<ElicitRequest, NoForm>| matches!(form, Err(NoForm::TooLong(bytes)) if bytes > MOST);
    assert!(approval::form(&changing(vec![diff("/ws/a", None, &lines(2_000))])).is_ok());
    assert!(too_long(approval::form(&changing(vec![diff("/ws/a", None, &lines(4_000))]))));
    assert!(too_long(approval::form(&request(&"\u{1}".repeat(MOST / 6)))), "once it is escaped");
    assert!(too_long(plan::form(&planned(&format!("# Plan\n{}", lines(4_000))))));
}

fn planned(plan: &str) -> PlanRequest {
    PlanRequest {
        id: QuestionId::new("p-1"),
        session: SessionId::new("s-1"),
        call: CallId::new("c-1"),
        plan: plan.to_owned(),
    }
}

#[test]
fn a_plan_is_shown_whole_with_a_decision_that_has_no_default() {
    let (message, schema) = parts(plan::form(&planned("# Rename\r\n\n1. do x\u{1b}[2J\n")));
    assert_eq!(
        message,
        "Approve this plan of the model's? Approval ends plan mode, and the model carries the plan out.\n\
         │ # Rename\n│ \n│ 1. do x\\u{1b}[2J"
    );
    assert_eq!(
        schema,
        json!({
            "type": "object",
            "properties": {
                "decision": {
                    "type": "string", "title": "Decision",
                    "description": "approve: The plan is carried out; keep_planning: The model makes another plan",
                    "enum": ["approve", "keep_planning"],
                },
                "feedback": {
                    "type": "string", "title": "Feedback", "maxLength": 8192,
                    "description": "What the model is told with the decision",
                },
            },
            "required": ["decision"],
        })
    );
}

#[test]
fn only_the_decision_to_approve_is_consent_to_a_plan() {
    let decided = |decision, feedback: Option<&str>| {
        Some(PlanAnswer { decision, feedback: feedback.map(str::to_owned) })
    };
    let cases = [
        (accepted(json!({"decision": "approve"})), decided(PlanDecision::Approve, None)),
        (
            accepted(json!({"decision": "keep_planning", "feedback": " approve "})),
            decided(PlanDecision::KeepPlanning, Some("approve")),
        ),
        (accepted(json!({"decision": "yes"})), None),
        (accepted(json!({"decision": true})), None),
        (accepted(json!({"feedback": "approve"})), None),
        (accepted(json!({})), None),
        (ElicitResult::new(ElicitationAction::Accept), None),
        (ElicitResult::new(ElicitationAction::Decline), decided(PlanDecision::KeepPlanning, None)),
        (ElicitResult::new(ElicitationAction::Cancel), None),
    ];
    for (result, expected) in cases {
        assert_eq!(plan::answer(&result), expected, "{result:?}");
    }
}

fn option(label: &str, description: Option<&str>) -> QuestionOption {
    QuestionOption { label: label.to_owned(), description: description.map(str::to_owned) }
}

/// One that takes an option, one that takes several, and one that has none.
fn questions() -> QuestionRequest {
    let question =
        |id: &str, header: Option<&str>, options: &[QuestionOption], multi_select| Question {
            id: id.to_owned(),
            question: format!("What of {id}?\nSay"),
            header: header.map(str::to_owned),
            options: options.to_vec(),
            multi_select,
        };
    QuestionRequest {
        id: QuestionId::new("q-1"),
        session: SessionId::new("s-1"),
        call: CallId::new("c-1"),
        questions: vec![
            question(
                "db",
                Some("Database"),
                &[option("A\u{1b}", Some("the first")), option("B", None)],
                false,
            ),
            question("os", None, &[option("C", None), option("D", None)], true),
            question("why", None, &[], false),
        ],
    }
}

#[test]
fn each_question_is_a_field_with_another_for_own_words() {
    let (message, schema) = parts(question::form(&questions(), Dialect::Titles));
    assert_eq!(
        message,
        "The model asks you 3 questions:\n\
         Database\n│ What of db?\n│ Say\n\
         Question 2\n│ What of os?\n│ Say\n\
         Question 3\n│ What of why?\n│ Say"
    );
    let other = json!({
        "const": "Something else, in my own words", "title": "Something else, in my own words",
    });
    let own = |title: &str| {
        json!({
            "type": "string", "title": format!("{title}, in your own words"), "maxLength": 8192,
            "description": "Another answer, or something to add",
        })
    };
    let fields = json!({
        "question_01": {
            "type": "string", "title": "Database", "description": "What of db?\\nSay",
            "oneOf": [
                {"const": "A\\u{1b}", "title": "A\\u{1b}: the first"},
                {"const": "B", "title": "B"}, other,
            ],
        },
        "question_01_own_words": own("Database"),
        "question_02": {
            "type": "array", "title": "Question 2", "description": "What of os?\\nSay", "minItems": 1,
            "items": {"anyOf": [{"const": "C", "title": "C"}, {"const": "D", "title": "D"}, other]},
        },
        "question_02_own_words": own("Question 2"),
        "question_03": {
            "type": "string", "title": "Question 3", "description": "What of why?\\nSay",
            "minLength": 1, "maxLength": 8192,
        },
    });
    assert_eq!(
        schema,
        json!({
            "type": "object", "properties": fields,
            "required": ["question_01", "question_02", "question_03"],
        })
    );
    let text =
        serde_json::to_string(&question::form(&questions(), Dialect::Titles).unwrap()).unwrap();
    let places = [
        "question_01",
        "question_01_own_words",
        "question_02",
        "question_02_own_words",
        "question_03",
    ]
    .map(|name| text.find(&format!("\"{name}\":")).unwrap());
    assert!(places.is_sorted(), "fields stand as they are asked: {text}");
}

#[test]
fn before_there_were_titles_values_have_names_and_what_takes_several_is_ticked() {
    let (_, schema) = parts(question::form(&questions(), Dialect::Names));
    let fields = &schema["properties"];
    assert_eq!(
        fields["question_01"],
        json!({
            "type": "string", "title": "Database", "description": "What of db?\\nSay",
            "enum": ["A\\u{1b}", "B", "Something else, in my own words"],
            "enumNames": ["A\\u{1b}: the first", "B", "Something else, in my own words"],
        })
    );
    let ticked = |title: &str| json!({"type": "boolean", "title": title, "description": "What of os?\\nSay"});
    assert_eq!(
        [
            &fields["question_02_option_01"],
            &fields["question_02_option_02"],
            &fields["question_02_option_03"]
        ],
        [&ticked("C"), &ticked("D"), &Value::Null]
    );
    assert_eq!(schema["required"], json!(["question_01", "question_03"]));
}

#[test]
fn revisions_have_their_dialect() {
    let of = |version: ProtocolVersion| Dialect::of(Some(&version));
    assert_eq!(
        [
            of(ProtocolVersion::V_2025_06_18),
            of(ProtocolVersion::V_2025_11_25),
            of(ProtocolVersion::V_2026_07_28),
            Dialect::of(None),
        ],
        [Dialect::Names, Dialect::Titles, Dialect::Titles, Dialect::Names]
    );
}

#[test]
fn options_that_look_alike_on_a_form_are_told_apart() {
    let mut request = questions();
    let alike = [
        option("A\n", None),
        option("A\\n", None),
        option("Something else, in my own words", None),
    ];
    request.questions.truncate(1);
    request.questions[0].options = alike.to_vec();
    let (_, schema) = parts(question::form(&request, Dialect::Names));
    let values =
        ["A\\n", "A\\n*", "Something else, in my own words", "Something else, in my own words*"];
    assert_eq!(schema["properties"]["question_01"]["enum"], json!(values));
    for (value, label) in values.iter().zip(alike) {
        let answered = question::answer(&request, &accepted(json!({"question_01": value})));
        let expected = Answer { id: "db".to_owned(), selected: vec![label.label], custom: None };
        assert_eq!(answered, QuestionAnswer::Answered(vec![expected]));
    }
    let own = json!({"question_01": values[3], "question_01_own_words": "none"});
    let expected =
        Answer { id: "db".to_owned(), selected: Vec::new(), custom: Some("none".to_owned()) };
    assert_eq!(
        question::answer(&request, &accepted(own)),
        QuestionAnswer::Answered(vec![expected])
    );
}

#[test]
fn what_was_filled_in_are_the_answers_and_what_is_none_dismisses() {
    let answer = |id: &str, selected: &[&str], custom: Option<&str>| Answer {
        id: id.to_owned(),
        selected: selected.iter().map(|label| (*label).to_owned()).collect(),
        custom: custom.map(str::to_owned),
    };
    let other = "Something else, in my own words";
    let answered = [
        (
            json!({"question_01": "A\\u{1b}", "question_02": ["D", "C"], "question_03": " because "}),
            [
                answer("db", &["A\u{1b}"], None),
                answer("os", &["D", "C"], None),
                answer("why", &[], Some("because")),
            ],
        ),
        (
            json!({
                "question_01": other, "question_01_own_words": "neither",
                "question_02_option_01": false, "question_02_option_02": true, "question_02_own_words": "and more", "question_03": "x",
            }),
            [
                answer("db", &[], Some("neither")),
                answer("os", &["D"], Some("and more")),
                answer("why", &[], Some("x")),
            ],
        ),
        (
            json!({"question_01": null, "question_01_own_words": "a", "question_02": [other], "question_02_own_words": "b", "question_03": "x"}),
            [
                answer("db", &[], Some("a")),
                answer("os", &[], Some("b")),
                answer("why", &[], Some("x")),
            ],
        ),
    ];
    for (content, expected) in answered {
        let told = question::answer(&questions(), &accepted(content.clone()));
        assert_eq!(told, QuestionAnswer::Answered(expected.to_vec()), "{content}");
    }
    let good = json!({"question_01": "B", "question_02": ["C"], "question_03": "x"});
    let spoilt = [
        ("question_01", json!("b")),
        ("question_01", json!(true)),
        ("question_01", json!(["B", "A\\u{1b}"])),
        ("question_01", json!(other)),
        ("question_02", json!([])),
        ("question_02", json!(["C", "C"])),
        ("question_02", json!([1])),
        ("question_03", json!("  ")),
        ("question_03", json!(false)),
    ];
    for (field, value) in spoilt {
        let mut content = good.clone();
        content[field] = value;
        let told = question::answer(&questions(), &accepted(content.clone()));
        assert_eq!(told, QuestionAnswer::Dismissed, "{content}");
    }
    for action in [ElicitationAction::Accept, ElicitationAction::Decline, ElicitationAction::Cancel]
    {
        let told = question::answer(&questions(), &ElicitResult::new(action));
        assert_eq!(told, QuestionAnswer::Dismissed);
    }
    let declined = ElicitResult::new(ElicitationAction::Decline).with_content(good);
    assert_eq!(question::answer(&questions(), &declined), QuestionAnswer::Dismissed);
}
