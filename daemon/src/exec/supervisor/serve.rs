//! The supervisor's loop: one thread that hears the daemon, the launchers, the keepers and the pipes, each in turn.

use std::collections::{BTreeMap, BTreeSet};
use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use brattice_policy::Profile;
use brattice_policy::sys::wait::{Reaped, reap};
use brattice_policy::sys::{self, Errno};
use brattice_protocol::TaskId;

use super::Setup;
use super::denied::Unclaimed;
use super::finished::Unrecorded;
use super::mode::Mode;
use super::peer::Peer;
use super::reactor::{Reactor, Source};
use super::task::Task;
use crate::exec::cgroup::Group;
use crate::exec::channel::Channel;
use crate::exec::message::{Failure, FromSupervisor};

/// Output that is moved at once: as much as a large pipe holds.
const OUTPUT_BUFFER: usize = 256 << 10;

/// Children that are reaped at once.
const REAPED_AT_ONCE: usize = 256;

/// How long what is left may take to end after the last channel to it was closed.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// How long upkeep waits: the end of a task has reached whoever waits for it by then.
const UPKEEP_PAUSE: Duration = Duration::from_millis(1);

/// What is left to do after a task's end, and would compete for the processor with those who wait for that end.
#[derive(Default)]
pub(super) struct Upkeep {
    due: Option<Instant>,
    /// Modes whose waiting keepers were used.
    modes: BTreeSet<u32>,
    /// Channels of keepers that are done; closing them lets the keepers end.
    keepers: Vec<Peer>,
    /// Control groups of tasks that are over.
    groups: Vec<Group>,
}

impl Upkeep {
    /// Remembers a task that is over.
    pub(super) fn add(&mut self, mode: u32, keeper: Peer, group: Option<Group>) {
        self.keepers.push(keeper);
        self.groups.extend(group);
        self.refill(mode);
    }

    /// Remembers a mode that lacks keepers.
    fn refill(&mut self, mode: u32) {
        self.modes.insert(mode);
        self.due.get_or_insert_with(|| Instant::now() + UPKEEP_PAUSE);
    }
}

/// The loop's state.
pub(super) struct Supervisor {
    pub(super) reactor: Reactor,
    /// `None` while there is none: then nothing new starts.
    pub(super) daemon: Option<Peer>,
    /// Until when a next daemon is waited for, while there is none.
    pub(super) alone_until: Option<Instant>,
    /// Whether the daemon asked for the end.
    pub(super) is_closing: bool,
    /// Whether no daemon has come in time.
    pub(super) is_expired: bool,
    /// The highest number that a task was given.
    pub(super) highest: u64,
    /// The highest number that a denial was given.
    pub(super) denied: u64,
    /// What was denied below keepers that no task is known to have yet.
    pub(super) unclaimed: Unclaimed,
    /// Tasks that ended while nobody could be told and no record be written.
    pub(super) unrecorded: Vec<Unrecorded>,
    children: OwnedFd,
    pub(super) setup: Setup,
    pub(super) modes: BTreeMap<u32, Mode>,
    pub(super) tasks: BTreeMap<u32, Task>,
    next_index: u32,
    pub(super) upkeep: Upkeep,
    /// Scratch space for reading pipes.
    pub(super) buffer: Vec<u8>,
}

impl Supervisor {
    pub(super) fn new(channel: Channel, setup: Setup) -> Result<Self, Errno> {
        let reactor = Reactor::new()?;
        let children = sys::signal::child_events()?;
        reactor.watch(&children, Source::Children)?;
        let daemon = Peer::new(channel)?;
        reactor.watch(&daemon, Source::Daemon)?;
        reactor.watch(&setup.listener, Source::Listener)?;
        let (highest, denied) = (setup.highest, setup.denied);
        let buffer = vec![0; OUTPUT_BUFFER];
        Ok(Supervisor {
            reactor,
            daemon: Some(daemon),
            alone_until: None,
            is_closing: false,
            is_expired: false,
            highest,
            denied,
            unclaimed: Unclaimed::default(),
            unrecorded: Vec::new(),
            children,
            setup,
            modes: BTreeMap::new(),
            tasks: BTreeMap::new(),
            next_index: 0,
            upkeep: Upkeep::default(),
            buffer,
        })
    }

    /// Serves until the session is closed, or until there is neither a daemon nor anything to keep for the next one.
    pub(super) fn serve(mut self) -> ExitCode {
        self.say(&FromSupervisor::Ready, Vec::new());
        while !self.is_over() {
            let now = Instant::now();
            let tasks = self.tasks.values().filter_map(|task| task.next_due(now));
            let peers = self.tasks.values().map(|task| &task.keeper).chain(&self.daemon);
            let peers = peers.chain(self.modes.values().flat_map(Mode::peers));
            let attempts = peers.filter_map(|peer| peer.next_attempt(now));
            let shells = self.modes.values().filter_map(Mode::stands_until);
            let own = self.upkeep.due.into_iter().chain(self.alone_until);
            let until = tasks.chain(attempts).chain(shells).chain(own).min();
            let Ok(ready) = self.reactor.wait(until) else { return ExitCode::FAILURE };
            ready.into_iter().for_each(|source| self.handle(source));
            self.act_on_timers();
            self.settle();
        }
        self.retire_session();
        self.leave()
    }

