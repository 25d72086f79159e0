//! What holds a file worker for life, so that it is known when the session's rules or roots are others by now.
//!
//! A root may lie on a file system that answers late, or never, so that it is looked at by a thread that may wait. But what
//! a call reads is mostly known to the kernel already, and [`roots_at_once`] asks it for that alone: the path is followed
//! in its cache or not at all (openat2(2), `RESOLVE_CACHED`), and the inode told without asking whoever has the file
//! (statx(2), `AT_STATX_DONT_SYNC`). Neither waits.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use brattice_policy::Profile;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, StatxFlags};
use rustix::io::Errno;

/// Device and inode of a folder; `None` where there is none.
type Inode = Option<(u64, u64)>;

/// What a worker was started under. Where the session's is another by now, the worker is one of the past: something was
/// hidden since, or a root is another folder of the same name.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HeldBy {
    /// The rules.
    pub(super) profile: Profile,
    /// What each of their roots is.
    pub(super) roots: Vec<Inode>,
}

/// What each root is. Blocks.
pub(super) fn roots(profile: &Profile) -> Vec<Inode> {
    let inode = |path: &Path| std::fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    profile.roots.iter().map(|root| inode(&root.path)).collect()
}

/// The same without waiting; `None` where that cannot be told.
pub(super) fn roots_at_once(profile: &Profile) -> Option<Vec<Inode>> {
    profile.roots.iter().map(|root| inode_at_once(&root.path)).collect()
}

fn inode_at_once(path: &Path) -> Option<Inode> {
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let found = match rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::CACHED) {
        Ok(found) => found,
        Err(Errno::NOENT) => return Some(None),
        // AGAIN: not without waiting. A kernel or a container that does not have the call says other things.
        Err(_) => return None,
    };
    let told = rustix::fs::statx(
        &found,
        "",
        AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC,
        StatxFlags::INO,
    );
    let told = told.ok()?;
    Some(Some((rustix::fs::makedev(told.stx_dev_major, told.stx_dev_minor), told.stx_ino)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;

    #[test]
    fn what_is_told_at_once_is_what_a_look_finds() {
        let scratch = Scratch::new();
        let folder = scratch.path("folder");
        std::fs::create_dir(&folder).unwrap();
        let found = std::fs::metadata(&folder).unwrap();
        assert_eq!(inode_at_once(&folder), Some(Some((found.dev(), found.ino()))));
        std::fs::rename(&folder, scratch.path("moved")).unwrap();
        std::fs::create_dir(&folder).unwrap();
        let other = std::fs::metadata(&folder).unwrap();
        assert_ne!(other.ino(), found.ino());
        assert_eq!(inode_at_once(&folder), Some(Some((other.dev(), other.ino()))));
        std::fs::remove_dir(&folder).unwrap();
        assert_eq!(inode_at_once(&folder), Some(None));
    }
}
