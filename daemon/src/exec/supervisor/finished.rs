//! Tasks that are over: recorded, told, and let go.
//!
//! In the background the record comes first, and the output of small streams goes to disk with it; then the daemon is told.
//! What a call waited for is told only, unless there is no daemon to tell: then it gets a record too. Where neither is
//! possible the facts are kept here until a daemon comes.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use brattice_policy::sys::Errno;
use brattice_protocol::TaskId;

use super::ending::KeeperLeft;
use super::peer::Peer;
use super::serve::Supervisor;
use super::spool::Taken;
use super::task::Task;
use crate::exec::cgroup::Group;
use crate::exec::message::{Failure, FromSupervisor, ResumedTask};
use crate::exec::record::{Ended, RecordFile};
use crate::exec::spec::{Placement, TaskEnd, Timestamp};

/// How long what is left in a pipe is read after its task's end, should a stranger write on.
const LAST_OUTPUT: Duration = Duration::from_millis(200);

/// A task that ended while nobody could be told and no record be written.
pub(super) struct Unrecorded {
    task: Box<ResumedTask>,
    end: Box<TaskEnd>,
    spools: Vec<OwnedFd>,
}

impl Unrecorded {
    /// Tells a daemon of it: that there was such a task, and how it ended.
    pub(super) fn tell(self, mut say: impl FnMut(FromSupervisor, Vec<OwnedFd>)) {
        let task = self.task.facts.task.clone();
        say(FromSupervisor::Resumed(self.task), self.spools);
        say(FromSupervisor::Ended { task, end: self.end, spools: Vec::new() }, Vec::new());
    }
}

impl Supervisor {
    pub(super) fn end_unstarted(&mut self, index: u32, failure: Failure) {
        if let Some(task) = self.remove(index) {
            if let Some(record) = &task.record {
                record.withdraw();
            }
            let message = FromSupervisor::StartFailed { task: task.id().clone(), failure };
            self.say(&message, Vec::new());
            self.retire(task.mode, task.keeper, task.group);
        }
    }

    pub(super) fn end(&mut self, index: u32, left: KeeperLeft) {
        let Some(mut task) = self.remove(index) else { return };
        self.take_last_output(&mut task);
        let is_alone = self.daemon.is_none();
        let is_kept = task.placement == Placement::Background || is_alone;
        if is_kept {
            task.stdout.spool.persist();
            if let Some(stream) = &mut task.stderr {
                stream.spool.persist();
            }
        }
        let end = Box::new(task.finish(left));
        let recorded = if is_kept { self.record(&task, &end) } else { Ok(()) };
        match recorded {
            Err(error) => {
                tracing::error!(task = %task.id(), %error, "a task's end cannot be recorded");
                if is_alone {
                    let (spools, descriptors) = task.all_spools();
                    let resumed = Box::new(task.resumed(spools));
                    self.unrecorded.push(Unrecorded { task: resumed, end, spools: descriptors });
                } else {
                    self.say_ended(&mut task, end);
                }
            }
            Ok(()) => self.say_ended(&mut task, end),
        }
        self.retire(task.mode, task.keeper, task.group);
    }

    fn say_ended(&mut self, task: &mut Task, end: Box<TaskEnd>) {
        let (spools, descriptors) = task.last_spools();
        self.say(&FromSupervisor::Ended { task: task.id().clone(), end, spools }, descriptors);
    }

    fn record(&self, task: &Task, end: &TaskEnd) -> std::io::Result<()> {
        let ended = Ended { at: Timestamp::now(), end: end.clone() };
        match &task.record {
            Some(record) => record.end(&ended),
            None => RecordFile::begin(&self.setup.folder, &task.facts)?.end(&ended),
        }
    }

    /// Nothing of the task is left, so all it wrote is in the pipe; a stranger who holds the pipe may write on.
    fn take_last_output(&mut self, task: &mut Task) {
        let until = Instant::now() + LAST_OUTPUT;
        for stream in std::iter::once(&mut task.stdout).chain(&mut task.stderr) {
            while matches!(stream.take(&mut self.buffer), Taken::Bytes(_)) && Instant::now() < until
            {
            }
            if let Some(pipe) = stream.pipe.take() {
                // Dropping it ends the watch where it is the last descriptor, which a terminal's is not.
                self.reactor.forget(&pipe).ok();
            }
        }
    }

    fn retire(&mut self, mode: u32, keeper: Peer, group: Option<Group>) {
        // Closing it, later, would end the watch as well.
        self.reactor.forget(&keeper).ok();
        self.upkeep.add(mode, keeper, group);
    }

    fn remove(&mut self, index: u32) -> Option<Task> {
        let task = self.tasks.remove(&index)?;
        if let Some(mode) = self.modes.get_mut(&task.mode) {
            mode.running = mode.running.saturating_sub(1);
        }
        Some(task)
    }

    /// Refuses a number that was given before.
    pub(super) fn take_number(&mut self, task: &TaskId) -> Result<(), Errno> {
        let number = task.number().filter(|number| *number > self.highest).ok_or(Errno::EXIST)?;
        self.highest = number;
        Ok(())
    }
}
