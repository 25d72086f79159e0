//! Owner, mode and extended attributes of a file, for the one that takes its place.

use std::ffi::CString;
use std::os::fd::OwnedFd;

use rustix::fs::{self, Gid, Mode, Stat, Uid, XattrFlags};
use rustix::io::Errno;
use rustix::process;

/// Bytes of all names, and of one value: the kernel's limits (xattr(7)).
const MOST: usize = 64 * 1024;

/// The list of who may do what, if it is more than the mode.
const ACCESS_LIST: &str = "system.posix_acl_access";

/// Attributes that describe the old bytes, or that the kernel sets by itself.
const NOT_KEPT: [&str; 3] = ["security.capability", "security.ima", "security.evm"];

/// Whether a new file can be given this one's owner and group.
pub(super) fn can_own(old: &Stat) -> bool {
    let user = process::geteuid();
    if user.is_root() {
        return true;
    }
    let is_member = || {
        old.st_gid == process::getegid().as_raw()
            || process::getgroups()
                .is_ok_and(|groups| groups.iter().any(|group| group.as_raw() == old.st_gid))
    };
    old.st_uid == user.as_raw() && is_member()
}

/// Gives the new file what the old one has. The owner comes first, since changing it takes set-ID bits away.
///
/// # Errors
/// Owner and mode could not be kept. Attributes that could not are returned.
pub(super) fn keep(old: &OwnedFd, status: &Stat, new: &OwnedFd) -> Result<Vec<String>, Errno> {
    let made = fs::fstat(new)?;
    if (made.st_uid, made.st_gid) != (status.st_uid, status.st_gid) {
        let owner = (Uid::from_raw(status.st_uid), Gid::from_raw(status.st_gid));
        fs::fchown(new, Some(owner.0), Some(owner.1))?;
    }
    let mut lost = Vec::new();
    let names = names(old)?;
    for name in &names {
        let text = name.to_string_lossy().into_owned();
        if NOT_KEPT.contains(&text.as_str()) {
            continue;
        }
        match copy(old, name, new) {
            Ok(()) => {}
            // It went away meanwhile.
            Err(Errno::NODATA) => {}
            Err(_) => lost.push(text),
        }
    }
    // The folder may have given the new file a list that the old one does not have.
    if !names.iter().any(|name| name.to_bytes() == ACCESS_LIST.as_bytes()) {
        match fs::fremovexattr(new, ACCESS_LIST) {
            Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP) => {}
            Err(errno) => return Err(errno),
        }
    }
    fs::fchmod(new, Mode::from_raw_mode(status.st_mode))?;
    Ok(lost)
}

fn names(file: &OwnedFd) -> Result<Vec<CString>, Errno> {
    let mut list = vec![0_u8; MOST];
    let length = match fs::flistxattr(file, &mut list[..]) {
        Ok(length) => length,
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(Vec::new()),
        Err(errno) => return Err(errno),
    };
    let names = list[..length].split(|byte| *byte == 0).filter(|name| !name.is_empty());
    Ok(names.filter_map(|name| CString::new(name).ok()).collect())
}

fn copy(old: &OwnedFd, name: &CString, new: &OwnedFd) -> Result<(), Errno> {
    let mut value = vec![0_u8; MOST];
    let length = fs::fgetxattr(old, name.as_c_str(), &mut value[..])?;
    let mut there = vec![0_u8; MOST];
    // Labels are often the same already, and only some may set them.
    let has = fs::fgetxattr(new, name.as_c_str(), &mut there[..]);
    if has.is_ok_and(|has| there[..has] == value[..length]) {
        return Ok(());
    }
    fs::fsetxattr(new, name.as_c_str(), &value[..length], XattrFlags::empty())
}
