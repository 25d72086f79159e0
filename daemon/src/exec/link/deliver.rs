//! What a supervisor says, handed to whoever it is for.

use std::os::fd::OwnedFd;

use brattice_protocol::TaskId;

use super::error::RunError;
use super::post::{Post, Waiting};
use super::task::{Handover, ResumedHandle, Spools, TaskHandle};
use crate::exec::channel::Received;
use crate::exec::message::{Failure, FromSupervisor, ResumedTask, Spooled};
use crate::exec::record::Ended;

/// Hands a message over. Whoever asked for an answer may have gone, which costs nothing.
pub(super) fn deliver(received: Received<FromSupervisor>, post: &Post) {
    let Received { message, descriptors } = received;
    let mut waiting = post.waiting();
    match message {
        FromSupervisor::Ready => {
            let handover = std::mem::take(&mut waiting.handover);
            waiting.first_word(Ok(handover));
        }
        FromSupervisor::Unfit(failure) => waiting.first_word(Err(failure)),
        FromSupervisor::Adopted { highest } => waiting.handover.highest = highest,
        FromSupervisor::Resumed(task) => waiting.resume(*task, descriptors, post),
        FromSupervisor::Prepared { sequence, result } => {
            if let Some(answer) = waiting.preparing.remove(&sequence) {
                answer.send(result.map_err(RunError::from)).ok();
            }
        }
        FromSupervisor::Started { task } => waiting.started(&task, descriptors),
        FromSupervisor::StartFailed { task, failure } => waiting.start_failed(&task, failure),
        FromSupervisor::Grew { task, stdout, stderr, spools, denied } => {
            if let Some(handle) = waiting.tasks.get(&task) {
                handle.count_denials(denied.as_ref());
                handle.grew(stdout, stderr, beside(spools, descriptors));
            }
        }
        FromSupervisor::Denied { task, record } => {
            if let Some(handle) = waiting.tasks.get(&task) {
                handle.denied(*record);
            }
        }
        FromSupervisor::Returned { task, end, spools } => {
            if let Some(handle) = waiting.tasks.get(&task) {
                handle.set_returned(*end, beside(spools, descriptors));
            }
        }
        FromSupervisor::Measured { sequence, idle } => {
            if let Some(answer) = waiting.measuring.remove(&sequence) {
                answer.send(idle).ok();
            }
        }
        FromSupervisor::Inspected { sequence, tasks, more } => {
            if let Some((known, _)) = waiting.inspecting.get_mut(&sequence) {
                known.extend(tasks);
            }
            if !more && let Some((known, answer)) = waiting.inspecting.remove(&sequence) {
                answer.send(known).ok();
            }
        }
        FromSupervisor::Ended { task, at, end, spools } => {
            if let Some(handle) = waiting.tasks.remove(&task) {
                handle.end(Ended { at, end: *end }, beside(spools, descriptors));
            }
        }
    }
}

impl Waiting {
    fn first_word(&mut self, word: Result<Handover, Failure>) {
        if let Some(ready) = self.ready.take() {
            ready.send(word).ok();
        }
    }

    fn started(&mut self, task: &TaskId, mut descriptors: Vec<OwnedFd>) {
        if let Some(handle) = self.tasks.get(task) {
            handle.started(descriptors.pop());
        }
        if let Some(answer) = self.starting.remove(task) {
            answer.send(Ok(())).ok();
        }
    }

    fn start_failed(&mut self, task: &TaskId, failure: Failure) {
        let handle = self.tasks.remove(task);
        match (self.starting.remove(task), handle) {
            (Some(answer), _) => {
                answer.send(Err(failure.into())).ok();
            }
            // An earlier daemon asked for it.
            (None, Some(handle)) => handle.fail(failure.detail),
            (None, None) => {}
        }
    }

    /// A handle on a task that an earlier daemon started.
    fn resume(&mut self, task: ResumedTask, mut descriptors: Vec<OwnedFd>, post: &Post) {
        let ResumedTask {
            facts,
            placement,
            is_stopping,
            returned,
            stdout,
            stderr,
            spools,
            denials,
        } = task;
        let handle = TaskHandle::new(facts, post.clone());
        let stdin = descriptors.split_off(spools.len().min(descriptors.len())).pop();
        handle.grew(stdout, stderr, beside(spools, descriptors));
        handle.started(stdin);
        handle.set_denials(denials.unwrap_or_default());
        if let Some(end) = returned {
            handle.set_returned(*end, Spools::new());
        }
        self.tasks.insert(handle.id().clone(), handle.clone());
        self.handover.tasks.push(ResumedHandle { handle, placement, is_stopping });
    }
}

/// Each spool that was named with the descriptor beside the message; without one where there was no room for it.
fn beside(spools: Vec<Spooled>, descriptors: Vec<OwnedFd>) -> Spools {
    let mut descriptors = descriptors.into_iter();
    spools.into_iter().map(|spool| (spool, descriptors.next())).collect()
}
