//! `brattice task list`: every task of every session.

use std::process::ExitCode;

use brattice_protocol::SessionId;
use brattice_protocol::task::TaskSummary;
use serde::Serialize;

use super::find::{Found, connect, list_sessions, tasks};
use super::words::{cpu, elapsed, first_line, silence, size, state};
use crate::cli::duration::now;
use crate::cli::terminal::{Format, columns};
use crate::cli::{Context, Failure};
use crate::commands::sessions::{self, cut, ids, short};

const HEAD: [&str; 11] = [
    "TASK",
    "SESSION",
    "LABEL",
    "STATUS",
    "ELAPSED",
    "CPU",
    "BYTES",
    "SILENT",
    "PROCESSES",
    "DENIED",
    "COMMAND",
];

/// A task as data.
#[derive(Serialize)]
struct Row<'a> {
    session: &'a SessionId,
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    #[serde(flatten)]
    summary: &'a TaskSummary,
}

/// Shows the tasks of all sessions, or of one.
pub(super) async fn list(context: &Context, session: Option<&str>) -> Result<ExitCode, Failure> {
    let link = connect(context).await?;
    let all = list_sessions(&link).await?;
    let found = match session {
        Some(prefix) => tasks(&link, [sessions::find(&all, prefix)?].into_iter()).await?,
        None => tasks(&link, all.iter()).await?,
    };
    if found.is_empty() && context.format == Format::Text {
        context.note("no tasks");
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Row> = found.iter().map(Row::of).collect();
    context.show("the tasks", &rows, |_| table(&found, short(&ids(&all)), now()))
}

impl<'a> Row<'a> {
    fn of(Found { session, label, summary }: &'a Found) -> Self {
        Row { session, label: label.as_deref(), summary }
    }
}

fn table(found: &[Found], length: usize, now: u64) -> String {
    let rows = found.iter().map(|Found { session, label, summary }| {
        [
            summary.task.to_string(),
            cut(session, length).to_owned(),
            label.clone().unwrap_or_else(|| "-".to_owned()),
            state(summary),
            elapsed(summary, now),
            cpu(summary),
            size(summary.bytes),
            silence(summary, now),
            summary.processes.to_string(),
            summary.denials_total.map_or_else(|| "-".to_owned(), |total| total.to_string()),
            first_line(&summary.command),
        ]
    });
    columns(&std::iter::once(HEAD.map(str::to_owned)).chain(rows).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use brattice_protocol::TaskId;
    use brattice_protocol::outcome::Cause;
    use brattice_protocol::task::TaskStatus;
    use serde_json::json;

    use super::super::words::tests::summary;
    use super::*;

    #[test]
    fn tasks_stand_in_columns() {
        let found = [
            Found {
                session: SessionId::new("01995d2c-0000-7000"),
                label: Some("a\nb".into()),
                summary: summary(),
            },
            Found {
                session: SessionId::new("01995d2d-0000-7000"),
                label: None,
                summary: TaskSummary {
                    task: TaskId::new("bash-12"),
                    status: TaskStatus::Completed,
                    cause: Some(Cause::Exited),
                    exit_code: Some(2),
                    command: "make\nmake install".into(),
                    ended: Some(1_003_000),
                    last_output: None,
                    bytes: 0,
                    processes: 0,
                    denials_total: Some(12),
                    ..summary()
                },
            },
        ];
        let expected = "\
TASK     SESSION   LABEL  STATUS                   ELAPSED  CPU   BYTES  SILENT  PROCESSES  DENIED  COMMAND
bash-1   01995d2c  a\\nb   running                  1m 5s    1.2s  3.4K   5s      4          -       make -j
bash-12  01995d2d  -      completed, exit code: 2  3s       1.2s  0B     -       0          12      make …
";
        assert_eq!(table(&found, 8, 1_065_000), expected);
    }

    #[test]
    fn as_data_a_task_has_its_session_beside_what_the_daemon_says() {
        let session = SessionId::new("s");
        let found = Found { session, label: Some("build".into()), summary: summary() };
        let mut expected = serde_json::to_value(&found.summary).unwrap();
        expected["session"] = json!("s");
        expected["label"] = json!("build");
        assert_eq!(serde_json::to_value(Row::of(&found)).unwrap(), expected);
    }
}
