//! Questions to a person as MCP elicitations, and their answers: a form with one choice, which has no default, so that nothing is
//! allowed by pressing enter. Pure but for [`ask`].
//!
//! Whether an answer counts is the daemon's to say.

use brattice_client::protocol::approval::{
    ApprovalAnswer, ApprovalChoice, ApprovalRequest, MAX_REASON,
};
use brattice_client::protocol::outcome::Denial;
use rmcp::model::{
    ClientCapabilities, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ElicitationAction, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleServer};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// The form's fields.
const DECISION: &str = "decision";
const REASON: &str = "reason";

/// Denials that a form shows.
const MOST_DENIALS: usize = 5;

/// Whether a client shows forms. One that declares neither kind of elicitation shows forms (2025-06-18).
pub(crate) fn shows_forms(client: Option<&ClientCapabilities>) -> bool {
    let declared = client.and_then(|client| client.elicitation.as_ref());
    declared.is_some_and(|kinds| kinds.form.is_some() || kinds.url.is_none())
}

/// The question as a form. None where rmcp cannot write it, or of a change, whose diff a form does not show.
pub(crate) fn form(request: &ApprovalRequest) -> Option<ElicitRequest> {
    if !request.diff.is_empty() {
        return None;
    }
    let choices: Vec<ApprovalChoice> = request.options.iter().map(|option| option.id).collect();
    let names: Vec<String> = request
        .options
        .iter()
        .map(|option| format!("{}: {}", value(option.id).as_str().unwrap_or_default(), option.name))
        .collect();
    let schema = json!({
        "type": "object",
        "properties": {
            DECISION: {
                "type": "string", "title": "Decision", "description": names.join("; "),
                "enum": choices,
            },
            REASON: {
                "type": "string", "title": "Reason", "maxLength": MAX_REASON,
                "description": "What the model is told with a rejection",
            },
        },
        "required": [DECISION],
    });
    let params = json!({"mode": "form", "message": message(request), "requestedSchema": schema});
    let params: ElicitRequestParams = serde_json::from_value(params).ok()?;
    Some(ElicitRequest::new(params))
}

fn value(choice: ApprovalChoice) -> Value {
    serde_json::to_value(choice).unwrap_or_default()
}

/// All that it is about. What others chose of it is escaped, so that nothing of it looks like a line of ours.
fn message(request: &ApprovalRequest) -> String {
    let ApprovalRequest { from, to, command, workdir, title, .. } = request;
    let command = command.as_deref().unwrap_or(title);
    let mut text = match from == to {
        true => format!("Allow this command? It would run in {to}."),
        false => format!("Allow this command to run in {to}, once? The session is in {from}."),
    };
    let mut field = |name: &str, value: &str| {
        text.push_str(&format!("\n{name}: {}", plain(value)));
    };
    field("command", command);
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
    field("note", "the files that it runs and reads are not part of the approval");
    text
}

/// A text on one line, without signs that a terminal acts on or does not show.
fn plain(text: &str) -> String {
    let mut shown = String::new();
    for sign in text.chars() {
        match sign {
            '"' | '\'' | '\\' => shown.push(sign),
            other => shown.extend(other.escape_debug()),
        }
    }
    shown
}

/// What a person chose in the form. A form that was sent off without a choice that is offered is none.
pub(crate) fn answer(request: &ApprovalRequest, result: &ElicitResult) -> ApprovalAnswer {
    let content = result.content.as_ref();
    let reason = content.and_then(|content| content.get(REASON)?.as_str()).map(str::trim);
    let reason = reason.filter(|reason| !reason.is_empty()).map(str::to_owned);
    match result.action {
        ElicitationAction::Accept => {
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

/// Asks by a request to the client, in the revisions that have those. None where it cannot be asked, or `over` came first: the
/// request is then withdrawn.
pub(crate) async fn ask(
    peer: Peer<RoleServer>,
    request: ApprovalRequest,
    over: CancellationToken,
) -> Option<ApprovalAnswer> {
    let form = ServerRequest::ElicitRequest(form(&request)?);
    let sending = peer.send_cancellable_request(form, PeerRequestOptions::no_options());
    let mut handle = sending.await.ok()?;
    tokio::select! {
        biased;
        answered = &mut handle.rx => match answered {
            Ok(Ok(ClientResult::ElicitResult(result))) => Some(answer(&request, &result)),
            Ok(_) | Err(_) => None,
        },
        () = over.cancelled() => {
            // A client that is gone need not be told.
            drop(handle.cancel(Some("the call is over".to_owned())).await);
            None
        }
    }
}

#[cfg(test)]
mod tests;
