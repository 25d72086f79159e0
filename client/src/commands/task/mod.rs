//! `brattice task`: the background tasks of all sessions, by way of the operators' socket.
//!
//! ```text
//!  start ──▶ a session of its own, left behind ──▶ SESSION/TASK
//!  list, output, wait, kill, input ──▶ find ──▶ one task of one session ──▶ `follow`
//! ```
//!
//! A file per subcommand; `find` turns what people call a task into the one that they mean, `words` tells its state.

mod find;
mod input;
mod kill;
mod list;
mod output;
mod progress;
mod start;
mod wait;
mod words;

pub(crate) use words::{elapsed, first_line, size};

use std::process::ExitCode;

use crate::cli::task::Task;
use crate::cli::{Context, Failure};
use crate::commands::follow::Urgency;

/// Performs a subcommand of `task`.
pub(crate) async fn task(context: &Context, arguments: Task) -> Result<ExitCode, Failure> {
    match arguments {
        Task::Start(arguments) => start::start(context, *arguments).await,
        Task::List { session } => list::list(context, session.as_deref()).await,
        Task::Output(arguments) => output::output(context, arguments).await,
        Task::Wait(target) => wait::wait(context, &target).await,
        Task::Kill { target, reason, force } => {
            let urgency = if force { Urgency::AtOnce } else { Urgency::Graceful };
            kill::kill(context, &target, reason.as_deref(), urgency).await
        }
        Task::Input(arguments) => input::input(context, arguments).await,
    }
}
