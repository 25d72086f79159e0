//! `brattice task wait`: returns when nothing of a task is left, with the exit status that its command had.

use std::io::Write as _;
use std::process::ExitCode;

use super::find::{connect, find};
use super::progress;
use super::words::{limit, state};
use crate::cli::plain::plain;
use crate::cli::task::Target;
use crate::cli::terminal::Format;
use crate::cli::{Context, Failure};
use crate::commands::follow::{Skipped, exit_status, notes};
use crate::commands::interrupt::Interrupts;

/// Waits, and tells how it ended. A signal ends the wait and not the task.
pub(super) async fn wait(context: &Context, target: &Target) -> Result<ExitCode, Failure> {
    let link = connect(context).await?;
    let task = find(&link, target).await?.by(link);
    let mut interrupts = Interrupts::listen()?;
    let waiting = async {
        tokio::select! {
            outcome = task.outcome() => outcome,
            never = progress::show(&task) => match never {},
        }
    };
    let outcome = interrupts.guard(waiting).await?;
    let summary = interrupts.guard(task.summary()).await?;
    if context.format == Format::Text {
        let limit = summary.as_ref().and_then(limit);
        let told = notes(&outcome, &Skipped::default(), limit).concat();
        // Where nobody reads them, the exit status still tells.
        std::io::stderr().write_all(told.as_bytes()).ok();
    }
    context.show("the outcome", &outcome, |_| {
        // A task that is listed no more has been told of by the notes.
        summary
            .map(|summary| format!("{}: {}\n", summary.task, plain(&state(&summary))))
            .unwrap_or_default()
    })?;
    exit_status(&outcome).map(ExitCode::from)
}
