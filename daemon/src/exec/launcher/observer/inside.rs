//! The common case, told apart cheaply: a path below a writable root leads to something below it, and Landlock will let
//! the call pass. A wrong guess here costs a record and nothing else.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use brattice_policy::enforce::landlock;
use brattice_policy::enforce::seccomp::trap::{Folder, Place};
use brattice_policy::profile::DEVICES;
use brattice_policy::{Access, Profile};
use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::caller::Caller;

/// A writable root.
#[derive(Debug)]
struct Root {
    path: Vec<u8>,
    fd: OwnedFd,
}

/// The writable roots of a mode.
#[derive(Debug, Default)]
pub(super) struct Roots(Vec<Root>);

impl Roots {
    pub(super) fn of(profile: &Profile) -> Self {
        let grants = profile.grants();
        let writable = grants.iter().filter(|grant| grant.access == Access::Write);
        let roots = writable.filter_map(|grant| {
            let path = grant.path.as_os_str().as_bytes().to_vec();
            Some(Root { path, fd: landlock::pin(grant).ok()? })
        });
        Roots(roots.collect())
    }

    /// Whether the path leads to something below a root, or to nothing yet.
    pub(super) fn hold(&self, caller: Caller<'_>, place: Place) -> bool {
        let Ok(path) = caller.path(place.path) else { return false };
        match (path.first(), place.folder) {
            (None, _) => false,
            (Some(b'/'), _) => is_device(path) || self.hold_absolute(path),
            (Some(_), Folder::Current) => {
                let Some(folder) = caller.current_path() else { return false };
                self.hold_absolute(&[folder, b"/", path].concat())
            }
            (Some(_), Folder::Argument(number)) => match caller.word(number).cast_signed() {
                CURRENT => self.hold(caller, Place { folder: Folder::Current, ..place }),
                _ => false,
            },
        }
    }

    fn hold_absolute(&self, path: &[u8]) -> bool {
        let below = self.0.iter().filter_map(|root| {
            let rest = path.strip_prefix(&root.path[..])?.strip_prefix(b"/")?;
            (!rest.is_empty()).then_some((root, rest))
        });
        below.into_iter().any(|(root, rest)| leads_below(root, rest))
    }
}

/// `AT_FDCWD`.
const CURRENT: i32 = -100;

/// Whether this is the name of a device that every command may use.
fn is_device(path: &[u8]) -> bool {
    DEVICES.iter().any(|device| device.as_bytes() == path)
}

fn leads_below(root: &Root, rest: &[u8]) -> bool {
    let rest = Path::new(OsStr::from_bytes(rest));
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    let opened = rustix::fs::openat2(&root.fd, rest, flags, Mode::empty(), resolve);
    matches!(opened, Ok(_) | Err(Errno::NOENT))
}
