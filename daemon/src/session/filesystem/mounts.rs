//! The mount table of the daemon's namespace (proc_pid_mountinfo(5)), and where in a file system a path leads.
//!
//! One file system can be mounted in many places, whole or in part, so that a path alone does not tell what else it is.
//! Which mounts matter is for `overlay` to say.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use rustix::io::Errno;

/// A line of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    id: u64,
    parent: u64,
    /// Number of the file system, the same in each of its mounts. That of stat(2) is another on btrfs.
    pub(super) device: Vec<u8>,
    /// The folder of the file system that is seen.
    root: PathBuf,
    /// Where it is seen.
    pub(super) point: PathBuf,
    /// Name of the kind of file system.
    pub(super) kind: Vec<u8>,
    /// Options of the file system, still escaped.
    options: Vec<u8>,
}

/// All mounts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mounts(Vec<Mount>);

/// A folder of a file system, whichever mount leads there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) device: Vec<u8>,
    path: PathBuf,
}

impl Mounts {
    /// # Errors
    /// `/proc` does not tell them.
    pub(super) fn read() -> Result<Self, Errno> {
        let table = std::fs::read("/proc/self/mountinfo")
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        Ok(Mounts::parse(&table))
    }

    pub(super) fn parse(table: &[u8]) -> Self {
        Mounts(table.split(|byte| *byte == b'\n').filter_map(Mount::parse).collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Mount> {
        self.0.iter()
    }

    /// Where a canonical path leads; `None` where the kernel does not say, or says a mount that is not in the table.
    pub(super) fn place(&self, path: &Path) -> Option<Place> {
        let id = mount_id(path).ok()?;
        self.0.iter().find(|mount| mount.id == id)?.place(path)
    }

    /// Where a path led before something was mounted over it or above it.
    pub(super) fn place_below(&self, cover: &Mount, path: &Path) -> Option<Place> {
        self.0.iter().find(|mount| mount.id == cover.parent)?.place(path)
    }

    /// Every path that leads to a place, or to a part of it that is mounted for itself.
    pub(super) fn names(&self, place: &Place) -> impl Iterator<Item = PathBuf> {
        self.0.iter().filter_map(|mount| {
            let name = mount.name(place)?;
            // A path that cannot be looked at may lead there; one that is on another mount is hidden behind that.
            let is_hidden = match mount_id(&name) {
                Ok(id) => id != mount.id,
                Err(errno) => is_absence(errno),
            };
            (!is_hidden).then_some(name)
        })
    }
}

impl Mount {
    fn parse(line: &[u8]) -> Option<Self> {
        let mut fields = line.split(|byte| *byte == b' ');
        let number = |field: &[u8]| std::str::from_utf8(field).ok()?.parse().ok();
        let id = number(fields.next()?)?;
        let parent = number(fields.next()?)?;
        let device = fields.next()?.to_vec();
        let root = path(unescape(fields.next()?));
        let point = path(unescape(fields.next()?));
        // How many optional fields come before the lone hyphen, the kernel decides.
        let mut fields = fields.skip_while(|field| *field != b"-").skip(1);
        let kind = fields.next()?.to_vec();
        let options = fields.nth(1)?.to_vec();
        Some(Mount { id, parent, device, root, point, kind, options })
    }

    /// The value of an option, as it was given to mount(2).
    pub(super) fn option(&self, name: &str) -> Option<Vec<u8>> {
        let options = self.options.split(|byte| *byte == b',');
        let mut values =
            options.filter_map(|option| option.strip_prefix(name.as_bytes())?.strip_prefix(b"="));
        values.next().map(unescape)
    }

    fn place(&self, path: &Path) -> Option<Place> {
        let rest = path.strip_prefix(&self.point).ok()?;
        Some(Place { device: self.device.clone(), path: self.root.join(rest) })
    }

    fn name(&self, place: &Place) -> Option<PathBuf> {
        if self.device != place.device {
            return None;
        }
        match place.path.strip_prefix(&self.root) {
            Ok(rest) => Some(self.point.join(rest)),
            Err(_) => self.root.starts_with(&place.path).then(|| self.point.clone()),
        }
    }
}

impl Place {
    pub(super) fn is_in(&self, other: &Place) -> bool {
        self.device == other.device && self.path.starts_with(&other.path)
    }
}

/// Whether an errno says that there is nothing by a name.
pub(super) fn is_absence(errno: Errno) -> bool {
    matches!(errno, Errno::NOENT | Errno::NOTDIR | Errno::NAMETOOLONG | Errno::LOOP)
}

pub(super) fn path(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}

/// The mount that a path is on (statx(2), since Linux 5.8).
fn mount_id(path: &Path) -> Result<u64, Errno> {
    let found = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::MNT_ID)?;
    let is_known = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::MNT_ID);
    if is_known { Ok(found.stx_mnt_id) } else { Err(Errno::NOSYS) }
}

