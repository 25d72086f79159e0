//! What no session goes beyond, as it is now: a session keeps what it was opened with, but for a ceiling that was narrowed
//! since, which holds for whatever starts from then on.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};

use brattice_policy::{Approval, Mode};
use serde::{Deserialize, Serialize};

/// The bounds of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// The widest mode.
    pub(crate) mode: Mode,
    /// Whether anybody is asked.
    pub(crate) approval: Approval,
    /// What no confined command reads, absolute.
    pub(crate) deny_read: Arc<[PathBuf]>,
}

impl Bounds {
    /// The narrower of both, one by one.
    pub(super) fn and(&self, other: &Bounds) -> Bounds {
        let added = other.deny_read.iter().filter(|path| !self.deny_read.contains(path));
        Bounds {
            mode: self.mode.min(other.mode),
            approval: self.approval.min(other.approval),
            deny_read: self.deny_read.iter().chain(added).cloned().collect(),
        }
    }
}

/// Bounds that change: those of all sessions of a daemon, by the configuration that holds now, and a session's own, which only
/// become narrower.
#[derive(Debug)]
pub(super) struct Ceiling(RwLock<Bounds>);

/// Whether something has become narrower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Narrowed {
    Yes,
    No,
}

/// The bounds of a session on disk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SavedBounds {
    max_mode: Mode,
    approval: Approval,
    deny_read: Vec<PathBuf>,
}

impl From<&Bounds> for SavedBounds {
    fn from(bounds: &Bounds) -> Self {
        let Bounds { mode: max_mode, approval, ref deny_read } = *bounds;
        SavedBounds { max_mode, approval, deny_read: deny_read.to_vec() }
    }
}

impl From<SavedBounds> for Bounds {
    fn from(SavedBounds { max_mode, approval, deny_read }: SavedBounds) -> Self {
        Bounds { mode: max_mode, approval, deny_read: deny_read.into() }
    }
}

impl Ceiling {
    pub(super) fn new(bounds: Bounds) -> Self {
        Ceiling(RwLock::new(bounds))
    }

    pub(super) fn now(&self) -> Bounds {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps the narrower of what is and this. What is wider later does not widen it again.
    pub(super) fn narrow(&self, to: &Bounds) -> Narrowed {
        let mut now = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let narrower = now.and(to);
        match *now == narrower {
            true => Narrowed::No,
            false => {
                *now = narrower;
                Narrowed::Yes
            }
        }
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
        let bounds = |mode, approval, paths: &[&str]| {
            let deny_read = paths.iter().map(PathBuf::from).collect();
            Bounds { mode, approval, deny_read }
        };
        let wide = bounds(Mode::DangerFullAccess, Approval::Never, &["/a", "/b"]);
        let narrow = bounds(Mode::ReadOnly, Approval::Ask, &["/b", "/c"]);
        let both = |paths: &[&str]| bounds(Mode::ReadOnly, Approval::Never, paths);
        assert_eq!(wide.and(&narrow), both(&["/a", "/b", "/c"]));
        assert_eq!(narrow.and(&wide), both(&["/b", "/c", "/a"]));
    }
}
