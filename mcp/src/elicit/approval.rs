//! The approval of a command or of a change of files as a form with one choice, and what was chosen. Pure.

use std::time::Instant;

use brattice_client::protocol::approval::{
    ApprovalAnswer, ApprovalChoice, ApprovalRequest, MAX_REASON,
};
use brattice_client::protocol::editor::EditorContent;
use brattice_client::protocol::outcome::Denial;
use rmcp::model::{ElicitRequest, ElicitResult, ElicitationAction};
use serde_json::json;

use super::{COMPARING, Form, NoForm, decision, diff, plain, words};

/// The form's fields.
const DECISION: &str = "decision";
const REASON: &str = "reason";

/// Denials that a form shows.
const MOST_DENIALS: usize = 5;

/// The question as a form.
pub(crate) fn form(request: &ApprovalRequest) -> Result<ElicitRequest, NoForm> {
    let mut form = Form::saying(message(request));
    let choices: Vec<(String, String)> =
        request.options.iter().map(|option| (value(option.id), option.name.clone())).collect();
    form.required(DECISION, decision(&choices));
    let reason = json!({
        "type": "string", "title": "Reason", "maxLength": MAX_REASON,
        "description": "What the model is told with a rejection",
    });
    form.field(REASON, reason);
    form.request()
}

fn value(choice: ApprovalChoice) -> String {
    let value = serde_json::to_value(choice).unwrap_or_default();
    value.as_str().unwrap_or_default().to_owned()
}

/// All that it is about.
fn message(request: &ApprovalRequest) -> String {
    let ApprovalRequest { from, to, command, workdir, title, diff, .. } = request;
    let is_change = !diff.is_empty();
    let mut text = match (is_change, from == to) {
        (false, true) => format!("Allow this command? It would run in {to}."),
        (false, false) => {
            format!("Allow this command to run in {to}, once? The session is in {from}.")
        }
        (true, true) => format!("Allow this change of files? It would be made in {to}."),
        (true, false) => {
            format!(
                "Allow this change of files to be made in {to}, once? The session is in {from}."
            )
        }
    };
    if is_change {
        text.push_str(&change(diff));
    }
    let mut field = |name: &str, value: &str| {
        text.push_str(&format!("\n{name}: {}", plain(value)));
    };
    if !is_change {
        field("command", command.as_deref().unwrap_or(title));
    }
    field("folder", workdir);
    if let Some(rule) = &request.rule {
        field("a rule asks", rule);
    }
    if let Some(justification) = &request.justification {
        field("the model's reason", justification);
    }
    for Denial { operation, path, .. } in request.denials.iter().take(MOST_DENIALS) {
        field("the sandbox refused", &format!("{operation} {path}"));
    }
    let note = match is_change {
        true => "it is made to exactly these files while they are as shown, or not at all",
        false => "the files that it runs and reads are not part of the approval",
    };
    field("note", note);
    text
}

/// Every place of every file that is changed.
fn change(content: &[EditorContent]) -> String {
    let mut text = String::new();
    let deadline = Instant::now() + COMPARING;
    for EditorContent::Diff { path, old_text, new_text } in content {
        let made = if old_text.is_none() { " (new)" } else { "" };
        text.push_str(&format!("\nchange: {}{made}", plain(path)));
        for line in diff::lines(old_text.as_deref().unwrap_or_default(), new_text, deadline) {
            text.push_str(&format!("\n│ {line}"));
        }
    }
    text
}

/// What a person chose in the form. A form that was sent off without a choice that is offered is none.
pub(crate) fn answer(request: &ApprovalRequest, result: &ElicitResult) -> ApprovalAnswer {
    let reason = words(result, REASON);
    match result.action {
        ElicitationAction::Accept => {
            let content = result.content.as_ref();
            let chosen = content.and_then(|content| content.get(DECISION)).cloned();
            let option = chosen.and_then(|chosen| serde_json::from_value(chosen).ok());
            match option.filter(|option| request.offers(*option)) {
                Some(option) => ApprovalAnswer::Selected { option, reason },
                None => ApprovalAnswer::Cancelled,
            }
        }
        ElicitationAction::Decline => {
            ApprovalAnswer::Selected { option: ApprovalChoice::RejectOnce, reason }
        }
        _ => ApprovalAnswer::Cancelled,
    }
}
