//! What becomes of tasks that were started: their keepers' words, their output and their timers. How an ended one is
//! told and recorded is `finished`'s.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use brattice_policy::LeftoverRule;
use brattice_protocol::outcome::ProcessFacts;
use rustix::process::Signal;

use super::ending::{KeeperLeft, StopCause};
use super::mode::Mode;
use super::reactor::Source;
use super::serve::Supervisor;
use super::spool::Taken;
use super::task::Due;
use super::usage::Told;
use crate::exec::channel::ChannelError;
use crate::exec::message::{FailedStep, Failure, FromKeeper, FromSupervisor, ToKeeper};
use crate::exec::process;
use crate::exec::record::RecordFile;
use crate::exec::spec::{Stdin, Urgency};

/// How long what a dead keeper left is killed again and again before it is named as left. Other tasks wait meanwhile; a
/// keeper dies only when somebody outside kills it, or the machine is out of memory.
const ORPHAN_DEADLINE: Duration = Duration::from_millis(500);

/// How long the processes of a keeper whose number is not known may take to come here.
const UNKNOWN_KEEPER: Duration = Duration::from_millis(50);

/// Between two rounds of that.
const ORPHAN_PAUSE: Duration = Duration::from_millis(2);

/// Most processes that are named.
const MOST_NAMED: usize = 16;

/// What became of a dead keeper's processes.
pub(super) struct Orphans {
    had_any: bool,
    left: Vec<ProcessFacts>,
}

impl Supervisor {
    pub(super) fn hear_keeper(&mut self, index: u32) {
        while let Some(task) = self.tasks.get_mut(&index) {
            match task.keeper.receive::<FromKeeper>().map(|received| received.message) {
                Ok(FromKeeper::Started { keeper, program: _ }) => {
                    self.program_started(index, keeper);
                }
                Ok(FromKeeper::Failed(failure)) => return self.end_unstarted(index, failure),
                Ok(FromKeeper::ProgramEnded(end)) => task.program_ended(end),
                Ok(FromKeeper::Leftovers { count, processes }) => {
                    task.left(count, processes);
                    if task.awaits_adoption() {
                        // None in sight is none that could be named; whatever there is after all is stopped.
                        match count {
                            0 => self.stop_leftovers(index),
                            _ => self.adopt_leftovers(index),
                        }
                    }
                }
                Ok(FromKeeper::Gone { program, usage, unkillable, stopping }) => {
                    if let Some(end) = program {
                        task.program_ended(end);
                    }
                    return self.end(index, KeeperLeft::Gone { usage, unkillable, stopping });
                }
                Err(ChannelError::Full) => return,
                Err(_) => return self.lose_keeper(index),
            }
        }
    }

    /// A task's program runs, below this keeper.
    pub(super) fn program_started(&mut self, index: u32, keeper: u32) {
        let Some(task) = self.tasks.get_mut(&index) else { return };
        task.program_started(keeper);
        if let Some(denied) = self.unclaimed.claim(keeper, task.begun) {
            task.denied = denied;
        }
        let message = FromSupervisor::Started { task: task.id().clone() };
        let stdin = task.daemons_stdin();
        self.say(&message, stdin.into_iter().collect());
    }

    /// The keeper's channel closed without a last word.
    fn lose_keeper(&mut self, index: u32) {
        // What was denied is its task's by the keeper's number; the launcher's or zygote's own words, if there are any, are
        // in their channels by now as well.
        let Some(mode) = self.tasks.get(&index).map(|task| task.mode) else { return };
        self.drain_mode(mode);
        let Some(task) = self.tasks.get_mut(&index) else { return };
        let keeper = task.keeper_pid.take();
        if let Some(group) = &task.group {
            // What cannot be killed so is found below.
            group.kill().ok();
        }
        let has_started = keeper.is_some();
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
        match stream.take(&mut self.buffer) {
            Taken::Bytes(_) => task.printed(),
            Taken::Nothing => {}
            Taken::Closed => {
                if let Some(pipe) = &stream.pipe {
                    // Closed for good it would be ready for ever. A terminal's side stays: closing it is a hang-up, and
                    // what is printed after all by way of `/dev/tty` is read when somebody asks.
                    self.reactor.forget(pipe).ok();
                }
                if task.facts.stdin != Stdin::Terminal {
                    stream.pipe = None;
                }
            }
        }
    }