    fn is_over(&self) -> bool {
        let is_left = self.daemon.is_none() && (self.unrecorded.is_empty() || self.is_expired);
        self.tasks.is_empty() && (self.is_closing || is_left)
    }

    fn handle(&mut self, source: Source) {
        match source {
            Source::Daemon => self.hear_daemon(),
            Source::Listener => self.admit_daemon(),
            Source::Children => self.reap_children(),
            Source::Launcher(index) | Source::Zygote(index) => self.hear_mode(index),
            Source::Keeper(index) => self.hear_keeper(index),
            Source::Stdout(index) | Source::Stderr(index) => self.take_output(index, source),
        }
    }

    // --- modes ---

    /// The mode that serves this profile, started where there is none.
    pub(super) fn mode_for(&mut self, profile: Profile) -> Result<u32, Failure> {
        // A launcher that is gone may have left its word unread until now.
        for index in self.modes.keys().copied().collect::<Vec<_>>() {
            self.hear_mode(index);
        }
        if let Some((index, _)) = self.modes.iter().find(|(_, mode)| mode.serves(&profile)) {
            return Ok(*index);
        }
        // The same profile over folders that were replaced: its tasks go on, new ones come to a new mode.
        for mode in self.modes.values_mut().filter(|mode| mode.profile == profile) {
            mode.is_retired = true;
        }
        let index = self.next_index();
        let mode = Mode::start(index, profile, &self.setup, &self.reactor)?;
        self.modes.insert(index, mode);
        Ok(index)
    }

    /// Closes a mode's channels, which ends all of it.
    pub(super) fn close_mode(&mut self, index: u32) {
        if let Some(mode) = self.modes.remove(&index) {
            mode.forget(&self.reactor);
        }
    }

    /// Modes that nobody needs any more leave; messages that wait are sent as far as there is room.
    fn settle(&mut self) {
        self.keep_up(Instant::now());
        self.say_prepared();
        let idle: Vec<u32> = self
            .modes
            .iter()
            .filter(|(_, mode)| mode.is_retired && mode.running == 0 && !mode.is_awaited())
            .map(|(index, _)| *index)
            .collect();
        idle.into_iter().for_each(|index| self.close_mode(index));
        self.tell_denials();
        for (index, mode) in &mut self.modes {
            mode.flush(*index, &self.reactor);
        }
        for (index, task) in &mut self.tasks {
            // A keeper that is gone is noticed by its closed channel.
            task.keeper.settle(&self.reactor, Source::Keeper(*index)).ok();
        }
        if self
            .daemon
            .as_mut()
            .is_some_and(|daemon| daemon.settle(&self.reactor, Source::Daemon).is_err())
        {
            self.lose_daemon();
        }
    }

    /// Does what can wait, once it has waited.
    fn keep_up(&mut self, now: Instant) {
        for (index, mode) in &mut self.modes {
            if mode.cool(now) {
                self.upkeep.refill(*index);
            }
        }
        if self.upkeep.due.is_none_or(|due| due > now) {
            return;
        }
        for index in std::mem::take(&mut self.upkeep).modes {
            if let Some(mode) = self.modes.get_mut(&index).filter(|mode| !mode.is_retired) {
                // A failure is told to the task that would need the keeper.
                mode.refill(&self.setup, &self.reactor).ok();
            }
        }
    }

    // --- the end ---

    pub(super) fn reap_children(&self) {
        let mut records = [0u8; 1024];
        // The records are read to make the descriptor quiet; what ended is found by reaping.
        rustix::io::read(&self.children, &mut records).ok();
        // A bounded number: what is left makes the descriptor readable again, or is found at the next child's end.
        for _ in 0..REAPED_AT_ONCE {
            if !matches!(reap(), Ok(Reaped::Child { .. })) {
                return;
            }
        }
    }

    /// Closes every channel, which ends every mode, and waits until no child is left.
    fn leave(mut self) -> ExitCode {
        // Keepers that are done wait for their closing, modes for theirs.
        self.upkeep = Upkeep::default();
        self.modes.clear();
        let until = Instant::now() + LAST_WAIT;
        while Instant::now() < until {
            match reap() {
                Ok(Reaped::NoChild) => return ExitCode::SUCCESS,
                Ok(Reaped::Child { .. }) => {}
                Ok(Reaped::StillRunning) | Err(_) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
        self.kill_orphans(None);
        match reap() {
            Ok(Reaped::NoChild) => ExitCode::SUCCESS,
            _ => ExitCode::FAILURE,
        }
    }

    pub(super) fn next_index(&mut self) -> u32 {
        self.next_index = self.next_index.wrapping_add(1);
        self.next_index
    }

    pub(super) fn index_of(&self, task: &TaskId) -> Option<u32> {
        self.tasks.iter().find(|(_, candidate)| candidate.id() == task).map(|(index, _)| *index)
    }
}
