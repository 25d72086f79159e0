//! The zygote: one thread, behind the filter, from which every keeper of the mode is forked.
//!
//! First it installs the filter and hands the listener to the launcher; from then on every call that the filter traps waits
//! for the observer. Then it waits for one thing, a request to fork a keeper; the keeper's channel comes with it, and the files of its command's
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
use crate::exec::channel::{Channel, ChannelError};
use crate::exec::message::{FailedStep, Failure, ForkKeeper, FromKeeper, FromLauncher, ToObserver};

/// A zygote, before its filter.
pub(super) struct Zygote {
    channel: Channel,
    base: Base,
    confinement: Confinement,
    supervisor: u32,
    single: SingleThreaded,
    /// To the launcher: the listener goes there.
    launcher: Channel,
}

impl Zygote {
    pub(super) fn new(
        channel: Channel,
        base: Base,
        confinement: Confinement,
        supervisor: u32,
        single: SingleThreaded,
        launcher: Channel,
    ) -> Self {
        Zygote { channel, base, confinement, supervisor, single, launcher }
    }

    /// Installs the filter and forks keepers until the supervisor closes the channel. A keeper returns from here too,
    /// when its task is over.
    pub(super) fn run(self) -> ExitCode {
        // Ignored signals would survive the exec of every command.
        sys::signal::reset_dispositions();
        sys::signal::discard_children();
        let Zygote { channel, base, confinement, supervisor, single, launcher } = self;
        let said = match hand_over(&confinement, launcher) {
            Ok(()) => FromLauncher::Ready { pid: std::process::id(), unheld: Vec::new() },
            Err(failure) => FromLauncher::Failed(failure),
        };
        let is_ready = matches!(said, FromLauncher::Ready { .. });
        if channel.send(&said, Vec::new()).is_err() || !is_ready {
            return ExitCode::FAILURE;
        }
        loop {
            let received = match channel.receive::<ForkKeeper>() {
                Err(ChannelError::NoRoom) => channel.receive_bare(),
                other => other,
            };
            let Ok(received) = received else { return ExitCode::SUCCESS };
            // There was no room for them on the way: that keeper's channel is closed, which its supervisor sees.
            let Some((keeper, group)) = keeper_descriptors(received.descriptors) else {
                continue;
            };
            match single.fork() {
                Ok(Fork::Child) => {
                    drop(channel);
                    return keeper::run(&keeper, &base, &confinement, group, supervisor);
                }
                Ok(Fork::Parent(_)) => {}
                Err(error) => {
                    let failure = Failure { step: FailedStep::Fork, detail: error.to_string() };
                    if keeper.send(&FromKeeper::Failed(failure), Vec::new()).is_err() {
                        continue;
                    }
                }
            }
        }
    }
}

/// Installs the filter, and hands its listener to the launcher. No copy of the listener stays here: a keeper would inherit
/// it, and calls would go on waiting when the launcher is gone.
fn hand_over(confinement: &Confinement, launcher: Channel) -> Result<(), Failure> {
    let listener = confinement.install_filter()?;
    launcher
        .send(&ToObserver, listener.into_iter().collect())
        .map_err(|error| Failure::new(FailedStep::Seccomp, &error))
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
