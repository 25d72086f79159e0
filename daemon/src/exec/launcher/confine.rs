//! Entering a mode's sandbox, in a fixed order: namespaces, privileges, Landlock; seccomp follows in the zygote.

use std::os::fd::{AsFd, OwnedFd};

use brattice_policy::enforce::granted::Granted;
use brattice_policy::enforce::namespaces::Entered;
use brattice_policy::enforce::privileges::ProcessLimits;
use brattice_policy::enforce::probe::Machine;
use brattice_policy::enforce::seccomp::{Observer, Selection};
use brattice_policy::enforce::{landlock, namespaces, privileges, seccomp};
use brattice_policy::layer::LayerName;
use brattice_policy::sys::errno;
use brattice_policy::sys::signal::Broadcast;
use brattice_policy::{Profile, sys};

use crate::exec::message::{FailedStep, Failure};

/// How this mode's commands are held.
pub(super) enum Confinement {
    /// `danger-full-access`: not at all.
    None,
    /// Behind D1; every command has domains of its own.
    Scoped {
        /// The ruleset of D2 and D3.
        command: OwnedFd,
        /// What the zygote's filter is made from.
        filter: Selection,
        /// What D1 grants, for the observer.
        granted: Granted,
    },
    /// Behind D1, on a kernel without scopes: commands share D1 with their keepers.
    Unscoped {
        /// What the zygote's filter is made from.
        filter: Selection,
    },
}

/// A process in the sandbox of its mode, all but the filter.
pub(super) struct Confined {
    /// How its commands are held.
    pub(super) confinement: Confinement,
    /// What its namespaces do not hold, and the loopback that they made.
    pub(super) namespaces: Entered,
}

/// Where there are no namespaces.
const NONE: Entered = Entered { held: Vec::new(), unheld: Vec::new(), loopback: Vec::new() };

/// Enters the sandbox of the profile, all but the filter. It cannot be undone.
/// `loopback` is the session's network, where an earlier launcher has made it.
pub(super) fn enter(
    profile: &Profile,
    limits: &ProcessLimits,
    loopback: Vec<OwnedFd>,
) -> Result<Confined, Failure> {
    if !profile.mode.is_confined() {
        privileges::lower_softly(limits)
            .map_err(|errno| Failure::new(FailedStep::Privileges, &errno::explain(errno)))?;
        return Ok(Confined { confinement: Confinement::None, namespaces: NONE });
    }
    let machine = Machine::probe();
    if let Some(missing) = machine.report_for(profile, &[]).missing() {
        let step = match missing.name {
            LayerName::Seccomp => FailedStep::Seccomp,
            LayerName::Namespaces => FailedStep::Namespaces,
            _ => FailedStep::Landlock,
        };
        return Err(Failure::new(step, &missing.reason.as_deref().unwrap_or("missing")));
    }
    let namespaces = match machine.namespaces_for(profile) {
        Ok(right) => namespaces::enter(profile, right, loopback)
            .map_err(|error| Failure::caused(FailedStep::Namespaces, &error))?,
        // Optional: the report says that they are off and why.
        Err(_) => NONE,
    };
    let confinement = restrict(profile, limits, &machine)?;
    Ok(Confined { confinement, namespaces })
}

/// Drops privileges and enters D1.
fn restrict(
    profile: &Profile,
    limits: &ProcessLimits,
    machine: &Machine,
) -> Result<Confinement, Failure> {
    privileges::drop_all(limits).map_err(|error| Failure::new(FailedStep::Privileges, &error))?;
    let domain = landlock::mode_ruleset(profile, machine.abi())
        .map_err(|error| Failure::caused(FailedStep::Landlock, &error))?;
    let filter = machine.selection(profile.network);
    let command = filter.scoped.then(landlock::command_ruleset).transpose();
    let command = command.map_err(|error| Failure::caused(FailedStep::Domain, &error))?;
    sys::landlock::restrict_self(domain.ruleset.as_fd())
        .map_err(|errno| Failure::new(FailedStep::Landlock, &errno::explain(errno)))?;
    Ok(match command {
        Some(command) => Confinement::Scoped { command, filter, granted: domain.granted },
        None => Confinement::Unscoped { filter },
    })
}

impl Confinement {
    /// The means to kill this process's whole domain, where it has one of its own. The guard is tried on the
    /// supervisor, which stands outside every domain.
    pub(super) fn broadcast(&self, supervisor: u32) -> Result<Option<Broadcast>, Failure> {
        match self {
            Confinement::Scoped { .. } => Broadcast::check(supervisor)
                .map(Some)
                .map_err(|error| Failure::new(FailedStep::Domain, &error)),
            Confinement::Unscoped { .. } | Confinement::None => Ok(None),
        }
    }

    /// Installs the filter on this process and all that it forks. What its calls are to be answered on, where the filter
    /// hands any over.
    pub(super) fn install_filter(&self) -> Result<Option<OwnedFd>, Failure> {
        let failed = |error| Failure::new(FailedStep::Seccomp, &error);
        let (Confinement::Scoped { filter, .. } | Confinement::Unscoped { filter }) = self else {
            return Ok(None);
        };
        let program = seccomp::filter(*filter);
        match filter.observer {
            Observer::Off => sys::seccomp::install(&program).map(|()| None).map_err(failed),
            Observer::On | Observer::WithoutSockets => {
                sys::listener::install(&program).map(Some).map_err(failed)
            }
        }
    }

    /// What the observer goes by, where there is one.
    pub(super) fn observed(&self) -> Option<(Selection, Granted)> {
        match self {
            Confinement::Scoped { filter, granted, .. } if filter.observer != Observer::Off => {
                Some((*filter, granted.clone()))
            }
            Confinement::Scoped { .. } | Confinement::Unscoped { .. } | Confinement::None => None,
        }
    }

    /// The ruleset of a command's own domains, where it gets them.
    pub(super) fn command_ruleset(&self) -> Option<&OwnedFd> {
        match self {
            Confinement::Scoped { command, .. } => Some(command),
            Confinement::Unscoped { .. } | Confinement::None => None,
        }
    }
}
