//! How a session stands: the mode of what starts now, the layers that hold it, and whether its calls may ask a person.
//!
//! The one place that computes it, of what the session is set to, whether it only plans (`planning`) and the ceiling of this
//! moment (`ceiling`). What is started asks here; what runs already keeps what it had.

use std::sync::{Arc, MutexGuard, PoisonError};

use brattice_policy::layer::LayerReport;
use brattice_policy::{Approval, Mode, Profile};

use super::ceiling::Bounds;
use super::planning::Planning;
use super::session::Session;
use crate::exec::machine;

/// What a session is set to, which [`Session::bounded`] narrows for what starts.
#[derive(Clone, Debug)]
pub(super) struct Standing {
    /// The mode that it has when it does not plan.
    pub(super) mode: Mode,
    /// Whether it only plans.
    pub(super) planning: Planning,
    /// The layers of the mode that these two come to.
    pub(super) layers: Arc<LayerReport>,
    /// Whether calls may ask a person.
    pub(super) approval: Approval,
}

/// The mode of what starts now, and the layers that hold it.
#[derive(Clone, Debug)]
pub(super) struct Bounded {
    /// The mode.
    pub(super) mode: Mode,
    /// Its layers.
    pub(super) layers: Arc<LayerReport>,
}

impl Standing {
    /// The mode of what starts from now on, as far as the session says it.
    pub(super) const fn effective(&self) -> Mode {
        self.planning.narrow(self.mode)
    }
}

impl Session {
    /// What commands that start now may do.
    pub(crate) fn profile(&self) -> Profile {
        self.setup.profile.with_mode(self.bounded().mode).hiding(&self.ceiling().deny_read)
    }

    /// Whether somebody is asked.
    pub(super) fn approval(&self) -> Approval {
        self.standing().approval.min(self.ceiling().approval)
    }

    /// What it does not go beyond now.
    pub(super) fn ceiling(&self) -> Bounds {
        self.setup.ceiling.now().and(&self.shared.ceiling.now())
    }

    /// How what starts now stands: as it is set, unless it plans or the ceiling was narrowed since. Every mode that
    /// something starts in comes from here.
    pub(super) fn bounded(&self) -> Bounded {
        let standing = self.standing().clone();
        let (mode, ceiling) = (standing.effective(), self.ceiling().mode);
        match ceiling < mode {
            true => Bounded { mode: ceiling, layers: self.layers_in(ceiling) },
            false => Bounded { mode, layers: standing.layers },
        }
    }

    /// The layers of another mode, as this machine has them.
    fn layers_in(&self, mode: Mode) -> Arc<LayerReport> {
        Arc::new(machine().report_for(&self.setup.profile.with_mode(mode), &[]))
    }

    /// The layers that hold a command in this mode, which may be one that a person has allowed.
    pub(crate) fn layers_of(&self, mode: Mode) -> Arc<LayerReport> {
        match self.bounded() {
            standing if standing.mode == mode => standing.layers,
            _ => self.layers_in(mode),
        }
    }

    /// The layers that hold commands that start now.
    pub(crate) fn layers(&self) -> Arc<LayerReport> {
        self.bounded().layers
    }

    /// The mode of commands that start now, and the layers that hold them.
    pub(crate) fn standing_now(&self) -> (Mode, Arc<LayerReport>) {
        let Bounded { mode, layers } = self.bounded();
        (mode, layers)
    }

    /// Another standing, for the same mode: its supervisor is another one.
    pub(super) fn set_layers(&self, layers: LayerReport) {
        self.standing().layers = Arc::new(layers);
    }

    pub(super) fn standing(&self) -> MutexGuard<'_, Standing> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
