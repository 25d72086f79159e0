//! `brattice session`: all sessions of the daemon, by way of the operators' socket.

use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use brattice_client::Client;
use brattice_protocol::SessionId;
use brattice_protocol::session::SessionSummary;
use serde_json::json;

use crate::cli::arguments::Session;
use crate::cli::duration::words;
use crate::cli::terminal::columns;
use crate::cli::{Context, Failure};

/// Performs `session list`, `session show` or `session close`.
pub(crate) async fn session(context: &Context, arguments: Session) -> Result<ExitCode, Failure> {
    let client = context.operator().await?;
    match arguments {
        Session::List => {
            let sessions = client.session_list().await?;
            context.show("the sessions", &sessions, |_| list(&sessions))
        }
        Session::Show { id } => {
            let found = find(&client, &id).await?;
            context.show("the session", &found, |_| describe(&found))
        }
        Session::Close { id } => {
            let session = SessionId::new(&id);
            client.session_close(&session).await?;
            context.show("the answer", &json!({"closed": session}), |_| format!("closed {id}\n"))
        }
    }
}

async fn find(client: &Client, id: &str) -> Result<SessionSummary, Failure> {
    let sessions = client.session_list().await?;
    let found = sessions.into_iter().find(|summary| summary.session.as_str() == id);
    found.ok_or_else(|| Failure::UnknownSession(id.to_owned()))
}

fn list(sessions: &[SessionSummary]) -> String {
    if sessions.is_empty() {
        return "no sessions\n".to_owned();
    }
    let head = ["SESSION", "MODE", "RUNNING", "CLIENT", "AGE", "WORKSPACE"].map(str::to_owned);
    let rows = sessions.iter().map(|summary| {
        [
            summary.session.to_string(),
            summary.mode.to_string(),
            summary.running.to_string(),
            client_state(summary).to_owned(),
            words(age(summary.opened)),
            summary.workspace.clone(),
        ]
    });
    columns(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

fn describe(summary: &SessionSummary) -> String {
    let facts = [
        ("session", summary.session.to_string()),
        ("label", summary.label.clone().unwrap_or_else(|| "none".to_owned())),
        ("workspace", summary.workspace.clone()),
        ("mode", summary.mode.to_string()),
        ("toolset", summary.toolset.as_str().to_owned()),
        ("network", summary.network.to_string()),
        ("client", client_state(summary).to_owned()),
        ("running tasks", summary.running.to_string()),
        ("opened", format!("{} ago", words(age(summary.opened)))),
    ];
    columns(&facts.map(|(name, value)| [name.to_owned(), value]))
}

fn client_state(summary: &SessionSummary) -> &'static str {
    if summary.attached { "attached" } else { "gone" }
}

/// How long ago that was; nothing where the clocks disagree.
fn age(opened: u64) -> Duration {
    let opened = SystemTime::UNIX_EPOCH + Duration::from_secs(opened);
    opened.elapsed().unwrap_or_default()
}
