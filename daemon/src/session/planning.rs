//! Plan mode: while it is on, whatever starts in a session may only read.
//!
//! ```text
//!        session.open, session.update {plan: true}
//!  off ─────────────────────────────────────────────► on
//!   ▲        a person approves the plan, or             │
//!   └──────── session.update {plan: false} ◄────────────┘
//! ```
//!
//! It is no mode beside the others but narrows the session's own, in the one place where that is read (`Session::bounded`),
//! so that no tool can forget it; what asks for more by other ways (a permit, a file worker of a wider mode) is looked at by
//! [`Session::admit_mode`]. What ran before keeps what it had. It is written down with the session (`saved`), so that it
//! outlives the daemon.

use brattice_policy::Mode;
use brattice_protocol::audit::Actor;

use super::command::{StartError, UpdateError};
use super::escalation::Changes;
use super::session::Session;

/// Whether a session only plans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Planning {
    /// It acts.
    #[default]
    Off,
    /// It plans.
    On,
}

impl Planning {
    /// As the wire and the session's file have it.
    pub(crate) const fn of(plan: bool) -> Self {
        if plan { Planning::On } else { Planning::Off }
    }

    /// Whether it is on.
    pub(crate) const fn is_on(self) -> bool {
        matches!(self, Planning::On)
    }

    /// The mode of what starts in a session of that mode.
    pub(super) const fn narrow(self, mode: Mode) -> Mode {
        match self {
            Planning::Off => mode,
            Planning::On => Mode::ReadOnly,
        }
    }
}

impl Session {
    /// Whether it only plans.
    pub(crate) fn planning(&self) -> Planning {
        self.standing().planning
    }

    /// Whether something may start in this mode now, whoever has allowed it.
    pub(crate) fn admit_mode(&self, to: Mode) -> Result<(), StartError> {
        match self.planning() {
            Planning::On if to > Mode::ReadOnly => Err(StartError::Planning { to }),
            Planning::On | Planning::Off => Ok(()),
        }
    }

    /// Ends plan mode, by the approval of its plan.
    ///
    /// # Errors
    /// It cannot be written down; plan mode goes on.
    pub(crate) async fn end_planning(&self, by: Actor) -> Result<(), UpdateError> {
        self.update(Changes { planning: Some(Planning::Off), ..Changes::default() }, by).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planning_narrows_every_mode_to_reading() {
        for mode in Mode::ALL {
            assert_eq!(Planning::On.narrow(mode), Mode::ReadOnly);
            assert_eq!(Planning::Off.narrow(mode), mode);
        }
    }
}
