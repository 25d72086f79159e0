//! Removing a tree that commands have made: of any depth, and with any permissions on its folders.
//!
//! ```text
//!  root/a/b/c          a is not empty:  a's files go, b moves up
//!  root/x-1/c          x-1 (once b) is not empty:  its files go, c moves up
//!  root/x-2            empty: it goes
//! ```
//!
//! Folders are emptied into the root instead of walked into, so neither the stack nor the number of open descriptors
//! grows with the depth, and no path is ever longer than a name. Every folder moves once at most. Nothing is followed:
//! folders are opened with `O_NOFOLLOW`, all else is unlinked. Nobody may write to the tree meanwhile.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, chmod, fstat, openat, renameat, unlinkat};
use rustix::io::Errno;

/// Removes a file, or a folder with all that is in it. What is not there is removed already.
///
/// # Errors
/// The first entry that could not be removed. All that could is gone.
pub(super) fn remove_tree(path: &Path) -> io::Result<()> {
    match unlinkat(CWD, path, AtFlags::empty()) {
        Err(Errno::ISDIR) => {}
        Ok(()) | Err(Errno::NOENT) => return Ok(()),
        Err(errno) => return Err(errno.into()),
    }
    let root = open(CWD, path)?;
    Removal { root: root.as_fd(), prefix: uuid::Uuid::now_v7().simple().to_string(), moved: 0 }
        .empty_root()?;
    Ok(unlinkat(CWD, path, AtFlags::REMOVEDIR)?)
}

/// A tree that is being emptied.
struct Removal<'a> {
    root: BorrowedFd<'a>,
    /// Names of folders that moved up begin with it; no command can have known it.
    prefix: String,
    moved: u64,
}

/// What one pass over a folder came to.
#[derive(Default)]
struct Pass {
    /// Entries that are gone or moved up.
    done: usize,
    /// Why the first of the others is not.
    fault: Option<Errno>,
}

impl Pass {
    fn count(&mut self, outcome: Result<(), Errno>) {
        match outcome {
            Ok(()) | Err(Errno::NOENT) => self.done += 1,
            Err(errno) => {
                self.fault.get_or_insert(errno);
            }
        }
    }
}

impl Removal<'_> {
    /// Empties the root, pass by pass: each may find folders that the one before moved up.
    fn empty_root(&mut self) -> Result<(), Errno> {
        loop {
            let (root, before) = (self.root, self.moved);
            let pass = each_entry(root, |name| match remove_entry(root, name) {
                Err(Errno::NOTEMPTY | Errno::EXIST) => self.dissolve(name),
                other => other,
            })?;
            let progress = pass.done as u64 + (self.moved - before);
            match pass.fault {
                _ if progress > 0 => {}
                None => return Ok(()),
                Some(errno) => return Err(errno),
            }
        }
    }

    /// Removes a folder of the root that is not empty: its files go, its folders move up.
    fn dissolve(&mut self, name: &CStr) -> Result<(), Errno> {
        let folder = open(self.root, name)?;
        let pass = each_entry(folder.as_fd(), |inner| match remove_entry(folder.as_fd(), inner) {
            Err(Errno::NOTEMPTY | Errno::EXIST) => self.move_up(folder.as_fd(), inner),
            other => other,
        })?;
        match pass.fault {
            Some(errno) => Err(errno),
            None => unlinkat(self.root, name, AtFlags::REMOVEDIR),
        }
    }

    fn move_up(&mut self, folder: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
        self.moved += 1;
        let new = format!("{}-{}", self.prefix, self.moved);
        match renameat(folder, name, self.root, &*new) {
            // Moving a folder changes its `..`, which takes the right to write to it.
            Err(Errno::ACCESS) => {
                open(folder, name)?;
                renameat(folder, name, self.root, &*new)
            }
            other => other,
        }
    }
}

/// Does something with every entry of a folder but itself and its parent.
fn each_entry(
    folder: BorrowedFd<'_>,
    mut act: impl FnMut(&CStr) -> Result<(), Errno>,
) -> Result<Pass, Errno> {
    let mut pass = Pass::default();
    for entry in Dir::read_from(folder)? {
        let entry = entry?;
        if !matches!(entry.file_name().to_bytes(), b"." | b"..") {
            pass.count(act(entry.file_name()));
        }
    }
    Ok(pass)
}

