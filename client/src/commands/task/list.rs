//! `brattice task list`: every task of every session.

use std::process::ExitCode;

use brattice_protocol::SessionId;
use brattice_protocol::task::TaskSummary;
use serde::Serialize;

use super::find::{Found, connect, cut, ids, sessions, short, tasks};
use super::words::{cpu, elapsed, first_line, now, silence, size, state};
use crate::cli::terminal::{Format, columns};
use crate::cli::{Context, Failure};

const HEAD: [&str; 9] =
    ["TASK", "SESSION", "STATUS", "ELAPSED", "CPU", "BYTES", "SILENT", "PROCESSES", "COMMAND"];

/// A task as data.
#[derive(Serialize)]
struct Row<'a> {
    session: &'a SessionId,
    #[serde(flatten)]
    summary: &'a TaskSummary,
}

/// Shows the tasks of all sessions, or of those whose id begins so.
pub(super) async fn list(context: &Context, session: Option<&str>) -> Result<ExitCode, Failure> {
    let link = connect(context).await?;
    let all = sessions(&link).await?;
    let wanted = |id: &str| session.is_none_or(|prefix| id.starts_with(prefix));
    let mut shown = all.iter().filter(|summary| wanted(summary.session.as_str())).peekable();
    if let (Some(prefix), None) = (session, shown.peek()) {
        return Err(Failure::UnknownSession(prefix.to_owned()));
    }
    let found = tasks(&link, shown).await?;
    if found.is_empty() && context.format == Format::Text {
        context.note("no tasks");
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Row> =
        found.iter().map(|Found { session, summary }| Row { session, summary }).collect();
    context.show("the tasks", &rows, |_| table(&found, short(&ids(&all)), now()))
}

fn table(found: &[Found], length: usize, now: u64) -> String {
    let rows = found.iter().map(|Found { session, summary }| {
        [
            summary.task.to_string(),
            cut(session, length).to_owned(),
            state(summary),
            elapsed(summary, now),
            cpu(summary),
            size(summary.bytes),
            silence(summary, now),
            summary.processes.to_string(),
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
            Found { session: SessionId::new("01995d2c-0000-7000"), summary: summary() },
            Found {
                session: SessionId::new("01995d2d-0000-7000"),
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
                    ..summary()
                },
            },
        ];
        let expected = "\
TASK     SESSION   STATUS                   ELAPSED  CPU   BYTES  SILENT  PROCESSES  COMMAND
bash-1   01995d2c  running                  1m 5s    1.2s  3.4K   5s      4          make -j
bash-12  01995d2d  completed, exit code: 2  3s       1.2s  0B     -       0          make …
";
        assert_eq!(table(&found, 8, 1_065_000), expected);
    }

    #[test]
    fn as_data_a_task_has_its_session_beside_what_the_daemon_says() {
        let (session, summary) = (SessionId::new("s"), summary());
        let mut expected = serde_json::to_value(&summary).unwrap();
        expected["session"] = json!("s");
        let row = Row { session: &session, summary: &summary };
        assert_eq!(serde_json::to_value(row).unwrap(), expected);
    }
}
