//! `brattice session`: all sessions of the daemon, by way of the operators' socket.

use std::process::ExitCode;
use std::time::Duration;

use brattice_protocol::session::SessionSummary;
use brattice_protocol::todo::{Todo, TodoStatus};
use serde::Serialize;
use serde_json::json;

use super::sessions;
use crate::cli::arguments::Session;
use crate::cli::duration::{now, words};
use crate::cli::plain::plain;
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
            let summary = sessions::find(&sessions, &id)?.clone();
            let todos = client.todo_list(&summary.session).await?.todos;
            let shown = Shown { summary, todos };
            context.show("the session", &shown, |_| describe(&shown))
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
            mode(summary),
            state(summary).to_owned(),
            summary.running.to_string(),
            words(age(summary.opened, now())),
            summary.workspace.clone(),
        ]
    });
    columns(&std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

/// A session in full.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    summary: SessionSummary,
    todos: Vec<Todo>,
}

fn describe(Shown { summary, todos }: &Shown) -> String {
    let mut text = columns(&facts(summary, now()).map(|(name, value)| [name.to_owned(), value]));
    if !todos.is_empty() {
        text.push_str("to-do list\n");
    }
    text.extend(todos.iter().map(|todo| format!("  {}\n", item(todo))));
    text
}

/// What there is to say of a session.
pub(crate) fn facts(summary: &SessionSummary, now: u64) -> [(&'static str, String); 9] {
    [
        ("session", summary.session.to_string()),
        ("label", label(summary)),
        ("workspace", summary.workspace.clone()),
        ("mode", mode(summary)),
        ("toolset", summary.toolset.as_str().to_owned()),
        ("network", summary.network.to_string()),
        ("state", state_in_full(summary).to_owned()),
        ("running tasks", summary.running.to_string()),
        ("opened", format!("{} ago", words(age(summary.opened, now)))),
    ]
}

/// An item of a to-do list on a line.
fn item(Todo { content, status }: &Todo) -> String {
    let mark = match status {
        TodoStatus::Pending => ' ',
        TodoStatus::InProgress => '>',
        TodoStatus::Completed => 'x',
    };
    format!("[{mark}] {}", plain(content))
}

/// The mode of what starts in it, and whether that is because it only plans.
fn mode(summary: &SessionSummary) -> String {
    let mode = summary.mode;
    if summary.plan { format!("{mode} (plan)") } else { mode.to_string() }
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
    use brattice_protocol::Mode;

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
            SessionSummary {
                running: 2,
                opened: now(),
                mode: Mode::ReadOnly,
                plan: true,
                ..session("0199cccc")
            },
        ];
        let expected = "\
SESSION   LABEL            MODE              STATE     RUNNING  AGE  WORKSPACE
0199aaaa  build \\u{1b}[2J  workspace-write   attached  0        0s   /w
0199bbbb  -                workspace-write   lost      0        0s   /w
0199cccc  -                read-only (plan)  detached  2        0s   /w
";
        assert_eq!(list(&all), expected);
        let todo = |content: &str, status| Todo { content: content.to_owned(), status };
        let todos = vec![
            todo("first\n[x] second", TodoStatus::InProgress),
            todo("third", TodoStatus::Pending),
            todo("done", TodoStatus::Completed),
        ];
        let shown = describe(&Shown { summary: all[0].clone(), todos });
        assert!(shown.contains("label          build \\u{1b}[2J\n"), "{shown}");
        let items = "to-do list\n  [>] first\\n[x] second\n  [ ] third\n  [x] done\n";
        assert!(shown.ends_with(items), "{shown}");
        let lost = describe(&Shown { summary: all[1].clone(), todos: Vec::new() });
        assert!(lost.contains("state          lost: its supervisor died"));
        assert!(!lost.contains("to-do"));
    }
}
