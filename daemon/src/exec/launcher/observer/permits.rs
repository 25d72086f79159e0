//! What the kernel would say without the sandbox: permissions, read-only mounts, attributes of files. A call that it
//! would have refused anyway is no denial.

use std::os::fd::{AsFd, OwnedFd};

use brattice_policy::sys::file::{Permission, permits};
use rustix::fs::{AtFlags, Stat, StatVfsMountFlags, StatxAttributes, StatxFlags};

use super::host;
use super::resolve::File;

/// Attributes that bind even the owner (chattr(1)).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Attributes {
    /// Nothing of it can be changed.
    pub(super) is_immutable: bool,
    /// It only grows.
    pub(super) is_append_only: bool,
}

pub(super) fn attributes(file: impl AsFd) -> Attributes {
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    let facts = rustix::fs::statx(file, c"", flags, StatxFlags::empty());
    facts.map_or(Attributes::default(), |facts| Attributes {
        is_immutable: facts.stx_attributes.contains(StatxAttributes::IMMUTABLE),
        is_append_only: facts.stx_attributes.contains(StatxAttributes::APPEND),
    })
}

/// The mount that a file was reached by.
pub(super) fn mount(file: impl AsFd) -> Option<u64> {
    let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC;
    rustix::fs::statx(file, c"", flags, StatxFlags::MNT_ID).ok().map(|facts| facts.stx_mnt_id)
}

pub(super) fn is_read_only(file: impl AsFd) -> bool {
    rustix::fs::fstatvfs(file).is_ok_and(|facts| facts.f_flag.contains(StatVfsMountFlags::RDONLY))
}

/// Whether a name could be made in the folder.
pub(super) fn can_create(folder: &OwnedFd, stat: &Stat) -> bool {
    stat.st_nlink > 0
        && !is_read_only(folder)
        && permits(folder, Permission::Names)
        && !attributes(folder).is_immutable
}

/// Whether the file's name in the folder could be removed.
pub(super) fn can_remove(folder: &OwnedFd, stat: &Stat, file: &File) -> bool {
    let (above, own) = (attributes(folder), attributes(&file.fd));
    !is_read_only(folder)
        && permits(folder, Permission::Names)
        && !above.is_immutable
        && !above.is_append_only
        && !own.is_immutable
        && !own.is_append_only
        && !host::is_stuck(stat, &file.stat)
}