/// Takes back the table's own escapes: a backslash and three octal digits for what would break its format.
fn unescape(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let (byte, after) = escaped(rest).unwrap_or((*first, after));
        bytes.push(byte);
        rest = after;
    }
    bytes
}

/// The byte that an escape at the start of a text stands for, and what comes after it.
fn escaped(text: &[u8]) -> Option<(u8, &[u8])> {
    let [b'\\', high @ b'0'..=b'3', middle @ b'0'..=b'7', low @ b'0'..=b'7', rest @ ..] = text
    else {
        return None;
    };
    Some(((high - b'0') << 6 | (middle - b'0') << 3 | (low - b'0'), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"22 1 8:1 / / rw - ext4 /dev/vda rw\n\
        23 22 8:1 /data/in\\134side /a\\040b rw,relatime shared:7 master:1 - ext4 /dev/vda rw\n\
        24 22 0:9 / /\xe9 rw - overlay a\\040-\\040b rw,lowerdir=/l\\054upperdir=x,upperdir=/u\\011\\012,workdir=/w\n\
        no mount\n";

    fn mount(number: usize) -> Mount {
        Mounts::parse(TABLE).0.remove(number)
    }

    #[test]
    fn a_line_is_read_whatever_bytes_and_optional_fields_it_has() {
        assert_eq!(Mounts::parse(TABLE).0.len(), 3);
        let expected = Mount {
            id: 23,
            parent: 22,
            device: b"8:1".to_vec(),
            root: "/data/in\\side".into(),
            point: "/a b".into(),
            kind: b"ext4".to_vec(),
            options: b"rw".to_vec(),
        };
        assert_eq!(mount(1), expected);
        assert_eq!(mount(2).point, path(b"/\xe9".to_vec()));
    }

    #[test]
    fn an_option_is_known_by_its_whole_name_and_unescaped() {
        let values = ["upperdir", "lowerdir", "upper", "rw"].map(|name| mount(2).option(name));
        let expected = [Some(b"/u\t\n".to_vec()), Some(b"/l,upperdir=x".to_vec()), None, None];
        assert_eq!(values, expected);
    }

    #[test]
    fn a_place_has_a_name_on_each_mount_that_shows_it_or_a_part_of_it() {
        let place = |path: &str| Place { device: b"8:1".to_vec(), path: path.into() };
        let names = |path| [0, 1, 2].map(|number| mount(number).name(&place(path)));
        let bound = Some(PathBuf::from("/a b"));
        assert_eq!(
            names("/data/in\\side/x"),
            [Some("/data/in\\side/x".into()), Some("/a b/x".into()), None]
        );
        assert_eq!(names("/data"), [Some("/data".into()), bound.clone(), None]);
        assert_eq!(names("/data/in\\side"), [Some("/data/in\\side".into()), bound, None]);
        assert_eq!(names("/data/in"), [Some("/data/in".into()), None, None]);
    }

    #[test]
    fn what_a_mount_covers_is_on_the_mount_below_it() {
        let mounts = Mounts::parse(TABLE);
        let place = |cover: usize, path: &str| mounts.place_below(&mount(cover), Path::new(path));
        let expected = Place { device: b"8:1".to_vec(), path: "/a b/x".into() };
        assert_eq!((place(1, "/a b/x"), place(0, "/a b/x")), (Some(expected), None));
    }

    #[test]
    fn a_path_leads_to_a_place_on_its_mount_and_is_one_of_that_places_names() {
        let mounts = Mounts::read().unwrap();
        let folder = std::env::temp_dir().canonicalize().unwrap();
        let place = mounts.place(&folder).unwrap();
        assert!(mounts.names(&place).any(|name| name == folder), "{place:?}");
        assert_eq!(mounts.place(&folder.join("missing")), None);
    }
}
