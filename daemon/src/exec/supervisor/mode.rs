//! A mode of the session: its launcher, its zygote and the keepers that wait for a task.
//!
//! States: *starting* → *ready* → *retired*, or *failed*. A mode belongs to one exact profile and to the very folders
//! that its rules were made from: Landlock holds inodes, so when a root was replaced the mode is retired and the next
//! task gets a new one. Requests need not wait for "ready": a keeper's channel is made here, so a task's request can be
//! sent before its keeper was forked; when the set-up fails that channel closes, and the mode knows why.

use std::collections::VecDeque;
use std::process::{Command, Stdio};

use brattice_policy::enforce::probe::Machine;
use brattice_policy::enforce::{errno, landlock};
use brattice_policy::layer::LayerReport;
use brattice_policy::sys::Errno;
use brattice_policy::{Access, Profile};

use super::Setup;
use super::peer::Peer;
use super::reactor::{Reactor, Source};
use crate::exec::channel::{Channel, ChannelError};
use crate::exec::message::{FailedStep, Failure, ForkKeeper, FromLauncher, ToLauncher};

/// Keepers that wait for a task, each of them forked while nobody waits for it.
const SPARES: usize = 2;

/// A file's identity.
type Inode = (u64, u64);

/// A launcher and what hangs on it.
#[derive(Debug)]
pub(super) struct Mode {
    pub(super) profile: Profile,
    pub(super) report: LayerReport,
    launcher: Peer,
    zygote: Peer,
    spares: VecDeque<Channel>,
    identity: Vec<Option<Inode>>,
    ready: Vec<u32>,
    failure: Option<Failure>,
    /// Requests that wait to be told that the mode is ready.
    waiting: Vec<u64>,
    /// Tasks under this mode.
    pub(super) running: usize,
    pub(super) is_retired: bool,
}

