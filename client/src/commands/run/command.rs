//! The command as a whole: session, task, what is told at the end.

use std::ffi::OsString;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use brattice_protocol::SessionId;
use brattice_protocol::task::StartParams;

use super::feed::Source;
use super::notes::notes;
use super::status::exit_status;
use super::task::{Ended, Task};
use crate::cli::arguments::Run;
use crate::cli::failure::NOBODY_READS;
use crate::cli::terminal::Format;
use crate::cli::{Context, Failure};
use crate::commands::interrupt::Interrupts;
use crate::commands::temporary::open;

/// Runs the command and gives its exit status, or the one that tells why it has none.
pub(crate) async fn run(context: &Context, arguments: Run) -> Result<ExitCode, Failure> {
    let Run { confinement, timeout, command } = arguments;
    let words = words(command)?;
    let params = confinement.open_params("brattice run")?;
    let source = Source::of_stdin().map_err(Failure::Input)?;
    let client = context.agent().await?;
    let mut interrupts = Interrupts::listen()?;
    let session = open(&client, &params, &mut interrupts).await?.session;
    let followed = async {
        let start = start_params(session.clone(), words, timeout, &source);
        let task = Task::start(&client, &start).await?;
        task.follow(source, &mut interrupts).await
    };
    let ended = followed.await;
    // This stops whatever still runs, so it comes before anything is told. A third signal does not wait for it.
    let closed = interrupts.guard(client.session_close(&session)).await;
    let ended = ended?;
    // The command's end is known by now: what became of its session is worth telling, not worth its status.
    if let Err(failure) = closed {
        failure.warn(context.format);
    }
    conclude(context.format, &ended, timeout)
}

fn words(command: Vec<OsString>) -> Result<Vec<String>, Failure> {
    command.into_iter().map(|word| word.into_string().map_err(Failure::NotUtf8)).collect()
}

fn start_params(
    session: SessionId,
    mut words: Vec<String>,
    timeout: Option<Duration>,
    source: &Source,
) -> StartParams {
    let line = if words.len() == 1 { words.pop() } else { None };
    StartParams {
        session,
        argv: if line.is_none() { Some(words) } else { None },
        command: line,
        workdir: None,
        stdin: matches!(source, Source::Stdin),
        tty: false,
        idle_timeout_ms: None,
        timeout_ms: timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
    }
}

/// Tells what the outcome says beyond the output, and gives the exit status.
fn conclude(format: Format, ended: &Ended, timeout: Option<Duration>) -> Result<ExitCode, Failure> {
    let told = match format {
        Format::Text => notes(&ended.outcome, &ended.skipped, timeout).concat(),
        Format::Json => serde_json::to_string(&ended.outcome)
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
        None => exit_status(&ended.outcome).map(ExitCode::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start(words: &[&str]) -> (Option<String>, Option<Vec<String>>) {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let params = start_params(SessionId::new("s"), words, None, &Source::Nothing);
        (params.command, params.argv)
    }

    #[test]
    fn one_word_is_a_line_for_the_shell_and_several_are_words() {
        assert_eq!(start(&["ls | wc -l"]), (Some("ls | wc -l".to_owned()), None));
        let words = vec!["ls".to_owned(), "-l".to_owned()];
        assert_eq!(start(&["ls", "-l"]), (None, Some(words)));
    }
}
