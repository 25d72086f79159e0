//! Which file systems no root may lie on: those whose files are the kernel's own state or devices, not data.
//!
//! Writing there changes processes (`/proc/PID/mem`), the kernel, its hardware or somebody's terminal, and no build
//! works there. A client would hardly ask for it, but a command of another session can leave a symbolic link to
//! `/proc/self` where a folder is expected. Where a root leads is for `workspace` to resolve.

use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, fstatfs, openat2, stat};
use rustix::io::Errno;

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

/// The kind of file system, where it is one on which no root may lie. `path` is canonical; a symbolic link that took a
/// folder's place meanwhile is not followed.
///
/// # Errors
/// The folder cannot be opened, or not be asked.
pub(super) fn forbidden(path: &Path) -> Result<Option<&'static str>, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let fd = openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    // The numbers have 32 bits; the word they come in may have more, and a sign.
    let number = (fstatfs(&fd)?.f_type & 0xffff_ffff) as u32;
    if let Some((_, name)) = KINDS.iter().find(|(known, _)| *known == number) {
        return Ok(Some(name));
    }
    let device = fstat(&fd)?.st_dev;
    if holds_devices(path, device) {
        return Ok(Some("devtmpfs"));
    }
    // Where /proc does not tell the mounts there is nothing to compare with.
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    Ok(is_overlay_upper(&mounts, path).then_some("the upper layer of an overlay mount"))
}

/// Whether a folder is, holds or lies in the upper layer of an overlay: what is written there shows up in another mount,
/// which is no root (`upperdir=` in proc_pid_mountinfo(5)).
fn is_overlay_upper(mounts: &str, path: &Path) -> bool {
    let overlays =
        mounts.lines().filter_map(|line| line.split_once(" - overlay ")?.1.split(' ').nth(1));
    let uppers = overlays
        .flat_map(|options| options.split(','))
        .filter_map(|option| option.strip_prefix("upperdir="));
    uppers.map(|upper| upper.replace("\\040", " ")).any(|upper| {
        let upper = Path::new(&upper);
        // `/` holds everything, and is no root for that reason alone.
        (path.parent().is_some() && upper.starts_with(path)) || path.starts_with(upper)
    })
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
            assert_eq!(forbidden(Path::new(path)), Ok(Some(kind)), "{path}");
        }
    }

    #[test]
    fn f19_the_upper_layer_of_an_overlay_is_no_root() {
        let mounts = "22 1 0:5 / / rw - ext4 /dev/vda rw\n\
                      40 22 0:9 / /merged rw,relatime shared:7 - overlay overlay rw,lowerdir=/low,upperdir=/a\\040b/up,workdir=/w\n";
        let is_upper = |path: &str| is_overlay_upper(mounts, Path::new(path));
        assert_eq!(["/a b", "/a b/up", "/a b/up/x"].map(is_upper), [true; 3]);
        assert_eq!(["/merged", "/low", "/a b/upper", "/up"].map(is_upper), [false; 4]);
    }

    #[test]
    fn a_link_is_not_followed() {
        let scratch = Scratch::new();
        std::os::unix::fs::symlink("/usr", scratch.path("link")).unwrap();
        assert_eq!(forbidden(&scratch.path("link")), Err(Errno::LOOP));
    }
}
