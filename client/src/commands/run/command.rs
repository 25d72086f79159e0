//! The command as a whole: session, task, what is told at the end.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use brattice_protocol::outcome::CommandOutcome;
use brattice_protocol::task::StartParams;

use super::feed::Source;
use super::following::{Ended, follow, start};
use crate::cli::arguments::Run;
use crate::cli::duration::milliseconds;
use crate::cli::failure::NOBODY_READS;
use crate::cli::program::Program;
use crate::cli::terminal::Format;
use crate::cli::{Context, Failure};
use crate::commands::follow::{Door, Link, Passed, exit_status, notes};
use crate::commands::interrupt::Interrupts;
use crate::commands::temporary::open;

/// Runs the command and gives its exit status, or the one that tells why it has none.
pub(crate) async fn run(context: &Context, arguments: Run) -> Result<ExitCode, Failure> {
    let Run { confinement, timeout, command } = arguments;
    let Program { command, argv } = Program::of(command)?;
    let params = confinement.open_params("brattice run")?;
    let source = Source::of_stdin().map_err(Failure::Input)?;
    let client = context.agent().await?;
    let mut interrupts = Interrupts::listen()?;
    let session = open(&client, &params, &mut interrupts).await?.session;
    let link = Link::new(context, client, Door::Agent(session.clone()));
    let followed = async {
        let params = StartParams {
            session: session.clone(),
            command,
            argv,
            workdir: None,
            stdin: matches!(source, Source::Stdin),
            tty: false,
            timeout_ms: timeout.map(milliseconds),
            idle_timeout_ms: None,
        };
        let task = interrupts.guard(start(&link, &params)).await?;
        follow(&task, source, &mut interrupts).await
    };
    let ended = followed.await;
    // This stops whatever still runs, so it comes before anything is told. A further signal does not wait for it.
    let close = link.request(async |client| client.session_close(&session).await);
    let closed = interrupts.guard(close).await;
    let ended = ended?;
    // The command's end is known by now: what became of its session is worth telling, not worth its status.
    match closed {
        Err(failure) if !failure.is_unknown_session() => failure.warn(context.format),
        Ok(_) | Err(_) => {}
    }
    conclude(context.format, &ended, timeout)
}

/// The outcome without the files of its output, which went with the session.
fn without_files(outcome: &CommandOutcome) -> CommandOutcome {
    let mut outcome = outcome.clone();
    for stream in std::iter::once(&mut outcome.stdout).chain(&mut outcome.stderr) {
        stream.file = None;
    }
    outcome
}

/// Tells what the outcome says beyond the output, and gives the exit status.
fn conclude(format: Format, ended: &Ended, timeout: Option<Duration>) -> Result<ExitCode, Failure> {
    let told = match format {
        Format::Text => notes(&ended.outcome, &ended.skipped, timeout).concat(),
        Format::Json => serde_json::to_string(&without_files(&ended.outcome))
            .map(|json| json + "\n")
            .map_err(|source| Failure::Json { what: "the outcome", source })?,
    };
    match std::io::stderr().write_all(told.as_bytes()) {
        // Nobody reads it: the exit status still tells how the command ended.
        Err(source) if source.kind() == std::io::ErrorKind::BrokenPipe => {}
        written => written.map_err(Failure::output("error"))?,
    }
    match ended.interrupt {
        Some(interrupt) => Ok(ExitCode::from(interrupt.exit_status())),
        None if ended.unread => Ok(ExitCode::from(NOBODY_READS)),
        None if ended.skipped.is_any() => Err(Failure::Incomplete),
        None if ended.passed == Passed::PerhapsTwice => Err(Failure::DoubtfulInput),
        None => exit_status(&ended.outcome).map(ExitCode::from),
    }
}
