//! What the paths of a profile lead to, so that a mode is known to be out of date: rules and mounts hold files, not names.

use brattice_policy::enforce::landlock;
use brattice_policy::{Access, Profile};
use rustix::fs::{Stat, fstat, lstat, stat};

/// A file's device and inode. `None` where a path leads nowhere.
type Inode = Option<(u64, u64)>;

/// What the paths of a profile led to: those of its rules and those that its namespaces hold or hide.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Identity(Vec<Inode>);

impl Identity {
    /// What they lead to now. A protected path that has come to be, and one that was replaced, is held by a new mode only; so
    /// is a device or a socket opened by one.
    pub(super) fn of(profile: &Profile) -> Self {
        let inode = |stat: Stat| (stat.st_dev, stat.st_ino);
        let grants = profile.grants();
        let rules = grants
            .iter()
            .filter(|grant| grant.access == Access::Write)
            .map(|grant| landlock::pin(grant).and_then(fstat).ok().map(inode));
        let protected = profile.protected();
        let held = protected.iter().map(|it| lstat(it.path()).ok().map(inode));
        let more = profile.devices.iter().chain(&profile.unix_sockets).chain(profile.hidden());
        let more = more.map(|path| stat(path).ok().map(inode));
        Identity(rules.chain(held).chain(more).collect())
    }
}
