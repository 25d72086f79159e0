//! The supervisor's loop: one thread that hears the daemon, the launchers, the keepers and the pipes, each in turn.

use std::collections::{BTreeMap, HashSet};
use std::io::PipeReader;
use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use brattice_policy::Profile;
use brattice_policy::layer::LayerReport;
use brattice_policy::sys::wait::{Reaped, reap};
use brattice_policy::sys::{self, Errno};
use brattice_protocol::TaskId;
use rustix::pipe::PipeFlags;
use rustix::process::Signal;

use super::Setup;
use super::mode::Mode;
use super::peer::Peer;
use super::reactor::{Reactor, Source};
use super::spool::{Spool, Taken};
use super::task::{Due, KeeperLeft, Parts, StopCause, StreamState, Task};
use crate::exec::channel::{Channel, ChannelError};
use crate::exec::message::{FailedStep, Failure, FromKeeper, FromSupervisor, RunRequest, ToKeeper, ToSupervisor};
use crate::exec::process;
use crate::exec::spec::{Leftovers, Stdin, Streams};

/// How long what is left may take to end after the last channel to it was closed.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// How often an orphan of a dead keeper is killed again before it is left to the next look.
const ORPHAN_ROUNDS: usize = 50;

/// The loop's state.
pub(super) struct Supervisor {
    reactor: Reactor,
    /// `None` once it is gone: then everything is being stopped.
    daemon: Option<Peer>,
    /// Whether the daemon asked for the end.
    is_closing: bool,
    children: OwnedFd,
    setup: Setup,
    modes: BTreeMap<u32, Mode>,
    tasks: BTreeMap<u32, Task>,
    next_index: u32,
    /// A mode whose waiting keepers were used.
    to_refill: Option<u32>,
    /// Scratch space for reading pipes.
    buffer: Vec<u8>,
}

impl Supervisor {
    pub(super) fn new(channel: Channel, setup: Setup) -> Result<Self, Errno> {
        let reactor = Reactor::new()?;
        let children = sys::signal::child_events()?;
        reactor.watch(&children, Source::Children)?;
        let daemon = Peer::new(channel)?;
        reactor.watch(&daemon, Source::Daemon)?;
        let buffer = vec![0; 64 << 10];
        Ok(Supervisor {
            reactor,
            daemon: Some(daemon),
            is_closing: false,
            children,
            setup,
            modes: BTreeMap::new(),
            tasks: BTreeMap::new(),
            next_index: 0,
            to_refill: None,
            buffer,
        })
    }

    /// Serves until the daemon is gone and nothing is left.
    pub(super) fn serve(mut self) -> ExitCode {
        self.say(&FromSupervisor::Ready, Vec::new());
        while (self.daemon.is_some() && !self.is_closing) || !self.tasks.is_empty() {
            let now = Instant::now();
            let until = self.tasks.values().filter_map(|task| task.next_due(now)).min();
            let Ok(ready) = self.reactor.wait(until) else { return ExitCode::FAILURE };
            ready.into_iter().for_each(|source| self.handle(source));
            self.act_on_timers();
            self.settle();
        }
        self.leave()
    }

    fn handle(&mut self, source: Source) {
        match source {
            Source::Daemon => self.hear_daemon(),
            Source::Children => self.reap_children(),
            Source::Launcher(index) | Source::Zygote(index) => self.hear_mode(index),
            Source::Keeper(index) => self.hear_keeper(index),
            Source::Stdout(index) | Source::Stderr(index) => self.take_output(index, source),
        }
    }

    // --- the daemon ---

    fn hear_daemon(&mut self) {
        while let Some(daemon) = &self.daemon {
            match daemon.receive::<ToSupervisor>() {
                Ok(received) => self.obey(received.message, received.descriptors),
                Err(ChannelError::Full) => return,
                Err(_) => self.lose_daemon(),
            }
        }
    }

