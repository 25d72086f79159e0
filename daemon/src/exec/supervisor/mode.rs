//! A mode of the session: its launcher, its zygote and the keepers that wait for a task.
//!
//! States: *starting* → *ready* → *retired*, or *failed*. A mode belongs to one exact profile and to the very folders
//! that its rules were made from: Landlock holds inodes, so when a root was replaced the mode is retired and the next
//! task gets a new one. Requests need not wait for "ready": a keeper's channel is made here, so a task's request can be
//! sent before its keeper was forked; when the set-up fails that channel closes, and the mode knows why.

use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use brattice_policy::Profile;
use brattice_policy::enforce::namespaces::Entered;
use brattice_policy::enforce::probe::Machine;
use brattice_policy::layer::LayerReport;
use brattice_policy::sys::Errno;
use brattice_policy::sys::errno;

use super::Setup;
use super::denied::Observed;
use super::git::GitState;
use super::identity::Identity;
use super::peer::Peer;
use super::reactor::{Reactor, Source};
use super::spare::{Setting, Spare};
use super::spares::Spares;
use crate::exec::channel::{Channel, ChannelError};
use crate::exec::message::{FailedStep, Failure, ForkKeeper, FromLauncher, ToLauncher};

/// What of a line is heard in one turn: a flood of refusals must not keep the rest waiting.
const HEARD_AT_ONCE: usize = 256;

/// A launcher and what hangs on it.
#[derive(Debug)]
pub(super) struct Mode {
    pub(super) profile: Profile,
    pub(super) report: Arc<LayerReport>,
    machine: Machine,
    /// The network that its launcher made, until it is taken.
    loopback: Vec<OwnedFd>,
    launcher: Line,
    zygote: Line,
    /// Keepers that wait for a task.
    spares: Spares,
    forked: u32,
    index: u32,
    identity: Identity,
    failure: Option<Failure>,
    /// What git would run, as it was seen last.
    git: GitState,
    /// What its observer has told, and the keepers above the callers.
    observed: Vec<(u32, Observed)>,
    /// Requests that wait to be told that the mode is ready.
    waiting: Vec<u64>,
    /// Tasks under this mode.
    pub(super) running: usize,
    pub(super) is_retired: bool,
}

/// The line to a mode's launcher or zygote.
#[derive(Debug)]
struct Line {
    peer: Peer,
    /// The process, once it is known.
    pid: Option<u32>,
    is_ready: bool,
    is_closed: bool,
}

impl Line {
    fn new(channel: Channel, pid: Option<u32>) -> Result<Self, Errno> {
        Ok(Line { peer: Peer::new(channel)?, pid, is_ready: false, is_closed: false })
    }

    /// Reads what there is, a bounded part of it; a failure that was told is returned, what is told of namespaces is put into
    /// `namespaces`. A closed line is not watched any more: it would be ready for ever.
    fn hear(
        &mut self,
        reactor: &Reactor,
        observed: &mut Vec<(u32, Observed)>,
        namespaces: &mut Entered,
    ) -> (Heard, Option<Failure>) {
        let mut failure = None;
        for _ in 0..HEARD_AT_ONCE {
            if self.is_closed {
                return (Heard::All, failure);
            }
            let received = self.peer.receive::<FromLauncher>();
            match received.map(|received| (received.message, received.descriptors)) {
                Ok((FromLauncher::Ready { pid, unheld }, loopback)) => {
                    namespaces.unheld.extend(unheld);
                    namespaces.loopback.extend(loopback);
                    self.pid = Some(pid);
                    self.is_ready = true;
                }
                Ok((FromLauncher::Failed(told), _)) => failure = Some(told),
                Ok((FromLauncher::Denied { keeper, denial }, _)) => {
                    observed.push((keeper, Observed::Denied(denial)));
                }
                Ok((FromLauncher::Unobserved { keeper }, _)) => {
                    observed.push((keeper, Observed::Nothing));
                }
                Err(ChannelError::Full) => return (Heard::All, failure),
                Err(_) => {
                    // Already forgotten is as good.
                    reactor.forget(&self.peer).ok();
                    self.is_closed = true;
                }
            }
        }
        (Heard::Part, failure)
    }
}

