//! `brattice call`: one tool call, for scripts.

use std::process::ExitCode;
use std::time::SystemTime;

use brattice_client::Client;
use brattice_protocol::session::{OpenParams, Session};
use brattice_protocol::tools::{CallParams, CallResult, CancelParams};
use brattice_protocol::{CallId, SessionId};
use serde_json::{Map, Value};

use super::interrupt::{Interrupt, Interrupts};
use super::temporary::in_session;
use crate::cli::arguments::Call;
use crate::cli::context::print;
use crate::cli::terminal::{Format, Style};
use crate::cli::{Context, Failure};

/// A call that is over, and the signal that asked for its end, if one did.
struct Ended {
    result: CallResult,
    interrupt: Option<Interrupt>,
}

/// Makes the call and shows its result. Exit status 1 if it failed as a call.
pub(crate) async fn call(context: &Context, arguments: Call) -> Result<ExitCode, Failure> {
    let Call { tool, arguments, session, confinement, toolset } = arguments;
    let arguments: Map<String, Value> = serde_json::from_str(&arguments)
        .map_err(|source| Failure::Arguments { tool: tool.clone(), source })?;
    let title = title(&tool, &arguments);
    let params = |session| CallParams { session, call: Some(fresh_id()), name: tool, arguments };
    let ended = match session {
        Some(id) => {
            let client = context.operator().await?;
            announce(context, &title)?;
            let mut interrupts = Interrupts::listen()?;
            make(&client, &params(SessionId::new(id)), &mut interrupts).await?
        }
        None => {
            let open = OpenParams { toolset, ..confinement.open_params("brattice call")? };
            let client = context.agent().await?;
            announce(context, &title)?;
            let work = async |session: &Session, interrupts: &mut Interrupts| {
                make(&client, &params(session.session.clone()), interrupts).await
            };
            in_session(&client, &open, work).await?
        }
    };
    let shown = context.show("the result", &ended.result, |_| text(&ended.result))?;
    Ok(match (ended.interrupt, ended.result.is_error) {
        (Some(interrupt), _) => ExitCode::from(interrupt.exit_status()),
        (None, true) => ExitCode::FAILURE,
        (None, false) => shown,
    })
}

/// Waits for the result. The first signal cancels the call, a second one gives it up.
async fn make(
    client: &Client,
    params: &CallParams,
    interrupts: &mut Interrupts,
) -> Result<Ended, Failure> {
    let calling = client.tools_call(params);
    tokio::pin!(calling);
    let interrupt = tokio::select! {
        result = &mut calling => return Ok(Ended { result: result?, interrupt: None }),
        interrupt = interrupts.next() => interrupt,
    };
    let cancelled = async {
        if let Some(call) = params.call.clone() {
            client.tools_cancel(&CancelParams { session: params.session.clone(), call }).await?;
        }
        calling.await
    };
    let result = interrupts.guard(cancelled).await?;
    Ok(Ended { result, interrupt: Some(interrupt) })
}

/// An id that no other call of the session has: the session may be another program's.
fn fresh_id() -> CallId {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    CallId::new(format!("brattice-{}-{}", std::process::id(), now.as_nanos()))
}

fn announce(context: &Context, title: &str) -> Result<(), Failure> {
    match context.format {
        Format::Text => print(format!("{}\n", Style::of_stdout().bold(title))),
        Format::Json => Ok(()),
    }
}

/// The line that goes before a call: the tool and, where it has one, its command.
fn title(tool: &str, arguments: &Map<String, Value>) -> String {
    match arguments.get("command").and_then(Value::as_str) {
        Some(command) => format!("🛠️ {tool}: {command}"),
        None => format!("🛠️ {tool}"),
    }
}

fn text(result: &CallResult) -> String {
    let mut text = result.text();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_title_shows_the_command() {
        let title_of = |arguments: Value| title("bash", arguments.as_object().unwrap());
        assert_eq!(title_of(json!({"command": "ls -l", "timeoutMs": 5})), "🛠️ bash: ls -l");
        assert_eq!(title_of(json!({})), "🛠️ bash");
    }
}
