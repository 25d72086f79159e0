//! Forms show all of a question and nothing else, and only a choice that was made is one.

use brattice_client::protocol::{ApprovalId, CallId, Mode, SessionId};

use super::*;

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
    let form = serde_json::to_value(form(&request("make\u{1b}[2J\nrm x")).unwrap()).unwrap();
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
    let accepted =
        |content: Value| ElicitResult::new(ElicitationAction::Accept).with_content(content);
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
        assert_eq!(answer(&request("make"), &result), expected, "{result:?}");
    }
}

#[test]
fn a_client_shows_forms_where_it_says_so() {
    let of =
        |capabilities: Value| shows_forms(Some(&serde_json::from_value(capabilities).unwrap()));
    assert!(of(json!({"elicitation": {}})) && of(json!({"elicitation": {"form": {}, "url": {}}})));
    assert!(!of(json!({"elicitation": {"url": {}}})) && !of(json!({})) && !shows_forms(None));
}
