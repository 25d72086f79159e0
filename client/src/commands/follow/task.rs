//! One task of one session, and what can be asked of it for as long as the link holds.

use brattice_protocol::outcome::CommandOutcome;
use brattice_protocol::task::{
    KillParams, Output, OutputParams, TaskListParams, TaskSummary, WaitParams,
};
use brattice_protocol::tools::Stream;
use brattice_protocol::{SessionId, TaskId};

use super::link::Link;
use crate::cli::Failure;

/// How long one `task.wait` waits; the next one follows at once.
const WAIT_MS: u64 = 600_000;

/// A task, by way of a link.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// The way to the daemon.
    pub(crate) link: Link,
    /// Its session.
    pub(crate) session: SessionId,
    /// Its id there.
    pub(crate) task: TaskId,
}

/// How much time a task that is stopped is given to end by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Urgency {
    /// SIGTERM, and SIGKILL after the grace.
    Graceful,
    /// SIGKILL at once.
    AtOnce,
}

impl Task {
    /// Bytes of a stream from `offset` on, waited for so long.
    pub(crate) async fn output(
        &self,
        stream: Stream,
        offset: u64,
        wait_ms: u64,
    ) -> Result<Output, Failure> {
        let params = OutputParams {
            session: self.session.clone(),
            task: self.task.clone(),
            stream: Some(stream),
            offset: Some(offset),
            limit: None,
            wait_ms: Some(wait_ms),
        };
        self.link.request(async |client| client.task_output(&params).await).await
    }

    /// How it ended, once nothing of it is left.
    pub(crate) async fn outcome(&self) -> Result<CommandOutcome, Failure> {
        let params = WaitParams {
            session: self.session.clone(),
            tasks: vec![self.task.clone()],
            timeout_ms: WAIT_MS,
        };
        loop {
            let waited = self.link.request(async |client| client.task_wait(&params).await).await?;
            if let Some(outcome) = waited.outcome {
                return Ok(outcome);
            }
        }
    }

    /// How it ended, if it has.
    pub(crate) async fn ended(&self) -> Result<Option<CommandOutcome>, Failure> {
        let (session, tasks) = (self.session.clone(), vec![self.task.clone()]);
        let params = WaitParams { session, tasks, timeout_ms: 0 };
        let waited = self.link.request(async |client| client.task_wait(&params).await).await?;
        Ok(waited.outcome)
    }

    /// Asks for its end; [`Self::outcome`] tells when it came.
    pub(crate) async fn kill(&self, reason: Option<&str>, urgency: Urgency) -> Result<(), Failure> {
        let params = KillParams {
            session: self.session.clone(),
            task: self.task.clone(),
            reason: reason.map(str::to_owned),
            force: urgency == Urgency::AtOnce,
        };
        self.link.request(async |client| client.task_kill(&params).await).await?;
        Ok(())
    }

    /// How it stands now, as the list of its session's tasks has it.
    pub(crate) async fn summary(&self) -> Result<Option<TaskSummary>, Failure> {
        let params = TaskListParams { session: self.session.clone() };
        let tasks = self.link.request(async |client| client.task_list(&params).await).await?;
        Ok(tasks.into_iter().find(|summary| summary.task == self.task))
    }
}
