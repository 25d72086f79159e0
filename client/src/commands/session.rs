//! `brattice session`: all sessions of the daemon, by way of the operators' socket.

use std::process::ExitCode;
use std::time::Duration;

use brattice_protocol::session::SessionSummary;
use serde_json::json;

use super::sessions;
use crate::cli::arguments::Session;
use crate::cli::duration::{now, words};
use crate::cli::terminal::{Format, columns};
use crate::cli::{Context, Failure};

/// Performs `session list`, `session show` or `session close`.
pub(crate) async fn session(context: &Context, arguments: Session) -> Result<ExitCode, Failure> {
    let client = context.operator().await?;
    match arguments {
        Session::List => {
            let sessions = client.session_list().await?;
            if sessions.is_empty() && context.format == Format::Text {
                context.note("no sessions");
                return Ok(ExitCode::SUCCESS);
            }
            context.show("the sessions", &sessions, |_| list(&sessions))
        }
        Session::Show { id } => {
            let sessions = client.session_list().await?;
            let found = sessions::find(&sessions, &id)?;
            context.show("the session", found, |_| describe(found))
        }
        Session::Close { id } => {
            let sessions = client.session_list().await?;
            let session = &sessions::find(&sessions, &id)?.session;
            client.session_close(session).await?;
            let data = json!({"closed": session});
            context.show("the answer", &data, |_| format!("closed {session}\n"))
        }
    }
}

fn list(sessions: &[SessionSummary]) -> String {
    let head =
        ["SESSION", "LABEL", "MODE", "STATE", "RUNNING", "AGE", "WORKSPACE"].map(str::to_owned);
    let rows = sessions.iter().map(|summary| {
        [
            summary.session.to_string(),
            label(summary),
            summary.mode.to_string(),
            state(summary).to_owned(),
            summary.running.to_string(),
            words(age(summary.opened, now())),
            summary.workspace.clone(),
        ]
    });
    columns(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

fn describe(summary: &SessionSummary) -> String {
    columns(&facts(summary, now()).map(|(name, value)| [name.to_owned(), value]))
}

/// What there is to say of a session.
pub(crate) fn facts(summary: &SessionSummary, now: u64) -> [(&'static str, String); 9] {
    [
        ("session", summary.session.to_string()),
        ("label", label(summary)),
        ("workspace", summary.workspace.clone()),
        ("mode", summary.mode.to_string()),
        ("toolset", summary.toolset.as_str().to_owned()),
        ("network", summary.network.to_string()),
        ("state", state_in_full(summary).to_owned()),
        ("running tasks", summary.running.to_string()),
        ("opened", format!("{} ago", words(age(summary.opened, now)))),
    ]
}

fn label(summary: &SessionSummary) -> String {
    sessions::label(summary).unwrap_or("-").to_owned()
}

/// Whether something can start in it, and if so whether a client holds it.
fn state(summary: &SessionSummary) -> &'static str {
    match (summary.lost, summary.attached) {
        (true, _) => "lost",
        (false, true) => "attached",
        (false, false) => "detached",
    }
}

fn state_in_full(summary: &SessionSummary) -> &'static str {
    match (summary.lost, summary.attached) {
        (true, _) => "lost: its supervisor died, nothing starts in it, what it printed can be read",
        (false, true) => "attached: a client holds it",
        (false, false) => "detached: it is closed when nobody resumes it in time",
    }
}

/// How long ago that was; nothing where the clocks disagree.
fn age(opened: u64, now: u64) -> Duration {
    Duration::from_millis(now.saturating_sub(opened))
}

#[cfg(test)]
mod tests {
    use super::sessions::tests::session;
    use super::*;

    #[test]
    fn a_list_tells_labels_and_what_is_lost_and_a_label_moves_no_cursor() {
        let all = [
            SessionSummary {
                label: Some("build \u{1b}[2J".into()),
                attached: true,
                opened: now(),
                ..session("0199aaaa")
            },
            SessionSummary { lost: true, opened: u64::MAX, ..session("0199bbbb") },
            SessionSummary { running: 2, opened: now(), ..session("0199cccc") },
        ];
        let expected = "\
SESSION   LABEL            MODE             STATE     RUNNING  AGE  WORKSPACE
0199aaaa  build \\u{1b}[2J  workspace-write  attached  0        0s   /w
0199bbbb  -                workspace-write  lost      0        0s   /w
0199cccc  -                workspace-write  detached  2        0s   /w
";
        assert_eq!(list(&all), expected);
        let shown = describe(&all[0]);
        assert!(shown.contains("label          build \\u{1b}[2J\n"), "{shown}");
        assert!(describe(&all[1]).contains("state          lost: its supervisor died"));
    }
}
