//! `brattice task kill`: asks for the end of a task and of everything that it started.

use std::process::ExitCode;

use serde_json::json;

use super::find::{Found, connect, find};
use super::words::state;
use crate::cli::plain::plain;
use crate::cli::task::Target;
use crate::cli::{Context, Failure};
use crate::commands::follow::Urgency;

/// Asks for the end. A task that is over stays as it ended.
pub(super) async fn kill(
    context: &Context,
    target: &Target,
    reason: Option<&str>,
    urgency: Urgency,
) -> Result<ExitCode, Failure> {
    let link = connect(context).await?;
    let found = find(&link, target).await?;
    let is_over = found.summary.status.is_final();
    if !is_over {
        found.by(link).kill(reason, urgency).await?;
    }
    let Found { session, summary, .. } = found;
    let data = json!({"session": session, "task": summary.task, "stopping": !is_over});
    context.show("the answer", &data, |_| match is_over {
        true => format!("{} has ended before: {}\n", summary.task, plain(&state(&summary))),
        false => format!("stopping {}\n", summary.task),
    })
}
