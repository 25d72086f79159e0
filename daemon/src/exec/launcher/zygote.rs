//! The zygote: one thread, behind the filter, from which every keeper of the mode is forked.
//!
//! It waits for one thing, a request to fork a keeper; the keeper's channel comes with it, and the files of its command's
//! control group where it has one. It keeps no copy of that channel, so the supervisor learns of a keeper's end, or of a
//! fork that failed, by the channel's closing. Keepers that ended are reaped by the kernel. When the supervisor dies its
//! channel closes, and the zygote ends.

use std::os::fd::OwnedFd;
use std::process::ExitCode;

use brattice_policy::sys;
use brattice_policy::sys::fork::{Fork, SingleThreaded};

use super::confine::Confinement;
use super::group::Group;
use super::keeper;
use super::plan::Base;
use crate::exec::channel::Channel;
use crate::exec::message::{FailedStep, Failure, ForkKeeper, FromKeeper, FromLauncher};

/// A zygote, before its filter.
pub(super) struct Zygote {
    channel: Channel,
    base: Base,
    confinement: Confinement,
    supervisor: u32,
    single: SingleThreaded,
}

impl Zygote {
    pub(super) fn new(
        channel: Channel,
        base: Base,
        confinement: Confinement,
        supervisor: u32,
        single: SingleThreaded,
    ) -> Self {
        Zygote { channel, base, confinement, supervisor, single }
    }

    /// Installs the filter and forks keepers until the supervisor closes the channel. A keeper returns from here too,
    /// when its task is over.
    pub(super) fn run(self) -> ExitCode {
        // Ignored signals would survive the exec of every command.
        sys::signal::reset_dispositions();
        sys::signal::discard_children();
        let said = match self.confinement.install_filter() {
            Ok(()) => FromLauncher::Ready { pid: std::process::id() },
            Err(failure) => FromLauncher::Failed(failure),
        };
        let is_ready = matches!(said, FromLauncher::Ready { .. });
        if self.channel.send(&said, Vec::new()).is_err() || !is_ready {
            return ExitCode::FAILURE;
        }
        loop {
            let Ok(received) = self.channel.receive::<ForkKeeper>() else {
                return ExitCode::SUCCESS;
            };
            let Some((channel, group)) = keeper_descriptors(received.descriptors) else {
                return ExitCode::FAILURE;
            };
            match self.single.fork() {
                Ok(Fork::Child) => {
                    let Zygote { channel: own, base, confinement, supervisor, .. } = self;
                    drop(own);
                    return keeper::run(&channel, &base, &confinement, group, supervisor);
                }
                Ok(Fork::Parent(_)) => {}
                Err(error) => {
                    let failure = Failure { step: FailedStep::Fork, detail: error.to_string() };
                    if channel.send(&FromKeeper::Failed(failure), Vec::new()).is_err() {
                        continue;
                    }
                }
            }
        }
    }
}

/// The keeper's channel, and its command's group.
fn keeper_descriptors(descriptors: Vec<OwnedFd>) -> Option<(Channel, Group)> {
    let mut descriptors = descriptors.into_iter();
    let channel = Channel::from_fd(descriptors.next()?);
    match (descriptors.next(), descriptors.next()) {
        (None, _) => Some((channel, Group::None)),
        (Some(procs), Some(kill)) => Some((channel, Group::Own { procs, kill })),
        (Some(_), None) => None,
    }
}
