//! One task as the supervisor sees it: its keeper, its pipes and spools, its timers, and what is known of its end.
//!
//! What happens and when is decided here, without touching the loop: [`Task::due`] says what is due, [`Task::finish`]
//! puts the end together. The order in which facts arrive at the keeper decides the cause: a program that ended before
//! its stop began has ended by itself.

use std::io::PipeReader;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use brattice_policy::layer::LayerReport;
use brattice_policy::sys::wait::{Exit, Usage};
use brattice_policy::{Limits, Mode};
use brattice_protocol::TaskId;
use brattice_protocol::outcome::{Cause, ProcessFacts};

use super::peer::Peer;
use super::spool::{Spool, Taken};
use crate::exec::message::{ProgramEnd, Spooled};
use crate::exec::spec::{Leftovers, TaskEnd};

/// After a program's end what is left may still end by itself (a `tee` behind it, say) before it is stopped.
const DRAIN: Duration = Duration::from_millis(200);

/// Beyond its grace, how long a keeper may take over a stop: its own deadline (10 s), and time for a loaded machine.
const STOP_PATIENCE: Duration = Duration::from_secs(20);

/// How often a reader is told of growth, at most.
const TELL_PAUSE: Duration = Duration::from_millis(20);

/// A stream's pipe and spool.
#[derive(Debug)]
pub(super) struct StreamState {
    /// The reading end, until nobody writes to it any more.
    pub(super) pipe: Option<PipeReader>,
    pub(super) spool: Spool,
}

/// Why a task is being stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StopCause {
    /// Its time is over.
    TimedOut,
    /// Somebody asked.
    Asked { by: String },
}

/// What a task's timers ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Its time is over: stop it.
    TimeOut,
    /// Its keeper has not brought a stop to its end.
    Overdue,
    /// Its program ended and left something: stop that.
    Leftovers,
    /// Its reader is to be told of growth.
    Tell,
}

/// A task that has been handed to a keeper.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) id: TaskId,
    /// The index of its mode.
    pub(super) mode: u32,
    pub(super) keeper: Peer,
    /// The keeper's process, once it has told.
    pub(super) keeper_pid: Option<u32>,
    pub(super) stdout: StreamState,
    /// `None` where streams are merged.
    pub(super) stderr: Option<StreamState>,
    /// The writing end of its standard input, until the daemon has it.
    pub(super) stdin: Option<OwnedFd>,
    pub(super) begun: Instant,
    pub(super) deadline: Option<Instant>,
    pub(super) grace: Duration,
    pub(super) stop: Option<StopCause>,
    pub(super) ended: Option<ProgramEnd>,
    leftovers_at: Option<Instant>,
    overdue_at: Option<Instant>,
    pub(super) leftovers: Option<Leftovers>,
    /// What the reader knows already, when it waits to be told of more.
    reader_knows: Option<(u64, u64)>,
    told_at: Option<Instant>,
}

/// How a task's keeper left.
pub(super) enum KeeperLeft {
    /// It said that nothing is left, or what could not be killed.
    Gone { usage: Usage, unkillable: Vec<ProcessFacts> },
    /// It was killed; these could not be killed after it.
    Lost { unkillable: Vec<ProcessFacts> },
}

/// What a task is made of.
pub(super) struct Parts {
    pub(super) id: TaskId,
    pub(super) mode: u32,
    pub(super) keeper: Peer,
    pub(super) stdout: StreamState,
    pub(super) stderr: Option<StreamState>,
    pub(super) stdin: Option<OwnedFd>,
    pub(super) timeout: Option<Duration>,
    pub(super) grace: Duration,
}

impl Task {
    pub(super) fn new(parts: Parts) -> Self {
        let Parts { id, mode, keeper, stdout, stderr, stdin, timeout, grace } = parts;
        let begun = Instant::now();
        Task {
            id,
            mode,
            keeper,
            keeper_pid: None,
            stdout,
            stderr,
            stdin,
            begun,
            deadline: timeout.and_then(|timeout| begun.checked_add(timeout)),
            grace,
            stop: None,
            ended: None,
            leftovers_at: None,
            overdue_at: None,
            leftovers: None,
            reader_knows: None,
            told_at: None,
        }
    }

    /// The program ended; whatever is left gets a moment to end by itself.
    pub(super) fn program_ended(&mut self, end: ProgramEnd) {
        self.deadline = None;
        if !end.stopping {
            self.leftovers_at = Some(Instant::now() + DRAIN);
        }
        self.ended = Some(end);
    }

    /// Bytes of both streams.
    pub(super) fn bytes(&self) -> (u64, u64) {
        (self.stdout.spool.bytes(), self.stderr.as_ref().map_or(0, |stream| stream.spool.bytes()))
    }

    /// The reader waits to be told once the streams are longer than this.
    pub(super) fn await_growth(&mut self, known: (u64, u64)) {
        self.reader_knows = Some(known);
    }

    /// The reader cannot be told now; it is tried again later.
    pub(super) fn postpone(&mut self, now: Instant) {
        self.told_at = Some(now);
    }

    /// The reader is told now, and waits no more.
    pub(super) fn told(&mut self, now: Instant) {
        self.reader_knows = None;
        self.told_at = Some(now);
    }

    /// What is due now.
    pub(super) fn due(&self, now: Instant) -> Option<Due> {
        let passed = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if passed(self.deadline) {
            Some(Due::TimeOut)
        } else if passed(self.overdue_at) {
            Some(Due::Overdue)
        } else if passed(self.leftovers_at) {
            Some(Due::Leftovers)
        } else if passed(self.tell_at(now)) {
            Some(Due::Tell)
        } else {
            None
        }
    }

