//! What no session goes beyond, as it is now: a session keeps what it was opened with, but for a ceiling that was narrowed
//! since, which holds for whatever starts from then on.

use std::sync::{PoisonError, RwLock};

use brattice_policy::{Approval, Mode};

/// The bounds of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// The widest mode.
    pub(crate) mode: Mode,
    /// Whether anybody is asked.
    pub(crate) approval: Approval,
}

impl Bounds {
    /// The narrower of both, one by one.
    pub(super) fn and(self, other: Bounds) -> Bounds {
        let Bounds { mode, approval } = other;
        Bounds { mode: self.mode.min(mode), approval: self.approval.min(approval) }
    }
}

/// The bounds of all sessions of a daemon, by the configuration that holds now.
#[derive(Debug)]
pub(super) struct Ceiling(RwLock<Bounds>);

impl Ceiling {
    pub(super) fn new(bounds: Bounds) -> Self {
        Ceiling(RwLock::new(bounds))
    }

    pub(super) fn now(&self) -> Bounds {
        *self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self, bounds: Bounds) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = bounds;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_bounds_the_narrower_holds_in_each_respect() {
        let wide = Bounds { mode: Mode::DangerFullAccess, approval: Approval::Never };
        let narrow = Bounds { mode: Mode::ReadOnly, approval: Approval::Ask };
        let both = Bounds { mode: Mode::ReadOnly, approval: Approval::Never };
        assert_eq!((wide.and(narrow), narrow.and(wide)), (both, both));
    }
}