/// How much was heard of what a launcher and a zygote had said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// All of it.
    All,
    /// There may be more.
    Part,
}

impl Mode {
    /// Starts a launcher for the profile.
    pub(super) fn start(
        index: u32,
        profile: Profile,
        setup: &Setup,
        reactor: &Reactor,
    ) -> Result<Self, Failure> {
        let identity = Identity::of(&profile);
        let (launcher, far) = Channel::pair().map_err(descriptors)?;
        let (zygote, zygote_far) = Channel::pair().map_err(descriptors)?;
        // The path names this very program, even when its file was replaced since.
        let child = Command::new("/proc/self/exe")
            .arg("launch")
            .env_clear()
            .stdin(Stdio::from(far.into_fd()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| Failure { step: FailedStep::Launcher, detail: error.to_string() })?;
        let given = std::iter::once(&setup.environment).chain(&setup.loopback);
        let given = given.map(OwnedFd::try_clone).collect::<Result<Vec<_>, _>>();
        let given = given.map_err(|error| Failure::new(FailedStep::Descriptors, &error))?;
        let message = ToLauncher {
            profile: profile.clone(),
            limits: setup.process_limits(),
            bash: setup.bash.clone(),
            supervisor: std::process::id(),
        };
        let mut launcher = Line::new(launcher, Some(child.id())).map_err(descriptors)?;
        let zygote = Line::new(zygote, None).map_err(descriptors)?;
        launcher
            .peer
            .send(&message, std::iter::once(zygote_far.into_fd()).chain(given).collect())
            .map_err(|error| Failure::new(FailedStep::Launcher, &error))?;
        reactor.watch(&launcher.peer, Source::Launcher(index)).map_err(descriptors)?;
        reactor.watch(&zygote.peer, Source::Zygote(index)).map_err(descriptors)?;
        let machine = Machine::probe();
        let report = Arc::new(machine.report_for(&profile, &[]));
        let git = GitState::of(&profile);
        let mut mode = Mode {
            profile,
            machine,
            loopback: Vec::new(),
            report,
            launcher,
            zygote,
            spares: Spares::default(),
            forked: 0,
            index,
            identity,
            failure: None,
            git,
            observed: Vec::new(),
            waiting: Vec::new(),
            running: 0,
            is_retired: false,
        };
        mode.refill(setup, reactor)?;
        Ok(mode)
    }

    /// Whether a task of this profile can run here: the folders behind its rules are still the same.
    pub(super) fn serves(&self, profile: &Profile) -> bool {
        !self.is_retired
            && self.failure.is_none()
            && self.profile == *profile
            && Identity::of(profile) == self.identity
    }

    /// A shell that stands and could be taken for one that is started now. The next ones are started like it.
    pub(super) fn take_shell(&mut self, setting: Setting, text: &OwnedFd) -> Option<Spare> {
        self.spares.take_shell(setting, text)
    }

    /// A keeper's channel. What is sent waits there until the keeper exists.
    ///
    /// # Errors
    /// Why no keeper can be had: its own words, or those of the launcher or the zygote.
    pub(super) fn take_keeper(
        &mut self,
        setup: &Setup,
        reactor: &Reactor,
    ) -> Result<Spare, Failure> {
        loop {
            let Some(mut spare) = self.spares.take_bare() else {
                self.fork_keeper(setup, reactor)?;
                continue;
            };
            match spare.hear() {
                Ok(()) => return Ok(spare),
                Err(failure) => {
                    self.dismiss(spare);
                    if let Some(failure) = failure {
                        return Err(failure);
                    }
                }
            }
        }
    }

    /// Ends a spare that is of no use.
    pub(super) fn dismiss(&mut self, spare: Spare) {
        self.spares.dismiss(spare);
    }

    /// Has keepers forked until enough of them wait, and one of them start a shell like the last one.
    pub(super) fn refill(&mut self, setup: &Setup, reactor: &Reactor) -> Result<(), Failure> {
        self.spares.dismiss_others();
        while self.spares.are_few() {
            self.fork_keeper(setup, reactor)?;
        }
        self.spares.start_shell();
        Ok(())
    }

    /// When its shell has stood for long enough.
    pub(super) fn stands_until(&self) -> Option<Instant> {
        self.spares.stand_until()
    }

    /// Dismisses a shell that has stood for long enough. Whether one was.
    pub(super) fn cool(&mut self, now: Instant) -> bool {
        self.spares.cool(now)
    }

    fn fork_keeper(&mut self, setup: &Setup, reactor: &Reactor) -> Result<(), Failure> {
        let (near, far) = Channel::pair().map_err(descriptors)?;
        let keeper = Peer::new(near).map_err(descriptors)?;
        self.forked += 1;
        let name = format!("{}-{}", self.index, self.forked);
        let fail = |error: &dyn std::error::Error| Failure::caused(FailedStep::Process, error);
        let group = setup.groups.as_ref().map(|tree| tree.group(&name, &setup.limits));
        let group = group.transpose().map_err(|error| fail(&error))?;
        let files = group.as_ref().map(|group| group.descriptors()).transpose();
        let files = files.map_err(|error| fail(&error))?.into_iter().flatten();
        match self.zygote.peer.send(&ForkKeeper, [far.into_fd()].into_iter().chain(files).collect())
        {
            Ok(()) => {
                self.spares.add(Spare::new(keeper, group));
                Ok(())
            }
            Err(_) => {
                self.hear(reactor);
                Err(self.why_gone())
            }
        }
    }

    /// What git would run now.
    pub(super) fn git(&mut self) -> &GitState {
        self.git = self.git.again();
        &self.git
    }

    /// The session's loopback, where this mode's launcher has just made it; else nothing.
    pub(super) fn take_loopback(&mut self) -> Vec<OwnedFd> {
        std::mem::take(&mut self.loopback)
    }

    /// Remembers a request that wants to know when the mode is ready.
    pub(super) fn wait_ready(&mut self, sequence: u64) {
        self.waiting.push(sequence);
    }

    /// Whether somebody waits to be told that it is ready.
    pub(super) fn is_awaited(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Reads what the launcher and the zygote have to say, a bounded part of it.
    pub(super) fn hear(&mut self, reactor: &Reactor) -> Heard {
        let mut all = Heard::All;
        let mut namespaces = Entered { held: Vec::new(), unheld: Vec::new(), loopback: Vec::new() };
        for line in [&mut self.launcher, &mut self.zygote] {
            let (heard, failure) = line.hear(reactor, &mut self.observed, &mut namespaces);
            if heard == Heard::Part {
                all = Heard::Part;
            }
            if let Some(failure) = failure {
                self.failure.get_or_insert(failure);
            }
        }
        if !namespaces.unheld.is_empty() {
            self.report = Arc::new(self.machine.report_for(&self.profile, &namespaces.unheld));
        }
        self.loopback.append(&mut namespaces.loopback);
        self.is_retired |= self.launcher.is_closed || self.zygote.is_closed;
        if self.is_retired && !self.is_ready() && self.failure.is_none() {
            self.failure = Some(self.why_gone());
        }
        all
    }

    /// What its observer has told since this was asked last, with the keepers above the callers.
    pub(super) fn take_observed(&mut self) -> Vec<(u32, Observed)> {
        std::mem::take(&mut self.observed)
    }

    /// Whether its launcher was ready once and runs.
    pub(super) fn has_launcher(&self) -> bool {
        self.launcher.is_ready && !self.launcher.is_closed
    }

    fn is_ready(&self) -> bool {
        self.launcher.is_ready && self.zygote.is_ready
    }

    /// The answers for those who wait, once there are any.
    pub(super) fn answers(&mut self) -> Vec<(u64, Result<LayerReport, Failure>)> {
        let result = match &self.failure {
            Some(failure) => Err(failure.clone()),
            None if self.is_ready() => Ok(LayerReport::clone(&self.report)),
            None => return Vec::new(),
        };
        let waiting = std::mem::take(&mut self.waiting);
        waiting.into_iter().map(|sequence| (sequence, result.clone())).collect()
    }

    /// Why the mode could not be set up, where it could not.
    pub(super) fn failure(&self) -> Option<Failure> {
        self.failure.clone()
    }

    /// Why a keeper of this mode did not come to be.
    fn why_gone(&self) -> Failure {
        self.failure.clone().unwrap_or_else(|| Failure {
            step: FailedStep::Fork,
            detail: "the processes that start this mode's commands are gone".to_owned(),
        })
    }

    /// The launcher's and the zygote's processes, as far as they are known.
    pub(super) fn processes(&self) -> impl Iterator<Item = u32> + '_ {
        [self.launcher.pid, self.zygote.pid].into_iter().flatten()
    }

    /// Those who may have something waiting for them.
    pub(super) fn peers(&self) -> impl Iterator<Item = &Peer> {
        [&self.launcher.peer, &self.zygote.peer].into_iter()
    }

    /// Sends what waits for the launcher and the zygote, and waits for room for the rest.
    pub(super) fn flush(&mut self, index: u32, reactor: &Reactor) {
        let lines = [
            (&mut self.launcher, Source::Launcher(index)),
            (&mut self.zygote, Source::Zygote(index)),
        ];
        for (line, source) in lines {
            if !line.is_closed && line.peer.settle(reactor, source).is_err() {
                self.is_retired = true;
            }
        }
    }

    /// Ends the watches of a mode that is being dropped. Closing the channels then ends its processes: the zygote and
    /// the waiting keepers leave, and the launcher kills whatever of the mode is left.
    pub(super) fn forget(&self, reactor: &Reactor) {
        // Closing would end the watches as well; a line that is closed has none.
        reactor.forget(&self.launcher.peer).ok();
        reactor.forget(&self.zygote.peer).ok();
    }
}

fn descriptors(errno: Errno) -> Failure {
    Failure::new(FailedStep::Descriptors, &errno::explain(errno))
}

#[cfg(test)]
mod tests {
    use super::super::denied::Observed;
    use super::*;
    use crate::exec::denials::tests::denial;

