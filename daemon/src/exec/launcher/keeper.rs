//! A keeper: the process above one command that outlives it and can always end it.
//!
//! ```text
//! forked ahead ─Run→ program running ─program ended→ leftovers running ─nothing left→ ended
//!                        │    └────────Stop──────→ stopping ─────────────────┘
//!                        └─ step failed → ended
//! ```
//!
//! It is a subreaper: whatever the command does to its parents, each of its processes is a descendant of the keeper,
//! and becomes its child when its parents are gone. "No child left" is therefore the proof that nothing is left. The
//! kernel tells that in one call (wait4 answers `ECHILD`), and no status leaves the keeper before it.
//!
//! When the **supervisor** dies the channel closes, and the keeper kills its tree at once. The **command** cannot
//! signal or trace it: it is a domain below. Signals are blocked, so only SIGKILL from outside ends a keeper; then its
//! processes go to the supervisor, which is a subreaper too and kills what nobody keeps.

use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use brattice_policy::sys;
use brattice_policy::sys::errno;
use brattice_policy::sys::spawn::{Child, ControllingTerminal, Exec, Place};
use brattice_policy::sys::wait::{Reaped, Usage, reap};
use brattice_protocol::outcome::ProcessFacts;
use brattice_protocol::task::TaskKind;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::confine::Confinement;
use super::group::Group;
use super::plan::{Base, Prepared, TASK, TEXT};
use super::steps::{ahead, explain};
use super::stop::{Reach, Stop, Way};
use crate::exec::channel::{Channel, ChannelError, Received};
use crate::exec::message::{Beginning, FailedStep, Failure, FromKeeper, ProgramEnd, ToKeeper};
use crate::exec::process;
use crate::exec::spec::Shell;

/// Most processes that are named in a message.
pub(super) const MOST_NAMED: usize = 16;

/// Runs a keeper until its task is over.
pub(super) fn run(
    channel: &Channel,
    base: &Base,
    confinement: &Confinement,
    group: Group,
    supervisor: u32,
) -> ExitCode {
    match start(channel, base, confinement, group, supervisor) {
        Ok(None) => ExitCode::SUCCESS,
        Ok(Some(keeper)) => keeper.keep(),
        Err(failure) => {
            // A child that died before its exec is still to be reaped; init does that when this process ends.
            match channel.send(&FromKeeper::Failed(failure), Vec::new()) {
                Ok(()) | Err(_) => ExitCode::FAILURE,
            }
        }
    }
}

/// Becomes a keeper, waits for its task and starts it. `None` when the supervisor did not need it any more.
fn start<'a>(
    channel: &'a Channel,
    base: &Base,
    confinement: &Confinement,
    group: Group,
    supervisor: u32,
) -> Result<Option<Keeper<'a>>, Failure> {
    sys::signal::keep_children();
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
        .map_err(|errno| Failure::new(FailedStep::Process, &errno::explain(errno)))?;
    if let Some(ruleset) = confinement.command_ruleset() {
        sys::landlock::restrict_self(ruleset.as_fd())
            .map_err(|errno| Failure::new(FailedStep::Domain, &errno::explain(errno)))?;
    }
    let way = match confinement.broadcast(supervisor)? {
        Some(broadcast) => Way::Domain(broadcast),
        None => Way::Descendants(std::process::id()),
    };
    let events = sys::signal::child_events()
        .map_err(|errno| Failure::new(FailedStep::Descriptors, &errno::explain(errno)))?;
    let base = base.prepared().map_err(|error| Failure::caused(FailedStep::Exec, &error))?;
    rehearse(&base)?;
    let ruleset = confinement.command_ruleset().map(AsFd::as_fd);
    let child = Child::fork(&Place { ruleset, group: group.procs() }).map_err(ahead)?;
    let received = match channel.receive::<ToKeeper>() {
        Ok(received) => received,
        Err(ChannelError::Closed) => return Ok(None),
        Err(error) => return Err(Failure::new(FailedStep::Descriptors, &error)),
    };
    let Received {
        message: ToKeeper::Run { kind, shell, beginning, cwd, environment, terminal },
        descriptors,
    } = received
    else {
        return Ok(None);
    };
    let begun = Instant::now();
    let program = (kind, shell, beginning);
    let request = Request { program, cwd: &cwd, environment: &environment, terminal };
    let (program, pipes) = launch(&base, child, &request, descriptors)?;
    let said = FromKeeper::Started { keeper: std::process::id(), program };
    // A supervisor that is gone by now is noticed at the first turn of the loop.
    channel.send(&said, Vec::new()).ok();
    Ok(Some(Keeper {
        channel,
        events,
        reach: Reach { way, group },
        begun,
        program: Some(program),
        ended: None,
        pipes,
        stop: None,
        usage: Usage::default(),
    }))
}