    /// When something is due next.
    pub(super) fn next_due(&self, now: Instant) -> Option<Instant> {
        let times = [self.deadline, self.leftovers_at, self.overdue_at, self.tell_at(now)];
        times.into_iter().flatten().min()
    }

    fn tell_at(&self, now: Instant) -> Option<Instant> {
        let (stdout, stderr) = self.reader_knows?;
        let has_grown = self.stdout.spool.bytes() > stdout || self.bytes().1 > stderr;
        has_grown.then(|| self.told_at.map_or(now, |told| told + TELL_PAUSE))
    }

    /// Begins a stop for this cause and says the grace; `None` when one has begun already.
    pub(super) fn begin_stop(&mut self, cause: StopCause) -> Option<Duration> {
        self.deadline = None;
        if self.stop.is_some() || self.ended.is_some() {
            return None;
        }
        self.stop = Some(cause);
        self.overdue_at = Some(Instant::now() + self.grace + STOP_PATIENCE);
        Some(self.grace)
    }

    /// Begins the stop of what the program left, and says the grace.
    pub(super) fn stop_leftovers(&mut self, limits: &Limits) -> Duration {
        self.leftovers_at = None;
        self.overdue_at = Some(Instant::now() + limits.leftover_grace + STOP_PATIENCE);
        limits.leftover_grace
    }

    /// The keeper is being ended; it is not waited for a second time.
    pub(super) fn overdue_handled(&mut self) {
        self.overdue_at = None;
    }

    /// The spools that the reader does not have yet.
    ///
    /// # Errors
    /// One cannot be handed over now.
    pub(super) fn untold_spools(&mut self) -> std::io::Result<(Vec<Spooled>, Vec<OwnedFd>)> {
        let stdout = self.stdout.spool.untold()?.map(|fd| (Spooled::Stdout, fd));
        let stderr = match &mut self.stderr {
            Some(stream) => stream.spool.untold()?.map(|fd| (Spooled::Stderr, fd)),
            None => None,
        };
        Ok(stdout.into_iter().chain(stderr).unzip())
    }

    /// The spools that the reader still lacks at the end; one that cannot be handed over is lost.
    pub(super) fn last_spools(&mut self) -> (Vec<Spooled>, Vec<OwnedFd>) {
        let streams =
            [(Spooled::Stdout, Some(&mut self.stdout)), (Spooled::Stderr, self.stderr.as_mut())];
        let spools = streams.into_iter().filter_map(|(name, stream)| {
            let spool = &mut stream?.spool;
            match spool.untold() {
                Ok(fd) => Some((name, fd?)),
                Err(error) => {
                    spool.give_up(&error);
                    None
                }
            }
        });
        spools.unzip()
    }

    /// Puts the end together from what is known.
    pub(super) fn finish(&self, left: KeeperLeft) -> TaskEnd {
        let (cause, reason) = self.cause(&left);
        let (after, unkillable) = match left {
            KeeperLeft::Gone { usage, unkillable } => (usage, unkillable),
            KeeperLeft::Lost { unkillable } => (Usage::default(), unkillable),
        };
        let usage = self.ended.map_or(Usage::default(), |end| end.usage);
        let exit = self.ended.map(|end| end.exit);
        TaskEnd {
            cause,
            exit_code: exit.and_then(|exit| match exit {
                Exit::Code(code) => Some(code),
                Exit::Signal(_) => None,
            }),
            signal: exit.and_then(|exit| match exit {
                Exit::Signal(signal) => Some(signal),
                Exit::Code(_) => None,
            }),
            reason,
            duration: self.ended.map_or_else(|| self.begun.elapsed(), |end| end.duration),
            user: usage.user + after.user,
            sys: usage.sys + after.sys,
            max_rss: usage.max_rss.max(after.max_rss),
            stdout: self.stdout.spool.end(),
            stderr: self.stderr.as_ref().map(|stream| stream.spool.end()),
            leftovers: self.leftovers.clone().filter(|left| left.count > 0),
            unkillable,
            mode: Mode::default(),
            layers: LayerReport::default(),
        }
    }

    fn cause(&self, left: &KeeperLeft) -> (Cause, Option<String>) {
        let lost = || (Cause::Lost, Some("the process that kept it was killed".to_owned()));
        match (self.ended, left, &self.stop) {
            (None, KeeperLeft::Lost { .. }, _) => lost(),
            (Some(ProgramEnd { stopping: true, .. }) | None, _, Some(StopCause::TimedOut)) => {
                (Cause::TimedOut, None)
            }
            (Some(ProgramEnd { stopping: true, .. }) | None, _, Some(StopCause::Asked { by })) => {
                (Cause::Killed, Some(by.clone()))
            }
            (Some(ProgramEnd { exit: Exit::Code(_), .. }), _, _) => (Cause::Exited, None),
            (Some(ProgramEnd { exit: Exit::Signal(_), .. }), _, _) => (Cause::Signaled, None),
            (None, KeeperLeft::Gone { .. }, None) => lost(),
        }
    }
}

impl StreamState {
    /// Takes what the pipe holds now; `Closed` once nobody writes any more, and from then on.
    pub(super) fn take(&mut self, buffer: &mut [u8]) -> Taken {
        match &self.pipe {
            None => Taken::Closed,
            Some(pipe) => self.spool.take(pipe.as_fd(), buffer),
        }
    }
}
