//! Questions to a person as MCP elicitations: what a form is, whether a client shows one, and putting it. What it says of a
//! question, and what was filled in, is the business of the file of that kind.
//!
//! No field has a default, so that nothing is allowed or answered by pressing enter. What others chose of a text is escaped, so
//! that nothing of it acts on a terminal or looks like a line of ours. Whether an answer counts is the daemon's to say.

use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult,
    ProtocolVersion, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

pub(crate) mod approval;
mod diff;
pub(crate) mod plan;
pub(crate) mod question;

/// Longest form in bytes, as it is sent: all of it must be shown, and nobody reads more.
const MOST: usize = 64 << 10;

/// Characters of an answer in own words: below the daemon's bound in bytes, whatever they are.
const MOST_WORDS: usize = brattice_client::protocol::question::MAX_TEXT / 4;

/// How long the lines of a change may be compared.
const COMPARING: Duration = Duration::from_millis(500);

/// The forms that a client can be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forms {
    /// How they get there.
    pub(crate) way: Way,
    /// How they are written.
    pub(crate) dialect: Dialect,
}

/// How a form gets to a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// As a request to it.
    Request,
    /// As the result of its own request.
    Result,
}

/// How choices are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// To 2025-06-18: values with names beside them, and no field takes several.
    Names,
    /// Since 2025-11-25: values with titles, of which a field may take several.
    Titles,
}

/// Why something cannot be asked by a form.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NoForm {
    /// The client shows none.
    #[error("the MCP client shows no forms")]
    Unshown,
    /// It would not be read whole.
    #[error("{0} bytes are too long for a form, which has {MOST} at most")]
    TooLong(usize),
    /// rmcp knows no such form.
    #[error("it cannot be written as a form")]
    Unwritten(#[source] serde_json::Error),
}

impl Forms {
    /// What the client of a request can be shown; none where it shows no forms.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Option<Forms> {
        let version = context.protocol_version();
        let dialect = Dialect::of(version.as_ref());
        let way = match version {
            Some(version) if !version.has_initialize() => Way::Result,
            Some(_) | None => Way::Request,
        };
        shows_forms(context.client_capabilities().as_ref()).then_some(Forms { way, dialect })
    }
}

impl Dialect {
    fn of(version: Option<&ProtocolVersion>) -> Dialect {
        match version {
            Some(version) if *version >= ProtocolVersion::V_2025_11_25 => Dialect::Titles,
            Some(_) | None => Dialect::Names,
        }
    }
}

/// Whether a client shows forms. One that declares neither kind of elicitation shows forms (2025-06-18).
fn shows_forms(client: Option<&ClientCapabilities>) -> bool {
    let declared = client.and_then(|client| client.elicitation.as_ref());
    declared.is_some_and(|kinds| kinds.form.is_some() || kinds.url.is_none())
}

/// A form: what a person reads, and what they fill in.
#[derive(Debug, Default)]
struct Form {
    message: String,
    /// By name, and in that order on the wire, whatever order they came in: names of ours sort as they are to be filled in.
    fields: Map<String, Value>,
    required: Vec<String>,
}

impl Form {
    /// One without fields.
    fn saying(message: String) -> Form {
        Form { message, ..Form::default() }
    }

    /// A field that may stay empty.
    fn field(&mut self, name: impl Into<String>, schema: Value) {
        self.fields.insert(name.into(), schema);
    }

    /// One that may not.
    fn required(&mut self, name: impl Into<String>, schema: Value) {
        let name = name.into();
        self.required.push(name.clone());
        self.field(name, schema);
    }

    /// It on the wire.
    fn request(self) -> Result<ElicitRequest, NoForm> {
        let Form { message, fields, required } = self;
        let mut schema = json!({"type": "object", "properties": fields});
        if !required.is_empty() {
            schema["required"] = required.into();
        }
        let params = json!({"mode": "form", "message": message, "requestedSchema": schema});
        let bytes = params.to_string().len();
        if bytes > MOST {
            return Err(NoForm::TooLong(bytes));
        }
        let params: ElicitRequestParams =
            serde_json::from_value(params).map_err(NoForm::Unwritten)?;
        Ok(ElicitRequest::new(params))
    }
}

/// A choice among words of ours.
fn decision(choices: &[(String, String)]) -> Value {
    let values: Vec<&str> = choices.iter().map(|(value, _)| value.as_str()).collect();
    let names: Vec<String> =
        choices.iter().map(|(value, name)| format!("{value}: {name}")).collect();
    json!({"type": "string", "title": "Decision", "description": names.join("; "), "enum": values})
}

/// The text of a field, if there is any.
fn words(result: &ElicitResult, field: &str) -> Option<String> {
    let text = result.content.as_ref()?.get(field)?.as_str()?.trim();
    (!text.is_empty()).then(|| text.to_owned())
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

/// A text as lines below one of ours.
fn quoted(text: &str) -> String {
    text.lines().map(|line| format!("\n│ {}", plain(line))).collect()
}

/// Puts a form by a request to the client, in the revisions that have those. None where it cannot be put, or `over` came
/// first: the request is then withdrawn.
pub(crate) async fn ask(
    peer: Peer<RoleServer>,
    form: ElicitRequest,
    over: CancellationToken,
) -> Option<ElicitResult> {
    let form = ServerRequest::ElicitRequest(form);
    let sending = peer.send_cancellable_request(form, PeerRequestOptions::no_options());
    let mut handle = sending.await.ok()?;
    tokio::select! {
        biased;
        answered = &mut handle.rx => match answered {
            Ok(Ok(ClientResult::ElicitResult(result))) => Some(result),
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
