//! The launcher role: a process per mode of a session, inside the mode's domain, above all of the mode's commands.
//!
//! ```text
//! supervisor
//!  └─ launcher    namespaces, privileges dropped, Landlock domain D1, never filtered, not dumpable
//!      └─ zygote  + the seccomp filter; one thread; forks keepers ahead          (zygote)
//!          └─ keeper, one a command: subreaper, domain D2                         (keeper)
//!              └─ the program: own session, domain D3
//! ```
//!
//! States: *setting up* → *ready* → *swept*. Setting up is a fixed order of steps, each of which ends the launcher
//! when it fails, after it was told: no part of a sandbox is ever taken for the whole.
//!
//! It owns nothing but its domain. When the **supervisor** dies, its channel closes: the launcher kills its whole
//! domain in one call and ends. When the **zygote** dies, the supervisor sees that channel close and retires the mode.
//! A command can signal or trace neither: both stand a domain above it.

mod confine;
mod group;
mod keeper;
mod observer;
mod plan;
mod steps;
mod stop;
mod zygote;

use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use brattice_policy::enforce::namespaces::Entered;
use brattice_policy::sys::errno;
use brattice_policy::sys::fork::{Fork, SingleThreaded};
use brattice_policy::sys::signal::{Broadcast, TreeSignal};
use brattice_policy::{Profile, sys};

use super::channel::Channel;
use super::message::{FailedStep, Failure, FromLauncher, ToLauncher, ToObserver};
use confine::{Confined, Confinement};
use zygote::Zygote;

/// Runs the launcher role; its channel is standard input.
pub(crate) fn main() -> ExitCode {
    let Ok(channel) = inherited_channel() else { return ExitCode::FAILURE };
    // Held until the failure was told: the supervisor takes the zygote's closed channel for a sign to read it.
    let mut zygote = None;
    match set_up(&channel, &mut zygote) {
        Ok(Role::Launcher(role)) => {
            drop(zygote);
            role.run(channel)
        }
        Ok(Role::Zygote(role)) => {
            drop((channel, zygote));
            role.run()
        }
        Err(failure) => {
            // The supervisor learns of a failure by this message, or by the closed channel when it is gone itself.
            match channel.send(&FromLauncher::Failed(failure), Vec::new()) {
                Ok(()) | Err(_) => ExitCode::FAILURE,
            }
        }
    }
}

/// Which side of the fork this process is.
enum Role {
    /// The launcher.
    Launcher(Box<Launcher>),
    /// Its child.
    Zygote(Box<Zygote>),
}

/// A launcher whose zygote was forked.
struct Launcher {
    /// The means to kill all of its mode at once: none where commands share the user's domain.
    sweep: Option<Broadcast>,
    confinement: Confinement,
    /// What its namespaces do not hold, and the loopback that they made.
    namespaces: Entered,
    profile: Profile,
    zygote: u32,
    /// From the zygote: the listener comes there.
    handover: Channel,
}

/// Takes the channel from standard input and puts `/dev/null` there, so that no child holds a copy of it.
fn inherited_channel() -> std::io::Result<Channel> {
    let fd = std::io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
    Ok(Channel::from_fd(fd))
}

/// Sets everything up and forks the zygote, whose channel is put into `zygote` meanwhile.
fn set_up(channel: &Channel, zygote: &mut Option<OwnedFd>) -> Result<Role, Failure> {
    let received = channel
        .receive::<ToLauncher>()
        .map_err(|error| Failure::new(FailedStep::Launcher, &error))?;
    let ToLauncher { profile, limits, bash, supervisor } = received.message;
    let mut descriptors = received.descriptors.into_iter();
    let (Some(far), Some(environment)) = (descriptors.next(), descriptors.next()) else {
        return Err(Failure::new(FailedStep::Launcher, &"the set-up came without its descriptors"));
    };
    let far = zygote.insert(far);
    sys::fd::close_on_exec_from(3)
        .map_err(|errno| Failure::new(FailedStep::Descriptors, &errno::explain(errno)))?;
    sys::signal::block_all()
        .map_err(|errno| Failure::new(FailedStep::Process, &errno::explain(errno)))?;
    let Confined { confinement, namespaces } =
        confine::enter(&profile, &limits, descriptors.collect())?;
    let sweep = confinement.broadcast(supervisor)?;
    let base = plan::Base::read(environment, bash)
        .map_err(|error| Failure::caused(FailedStep::Descriptors, &error))?;
    let (handover, to_launcher) = Channel::pair()
        .map_err(|errno| Failure::new(FailedStep::Descriptors, &errno::explain(errno)))?;
    let single = SingleThreaded::check().map_err(|error| Failure::new(FailedStep::Fork, &error))?;
    match single.fork().map_err(|error| Failure::new(FailedStep::Fork, &error))? {
        Fork::Child => {
            let far =
                far.try_clone().map_err(|error| Failure::new(FailedStep::Descriptors, &error))?;
            Ok(Role::Zygote(Box::new(Zygote::new(
                Channel::from_fd(far),
                base,
                confinement,
                supervisor,
                single,
                to_launcher,
            ))))
        }
        Fork::Parent(zygote) => Ok(Role::Launcher(Box::new(Launcher {
            sweep,
            confinement,
            namespaces,
            profile,
            zygote,
            handover,
        }))),
    }
}

impl Launcher {
    /// Starts the observer, tells that it is ready, then waits for the supervisor to close the mode, or to end.
    fn run(self, channel: Channel) -> ExitCode {
        // The zygote ends when its own channel closes; nobody waits for it here.
        sys::signal::discard_children();
        let Launcher { sweep, confinement, namespaces, profile, zygote, handover } = self;
        let Entered { held, unheld, loopback } = namespaces;
        let channel = Arc::new(channel);
        let observed = observe(&confinement, profile, held, zygote, &handover, &channel);
        let said = match observed {
            Ok(()) => FromLauncher::Ready { pid: std::process::id(), unheld },
            Err(failure) => FromLauncher::Failed(failure),
        };
        let is_ready = matches!(said, FromLauncher::Ready { .. });
        if channel.send(&said, loopback).is_ok() && is_ready {
            // Nothing more is ever said to a launcher: this waits for the supervisor's closing.
            while channel.receive::<ToLauncher>().is_ok() {}
        }
        match sweep.map(|broadcast| broadcast.send(TreeSignal::Kill)) {
            None | Some(Ok(()) | Err(sys::Errno::SRCH)) => ExitCode::SUCCESS,
            Some(Err(_)) => ExitCode::FAILURE,
        }
    }
}

/// Takes the listener from the zygote and starts to answer, where the mode has an observer. A zygote that cannot install
/// its filter says so itself.
fn observe(
    confinement: &Confinement,
    profile: Profile,
    held: Vec<PathBuf>,
    zygote: u32,
    handover: &Channel,
    channel: &Arc<Channel>,
) -> Result<(), Failure> {
    let Some((selection, granted)) = confinement.observed() else { return Ok(()) };
    let failed = |error: &dyn std::fmt::Display| Failure::new(FailedStep::Observer, error);
    let received = handover.receive::<ToObserver>().map_err(|error| failed(&error))?;
    let listener = received.descriptors.into_iter().next();
    let listener = listener.ok_or_else(|| failed(&"the filter came without its listener"))?;
    observer::start(listener, selection, profile, granted, held, zygote, Arc::clone(channel))
        .map_err(|error| failed(&error))
}