/// Takes and plans a task that is none, while nobody waits. After a fork every page is shared until it is written to,
/// and the first write costs a fault: those of the real task have happened then.
fn rehearse(base: &Prepared<'_>) -> Result<(), Failure> {
    let fail = |error: &dyn std::fmt::Display| Failure::new(FailedStep::Descriptors, error);
    let (near, far) = Channel::pair().map_err(|errno| fail(&errno::explain(errno)))?;
    let environment = (0..8).map(|_| ("BRATTICE_REHEARSAL".to_owned(), "x".repeat(64))).collect();
    let (kind, shell, beginning) = (TaskKind::Bash, Shell::Plain, Beginning::Now);
    let terminal = ControllingTerminal::None;
    let run = ToKeeper::Run { kind, shell, beginning, cwd: "/".into(), environment, terminal };
    let null = || std::fs::File::open("/dev/null").map(OwnedFd::from);
    let descriptors = [null(), null(), null(), null()].into_iter().collect::<Result<Vec<_>, _>>();
    near.send(&run, descriptors.map_err(|error| fail(&error))?).map_err(|error| fail(&error))?;
    let received = far.receive::<ToKeeper>().map_err(|error| fail(&error))?;
    if let (ToKeeper::Run { kind, shell, cwd, environment, .. }, [text, ..]) =
        (received.message, &received.descriptors[..])
    {
        base.words((kind, shell, beginning), text, &environment, &cwd)
            .map_err(|error| fail(&error))?;
    }
    Ok(())
}

/// What a keeper is asked to start.
struct Request<'a> {
    program: (TaskKind, Shell, Beginning),
    cwd: &'a std::path::Path,
    environment: &'a [(String, String)],
    terminal: ControllingTerminal,
}

/// Starts the program. A terminal's descriptors are closed here once it has them: it is hung up when the last process of
/// the command is gone. Those of pipes are kept until the program has ended, so that its exit does not wake the supervisor,
/// on whose way to its end it would be.
fn launch(
    base: &Prepared<'_>,
    child: Child,
    request: &Request<'_>,
    descriptors: Vec<OwnedFd>,
) -> Result<(u32, Vec<OwnedFd>), Failure> {
    let Request { program, cwd, environment, terminal } = *request;
    let (kind, _, beginning) = program;
    let mut given = descriptors.into_iter();
    let mut next = || {
        let missing = &"the request came without its descriptors";
        given.next().ok_or_else(|| Failure::new(FailedStep::Descriptors, missing))
    };
    let (stdin, stdout, stderr, text) = (next()?, next()?, next()?, next()?);
    let task = match beginning {
        Beginning::Now => None,
        Beginning::WhenTold => Some(next()?),
    };
    let words = base
        .words(program, &text, environment, cwd)
        .map_err(|error| Failure::caused(FailedStep::Exec, &error))?;
    let mut descriptors = vec![(stdin.as_fd(), 0), (stdout.as_fd(), 1), (stderr.as_fd(), 2)];
    if kind == TaskKind::Bash {
        descriptors.push((text.as_fd(), TEXT));
    }
    descriptors.extend(task.as_ref().map(|task| (task.as_fd(), TASK)));
    let exec = Exec {
        candidates: &words.candidates,
        argv: &words.argv,
        environment: &words.environment,
        directory: &words.directory,
        descriptors: &descriptors,
        terminal,
    };
    let program = child.exec(&exec).map_err(|error| explain(error, kind, cwd, &words.argv))?;
    let pipes = match terminal {
        ControllingTerminal::None => vec![stdout, stderr],
        ControllingTerminal::StandardInput => Vec::new(),
    };
    Ok((program, pipes))
}

/// A keeper whose program runs, or has run.
struct Keeper<'a> {
    channel: &'a Channel,
    events: OwnedFd,
    reach: Reach,
    begun: Instant,
    /// The program's process, until it was reaped.
    program: Option<u32>,
    /// How it ended, until that was told.
    ended: Option<ProgramEnd>,
    /// The writing ends of its pipes, as long.
    pipes: Vec<OwnedFd>,
    stop: Option<Stop>,
    /// What everything that was reaped after the program used.
    usage: Usage,
}

/// Whether anything of the task is left.
#[derive(PartialEq, Eq)]
enum Left {
    /// Children that live.
    Something,
    /// More children that ended, perhaps.
    Unreaped,
    Nothing,
}

/// Children that are reaped in one turn.
const REAPED_AT_ONCE: usize = 64;