    fn obey(&mut self, message: ToSupervisor, mut descriptors: Vec<OwnedFd>) {
        match message {
            ToSupervisor::Setup { .. } => {}
            ToSupervisor::Prepare { sequence, profile } => self.prepare(sequence, profile),
            ToSupervisor::Run(request) => {
                let task = request.task.clone();
                let started = match descriptors.pop() {
                    Some(text) => self.start(*request, text),
                    None => Err(failed(FailedStep::Descriptors, &"the request came without its text")),
                };
                if let Err(failure) = started {
                    self.say(&FromSupervisor::StartFailed { task, failure }, Vec::new());
                }
            }
            ToSupervisor::Stop { task, by } => {
                if let Some(index) = self.index_of(&task) {
                    self.stop(index, StopCause::Asked { by });
                }
            }
            ToSupervisor::Close => {
                self.is_closing = true;
                self.stop_all("the session was closed");
            }
            ToSupervisor::Notify { task, stdout, stderr } => {
                if let Some(task) = self.index_of(&task).and_then(|index| self.tasks.get_mut(&index)) {
                    task.await_growth((stdout, stderr));
                }
            }
        }
    }

    /// Without a daemon nobody can be told anything: everything is stopped.
    fn lose_daemon(&mut self) {
        if let Some(daemon) = self.daemon.take() {
            // Closing would end the watch as well; a failure leaves nothing behind.
            match self.reactor.forget(&daemon) {
                Ok(()) | Err(_) => {}
            }
        }
        self.stop_all("the daemon is gone");
    }

    fn stop_all(&mut self, by: &str) {
        let running: Vec<u32> = self.tasks.keys().copied().collect();
        for index in running {
            self.stop(index, StopCause::Asked { by: by.to_owned() });
        }
    }

    fn say(&mut self, message: &FromSupervisor, descriptors: Vec<OwnedFd>) {
        if self.daemon.as_mut().is_some_and(|daemon| daemon.send(message, descriptors).is_err()) {
            self.lose_daemon();
        }
    }

    fn prepare(&mut self, sequence: u64, profile: Profile) {
        let answers = match self.mode_for(profile) {
            Ok(index) => self.modes.get_mut(&index).map(|mode| mode.wait_ready(sequence)).unwrap_or_default(),
            Err(failure) => vec![(sequence, Err(failure))],
        };
        self.say_prepared(answers);
    }

    fn say_prepared(&mut self, answers: Vec<(u64, Result<LayerReport, Failure>)>) {
        for (sequence, result) in answers {
            self.say(&FromSupervisor::Prepared { sequence, result }, Vec::new());
        }
    }

    // --- modes ---