    pub(super) fn act_on_timers(&mut self) {
        let now = Instant::now();
        self.expire_alone(now);
        let due: Vec<(u32, Due)> =
            self.tasks.iter().filter_map(|(index, task)| Some((*index, task.due(now)?))).collect();
        for (index, due) in due {
            match due {
                Due::TimeOut => self.stop(index, StopCause::TimedOut, Urgency::Graceful),
                Due::Idle => self.stop(index, StopCause::Idle, Urgency::Graceful),
                Due::Overdue => self.end_keeper(index),
                Due::Leftovers => self.settle_leftovers(index),
                Due::Tell => self.tell(index, now),
            }
        }
    }

    /// Begins a task's stop, or hastens the one that has begun.
    pub(super) fn stop(&mut self, index: u32, cause: StopCause, urgency: Urgency) {
        let Some(task) = self.tasks.get_mut(&index) else { return };
        if task.awaits_leftovers() {
            // Its program ended by itself, and whoever asks for the end of the rest does not want it adopted.
            self.stop_leftovers(index);
        } else if let Some(grace) = task.begin_stop(cause) {
            // A keeper that is gone is noticed by its closed channel.
            task.keeper.send(&ToKeeper::Stop { grace }, Vec::new()).ok();
        }
        if urgency == Urgency::AtOnce {
            self.hasten(index);
        }
    }

    /// What is left of a stop's grace is not waited for.
    fn hasten(&mut self, index: u32) {
        let Some(task) = self.tasks.get_mut(&index) else { return };
        if task.hasten_stop() {
            task.keeper.send(&ToKeeper::Stop { grace: Duration::ZERO }, Vec::new()).ok();
        }
    }

    /// What a foreground program left has had its time: it is asked for, to be adopted, or stopped.
    fn settle_leftovers(&mut self, index: u32) {
        let can_adopt = self.daemon.is_some() && !self.is_closing;
        let Some(task) = self.tasks.get_mut(&index) else { return };
        if task.drained() == LeftoverRule::Adopt && can_adopt {
            task.keeper.send(&ToKeeper::Look, Vec::new()).ok();
        } else {
            self.stop_leftovers(index);
        }
    }

    /// Makes a background task of what a foreground program left. Nothing goes on without a record.
    fn adopt_leftovers(&mut self, index: u32) {
        let can_adopt = self.daemon.is_some() && !self.is_closing;
        if let Some(mode) = self.tasks.get(&index).map(|task| task.mode) {
            self.drain_mode(mode);
        }
        let Some(task) = self.tasks.get_mut(&index) else { return };
        match RecordFile::begin(&self.setup.folder, &task.facts) {
            Ok(record) if can_adopt => {
                task.adopt(record);
                let (spools, descriptors) = task.last_spools();
                let message = FromSupervisor::Returned {
                    task: task.id().clone(),
                    end: Box::new(task.returned()),
                    spools,
                };
                self.say(&message, descriptors);
            }
            Ok(record) => {
                record.withdraw();
                self.stop_leftovers(index);
            }
            Err(error) => {
                tracing::warn!(task = %task.id(), %error, "leftovers cannot be recorded, and are stopped");
                self.stop_leftovers(index);
            }
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
        let Some(keeper) = task.keeper_pid else {
            // It has not come as far as to say its number: it hangs in its start.
            return self.lose_keeper(index);
        };
        let below = process::descendants(std::process::id());
        if let Some(keeper) = below.iter().find(|process| process.pid == keeper) {
            // One that has ended meanwhile closes its channel as well.
            keeper.signal(Signal::KILL).ok();
        }
    }

    pub(super) fn tell(&mut self, index: u32, now: Instant) {
        let Some(task) = self.tasks.get_mut(&index) else { return };
        let Ok((spools, descriptors)) = task.untold_spools() else {
            // Out of descriptors: the reader waits on, and is told when there are some again.
            task.postpone(now);
            return;
        };
        let Told { bytes: (stdout, stderr), denied } = task.tell(now);
        let task = task.id().clone();
        let message = FromSupervisor::Grew { task, stdout, stderr, spools, denied };
        self.say(&message, descriptors);
    }
}
