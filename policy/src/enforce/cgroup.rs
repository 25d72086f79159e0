//! The cgroup layer: where this process's commands can have control groups of their own (cgroups(7); the kernel's
//! `admin-guide/cgroup-v2.rst`). Found by reading alone; whoever starts commands makes the groups.
//!
//! ```text
//! <delegated>            given to the daemon whole: nobody else makes groups in it
//!  ├─ daemon             where the service manager may have put the daemon (`DelegateSubgroup=daemon`), or:
//!  └─ brattice
//!      ├─ daemon         where the daemon has put itself: a group with processes cannot hand controllers on
//!      └─ <session>
//!          └─ <number>   one command
//! ```
//!
//! A group that can be written is not yet one's own: root can write all of them, and a user those that the user's
//! service manager keeps. Where systemd runs its word is asked for, the mark that it sets on what it has delegated
//! (systemd.resource-control(5), `Delegate=`), or that a group is this user's and the one above it is not. Where it does
//! not run, in a container or on a machine with another init, the daemon's own group is the daemon's.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::Access;
use rustix::io::Errno;

use crate::layer::{Layer, LayerName, LayerState};
use crate::sys::errno;

/// The group below which all groups of Brattice are.
pub const ROOT: &str = "brattice";

/// The group of a daemon and of all of its processes but commands.
pub const DAEMON: &str = "daemon";

/// Where systemd is when it runs (sd_booted(3)).
const SYSTEMD: &str = "/run/systemd/system";

/// A controller that limits commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Controller {
    /// Memory.
    Memory,
    /// Processes and threads.
    Pids,
    /// CPU time.
    Cpu,
}

impl Controller {
    /// Every one.
    pub const ALL: [Controller; 3] = [Controller::Memory, Controller::Pids, Controller::Cpu];

    /// Its name in `cgroup.controllers`.
    pub const fn name(self) -> &'static str {
        match self {
            Controller::Memory => "memory",
            Controller::Pids => "pids",
            Controller::Cpu => "cpu",
        }
    }
}

/// How a controller stands in the delegated group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Commands' groups have it.
    Enabled,
    /// It is there and not handed on. After the daemon has tried: other processes than its own are in the group.
    Offered,
    /// It is a controller of cgroup v1 on this machine.
    Version1,
    /// It was not delegated.
    Withheld,
}

/// Why commands have no control groups.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// No cgroup v2 file system.
    #[error("no cgroup v2 file system is mounted here")]
    NotMounted,
    /// The process's group is outside of what is mounted.
    #[error("the daemon's group {path} is outside of the mounted cgroup file system")]
    Outside {
        /// The group, as `/proc/self/cgroup` has it.
        path: PathBuf,
    },
    /// A file that says where the process is cannot be read.
    #[error("cannot read {path}: {}", errno::explain(*.errno))]
    Unread {
        /// The file.
        path: PathBuf,
        /// Why.
        errno: Errno,
    },
    /// systemd runs, and has not delegated the group.
    #[error("the daemon's group {path} is systemd's and was not delegated")]
    NotDelegated {
        /// The group's folder.
        path: PathBuf,
    },
    /// The kernel, or a container's mount, keeps the group from being written.
    #[error("the daemon's group {path} cannot be written: {}", errno::explain(*.errno))]
    NotWritable {
        /// The group's folder, or a file in it.
        path: PathBuf,
        /// Why.
        errno: Errno,
    },
    /// Groups below a threaded one hold threads.
    #[error("the daemon's group {path} is threaded")]
    Threaded {
        /// The group's folder.
        path: PathBuf,
    },
}

impl Unavailable {
    /// What to do about it.
    fn remedy(&self) -> &'static str {
        match self {
            Unavailable::NotMounted => {
                "boot with systemd.unified_cgroup_hierarchy=1, or mount cgroup2"
            }
            Unavailable::NotDelegated { .. } => {
                "run bratticed as a unit with Delegate=yes and DelegateSubgroup=daemon, or start it by \
                 systemd-run --user --scope -p Delegate=yes"
            }
            Unavailable::Outside { .. }
            | Unavailable::Unread { .. }
            | Unavailable::NotWritable { .. }
            | Unavailable::Threaded { .. } => {
                "delegate a group to the daemon's user, or give its container a cgroup namespace and a writable \
                 /sys/fs/cgroup"
            }
        }
    }
}