/// Removes a file or an empty folder.
fn remove_entry(folder: BorrowedFd<'_>, name: &CStr) -> Result<(), Errno> {
    match unlinkat(folder, name, AtFlags::empty()) {
        Err(Errno::ISDIR) => unlinkat(folder, name, AtFlags::REMOVEDIR),
        other => other,
    }
}

/// Opens a folder with every right on it, which its owner may have taken from himself.
fn open(at: impl AsFd, name: impl rustix::path::Arg) -> Result<OwnedFd, Errno> {
    let folder = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let pinned = openat(at, name, OFlags::PATH | folder, Mode::empty())?;
    let mode = Mode::from_raw_mode(fstat(&pinned)?.st_mode);
    if !mode.contains(Mode::RWXU) {
        // A descriptor opened with O_PATH takes no fchmod(2); its name in /proc leads to the same inode (open(2)).
        chmod(format!("/proc/self/fd/{}", pinned.as_raw_fd()), mode | Mode::RWXU)?;
    }
    openat(&pinned, c".", OFlags::RDONLY | folder, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;
    use std::fs::Permissions;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    fn close_to_all(path: &Path) {
        std::fs::set_permissions(path, Permissions::from_mode(0o000)).unwrap();
    }

    #[test]
    fn what_is_not_there_is_removed_and_a_file_goes_too() {
        let scratch = Scratch::new();
        remove_tree(&scratch.path("nothing")).unwrap();
        remove_tree(&scratch.file("file", "x")).unwrap();
        assert!(!scratch.path("file").exists());
    }

    #[test]
    fn folders_without_any_permission_go_with_what_is_in_them() {
        let scratch = Scratch::new();
        let inner = scratch.folder("tree/a/b/c");
        scratch.file("tree/a/b/c/file", "");
        scratch.file("tree/a/file", "");
        for path in inner.ancestors().take(4) {
            close_to_all(path);
        }
        remove_tree(&scratch.path("tree")).unwrap();
        assert!(!scratch.path("tree").exists());
    }

    #[test]
    fn a_tree_of_any_depth_goes_with_a_handful_of_descriptors() {
        const DEPTH: usize = 5_000;
        let scratch = Scratch::new();
        let mut at = open(CWD, scratch.folder("tree")).unwrap();
        for level in 0..DEPTH {
            rustix::fs::mkdirat(&at, "d", Mode::RWXU).unwrap();
            let file = OFlags::CREATE | OFlags::WRONLY;
            openat(&at, "file", file, Mode::empty()).unwrap();
            let below = open(&at, "d").unwrap();
            if level % 100 == 0 {
                rustix::fs::fchmod(&at, Mode::empty()).unwrap();
            }
            at = below;
        }
        // The descriptor above pins the deepest folder, whose path nobody could write down.
        drop(at);
        remove_tree(&scratch.path("tree")).unwrap();
        assert!(!scratch.path("tree").exists());
    }

    #[test]
    fn nothing_outside_of_the_tree_is_touched() {
        let scratch = Scratch::new();
        scratch.folder("tree/inner/deep");
        scratch.folder("outside");
        scratch.file("outside/file", "kept");
        std::fs::set_permissions(scratch.path("outside"), Permissions::from_mode(0o500)).unwrap();
        for link in ["tree/link", "tree/inner/link", "tree/inner/deep/link"] {
            symlink(scratch.path("outside"), scratch.path(link)).unwrap();
        }
        remove_tree(&scratch.path("tree")).unwrap();
        let mode = scratch.path("outside").metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o500);
        assert_eq!(std::fs::read_to_string(scratch.path("outside/file")).unwrap(), "kept");

        // A link itself is removed, not what it leads to.
        symlink(scratch.path("outside"), scratch.path("tree")).unwrap();
        remove_tree(&scratch.path("tree")).unwrap();
        assert!(scratch.path("outside/file").exists() && !scratch.path("tree").is_symlink());
        std::fs::set_permissions(scratch.path("outside"), Permissions::from_mode(0o700)).unwrap();
    }
}
