//! What becomes of tasks that were started: their keepers' words, their output, their timers and their ends.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use brattice_protocol::outcome::ProcessFacts;
use rustix::process::Signal;

use super::mode::Mode;
use super::peer::Peer;
use super::reactor::Source;
use super::serve::Supervisor;
use super::spool::Taken;
use super::task::{Due, KeeperLeft, StopCause, Task};
use crate::exec::channel::ChannelError;
use crate::exec::message::{FailedStep, Failure, FromKeeper, FromSupervisor, ToKeeper};
use crate::exec::process;
use crate::exec::spec::Leftovers;

/// How long what a dead keeper left is killed again and again before it is named as left. Other tasks wait meanwhile; a
/// keeper dies only when somebody outside kills it, or the machine is out of memory.
const ORPHAN_DEADLINE: Duration = Duration::from_millis(500);

/// How long the processes of a keeper whose number is not known may take to come here.
const UNKNOWN_KEEPER: Duration = Duration::from_millis(50);

/// Between two rounds of that.
const ORPHAN_PAUSE: Duration = Duration::from_millis(2);

/// Most processes that are named.
const MOST_NAMED: usize = 16;

/// How long what is left in a pipe is read after its task's end, should a stranger write on.
const LAST_OUTPUT: Duration = Duration::from_millis(200);

/// What became of a dead keeper's processes.
pub(super) struct Orphans {
    had_any: bool,
    left: Vec<ProcessFacts>,
}

impl Supervisor {
    pub(super) fn hear_keeper(&mut self, index: u32) {
        while let Some(task) = self.tasks.get_mut(&index) {
            match task.keeper.receive::<FromKeeper>().map(|received| received.message) {
                Ok(FromKeeper::Started { keeper }) => {
                    task.keeper_pid = Some(keeper);
                    let message = FromSupervisor::Started { task: task.id.clone() };
                    let stdin = task.stdin.take().into_iter().collect();
                    self.say(&message, stdin);
                }
                Ok(FromKeeper::Failed(failure)) => return self.end_unstarted(index, failure),
                Ok(FromKeeper::ProgramEnded(end)) => task.program_ended(end),
                Ok(FromKeeper::Leftovers { count, processes }) => {
                    task.leftovers = Some(Leftovers { count, processes });
                }
                Ok(FromKeeper::Gone { usage, unkillable }) => {
                    return self.end(index, KeeperLeft::Gone { usage, unkillable });
                }
                Err(ChannelError::Full) => return,
                Err(_) => return self.lose_keeper(index),
            }
        }
    }

    /// The keeper's channel closed without a last word.
    fn lose_keeper(&mut self, index: u32) {
        let Some(task) = self.tasks.get_mut(&index) else { return };
        let keeper = task.keeper_pid.take();
        let has_started = keeper.is_some();
        let mode = task.mode;
        // The launcher's or zygote's own words, if there are any, are in their channels by now.
        self.hear_mode(mode);
        let failure = self.modes.get(&mode).and_then(Mode::failure);
        if let Some(failure) = failure.filter(|_| !has_started) {
            return self.end_unstarted(index, failure);
        }
        let mut orphans = self.kill_orphans(keeper);
        if !orphans.left.is_empty() && self.modes.get(&mode).is_some_and(|mode| mode.running == 1) {
            // The launcher's broadcast ends what a loop cannot catch up with. It reaches every task of the mode, so it
            // is for a mode without another one.
            self.close_mode(mode);
            orphans = self.kill_orphans(None);
        }
        if has_started || orphans.had_any {
            return self.end(index, KeeperLeft::Lost { unkillable: orphans.left });
        }
        let gone = &"its keeper was killed before it started the program";
        self.end_unstarted(index, Failure::new(FailedStep::Fork, gone));
    }

    /// Kills what a dead keeper left: it has become the supervisor's, and belongs to nobody that is known. A process that
    /// ends closes its channel first and leaves its children after: so the keeper's own end is waited for, or a moment
    /// where its number was never told.
    pub(super) fn kill_orphans(&mut self, keeper: Option<u32>) -> Orphans {
        let begun = Instant::now();
        let until = begun + ORPHAN_DEADLINE;
        let has_left = || match keeper {
            Some(keeper) => !process::is_alive(keeper),
            None => begun.elapsed() > UNKNOWN_KEEPER,
        };
        let mut had_any = false;
        loop {
            self.reap_children();
            let keepers = self.tasks.values().filter_map(|task| task.keeper_pid);
            let kept: HashSet<u32> =
                self.modes.values().flat_map(Mode::processes).chain(keepers).collect();
            // Asked before the look: what it leaves is there by then.
            let is_last_look = has_left();
            let orphans = process::descendants_beside(std::process::id(), &kept);
            if (is_last_look && orphans.is_empty()) || Instant::now() > until {
                let left = orphans.iter().take(MOST_NAMED).map(process::Process::facts).collect();
                return Orphans { had_any, left };
            }
            had_any |= !orphans.is_empty();
            for orphan in orphans {
                // Gone meanwhile, or not ours to kill: the next round looks again.
                orphan.signal(Signal::KILL).ok();
            }
            std::thread::sleep(ORPHAN_PAUSE);
        }
    }