/// Where a delegated group is in the hierarchy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// At its root, which may hold processes and hand controllers on.
    Root,
    /// Below that: it does the one or the other.
    Below,
}

/// A group in which this process may make others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delegation {
    /// Its folder.
    pub folder: PathBuf,
    /// Where it is.
    pub position: Position,
    /// The folder of the group that this process is in.
    pub own: PathBuf,
}

/// What a delegation is found from.
struct Surroundings {
    /// `/proc/self/cgroup`.
    groups: String,
    /// `/proc/self/mountinfo`.
    mounts: String,
    init: Init,
}

/// Who manages the groups of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Init {
    Systemd,
    Other,
}

impl Delegation {
    /// Finds the delegated group of this process.
    ///
    /// # Errors
    /// Why there is none.
    pub fn find() -> Result<Delegation, Unavailable> {
        let surroundings = Surroundings {
            groups: read(Path::new("/proc/self/cgroup"))?,
            mounts: read(Path::new("/proc/self/mountinfo"))?,
            init: if Path::new(SYSTEMD).is_dir() { Init::Systemd } else { Init::Other },
        };
        Delegation::among(&surroundings)
    }

    fn among(surroundings: &Surroundings) -> Result<Delegation, Unavailable> {
        let own = own_folder(&surroundings.groups, &surroundings.mounts)?;
        let folder = delegated(&own, surroundings.init)
            .ok_or_else(|| Unavailable::NotDelegated { path: own.clone() })?
            .to_owned();
        for name in ["", "cgroup.procs", "cgroup.subtree_control"] {
            let path = if name.is_empty() { folder.clone() } else { folder.join(name) };
            rustix::fs::access(&path, Access::WRITE_OK)
                .map_err(|errno| Unavailable::NotWritable { path, errno })?;
        }
        let position = match read(&folder.join("cgroup.type")) {
            Ok(kind) if kind.trim() == "domain" => Position::Below,
            Ok(_) => return Err(Unavailable::Threaded { path: folder }),
            Err(Unavailable::Unread { errno: Errno::NOENT, .. }) => Position::Root,
            Err(error) => return Err(error),
        };
        Ok(Delegation { folder, position, own })
    }

    /// How every controller stands in it.
    pub fn standings(&self) -> [(Controller, Standing); 3] {
        let words = |name: &str| read(&self.folder.join(name)).unwrap_or_default();
        let (enabled, offered) = (words("cgroup.subtree_control"), words("cgroup.controllers"));
        let version1 = read(Path::new("/proc/cgroups")).unwrap_or_default();
        Controller::ALL.map(|controller| {
            let standing = match controller.name() {
                name if has_word(&enabled, name) => Standing::Enabled,
                name if has_word(&offered, name) => Standing::Offered,
                name if is_version1(&version1, name) => Standing::Version1,
                _ => Standing::Withheld,
            };
            (controller, standing)
        })
    }
}

/// The folder of this process's group.
fn own_folder(groups: &str, mounts: &str) -> Result<PathBuf, Unavailable> {
    let own =
        groups.lines().find_map(|line| line.strip_prefix("0::")).ok_or(Unavailable::NotMounted)?;
    let mounts: Vec<_> = mounts.lines().filter_map(version2_mount).collect();
    if mounts.is_empty() {
        return Err(Unavailable::NotMounted);
    }
    let own = Path::new(own);
    mounts
        .iter()
        .filter(|_| !own.starts_with("/.."))
        .find_map(|(root, point)| Some(join(point, own.strip_prefix(root).ok()?)))
        .ok_or_else(|| Unavailable::Outside { path: own.to_owned() })
}

/// Which group a line of `mountinfo` shows, and where, if it is a cgroup v2 file system's (proc_pid_mountinfo(5)).
fn version2_mount(line: &str) -> Option<(PathBuf, PathBuf)> {
    let (mount, file_system) = line.split_once(" - ")?;
    let mut fields = mount.split(' ').skip(3);
    let is_version2 = file_system.split(' ').next() == Some("cgroup2");
    is_version2.then_some((unescape(fields.next()?), unescape(fields.next()?)))
}

/// A path as `mountinfo` writes it: blanks and backslashes as three octal digits.
fn unescape(text: &str) -> PathBuf {
    let mut path = text.to_owned();
    for (written, meant) in [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")] {
        path = path.replace(written, meant);
    }
    PathBuf::from(path)
}

/// Joined without a trailing slash.
fn join(point: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { point.to_owned() } else { point.join(rest) }
}