    /// The mode that serves this profile, started where there is none.
    fn mode_for(&mut self, profile: Profile) -> Result<u32, Failure> {
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

    fn hear_mode(&mut self, index: u32) {
        let answers = self.modes.get_mut(&index).map(Mode::hear).unwrap_or_default();
        self.say_prepared(answers);
    }

    /// Modes that nobody needs any more leave; messages that wait are sent as far as there is room.
    fn settle(&mut self) {
        // Keepers are forked ahead while nobody waits: after the end of a task was told. A failure is told to the task
        // that would need the keeper.
        if let Some(mode) = self.to_refill.take().and_then(|index| self.modes.get_mut(&index)).filter(|mode| !mode.is_retired) {
            match mode.refill() {
                Ok(()) | Err(_) => {}
            }
        }
        let idle: Vec<u32> =
            self.modes.iter().filter(|(_, mode)| mode.is_retired && mode.running == 0).map(|(index, _)| *index).collect();
        for index in idle {
            if let Some(mode) = self.modes.remove(&index) {
                match mode.forget(&self.reactor) {
                    Ok(()) | Err(_) => drop(mode),
                }
            }
        }
        for (index, mode) in &mut self.modes {
            mode.flush(*index, &self.reactor);
        }
        for (index, task) in &mut self.tasks {
            // A keeper that is gone is noticed by its closed channel.
            match task.keeper.settle(&self.reactor, Source::Keeper(*index)) {
                Ok(()) | Err(_) => {}
            }
        }
        if self.daemon.as_mut().is_some_and(|daemon| daemon.settle(&self.reactor, Source::Daemon).is_err()) {
            self.lose_daemon();
        }
    }

    // --- tasks ---

    fn start(&mut self, request: RunRequest, text: OwnedFd) -> Result<(), Failure> {
        let RunRequest { task: id, profile, kind, cwd, environment, stdin, streams, timeout, grace } = request;
        let mode_index = self.mode_for(profile)?;
        let index = self.next_index();
        let (input, stdin) = open_stdin(stdin)?;
        let (stdout, stdout_end) = self.open_stream(&id, "stdout")?;
        let (stderr, stderr_end) = match streams {
            Streams::Merged => (None, stdout_end.try_clone().map_err(|error| failed(FailedStep::Descriptors, &error))?),
            Streams::Separate => {
                let (stream, end) = self.open_stream(&id, "stderr")?;
                (Some(stream), end)
            }
        };
        let Some(mode) = self.modes.get_mut(&mode_index) else {
            return Err(failed(FailedStep::Launcher, &"the mode is gone"));
        };
        let mut keeper = Peer::new(mode.take_keeper()?).map_err(|errno| failed(FailedStep::Descriptors, &errno))?;
        let run = ToKeeper::Run { kind, cwd, environment };
        keeper.send(&run, vec![input, stdout_end, stderr_end, text]).map_err(|error| failed(FailedStep::Fork, &error))?;
        let sandbox = (mode.profile.mode, mode.report.clone());
        mode.running += 1;
        let task =
            Task::new(Parts { id, mode: mode_index, sandbox, keeper, stdout, stderr, stdin, timeout, grace });
        let watched = self.watch_task(index, &task);
        self.tasks.insert(index, task);
        if let Err(errno) = watched {
            self.end_unstarted(index, failed(FailedStep::Descriptors, &errno));
        }
        Ok(())
    }

    fn open_stream(&self, task: &TaskId, name: &str) -> Result<(StreamState, OwnedFd), Failure> {
        let (reader, writer) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
            .map_err(|errno| failed(FailedStep::Descriptors, &errno))?;
        // Only the reading end must not wait: the writing end is the command's, and blocks as commands expect.
        rustix::io::ioctl_fionbio(&reader, true).map_err(|errno| failed(FailedStep::Descriptors, &errno))?;
        let path = self.setup.folder.join(format!("{task}.{name}"));
        let spool = Spool::new(path, self.setup.limits.spool);
        Ok((StreamState { pipe: Some(PipeReader::from(reader)), spool }, writer))
    }

    fn watch_task(&self, index: u32, task: &Task) -> Result<(), Errno> {
        self.reactor.watch(&task.keeper, Source::Keeper(index))?;
        if let Some(pipe) = &task.stdout.pipe {
            self.reactor.watch(pipe, Source::Stdout(index))?;
        }
        if let Some(pipe) = task.stderr.as_ref().and_then(|stream| stream.pipe.as_ref()) {
            self.reactor.watch(pipe, Source::Stderr(index))?;
        }
        Ok(())
    }

    fn hear_keeper(&mut self, index: u32) {
        while let Some(task) = self.tasks.get_mut(&index) {
            match task.keeper.receive::<FromKeeper>().map(|received| received.message) {
                Ok(FromKeeper::Started { keeper, pid }) => {
                    task.keeper_pid = Some(keeper);
                    let message = FromSupervisor::Started { task: task.id.clone(), pid };
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
        let Some(task) = self.tasks.get(&index) else { return };
        if task.keeper_pid.is_some() {
            self.kill_orphans();
            return self.end(index, KeeperLeft::Lost);
        }
        // It never came to be. The launcher's or zygote's own words, if there are any, are in their channels by now.
        let mode = task.mode;
        self.hear_mode(mode);
        let failure = self.modes.get(&mode).map_or_else(
            || failed(FailedStep::Fork, &"the mode is gone"),
            Mode::why_gone,
        );
        self.end_unstarted(index, failure);
    }

    /// Kills what a dead keeper left: it has become the supervisor's, and belongs to nobody that is known.
    fn kill_orphans(&mut self) {
        for _ in 0..ORPHAN_ROUNDS {
            self.reap_children();
            let keepers = self.tasks.values().filter_map(|task| task.keeper_pid);
            let kept: HashSet<u32> = self.modes.values().flat_map(Mode::processes).chain(keepers).collect();
            let orphans = process::descendants_beside(std::process::id(), &kept);
            if orphans.is_empty() {
                return;
            }
            for orphan in orphans {
                // Gone meanwhile, or not ours to kill: the next round looks again.
                match orphan.signal(Signal::KILL) {
                    Ok(()) | Err(_) => {}
                }
            }
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    fn take_output(&mut self, index: u32, source: Source) {
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

    fn act_on_timers(&mut self) {
        let now = Instant::now();
        let due: Vec<(u32, Due)> =
            self.tasks.iter().filter_map(|(index, task)| Some((*index, task.due(now)?))).collect();
        for (index, due) in due {
            match due {
                Due::TimeOut => self.stop(index, StopCause::TimedOut),
                Due::Leftovers => self.stop_leftovers(index),
                Due::Tell => self.tell(index, now),
            }
        }
    }

    fn stop(&mut self, index: u32, cause: StopCause) {
        let Some(task) = self.tasks.get_mut(&index) else { return };
        if let Some(grace) = task.begin_stop(cause) {
            // A keeper that is gone is noticed by its closed channel.
            match task.keeper.send(&ToKeeper::Stop { grace }, Vec::new()) {
                Ok(()) | Err(_) => {}
            }
        }
    }

    fn stop_leftovers(&mut self, index: u32) {
        let Some(task) = self.tasks.get_mut(&index) else { return };
        let grace = task.stop_leftovers(&self.setup.limits);
        match task.keeper.send(&ToKeeper::Stop { grace }, Vec::new()) {
            Ok(()) | Err(_) => {}
        }
    }

    fn tell(&mut self, index: u32, now: Instant) {
        let Some(task) = self.tasks.get_mut(&index) else { return };
        task.told(now);
        let (stdout, stderr) = task.bytes();
        let (spools, descriptors) = task.untold_spools();
        let message = FromSupervisor::Grew { task: task.id.clone(), stdout, stderr, spools };
        self.say(&message, descriptors);
    }

    fn end_unstarted(&mut self, index: u32, failure: Failure) {
        if let Some(task) = self.remove(index) {
            self.say(&FromSupervisor::StartFailed { task: task.id, failure }, Vec::new());
        }
    }

    fn end(&mut self, index: u32, left: KeeperLeft) {
        let Some(mut task) = self.remove(index) else { return };
        let until = Instant::now() + Duration::from_millis(200);
        for stream in std::iter::once(&mut task.stdout).chain(&mut task.stderr) {
            // Nothing of the task is left, so all it wrote is in the pipe; a stranger who holds the pipe may write on.
            while matches!(stream.take(&mut self.buffer), Taken::Bytes(_)) && Instant::now() < until {}
        }
        let end = Box::new(task.finish(left));
        let (spools, descriptors) = task.untold_spools();
        self.say(&FromSupervisor::Ended { task: task.id.clone(), end, spools }, descriptors);
    }

    fn remove(&mut self, index: u32) -> Option<Task> {
        let task = self.tasks.remove(&index)?;
        if let Some(mode) = self.modes.get_mut(&task.mode) {
            mode.running = mode.running.saturating_sub(1);
        }
        self.to_refill = Some(task.mode);
        Some(task)
    }

    // --- the end ---

    fn reap_children(&self) {
        let mut records = [0u8; 1024];
        // The records are read to make the descriptor quiet; what ended is found by reaping.
        match rustix::io::read(&self.children, &mut records) {
            Ok(_) | Err(_) => {}
        }
        while let Ok(Reaped::Child { .. }) = reap() {}
    }

    /// Closes every channel, which ends every mode, and waits until no child is left.
    fn leave(mut self) -> ExitCode {
        self.modes.clear();
        let until = Instant::now() + LAST_WAIT;
        while Instant::now() < until {
            match reap() {
                Ok(Reaped::NoChild) => return ExitCode::SUCCESS,
                Ok(Reaped::Child { .. }) => {}
                Ok(Reaped::StillRunning) | Err(_) => std::thread::sleep(Duration::from_millis(2)),
            }
        }
        self.kill_orphans();
        match reap() {
            Ok(Reaped::NoChild) => ExitCode::SUCCESS,
            _ => ExitCode::FAILURE,
        }
    }

    fn next_index(&mut self) -> u32 {
        self.next_index = self.next_index.wrapping_add(1);
        self.next_index
    }

    fn index_of(&self, task: &TaskId) -> Option<u32> {
        self.tasks.iter().find(|(_, candidate)| candidate.id == *task).map(|(index, _)| *index)
    }
}

/// The reading end of a command's standard input, and the writing end where there is one.
fn open_stdin(stdin: Stdin) -> Result<(OwnedFd, Option<OwnedFd>), Failure> {
    match stdin {
        Stdin::Null => std::fs::File::open("/dev/null")
            .map(|file| (file.into(), None))
            .map_err(|error| failed(FailedStep::Descriptors, &error)),
        Stdin::Pipe => rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
            .map(|(reader, writer)| (reader, Some(writer)))
            .map_err(|errno| failed(FailedStep::Descriptors, &errno)),
    }
}

fn failed(step: FailedStep, error: &dyn std::fmt::Display) -> Failure {
    Failure { step, detail: error.to_string() }
}
