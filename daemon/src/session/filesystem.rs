//! Where no root may lie: on file systems whose files are the kernel's own state or devices, not data, and in the upper
//! layers of overlays.
//!
//! Writing there changes processes (`/proc/PID/mem`), the kernel, its hardware, somebody's terminal or another mount, and
//! no build works on the former. A client would hardly ask for it, but a command of another session can leave a symbolic
//! link to `/proc/self` where a folder is expected. Where a root leads is for `workspace` to resolve.

mod mounts;
mod overlay;

use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, fstatfs, openat2, stat};
use rustix::io::Errno;

use self::mounts::Mounts;

/// Kinds by `f_type` of statfs(2), as `linux/magic.h` numbers them; the message queues' is in `ipc/mqueue.c`, that of
/// configfs in `fs/configfs/mount.c`.
const KINDS: [(u32, &str); 19] = [
    (0x0000_9fa0, "procfs"),
    (0x6265_6572, "sysfs"),
    (0x0000_1cd1, "devpts"),
    (0x0027_e0eb, "cgroup"),
    (0x6367_7270, "cgroup2"),
    (0x6462_6720, "debugfs"),
    (0x7472_6163, "tracefs"),
    (0x7363_6673, "securityfs"),
    (0xf97c_ff8c, "selinuxfs"),
    (0x4341_5d53, "smackfs"),
    (0x5a3c_69f0, "apparmorfs"),
    (0xcafe_4a11, "bpf"),
    (0x6265_6570, "configfs"),
    (0xde5e_81e4, "efivarfs"),
    (0x6165_676c, "pstore"),
    (0x1980_0202, "mqueue"),
    (0x4249_4e4d, "binfmt_misc"),
    (0x6c6f_6f70, "binderfs"),
    (0x0765_5821, "resctrl"),
];

/// Where device nodes are.
const DEVICES: &str = "/dev";

/// Why a folder is no place for a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Forbidden {
    /// It is on a file system of this kind, whose files are no data.
    Kernel(&'static str),
    /// It is, holds or lies in the upper layer of the overlay that is mounted here.
    OverlayUpper { merged: PathBuf },
}

/// Why a folder can be no root, if so. `path` is canonical; a symbolic link that took a folder's place meanwhile is not
/// followed.
///
/// # Errors
/// The folder cannot be opened or not be asked, or `/proc` does not tell the mounts.
pub(super) fn forbidden(path: &Path) -> Result<Option<Forbidden>, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    // The numbers have 32 bits; the word they come in may have more, and a sign.
    let number = (fstatfs(&fd)?.f_type & 0xffff_ffff) as u32;
    if let Some((_, name)) = KINDS.iter().find(|(known, _)| *known == number) {
        return Ok(Some(Forbidden::Kernel(name)));
    }
    let device = fstat(&fd)?.st_dev;
    if holds_devices(path, device) {
        return Ok(Some(Forbidden::Kernel("devtmpfs")));
    }
    let merged = overlay::merged_above(&Mounts::read()?, path);
    Ok(merged.map(|merged| Forbidden::OverlayUpper { merged }))
}

/// Whether a folder is on the file system of the device nodes. devtmpfs calls itself tmpfs, as what containers have
/// there truly is, so it is known by its place; `/dev/shm`, mounted for itself, is none.
fn holds_devices(path: &Path, device: u64) -> bool {
    let Ok(devices) = stat(DEVICES) else { return false };
    let is_mounted = stat("/").is_ok_and(|root| root.st_dev != devices.st_dev);
    device == devices.st_dev && (is_mounted || path.starts_with(DEVICES))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;

    #[test]
    fn folders_of_data_are_allowed() {
        let scratch = Scratch::new();
        assert_eq!(forbidden(&scratch.folder("ws")), Ok(None));
        for path in ["/", "/usr", "/etc"] {
            assert_eq!(forbidden(Path::new(path)), Ok(None), "{path}");
        }
    }

    #[test]
    fn the_kernels_own_file_systems_and_devices_are_not() {
        let own = format!("/proc/{}/task", std::process::id());
        for (path, kind) in [
            ("/proc", "procfs"),
            (own.as_str(), "procfs"),
            ("/sys", "sysfs"),
            ("/dev/pts", "devpts"),
            ("/dev", "devtmpfs"),
        ] {
            assert_eq!(forbidden(Path::new(path)), Ok(Some(Forbidden::Kernel(kind))), "{path}");
        }
    }

    #[test]
    fn a_link_is_not_followed() {
        let scratch = Scratch::new();
        std::os::unix::fs::symlink("/usr", scratch.path("link")).unwrap();
        assert_eq!(forbidden(&scratch.path("link")), Err(Errno::LOOP));
    }
}