    #[test]
    fn a_flood_of_refusals_is_heard_in_parts_and_what_comes_after_it_as_well() {
        let reactor = Reactor::new().unwrap();
        let (near, launcher) = Channel::pair().unwrap();
        let mut line = Line::new(near, None).unwrap();
        launcher.set_nonblocking().unwrap();
        let say = |message: &FromLauncher| launcher.send(message, Vec::new());
        say(&FromLauncher::Ready { pid: 9, unheld: Vec::new() }).unwrap();
        let denied = || FromLauncher::Denied { keeper: 5, denial: Box::new(denial("/etc/hosts")) };
        let mut said = 0;
        let (mut observed, mut rounds) = (Vec::new(), 0);
        let mut namespaces = Entered { held: Vec::new(), unheld: Vec::new(), loopback: Vec::new() };
        while said < 2 * HEARD_AT_ONCE {
            match say(&denied()) {
                Ok(()) => said += 1,
                Err(ChannelError::Full) => {
                    line.hear(&reactor, &mut observed, &mut namespaces);
                    rounds += 1;
                }
                Err(error) => unreachable!("{error}"),
            }
        }
        loop {
            let before = observed.len();
            let (heard, failure) = line.hear(&reactor, &mut observed, &mut namespaces);
            assert_eq!(failure, None);
            assert!(observed.len() - before <= HEARD_AT_ONCE);
            rounds += 1;
            if heard == Heard::All {
                break;
            }
        }
        assert!(rounds >= 2, "{rounds}");
        say(&FromLauncher::Unobserved { keeper: 6 }).unwrap();
        drop(launcher);
        let (heard, _) = line.hear(&reactor, &mut observed, &mut namespaces);
        assert_eq!((heard, line.is_closed, line.pid), (Heard::All, true, Some(9)));
        let unobserved = observed.pop();
        assert_eq!(unobserved, Some((6, Observed::Nothing)));
        assert_eq!(observed.len(), said);
        assert!(
            observed.iter().all(|told| *told == (5, Observed::Denied(denial("/etc/hosts").into())))
        );
    }
}
