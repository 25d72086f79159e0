//! The command's task, followed to its end: its streams, its input, and the signals meant for it.

use std::cell::Cell;

use brattice_protocol::outcome::CommandOutcome;
use brattice_protocol::task::{StartParams, TaskListParams};
use brattice_protocol::tools::Stream;
use tokio::sync::mpsc;

use super::feed::{Source, feed};
use crate::cli::Failure;
use crate::commands::follow::{Link, Passed, Pumped, Reader, Skipped, Task, Until, Urgency, pump};
use crate::commands::interrupt::{Interrupt, Interrupts};

/// A task that is over and whose output has been written.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) outcome: CommandOutcome,
    pub(super) skipped: Skipped,
    /// How often the command got its input.
    pub(super) passed: Passed,
    /// The task was stopped because nobody reads standard output any more.
    pub(super) unread: bool,
    /// The signal that asked for the end, if one did.
    pub(super) interrupt: Option<Interrupt>,
}

/// Starts the command in a session that nobody else uses. Where a daemon went away before it answered, a task that is
/// there is this one.
pub(super) async fn start(link: &Link, params: &StartParams) -> Result<Task, Failure> {
    let listed = TaskListParams { session: params.session.clone() };
    let is_first = Cell::new(true);
    let started = link.request(async |client| {
        if !is_first.replace(false)
            && let Some(found) = client.task_list(&listed).await?.into_iter().next()
        {
            return Ok(found.task);
        }
        Ok(client.task_start(params).await?.task)
    });
    let task = started.await?;
    Ok(Task { link: link.clone(), session: params.session.clone(), task })
}

/// A reason to end the command.
#[derive(Clone, Copy, Debug)]
struct Wish {
    reason: &'static str,
    urgency: Urgency,
}

/// Follows the task until nothing of it is left. The first signal stops it, a second one kills it, a third one gives up
/// waiting.
pub(super) async fn follow(
    task: &Task,
    source: Source,
    interrupts: &mut Interrupts,
) -> Result<Ended, Failure> {
    // There are three: nobody reads, a signal, a second one.
    let (ask, asked) = mpsc::channel(3);
    let stderr = tokio::io::stderr();
    let end = async {
        tokio::try_join!(
            pump_stdout(task, &ask),
            pump(task, Stream::Stderr, 0, Until::End, stderr, |_| {}),
            task.outcome()
        )
    };
    let passed = Cell::new(Passed::Once);
    let (feeding, killing) = (feed(task, source, &passed), kill(task, asked));
    tokio::pin!(end, feeding, killing);
    let (mut interrupt, mut is_urgent, mut is_fed) = (None, false, false);
    let (stdout, stderr, outcome) = loop {
        tokio::select! {
            ended = &mut end => break ended?,
            outcome = &mut feeding, if !is_fed => {
                outcome?;
                is_fed = true;
            }
            () = &mut killing => {}
            signal = interrupts.next() => match interrupt {
                Some(first) if is_urgent => return Err(Failure::Interrupted(first)),
                Some(_) => {
                    is_urgent = true;
                    wish(&ask, signal.name(), Urgency::AtOnce);
                }
                None => {
                    interrupt = Some(signal);
                    wish(&ask, signal.name(), Urgency::Graceful);
                }
            },
        }
    };
    let skipped = Skipped { stdout: stdout.skipped, stderr: stderr.skipped };
    let (passed, unread) = (passed.get(), stdout.reader == Reader::Gone);
    Ok(Ended { outcome, skipped, passed, unread, interrupt })
}

/// Where nobody reads standard output any more the command ends, as SIGPIPE would have ended it.
async fn pump_stdout(task: &Task, ask: &mpsc::Sender<Wish>) -> Result<Pumped, Failure> {
    let stdout = tokio::io::stdout();
    let pumped = pump(task, Stream::Stdout, 0, Until::End, stdout, |_| {}).await?;
    if pumped.reader == Reader::Gone {
        wish(ask, "nobody reads its output", Urgency::Graceful);
    }
    Ok(pumped)
}

/// There is room for every wish that there can be.
fn wish(ask: &mpsc::Sender<Wish>, reason: &'static str, urgency: Urgency) {
    ask.try_send(Wish { reason, urgency }).ok();
}

/// Asks for the task's end, for each reason that comes. How that is answered tells nothing that the end does not, and a
/// connection that fails fails there, too.
async fn kill(task: &Task, mut asked: mpsc::Receiver<Wish>) {
    while let Some(Wish { reason, urgency }) = asked.recv().await {
        drop(task.kill(Some(reason), urgency).await);
    }
    std::future::pending().await
}
