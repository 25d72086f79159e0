//! Tasks that are over: recorded, told, and let go.
//!
//! In the background the record comes first, and the output of small streams goes to disk with it; then the daemon is told.
//! What a call waited for is told only, unless there is no daemon to tell: then it gets a record too. Where neither is
//! possible the facts are kept here until a daemon comes. Where output cannot go to disk the daemon that is there still has
//! it, in memory: then the record tells those who come later what they lack, and the daemon is not told that it lost it.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use brattice_protocol::outcome::Lost;

use super::ending::KeeperLeft;
use super::peer::Peer;
use super::serve::Supervisor;
use super::spool::Taken;
use super::task::Task;
use crate::exec::cgroup::Group;
use crate::exec::message::{Failure, FromSupervisor, ResumedTask};
use crate::exec::record::{Ended, RecordFile};
use crate::exec::spec::{Placement, Timestamp};

/// How long what is left in a pipe is read after its task's end, should a stranger write on.
const LAST_OUTPUT: Duration = Duration::from_millis(200);

/// A task whose end could not be recorded. It is kept until it is: the next daemon is told by word.
pub(super) struct Unrecorded {
    record: Option<RecordFile>,
    task: ResumedTask,
    /// As a daemon is told, to whom the spools are handed over.
    ended: Ended,
    /// As those are told who come when this process is gone.
    recorded: Ended,
    spools: Vec<OwnedFd>,
}

/// Output that could not go to disk.
#[derive(Default)]
struct Unkept {
    stdout: Option<Lost>,
    stderr: Option<Lost>,
}

impl Unkept {
    /// The end for those who come later.
    fn of(self, ended: &Ended) -> Ended {
        let mut ended = ended.clone();
        let Unkept { stdout, stderr } = self;
        ended.end.stdout.lost = stdout.or(ended.end.stdout.lost);
        if let Some(stream) = &mut ended.end.stderr {
            stream.lost = stderr.or(stream.lost.take());
        }
        ended
    }
}

impl Unrecorded {
    /// What a daemon is told of it: that there was such a task, and how it ended.
    pub(super) fn words(&self) -> [(FromSupervisor, Vec<OwnedFd>); 2] {
        let task = self.task.facts.task.clone();
        // A spool that cannot be handed over is lost to that daemon, and no other one's.
        let spools = self.spools.iter().filter_map(|fd| fd.try_clone().ok()).collect();
        let resumed = FromSupervisor::Resumed(Box::new(self.task.clone()));
        let (at, end) = (self.ended.at, Box::new(self.ended.end.clone()));
        let ended = FromSupervisor::Ended { task, at, end, spools: Vec::new() };
        [(resumed, spools), (ended, Vec::new())]
    }
}

impl Task {
    /// What of its output is in memory goes to disk.
    fn persist(&mut self) -> Unkept {
        let stderr = self.stderr.as_mut().map(|stream| stream.spool.persist());
        let stderr = stderr.and_then(Result::err);
        Unkept { stdout: self.stdout.spool.persist().err(), stderr }
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
        // Whatever its processes were denied was told before they could end.
        if let Some(mode) = self.tasks.get(&index).map(|task| task.mode) {
            self.drain_mode(mode);
        }
        let Some(mut task) = self.remove(index) else { return };
        self.take_last_output(&mut task);
        let is_alone = self.daemon.is_none();
        let is_kept = task.placement == Placement::Background || is_alone;
        let unkept = if is_kept { task.persist() } else { Unkept::default() };
        let ended = Ended { at: Timestamp::now(), end: task.finish(left) };
        let recorded = unkept.of(&ended);
        if is_kept && let Err((record, error)) = self.record(&mut task, &recorded) {
            tracing::error!(task = %task.id(), %error, "a task's end cannot be recorded");
            let (spools, descriptors) = task.all_spools();
            let (task, ended) = (task.resumed(spools), ended.clone());
            let unrecorded = Unrecorded { record, task, ended, recorded, spools: descriptors };
            self.unrecorded.push(unrecorded);
        }
        self.say_ended(&mut task, ended);
        self.retire(task.mode, task.keeper, task.group);
    }

    /// Tries again to record what could not be recorded.
    pub(super) fn record_again(&mut self) {
        let folder = &self.setup.folder;
        self.unrecorded.retain_mut(|task| {
            if task.record.is_none() {
                task.record = RecordFile::begin(folder, &task.task.facts).ok();
            }
            task.record.as_ref().is_none_or(|record| record.end(&task.recorded).is_err())
        });
    }

    fn say_ended(&mut self, task: &mut Task, Ended { at, end }: Ended) {
        let (spools, descriptors) = task.last_spools();
        let (task, end) = (task.id().clone(), Box::new(end));
        self.say(&FromSupervisor::Ended { task, at, end, spools }, descriptors);
    }

    fn record(
        &self,
        task: &mut Task,
        ended: &Ended,
    ) -> Result<(), (Option<RecordFile>, std::io::Error)> {
        let record = match task.record.take() {
            Some(record) => record,
            None => {
                RecordFile::begin(&self.setup.folder, &task.facts).map_err(|error| (None, error))?
            }
        };
        record.end(ended).map_err(|error| (Some(record), error))
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
}