impl Mode {
    /// Starts a launcher for the profile.
    pub(super) fn start(
        index: u32,
        profile: Profile,
        setup: &Setup,
        reactor: &Reactor,
    ) -> Result<Self, Failure> {
        let identity = identity(&profile);
        let (launcher, far) = Channel::pair().map_err(descriptors)?;
        let (zygote, zygote_far) = Channel::pair().map_err(descriptors)?;
        // The path names this very program, even when its file was replaced since.
        Command::new("/proc/self/exe")
            .arg("launch")
            .env_clear()
            .stdin(Stdio::from(far.into_fd()))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| Failure { step: FailedStep::Launcher, detail: error.to_string() })?;
        let environment = setup
            .environment
            .try_clone()
            .map_err(|error| failed(FailedStep::Descriptors, &error))?;
        let message = ToLauncher::Setup {
            profile: profile.clone(),
            limits: setup.limits.clone(),
            bash: setup.bash.clone(),
            supervisor: std::process::id(),
        };
        let mut launcher = Peer::new(launcher).map_err(descriptors)?;
        let zygote = Peer::new(zygote).map_err(descriptors)?;
        launcher.send(&message, vec![zygote_far.into_fd(), environment]).map_err(launcher_gone)?;
        reactor.watch(&launcher, Source::Launcher(index)).map_err(descriptors)?;
        reactor.watch(&zygote, Source::Zygote(index)).map_err(descriptors)?;
        let report = Machine::probe().report(profile.mode);
        let mut mode = Mode {
            profile,
            report,
            launcher,
            zygote,
            spares: VecDeque::new(),
            identity,
            ready: Vec::new(),
            failure: None,
            waiting: Vec::new(),
            running: 0,
            is_retired: false,
        };
        mode.refill()?;
        Ok(mode)
    }

    /// Whether a task of this profile can run here: the folders behind its rules are still the same.
    pub(super) fn serves(&self, profile: &Profile) -> bool {
        !self.is_retired
            && self.failure.is_none()
            && self.profile == *profile
            && identity(profile) == self.identity
    }

    /// A keeper's channel. What is sent waits there until the keeper exists.
    pub(super) fn take_keeper(&mut self) -> Result<Channel, Failure> {
        if self.spares.is_empty() {
            self.fork_keeper()?;
        }
        self.spares.pop_front().ok_or_else(|| self.why_gone())
    }

    /// Has keepers forked until enough of them wait.
    pub(super) fn refill(&mut self) -> Result<(), Failure> {
        while self.spares.len() < SPARES {
            self.fork_keeper()?;
        }
        Ok(())
    }

    fn fork_keeper(&mut self) -> Result<(), Failure> {
        let (near, far) = Channel::pair().map_err(descriptors)?;
        match self.zygote.send(&ForkKeeper, vec![far.into_fd()]) {
            Ok(()) => {
                self.spares.push_back(near);
                Ok(())
            }
            Err(_) => {
                self.hear();
                Err(self.why_gone())
            }
        }
    }

    /// Remembers a request that wants to know when the mode is ready, and answers those that can be answered.
    pub(super) fn wait_ready(&mut self, sequence: u64) -> Vec<(u64, Result<LayerReport, Failure>)> {
        self.waiting.push(sequence);
        self.answers()
    }

    /// Reads what the launcher and the zygote have to say; answers those who wait.
    pub(super) fn hear(&mut self) -> Vec<(u64, Result<LayerReport, Failure>)> {
        for is_launcher in [true, false] {
            loop {
                let peer = if is_launcher { &self.launcher } else { &self.zygote };
                match peer.receive::<FromLauncher>().map(|received| received.message) {
                    Ok(FromLauncher::Ready { pid }) => self.ready.push(pid),
                    Ok(FromLauncher::Failed(failure)) => {
                        self.failure.get_or_insert(failure);
                    }
                    Err(ChannelError::Full) => break,
                    Err(_) => {
                        self.is_retired = true;
                        break;
                    }
                }
            }
        }
        if self.is_retired && self.failure.is_none() && self.ready.len() < 2 {
            self.failure = Some(self.why_gone());
        }
        self.answers()
    }

    fn answers(&mut self) -> Vec<(u64, Result<LayerReport, Failure>)> {
        let result = match &self.failure {
            Some(failure) => Err(failure.clone()),
            None if self.ready.len() == 2 => Ok(self.report.clone()),
            None => return Vec::new(),
        };
        std::mem::take(&mut self.waiting)
            .into_iter()
            .map(|sequence| (sequence, result.clone()))
            .collect()
    }

    /// Why a keeper of this mode did not come to be.
    pub(super) fn why_gone(&self) -> Failure {
        self.failure.clone().unwrap_or_else(|| Failure {
            step: FailedStep::Fork,
            detail: "the processes that start this mode's commands are gone".to_owned(),
        })
    }

    /// The launcher's and the zygote's processes, as far as they have told.
    pub(super) fn processes(&self) -> impl Iterator<Item = u32> + '_ {
        self.ready.iter().copied()
    }

    /// Sends what waits for the launcher and the zygote, and waits for room for the rest.
    pub(super) fn flush(&mut self, index: u32, reactor: &Reactor) {
        let launcher = self.launcher.settle(reactor, Source::Launcher(index));
        let zygote = self.zygote.settle(reactor, Source::Zygote(index));
        if launcher.is_err() || zygote.is_err() {
            self.is_retired = true;
        }
    }

    /// Ends the watches of a mode that is being dropped. Closing the channels then ends its processes: the zygote and
    /// the waiting keepers leave, and the launcher kills whatever of the mode is left.
    pub(super) fn forget(&self, reactor: &Reactor) -> Result<(), Errno> {
        reactor.forget(&self.launcher)?;
        reactor.forget(&self.zygote)
    }
}

/// What the writable rules' paths lead to now; `None` where a path leads nowhere.
fn identity(profile: &Profile) -> Vec<Option<Inode>> {
    let inode = |stat: rustix::fs::Stat| (stat.st_dev, stat.st_ino);
    profile
        .grants()
        .iter()
        .filter(|grant| grant.access == Access::Write)
        .map(|grant| landlock::pin(grant).and_then(rustix::fs::fstat).ok().map(inode))
        .collect()
}

fn descriptors(errno: Errno) -> Failure {
    failed(FailedStep::Descriptors, &errno::explain(errno))
}

fn launcher_gone(error: ChannelError) -> Failure {
    failed(FailedStep::Launcher, &error)
}

fn failed(step: FailedStep, error: &dyn std::fmt::Display) -> Failure {
    Failure { step, detail: error.to_string() }
}
