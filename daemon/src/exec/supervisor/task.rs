//! One task as the supervisor sees it: its keeper, its pipes and spools, its timers, and what is known of its end.
//!
//! What happens and when is decided here, without touching the loop: [`Task::due`] says what is due. How its end is put
//! together is `ending`'s.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use brattice_policy::{LeftoverRule, Limits};
use brattice_protocol::TaskId;
use brattice_protocol::outcome::ProcessFacts;

use super::denied::TaskDenials;
use super::ending::StopCause;
use super::git::GitState;
use super::peer::Peer;
use super::spool::{Spool, Taken};
use super::usage::Told;
use crate::exec::cgroup::Group;
use crate::exec::message::{ProgramEnd, Spooled};
use crate::exec::record::RecordFile;
use crate::exec::spec::{LeftoverFate, Leftovers, Placement, Stdin, TaskFacts};

/// After a program's end what is left may still end by itself (a `tee` behind it, say) before it is stopped.
const DRAIN: Duration = Duration::from_millis(200);

/// Beyond its grace, how long a keeper may take over a stop: its own deadline (10 s), and time for a loaded machine.
const STOP_PATIENCE: Duration = Duration::from_secs(20);

/// How often a reader is told of growth, at most.
const TELL_PAUSE: Duration = Duration::from_millis(20);

/// A stream's pipe and spool.
#[derive(Debug)]
pub(super) struct StreamState {
    /// The reading end, or the terminal's side, until nobody writes to it any more.
    pub(super) pipe: Option<OwnedFd>,
    pub(super) spool: Spool,
}

/// What a task's timers ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Due {
    /// Its time is over: stop it.
    TimeOut,
    /// It has been silent for too long: stop it.
    Idle,
    /// Its keeper has not brought a stop to its end.
    Overdue,
    /// Its program ended and left something: that is adopted, or stopped.
    Leftovers,
    /// Its reader is to be told of growth.
    Tell,
}

/// A task that has been handed to a keeper.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) facts: TaskFacts,
    pub(super) placement: Placement,
    leftover_rule: LeftoverRule,
    /// Its record on disk; one in the background has one.
    pub(super) record: Option<RecordFile>,
    /// The index of its mode.
    pub(super) mode: u32,
    pub(super) keeper: Peer,
    /// Its control group.
    pub(super) group: Option<Group>,
    /// The keeper's process, once it has told.
    pub(super) keeper_pid: Option<u32>,
    pub(super) stdout: StreamState,
    /// `None` where streams are merged.
    pub(super) stderr: Option<StreamState>,
    /// The writing end of its standard input, or its terminal, until its input ends: each daemon is given a copy.
    pub(super) stdin: Option<OwnedFd>,
    pub(super) begun: Instant,
    deadline: Option<Instant>,
    idle_timeout: Option<Duration>,
    /// When it last printed something.
    last_output: Option<Instant>,
    grace: Duration,
    pub(super) stop: Option<StopCause>,
    pub(super) ended: Option<ProgramEnd>,
    leftovers_at: Option<Instant>,
    pub(super) overdue_at: Option<Instant>,
    pub(super) leftovers: Option<Leftovers>,
    /// What git would run when it began.
    pub(super) git: GitState,
    /// What it was denied.
    pub(super) denied: TaskDenials,
    /// What the reader knows already, when it waits to be told of more.
    pub(super) reader_knows: Option<(u64, u64)>,
    pub(super) told_at: Option<Instant>,
    /// What its daemon was told last.
    pub(super) told: Option<Told>,
}

/// What a task is made of.
pub(super) struct Parts {
    pub(super) facts: TaskFacts,
    pub(super) placement: Placement,
    pub(super) leftover_rule: LeftoverRule,
    pub(super) record: Option<RecordFile>,
    pub(super) mode: u32,
    pub(super) keeper: Peer,
    pub(super) group: Option<Group>,
    pub(super) stdout: StreamState,
    pub(super) stderr: Option<StreamState>,
    pub(super) stdin: Option<OwnedFd>,
    pub(super) grace: Duration,
    pub(super) git: GitState,
}

impl Task {
    pub(super) fn new(parts: Parts) -> Self {
        let Parts {
            facts,
            placement,
            leftover_rule,
            record,
            mode,
            keeper,
            group,
            stdout,
            stderr,
            stdin,
            grace,
            git,
        } = parts;
        let begun = Instant::now();
        let (timeout, idle_timeout) = (facts.timeout, facts.idle_timeout);
        Task {
            facts,
            placement,
            leftover_rule,
            record,
            mode,
            keeper,
            group,
            keeper_pid: None,
            stdout,
            stderr,
            stdin,
            begun,
            deadline: timeout.and_then(|timeout| begun.checked_add(timeout)),
            idle_timeout,
            last_output: None,
            grace,
            git,
            stop: None,
            ended: None,
            leftovers_at: None,
            overdue_at: None,
            leftovers: None,
            denied: TaskDenials::default(),
            reader_knows: None,
            told_at: None,
            told: None,
        }
    }

    /// Its id.
    pub(super) fn id(&self) -> &TaskId {
        &self.facts.task
    }

