//! One task, followed to its end: its streams, its input, and the signals meant for it.

use brattice_client::Client;
use brattice_protocol::outcome::CommandOutcome;
use brattice_protocol::task::{KillParams, StartParams, WaitParams};
use brattice_protocol::tools::Stream;
use brattice_protocol::{SessionId, TaskId};

use super::feed::Source;
use super::pump::{Pumped, Reader, pump};
use crate::cli::Failure;
use crate::commands::interrupt::{Interrupt, Interrupts};

/// How long one `task.wait` waits; the next one follows at once.
const WAIT_MS: u64 = 600_000;

/// A task of a session.
#[derive(Clone, Debug)]
pub(super) struct Task {
    pub(super) client: Client,
    pub(super) session: SessionId,
    pub(super) task: TaskId,
}

/// Bytes of each stream that were dropped before they could be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Skipped {
    pub(super) stdout: u64,
    pub(super) stderr: u64,
}

impl Skipped {
    /// Whether anything was dropped.
    pub(super) fn is_any(&self) -> bool {
        self.stdout + self.stderr > 0
    }
}

/// A task that is over and whose output has been written.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) outcome: CommandOutcome,
    pub(super) skipped: Skipped,
    /// The task was stopped because nobody reads standard output any more.
    pub(super) unread: bool,
    /// The signal that asked for the end, if one did.
    pub(super) interrupt: Option<Interrupt>,
}

impl Task {
    /// Starts the command.
    pub(super) async fn start(client: &Client, params: &StartParams) -> Result<Self, Failure> {
        let started = client.task_start(params).await?;
        Ok(Task { client: client.clone(), session: params.session.clone(), task: started.task })
    }

    /// Follows the task until nothing of it is left. The first signal stops it, a second one gives up waiting.
    pub(super) async fn follow(
        self,
        source: Source,
        interrupts: &mut Interrupts,
    ) -> Result<Ended, Failure> {
        let end = async {
            tokio::try_join!(
                self.pump_stdout(),
                pump(&self, Stream::Stderr, tokio::io::stderr()),
                self.outcome()
            )
        };
        let feeding = self.feed(source);
        tokio::pin!(end, feeding);
        let mut interrupt = None;
        let mut fed = false;
        let (stdout, stderr, outcome) = loop {
            tokio::select! {
                ended = &mut end => break ended?,
                outcome = &mut feeding, if !fed => {
                    outcome?;
                    fed = true;
                }
                signal = interrupts.next() => match interrupt {
                    Some(first) => return Err(Failure::Interrupted(first)),
                    None => {
                        interrupt = Some(signal);
                        self.kill_later(signal.name());
                    }
                },
            }
        };
        let skipped = Skipped { stdout: stdout.skipped, stderr: stderr.skipped };
        Ok(Ended { outcome, skipped, unread: stdout.reader == Reader::Gone, interrupt })
    }

    /// Where nobody reads standard output any more the command ends, as SIGPIPE would have ended it.
    async fn pump_stdout(&self) -> Result<Pumped, Failure> {
        let pumped = pump(self, Stream::Stdout, tokio::io::stdout()).await?;
        if pumped.reader == Reader::Gone {
            self.kill_later("nobody reads its output");
        }
        Ok(pumped)
    }

    async fn outcome(&self) -> Result<CommandOutcome, Failure> {
        let params = WaitParams {
            session: self.session.clone(),
            tasks: vec![self.task.clone()],
            timeout_ms: WAIT_MS,
        };
        loop {
            if let Some(outcome) = self.client.task_wait(&params).await?.outcome {
                return Ok(outcome);
            }
        }
    }

    /// Asks for the task's end without waiting for the answer: [`Self::outcome`] tells when it came, and a
    /// connection that fails fails there too.
    fn kill_later(&self, reason: &str) {
        let params = KillParams {
            session: self.session.clone(),
            task: self.task.clone(),
            reason: Some(reason.to_owned()),
        };
        let client = self.client.clone();
        tokio::spawn(async move { client.task_kill(&params).await });
    }
}
