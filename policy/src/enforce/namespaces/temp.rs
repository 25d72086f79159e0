//! A private `/tmp`: the session's own temporary folder, with its roots at their places below it where they are there.
//!
//! Places are empty folders in the session's folder, made with the mounts' names and kept for its modes to come. What a
//! command has put there under such a name meanwhile, a link say, goes: it stands in its own session's way only.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::Errno;

use super::NamespaceError;
use super::mounts::{As, copy, pin, put};
use crate::view::{Kept, SHARED_TEMP};
use crate::{Access, Profile};

/// How often a name is tried that somebody else keeps taking.
const TRIES: usize = 16;

/// Mounts it, where the profile has it.
pub(super) fn place(profile: &Profile) -> Result<(), NamespaceError> {
    if !profile.has_private_temp() {
        return Ok(());
    }
    let failed = |what, path: &Path| {
        let path = path.to_owned();
        move |errno| NamespaceError::Mount { what, path, errno }
    };
    // Taken before the folder that they are in is covered.
    let kept = profile
        .kept()
        .into_iter()
        .map(|kept| Ok((take(&kept).map_err(failed("take along", &kept.path))?, kept.path)))
        .collect::<Result<Vec<(OwnedFd, PathBuf)>, NamespaceError>>()?;
    let shared = Path::new(SHARED_TEMP);
    pin(&profile.temp)
        .and_then(|temp| put(copy(temp.as_fd(), As::Same)?.as_fd(), pin(shared)?.as_fd()))
        .map_err(failed("mount a private", shared))?;
    for (mount, path) in kept {
        let below = path.strip_prefix(shared).unwrap_or(&path);
        pin(shared)
            .and_then(|private| put(mount.as_fd(), folder(private, below)?.as_fd()))
            .map_err(failed("put into the private /tmp", &path))?;
    }
    Ok(())
}

fn take(kept: &Kept) -> Result<OwnedFd, Errno> {
    let kind = match kept.access {
        Access::Write => As::Same,
        Access::Read | Access::Device | Access::Connect => As::ReadOnly,
    };
    copy(pin(&kept.path)?.as_fd(), kind)
}

/// The folder of this name, made where it is missing.
fn folder(base: OwnedFd, below: &Path) -> Result<OwnedFd, Errno> {
    below.components().try_fold(base, |folder, name| child(folder.as_fd(), name.as_ref()))
}

fn child(folder: BorrowedFd<'_>, name: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for _ in 0..TRIES {
        match openat(folder, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => match mkdirat(folder, name, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno),
            },
            Err(Errno::NOTDIR | Errno::LOOP) => match unlinkat(folder, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT | Errno::ISDIR) => {}
                Err(errno) => return Err(errno),
            },
            other => return other,
        }
    }
    Err(Errno::BUSY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_place_is_made_of_folders_and_never_behind_a_link() {
        let base = std::env::temp_dir().join(format!("brattice-place-{}", std::process::id()));
        let outside = base.join("outside");
        fs::create_dir_all(base.join("temp")).unwrap();
        fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, base.join("temp/a")).unwrap();
        let open = || {
            let flags = OFlags::PATH | OFlags::DIRECTORY;
            rustix::fs::open(base.join("temp"), flags, Mode::empty()).unwrap()
        };
        folder(open(), Path::new("a/b/c")).unwrap();
        assert!(base.join("temp/a/b/c").is_dir() && !base.join("temp/a").is_symlink());
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        fs::remove_dir(base.join("temp/a/b/c")).unwrap();
        fs::write(base.join("temp/a/b/c"), "").unwrap();
        folder(open(), Path::new("a/b/c")).unwrap();
        assert!(base.join("temp/a/b/c").is_dir());
        fs::remove_dir_all(base).unwrap();
    }
}
