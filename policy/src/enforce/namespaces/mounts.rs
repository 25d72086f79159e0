//! The few things that are done with mounts, all on pinned descriptors: no path is looked up twice.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};

use crate::sys::namespace::make_read_only;

/// What is mounted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum As {
    /// As it is.
    Same,
    /// Read-only, with all that is mounted below it.
    ReadOnly,
}

/// Pins a path without following symbolic links.
pub(super) fn pin(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}

/// Pins what has this name in a folder, the topmost mount on it. A symbolic link is `ELOOP`.
pub(super) fn pin_in(folder: BorrowedFd<'_>, name: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
    openat2(folder, name, flags, Mode::empty(), resolve)
}

/// A detached copy of what is at a pinned path, with all that is mounted below it.
pub(super) fn copy(of: BorrowedFd<'_>, kind: As) -> Result<OwnedFd, Errno> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_EMPTY_PATH;
    let tree = open_tree(of, c"", flags)?;
    if kind == As::ReadOnly {
        make_read_only(tree.as_fd())?;
    }
    Ok(tree)
}

/// Puts a detached mount on a pinned path.
pub(super) fn put(mount: BorrowedFd<'_>, on: BorrowedFd<'_>) -> Result<(), Errno> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(mount, c"", on, c"", flags)
}

/// Mounts what is at a pinned path on itself, so that its name is busy for whoever would rename or remove it.
pub(super) fn put_on_itself(at: BorrowedFd<'_>, kind: As) -> Result<(), Errno> {
    put(copy(at, kind)?.as_fd(), at)
}

/// A new file system in memory, detached, with these options.
pub(super) fn memory(options: &[(&str, &str)]) -> Result<OwnedFd, Errno> {
    let context = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        fsconfig_set_string(&context, *name, *value)?;
    }
    fsconfig_create(&context)?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
}
