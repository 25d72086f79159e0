//! A session's background tasks, as its client is told of them: what runs, what has ended, and what it has not read yet.
//!
//! The end of a task is told twice at most: as a notification when it happens, and once with the session's next result,
//! unless it was read or waited for before (`reads` remembers, over restarts too). Nothing here is kept twice: facts
//! are the task's, cursors `reads`'.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use brattice_protocol::audit::{Actor, DenialCounts, Event, Repeated};
use brattice_protocol::hello::Watch;
use brattice_protocol::signal::signal_name;
use brattice_protocol::task::{TaskFinished, TaskStarted, TaskSummary};
use brattice_protocol::{SessionId, TaskId};
use serde::Serialize;

use crate::exec::denials::{DenialRecord, Denials};
use crate::exec::spec::{Placement, TaskEnd, TaskFacts, TaskUsage, Timestamp, Urgency};
use crate::exec::{Handing, NotHanded};
use crate::server::Delivery;
use crate::toolset::render::unshown_outcome;

use super::reads::Cursor;
use super::session::{Intake, Session};
use super::supervision::Link;
use super::task::Task;
use super::tasks::Entry as _;

/// How long whoever kills a task waits until its supervisor has been asked.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// Why it is not certain that a task is killed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KillError {
    /// Its supervisor has taken nothing for that long.
    #[error(
        "the supervisor of {task} has taken no request for {} s; it is asked as soon as it takes one",
        KILL_PATIENCE.as_secs()
    )]
    Late { task: TaskId },
    /// This daemon ends and leaves it to the next one.
    #[error("the daemon is shutting down; ask the next one")]
    Left,
}

/// Background tasks whose ends were not told yet, in the order of those.
#[derive(Debug, Default)]
pub(super) struct News(Mutex<Vec<Task>>);

/// Ends that wait to be told: a client that never calls a tool must not make them more and more.
const MOST_NEWS: usize = 1_000;

impl News {
    fn add(&self, task: &Task) {
        let mut news = self.locked();
        if news.len() >= MOST_NEWS {
            news.remove(0);
        }
        news.push(task.clone());
    }

    fn locked(&self) -> MutexGuard<'_, Vec<Task>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// A background task runs: its client is told, and its end is waited for.
    pub(crate) fn background(self: &Arc<Self>, task: &Task) {
        let TaskFacts { task: id, kind, title, .. } = task.facts().clone();
        let started = TaskStarted { session: self.id().clone(), task: id, kind, command: title };
        self.tell("task.started", &started);
        self.follow(task);
    }

    /// Waits for the end of a background task.
    pub(super) fn follow(self: &Arc<Self>, task: &Task) {
        let (session, task) = (self.clone(), task.clone());
        tokio::spawn(async move {
            task.ended().await;
            session.ended(&task);
        });
    }

    /// The program of a call's task has ended, and what it left goes on in the background. `shown` is what the call told.
    pub(crate) fn adopt(self: &Arc<Self>, task: &Task, shown: Cursor) {
        task.set_background();
        self.reads.change(task.number(), |cursor| {
            *cursor = Cursor { recorded: cursor.recorded, noted: cursor.noted, ..shown };
        });
        self.note_denials(task);
        self.background(task);
    }

    /// A task of its own has ended: lets go of its descriptors, and of what is no longer kept of earlier ones.
    pub(crate) fn ended(&self, task: &Task) {
        task.keep();
        self.tasks().settle();
        let Some(end) = task.try_ended() else { return };
        self.record_end(task, &end);
        if task.placement() == Placement::Foreground {
            return;
        }
        self.reads.change(task.number(), |cursor| cursor.recorded = true);
        if !self.reads.get(task.number()).told {
            self.news.add(task);
        }
        let (session, id) = (self.id().clone(), task.id().clone());
        let (status, outcome) = (task.status(), unshown_outcome(&id, &end));
        self.tell("task.finished", &TaskFinished { session, task: id, status, outcome });
    }

    /// One that had ended when this daemon came to know it.
    pub(super) fn ended_before(&self, task: &Task) {
        self.note_denials(task);
        if let Some(end) = task.try_ended().filter(|_| !self.reads.get(task.number()).recorded) {
            self.record_end(task, &end);
            self.reads.change(task.number(), |cursor| cursor.recorded = true);
        }
        if !self.reads.get(task.number()).told {
            self.news.add(task);
        }
    }

    fn record_end(&self, task: &Task, end: &TaskEnd) {
        self.note_denials(task);
        self.audit().record(&task_finished(self.id(), task.id(), end));
    }