/// The group that was delegated to whoever is in `own`.
fn delegated(own: &Path, init: Init) -> Option<&Path> {
    let above = own.parent()?;
    let is_daemon = own.file_name().is_some_and(|name| name == DAEMON);
    let candidates = match (is_daemon, above.file_name().is_some_and(|name| name == ROOT)) {
        (true, true) => vec![above.parent()?],
        (true, false) => vec![above, own],
        (false, _) => vec![own],
    };
    match init {
        Init::Systemd => candidates.into_iter().find(|folder| is_marked(folder)),
        // Only systemd has subgroups of that name.
        Init::Other => candidates.last().copied(),
    }
}

/// Whether systemd has delegated this group.
fn is_marked(folder: &Path) -> bool {
    let is_set = |name| {
        let mut value = [0; 1];
        matches!(rustix::fs::getxattr(folder, name, &mut value), Ok(1) if value == *b"1")
    };
    // An ordinary user cannot read the first one, and before version 252 there was no other.
    is_set("trusted.delegate") || is_set("user.delegate") || is_border(folder)
}

/// Whether the group is this user's and the one above it another user's, as for a system unit with `User=`.
fn is_border(folder: &Path) -> bool {
    let owner = |path: &Path| std::fs::metadata(path).map(|metadata| metadata.uid());
    let user = rustix::process::geteuid().as_raw();
    match (owner(folder), folder.parent().map(owner)) {
        (Ok(own), Some(Ok(above))) => own == user && above != user,
        _ => false,
    }
}

fn read(path: &Path) -> Result<String, Unavailable> {
    std::fs::read_to_string(path).map_err(|error| Unavailable::Unread {
        path: path.to_owned(),
        errno: Errno::from_io_error(&error).unwrap_or(Errno::IO),
    })
}

fn has_word(line: &str, word: &str) -> bool {
    line.split_whitespace().any(|candidate| candidate == word)
}

/// Whether `/proc/cgroups` has the controller in a hierarchy of cgroup v1.
fn is_version1(table: &str, name: &str) -> bool {
    table.lines().any(|line| {
        let mut fields = line.split_whitespace();
        fields.next() == Some(name) && fields.next().is_some_and(|hierarchy| hierarchy != "0")
    })
}

/// The layer that these controllers are.
pub fn layer(found: &Result<[(Controller, Standing); 3], Unavailable>) -> Layer {
    let standings = match found {
        Err(unavailable) => {
            let reason = format!(
                "{unavailable}: processes and CPU of a command are not limited, its memory for each process and where \
                 [limits] memory is set, and it is ended by signals alone; {}",
                unavailable.remedy()
            );
            return Layer::with(LayerName::Cgroup, LayerState::Off, reason);
        }
        Ok(standings) => standings,
    };
    let gaps: Vec<String> =
        GAPS.iter().filter_map(|(gap, reason)| without(standings, *gap, reason)).collect();
    if gaps.is_empty() {
        return Layer::on(LayerName::Cgroup);
    }
    let mut reason =
        format!("commands have control groups, but without limits on {}", gaps.join(" and "));
    let lacks = |(controller, standing): &(Controller, Standing)| {
        *controller == Controller::Memory && *standing != Standing::Enabled
    };
    if standings.iter().any(lacks) {
        reason.push_str("; memory is limited for each process where [limits] memory is set");
    }
    Layer::with(LayerName::Cgroup, LayerState::Partial, reason)
}

/// What a controller that is not enabled lacks, and what to do about it.
const GAPS: [(Standing, &str); 3] = [
    (
        Standing::Offered,
        "other processes are in the daemon's group; start it as a unit with Delegate=yes, or alone in its container",
    ),
    (
        Standing::Version1,
        "cgroup v1 has it on this machine; boot with systemd.unified_cgroup_hierarchy=1 or cgroup_no_v1=all",
    ),
    (Standing::Withheld, "not offered here; add Delegate=cpu memory pids to the unit"),
];

/// The controllers that stand like this, with the reason.
fn without(standings: &[(Controller, Standing); 3], gap: Standing, reason: &str) -> Option<String> {
    let names: Vec<&str> = standings
        .iter()
        .filter(|(_, standing)| *standing == gap)
        .map(|(controller, _)| controller.name())
        .collect();
    (!names.is_empty()).then(|| format!("{} ({reason})", names.join(", ")))
}

#[cfg(test)]
mod tests;