    /// The program runs: its limit counts from here, not from the request, which a busy machine may have kept waiting.
    pub(super) fn program_started(&mut self, keeper: u32) {
        self.keeper_pid = Some(keeper);
        if self.deadline.is_some() {
            let timeout = self.facts.timeout;
            self.deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        }
    }

    /// The program ended. Where a call waits, whatever is left gets a moment to end by itself; in the background the task
    /// is all that the program started, and goes on.
    pub(super) fn program_ended(&mut self, mut end: ProgramEnd) {
        // A shell that was started ahead has waited for its task.
        end.duration = end.duration.min(self.begun.elapsed());
        if self.placement == Placement::Foreground {
            (self.deadline, self.idle_timeout) = (None, None);
            if !end.stopping {
                self.leftovers_at = Some(Instant::now() + DRAIN);
            }
        }
        self.ended = Some(end);
    }

    /// The time for leftovers to end by themselves is over. Whether they are to be adopted.
    pub(super) fn drained(&mut self) -> LeftoverRule {
        self.leftovers_at = None;
        self.leftover_rule
    }

    /// What the program left, as its keeper told.
    pub(super) fn left(&mut self, count: u64, processes: Vec<ProcessFacts>) {
        if self.placement == Placement::Foreground {
            let fate = LeftoverFate::Stopped;
            self.leftovers = Some(Leftovers { count, processes, fate });
        }
    }

    /// Whether its program has ended, a call waits for it, and what is left was neither adopted nor stopped yet.
    pub(super) fn awaits_leftovers(&self) -> bool {
        self.placement == Placement::Foreground && self.ended.is_some() && self.overdue_at.is_none()
    }

    /// Whether the keeper's word on what is left decides if it is adopted.
    pub(super) fn awaits_adoption(&self) -> bool {
        self.placement == Placement::Foreground
            && self.leftover_rule == LeftoverRule::Adopt
            && self.overdue_at.is_none()
    }

    /// What the program left goes on in the background, with this record.
    pub(super) fn adopt(&mut self, record: RecordFile) {
        self.placement = Placement::Background;
        self.record = Some(record);
        if let Some(left) = &mut self.leftovers {
            left.fate = LeftoverFate::Adopted;
        }
    }

    /// It printed something.
    pub(super) fn printed(&mut self) {
        self.last_output = Some(Instant::now());
    }

    /// How long ago it last printed something.
    pub(super) fn idle(&self) -> Option<Duration> {
        self.last_output.map(|last| last.elapsed())
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

    /// What is due now.
    pub(super) fn due(&self, now: Instant) -> Option<Due> {
        let passed = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        if passed(self.deadline) {
            Some(Due::TimeOut)
        } else if passed(self.idle_at()) {
            Some(Due::Idle)
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
        let times =
            [self.deadline, self.idle_at(), self.leftovers_at, self.overdue_at, self.tell_at(now)];
        times.into_iter().flatten().min()
    }

    fn idle_at(&self) -> Option<Instant> {
        self.last_output.unwrap_or(self.begun).checked_add(self.idle_timeout?)
    }

    fn tell_at(&self, now: Instant) -> Option<Instant> {
        let (stdout, stderr) = self.reader_knows?;
        let has_grown = self.stdout.spool.bytes() > stdout || self.bytes().1 > stderr;
        has_grown.then(|| self.told_at.map_or(now, |told| told + TELL_PAUSE))
    }

    /// Begins a stop for this cause and says the grace; `None` when one has begun already.
    pub(super) fn begin_stop(&mut self, cause: StopCause) -> Option<Duration> {
        (self.deadline, self.idle_timeout) = (None, None);
        let has_returned = self.ended.is_some() && self.placement == Placement::Foreground;
        if self.stop.is_some() || has_returned {
            return None;
        }
        self.stop = Some(cause);
        self.overdue_at = Some(Instant::now() + self.grace + STOP_PATIENCE);
        Some(self.grace)
    }

    /// A stop that has begun is to be over soon. Whether one has.
    pub(super) fn hasten_stop(&mut self) -> bool {
        let soon = Instant::now() + STOP_PATIENCE;
        self.overdue_at = self.overdue_at.map(|at| at.min(soon));
        self.overdue_at.is_some()
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

    /// The daemon's end of standard input. One is kept here as well, so that a daemon's end is not the end of the input; but
    /// for a socket, which is between the task and this daemon.
    pub(super) fn daemons_stdin(&mut self) -> Option<OwnedFd> {
        match self.facts.stdin {
            Stdin::Socket => self.stdin.take(),
            Stdin::Null | Stdin::Pipe | Stdin::Terminal => {
                self.stdin.as_ref().and_then(|stdin| stdin.try_clone().ok())
            }
        }
    }

    /// All spools, and after them the writing end of standard input, for a daemon that has none of them. What cannot be
    /// handed over is lost to it.
    pub(super) fn all_spools(&mut self) -> (Vec<Spooled>, Vec<OwnedFd>) {
        self.told = None;
        self.stdout.spool.forget_reader();
        if let Some(stream) = &mut self.stderr {
            stream.spool.forget_reader();
        }
        let (spools, mut descriptors): (Vec<_>, Vec<_>) = self.last_spools();
        descriptors.extend(self.stdin.as_ref().and_then(|stdin| stdin.try_clone().ok()));
        (spools, descriptors)
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