    /// Has a task stopped, for whoever asked, and returns once nothing can keep that from happening: not this daemon's death
    /// either. Nothing happens to a task that has ended.
    ///
    /// # Errors
    /// See [`KillError`].
    pub(crate) async fn kill(
        &self,
        task: &Task,
        by: Actor,
        reason: String,
        urgency: Urgency,
    ) -> Result<(), KillError> {
        let handing = self.begin_kill(task, by, reason, urgency);
        match tokio::time::timeout(KILL_PATIENCE, handing.done()).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(NotHanded)) if self.intake() == Intake::Stopping => Err(KillError::Left),
            // Its supervisor is gone, and what that kept is killed.
            Ok(Err(NotHanded)) => Ok(()),
            Err(_) => Err(KillError::Late { task: task.id().clone() }),
        }
    }

    /// Asks for that, and waits for nothing.
    pub(crate) fn begin_kill(
        &self,
        task: &Task,
        by: Actor,
        reason: String,
        urgency: Urgency,
    ) -> Handing {
        if task.try_ended().is_some() {
            return Handing::nothing();
        }
        let event = Event::Kill {
            session: self.id().clone(),
            task: task.id().clone(),
            by,
            reason: Some(reason.clone()),
        };
        self.audit().record(&event);
        task.stop(reason, urgency)
    }

    /// The background tasks that ended and whose ends nobody was told. They are told from now on.
    pub(crate) fn take_news(&self) -> Vec<Task> {
        let mut news = std::mem::take(&mut *self.news.locked());
        news.retain(|task| !self.reads.get(task.number()).told);
        for task in &news {
            self.told(task);
        }
        news
    }

    /// The end of a task was told.
    pub(crate) fn told(&self, task: &Task) {
        self.reads.change(task.number(), |cursor| cursor.told = true);
        self.news.locked().retain(|news| news.number() != task.number());
    }

    /// How far a task was read.
    pub(crate) fn cursor(&self, task: &Task) -> Cursor {
        self.reads.get(task.number())
    }

    /// What a task was denied is in the audit log, up to the record of this number.
    pub(super) fn mark_noted(&self, task: &Task, number: u64) {
        self.reads.change(task.number(), |cursor| cursor.noted = cursor.noted.max(number));
    }

    /// A task was read from one cursor to another. Tells whether no other read came between.
    pub(crate) fn read_on(&self, task: &Task, from: Cursor, to: Cursor) -> bool {
        self.reads.advance(task.number(), from, to)
    }

    /// How many processes a task has now.
    pub(crate) async fn processes(&self, task: &Task) -> u64 {
        let Link::Live(supervisor) = self.supervision.link() else { return 0 };
        let usages = supervisor.inspect().await.unwrap_or_default();
        usages.iter().find(|usage| usage.task == *task.id()).map_or(0, |usage| usage.processes)
    }

    /// The background tasks, and those that calls wait for, by number.
    pub(crate) async fn task_summaries(&self) -> Vec<TaskSummary> {
        let tasks = self.tasks().all_told();
        let usages = match self.supervision.link() {
            Link::Live(supervisor) if tasks.iter().any(|task| task.try_ended().is_none()) => {
                // A supervisor that is gone has no tasks that run.
                supervisor.inspect().await.unwrap_or_default()
            }
            Link::Live(_) | Link::Dormant | Link::Lost => Vec::new(),
        };
        let usages: HashMap<&TaskId, &TaskUsage> =
            usages.iter().map(|usage| (&usage.task, usage)).collect();
        tasks.iter().map(|task| summary(task, usages.get(task.id()).copied())).collect()
    }

    fn tell(&self, method: &str, params: &impl Serialize) {
        let Some(client) = self.audience().filter(|client| client.watches(Watch::Tasks)) else {
            return;
        };
        if client.notify(method, params) == Delivery::Dropped {
            tracing::debug!(session = %self.id(), method, "the client was not told");
        }
    }
}

/// What the audit log says of a task's end.
pub(super) fn task_finished(session: &SessionId, task: &TaskId, end: &TaskEnd) -> Event {
    Event::TaskFinished {
        session: session.clone(),
        task: task.clone(),
        cause: end.cause,
        exit_code: end.exit_code,
        signal: end.signal.map(|signal| signal_name(signal).into_owned()),
        reason: end.reason.clone(),
        denials: end.denials.as_ref().map(counts),
        git_changes: end.git_changes.clone(),
    }
}

fn counts(denials: &Denials) -> DenialCounts {
    let repeated = denials.records.iter().filter(|record| record.count > 1);
    DenialCounts {
        total: denials.total,
        ambient: denials.ambient,
        unobserved: denials.unobserved,
        repeated: repeated
            .map(|DenialRecord { number, count, .. }| Repeated { number: *number, count: *count })
            .collect(),
    }
}

fn summary(task: &Task, usage: Option<&TaskUsage>) -> TaskSummary {
    let facts = task.facts().clone();
    let end = task.try_ended();
    // It was asked for before the end was known.
    let usage = usage.filter(|_| end.is_none());
    let known = end.clone().or_else(|| task.try_returned());
    let progress = task.progress();
    let bytes =
        usage.map_or(progress.stdout + progress.stderr, |usage| usage.stdout + usage.stderr);
    let cpu = end.as_ref().map(|end| end.user + end.sys);
    let cpu = cpu.or_else(|| usage.map(|usage| usage.cpu)).unwrap_or_default();
    let ago = usage.and_then(|usage| usage.idle).map(milliseconds);
    let last_output = ago.map(|ago| Timestamp::now().0.saturating_sub(ago));
    TaskSummary {
        task: facts.task,
        kind: facts.kind,
        status: task.status(),
        cause: end.as_ref().map(|end| end.cause),
        exit_code: known.as_ref().and_then(|end| end.exit_code),
        signal: known.as_ref().and_then(|end| Some(signal_name(end.signal?).into_owned())),
        reason: end.as_ref().and_then(|end| end.reason.clone()),
        background: task.placement() == Placement::Background,
        command: facts.title,
        started: facts.started.0,
        ended: end.as_ref().map(|_| task.ended_at().0),
        timeout_ms: facts.timeout.map(milliseconds),
        bytes,
        last_output,
        cpu_ms: milliseconds(cpu),
        processes: usage.map_or(0, |usage| usage.processes),
        denials_total: match usage {
            Some(usage) => usage.denials,
            None => task.denials().map(|denials| denials.total),
        },
    }
}

/// A duration as the wire has it.
fn milliseconds(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
