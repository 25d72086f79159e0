//! What holds for every file of this machine: who this process is, and the settings of `fs.protected_*` (proc_sys_fs(5)),
//! by which the kernel refuses what permissions alone would allow. Commands are the same user with the same capabilities.

use std::fs;
use std::sync::OnceLock;

use rustix::fs::{FileType, Stat};
use rustix::thread::CapabilitySet;

const STICKY: u32 = 0o1000;
const OTHERS_WRITE: u32 = 0o002;
const GROUP_WRITES: u32 = 0o020;

struct Host {
    uid: u32,
    groups: Vec<u32>,
    held: CapabilitySet,
    links: u32,
    hard_links: u32,
    files: u32,
    fifos: u32,
}

fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| {
        let setting = |name: &str| {
            let text = fs::read_to_string(format!("/proc/sys/fs/{name}")).unwrap_or_default();
            text.trim().parse().unwrap_or(0)
        };
        let held = rustix::thread::capabilities(None);
        Host {
            uid: rustix::process::geteuid().as_raw(),
            groups: groups(),
            held: held.map_or(CapabilitySet::empty(), |sets| sets.effective),
            links: setting("protected_symlinks"),
            hard_links: setting("protected_hardlinks"),
            files: setting("protected_regular"),
            fifos: setting("protected_fifos"),
        }
    })
}

fn groups() -> Vec<u32> {
    let more = rustix::process::getgroups().unwrap_or_default();
    let own = rustix::process::getegid();
    more.into_iter().chain([own]).map(rustix::process::Gid::as_raw).collect()
}

/// Whether the user may do with the file what only its owner may.
pub(super) fn owns(stat: &Stat) -> bool {
    stat.st_uid == host().uid || host().held.contains(CapabilitySet::FOWNER)
}

/// Whether the user is in the group.
pub(super) fn is_member(group: u32) -> bool {
    host().groups.contains(&group)
}

/// Whether the user may give the file away.
pub(super) fn gives_away() -> bool {
    host().held.contains(CapabilitySet::CHOWN)
}

/// Whether a name in a sticky folder is somebody else's to remove.
pub(super) fn is_stuck(folder: &Stat, file: &Stat) -> bool {
    let (uid, held) = (host().uid, host().held);
    folder.st_mode & STICKY != 0
        && folder.st_uid != uid
        && file.st_uid != uid
        && !held.contains(CapabilitySet::FOWNER)
}

/// Whether a symbolic link in a folder that everybody writes to is not followed.
pub(super) fn protects_link(folder: &Stat, link: &Stat) -> bool {
    let shared = STICKY | OTHERS_WRITE;
    host().links != 0
        && folder.st_mode & shared == shared
        && link.st_uid != host().uid
        && link.st_uid != folder.st_uid
}

/// Whether a file that stands in a shared folder already is not opened by a call that would have made it.
pub(super) fn protects_file(folder: &Stat, file: &Stat) -> bool {
    let level = match FileType::from_raw_mode(file.st_mode) {
        FileType::RegularFile => host().files,
        FileType::Fifo => host().fifos,
        _ => 0,
    };
    let is_shared =
        folder.st_mode & OTHERS_WRITE != 0 || (level >= 2 && folder.st_mode & GROUP_WRITES != 0);
    level != 0
        && folder.st_mode & STICKY != 0
        && is_shared
        && file.st_uid != folder.st_uid
        && file.st_uid != host().uid
}

/// Whether a file that is not the user's gets no second name from him, whatever he may do with it otherwise; `is_used`
/// says whether he may read and write it.
pub(super) fn protects_source(file: &Stat, is_used: bool) -> bool {
    const SET_USER: u32 = 0o4000;
    const SET_GROUP_AND_RUN: u32 = 0o2010;
    if host().hard_links == 0 || owns(file) {
        return false;
    }
    let is_plain = FileType::from_raw_mode(file.st_mode) == FileType::RegularFile
        && file.st_mode & SET_USER == 0
        && file.st_mode & SET_GROUP_AND_RUN != SET_GROUP_AND_RUN;
    !(is_plain && is_used)
}

/// Whether the user could signal the process, were there no sandbox: it runs as the same user, or the user is root.
pub(super) fn reaches(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:")).unwrap_or_default();
    let mut users = users.split_whitespace().filter_map(|user| user.parse::<u32>().ok());
    let (real, saved) = (users.next(), users.nth(1));
    let uid = host().uid;
    real.is_some() && (uid == 0 || [real, saved].contains(&Some(uid)))
}