impl Keeper<'_> {
    /// Each turn does a bounded part of everything: a command whose children end faster than they can be reaped must not
    /// keep a stop, or the supervisor's word, from being acted on.
    fn keep(mut self) -> ExitCode {
        loop {
            let now = Instant::now();
            let until = match self.stop.as_mut().map(|stop| stop.act(&self.reach, now)) {
                Some(None) => {
                    let unkillable = self.named();
                    return self.say_gone(unkillable);
                }
                Some(Some(next)) => Some(next),
                None => None,
            };
            let left = self.reap_some();
            if left == Left::Nothing {
                return self.say_gone(Vec::new());
            }
            self.say_ended();
            match left {
                Left::Unreaped => self.wait(Some(now)),
                Left::Something | Left::Nothing => self.wait(until),
            }
        }
    }

    /// Waits for a child's end, a message, or the next step of a stop.
    fn wait(&mut self, until: Option<Instant>) {
        let timeout = until.map(|until| timespec(until.saturating_duration_since(Instant::now())));
        let mut polled = vec![PollFd::new(&self.events, PollFlags::IN)];
        // A closed channel is always readable: once that is known it is not asked again.
        if self.stop.as_ref().is_none_or(|stop| !stop.is_orphaned()) {
            polled.push(PollFd::new(self.channel, PollFlags::IN));
        }
        if poll(&mut polled, timeout.as_ref()).is_err() {
            return;
        }
        let mut ready = polled.iter().map(|fd| !fd.revents().is_empty());
        let (events, message) = (ready.next() == Some(true), ready.next() == Some(true));
        if events {
            // What the records say is found by reaping; reading only makes the descriptor quiet.
            let mut records = [0u8; 512];
            rustix::io::read(&self.events, &mut records).ok();
        }
        if message {
            self.obey();
        }
    }

    fn obey(&mut self) {
        match self.channel.receive::<ToKeeper>() {
            Ok(Received { message: ToKeeper::Stop { grace }, .. }) => {
                if self.program.is_none() && self.stop.is_none() {
                    self.say_leftovers();
                }
                match &mut self.stop {
                    Some(stop) => stop.hasten(grace),
                    None => self.stop = Some(Stop::gentle(grace)),
                }
            }
            Ok(Received { message: ToKeeper::Look, .. }) => self.say_leftovers(),
            Ok(Received { message: ToKeeper::Run { .. }, .. }) => {}
            Err(_) => self.stop = Some(Stop::orphaned()),
        }
    }

    fn reap_some(&mut self) -> Left {
        for _ in 0..REAPED_AT_ONCE {
            match reap() {
                Ok(Reaped::Child { pid, exit, usage }) if Some(pid) == self.program => {
                    let (duration, stopping) = (self.begun.elapsed(), self.stop.is_some());
                    self.program = None;
                    self.ended = Some(ProgramEnd { exit, usage, duration, stopping });
                }
                Ok(Reaped::Child { usage, .. }) => self.usage = sum(self.usage, usage),
                Ok(Reaped::StillRunning) | Err(_) => return Left::Something,
                Ok(Reaped::NoChild) => return Left::Nothing,
            }
        }
        Left::Unreaped
    }

    fn say_leftovers(&self) {
        let left = process::descendants(std::process::id());
        self.say(&FromKeeper::Leftovers {
            count: left.len() as u64,
            processes: left.iter().take(MOST_NAMED).map(process::Process::facts).collect(),
        });
    }

    /// Tells of the program's end, where that is not the last word.
    fn say_ended(&mut self) {
        if let Some(ended) = self.ended.take() {
            self.say(&FromKeeper::ProgramEnded(ended));
            self.pipes.clear();
        }
    }

    /// The last word. Ending takes longer than the supervisor needs to pass it on, so it waits for the supervisor's
    /// closing before it ends.
    fn say_gone(mut self, unkillable: Vec<ProcessFacts>) -> ExitCode {
        let (usage, stopping, program) = (self.usage, self.stop.is_some(), self.ended.take());
        self.say(&FromKeeper::Gone { program, usage, unkillable, stopping });
        self.pipes.clear();
        while self.channel.receive::<ToKeeper>().is_ok() {}
        ExitCode::SUCCESS
    }

    fn named(&self) -> Vec<ProcessFacts> {
        process::descendants(std::process::id())
            .iter()
            .take(MOST_NAMED)
            .map(process::Process::facts)
            .collect()
    }

    /// A supervisor that is gone is noticed by the closed channel, not here.
    fn say(&self, message: &FromKeeper) {
        self.channel.send(message, Vec::new()).ok();
    }
}

fn sum(one: Usage, other: Usage) -> Usage {
    Usage {
        user: one.user + other.user,
        sys: one.sys + other.sys,
        max_rss: one.max_rss.max(other.max_rss),
    }
}

/// Rounded up by what a wait may be early.
fn timespec(duration: Duration) -> Timespec {
    Timespec::try_from(duration + Duration::from_micros(100))
        .unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 })
}