    pub(super) fn take_output(&mut self, index: u32, source: Source) {
        let Some(task) = self.tasks.get_mut(&index) else { return };
        let stream = match source {
            Source::Stderr(_) => task.stderr.as_mut(),
            _ => Some(&mut task.stdout),
        };
        let Some(stream) = stream else { return };
        if stream.take(&mut self.buffer) == Taken::Closed {
            // Dropping the last descriptor of the pipe ends the watch.
            stream.pipe = None;
        }
    }

    pub(super) fn act_on_timers(&mut self) {
        let now = Instant::now();
        let due: Vec<(u32, Due)> =
            self.tasks.iter().filter_map(|(index, task)| Some((*index, task.due(now)?))).collect();
        for (index, due) in due {
            match due {
                Due::TimeOut => self.stop(index, StopCause::TimedOut),
                Due::Overdue => self.end_keeper(index),
                Due::Leftovers => self.stop_leftovers(index),
                Due::Tell => self.tell(index, now),
            }
        }
    }

    pub(super) fn stop(&mut self, index: u32, cause: StopCause) {
        let Some(task) = self.tasks.get_mut(&index) else { return };
        if let Some(grace) = task.begin_stop(cause) {
            // A keeper that is gone is noticed by its closed channel.
            task.keeper.send(&ToKeeper::Stop { grace }, Vec::new()).ok();
        }
    }

    fn stop_leftovers(&mut self, index: u32) {
        let Some(task) = self.tasks.get_mut(&index) else { return };
        let grace = task.stop_leftovers(&self.setup.limits);
        task.keeper.send(&ToKeeper::Stop { grace }, Vec::new()).ok();
    }

    /// Kills a keeper that does not do its part. What it kept comes here then, and is killed here.
    fn end_keeper(&mut self, index: u32) {
        let Some(task) = self.tasks.get_mut(&index) else { return };
        task.overdue_handled();
        let keeper = task.keeper_pid;
        let below = process::descendants(std::process::id());
        if let Some(keeper) = below.iter().find(|process| Some(process.pid) == keeper) {
            // One that has ended meanwhile closes its channel as well.
            keeper.signal(Signal::KILL).ok();
        }
    }

    fn tell(&mut self, index: u32, now: Instant) {
        let Some(task) = self.tasks.get_mut(&index) else { return };
        let Ok((spools, descriptors)) = task.untold_spools() else {
            // Out of descriptors: the reader waits on, and is told when there are some again.
            task.postpone(now);
            return;
        };
        task.told(now);
        let (stdout, stderr) = task.bytes();
        let message = FromSupervisor::Grew { task: task.id.clone(), stdout, stderr, spools };
        self.say(&message, descriptors);
    }

    pub(super) fn end_unstarted(&mut self, index: u32, failure: Failure) {
        if let Some(task) = self.remove(index) {
            self.say(&FromSupervisor::StartFailed { task: task.id, failure }, Vec::new());
            self.retire(task.mode, task.keeper);
        }
    }

    fn end(&mut self, index: u32, left: KeeperLeft) {
        let Some(mut task) = self.remove(index) else { return };
        let until = Instant::now() + LAST_OUTPUT;
        for stream in std::iter::once(&mut task.stdout).chain(&mut task.stderr) {
            // Nothing of the task is left, so all it wrote is in the pipe; a stranger who holds the pipe may write on.
            while matches!(stream.take(&mut self.buffer), Taken::Bytes(_)) && Instant::now() < until
            {
            }
        }
        let (spools, descriptors) = task.last_spools();
        let end = Box::new(task.finish(left));
        self.say(&FromSupervisor::Ended { task: task.id, end, spools }, descriptors);
        self.retire(task.mode, task.keeper);
    }

    fn retire(&mut self, mode: u32, keeper: Peer) {
        // Closing it, later, would end the watch as well.
        self.reactor.forget(&keeper).ok();
        self.upkeep.add(mode, keeper);
    }

    fn remove(&mut self, index: u32) -> Option<Task> {
        let task = self.tasks.remove(&index)?;
        if let Some(mode) = self.modes.get_mut(&task.mode) {
            mode.running = mode.running.saturating_sub(1);
        }
        Some(task)
    }
}
