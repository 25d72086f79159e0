//! Metadata: mode, owner, times, extended attributes. Landlock does not judge them, so no such call ever continues: it
//! is done here, on the pinned file, inside the mode's own domain, or refused.

use std::ffi::CString;
use std::os::fd::AsRawFd as _;

use brattice_policy::enforce::granted::AccessFs;
use brattice_policy::enforce::seccomp::trap::{Change, Folder, Place, Target, Times};
use brattice_policy::sys::file::{self, Permission, Time, permits};
use brattice_policy::{DeniedOperation, LayerName};
use rustix::fs::FileType;
use rustix::io::Errno;

use super::Judge;
use super::caller::{Caller, Look};
use super::resolve::{self, File, Found, LastLink};
use super::verdict::{Answer, Refusal, path_of, refuse};
use super::{host, permits as native};

const NO_FOLLOW: u32 = 0x100;
const EMPTY_PATH: u32 = 0x1000;
const CURRENT: i32 = -100;

/// Longest name (`XATTR_NAME_MAX`) with its NUL, and longest value (`XATTR_SIZE_MAX`), of an extended attribute.
const LONGEST_NAME: usize = 256;
const LONGEST_VALUE: u64 = 65_536;

const XATTR_CREATE: u32 = 1;
const XATTR_REPLACE: u32 = 2;

const UTIME_OMIT: i64 = (1 << 30) - 2;

/// Leaves an owner or a group as it is.
const UNCHANGED: u32 = u32::MAX;

/// A change with its operands, read once.
#[derive(Debug)]
enum Wanted {
    Mode(u32),
    Owner(u32, u32),
    /// `None` is now.
    Times(Option<[Time; 2]>),
    Set {
        name: CString,
        value: Vec<u8>,
        flags: u32,
    },
    Remove(CString),
}

pub(super) fn change(judge: &Judge, caller: Caller<'_>, target: Target, change: Change) -> Answer {
    if judge.is_below_another_domain(caller) {
        return Answer::Unseen;
    }
    decide(judge, caller, target, change).unwrap_or_else(refuse)
}

fn decide(
    judge: &Judge,
    caller: Caller<'_>,
    target: Target,
    change: Change,
) -> Result<Answer, Look> {
    let wanted = read(caller, change)?;
    if changes_nothing(&wanted) {
        return Ok(Answer::Done(0));
    }
    let (file, found) = pin(caller, target, change)?;
    let rights = AccessFs::MakeReg | AccessFs::WriteFile;
    let missing = rights & !judge.granted_on(&file, found.as_ref(), rights)?;
    if resolve::is_procfs(&file.fd)? {
        return Ok(Answer::Fail(Errno::PERM));
    }
    if !missing.is_empty() {
        return Ok(match would_fail(&file, &wanted) {
            Some(errno) => Answer::Fail(errno),
            None => refusal(&file, &wanted),
        });
    }
    // What was pinned was the caller's only if it is still the one that waits.
    if !caller.is_waiting() {
        return Ok(Answer::Fail(Errno::SRCH));
    }
    Ok(match carry_out(&file, &wanted) {
        Ok(()) => Answer::Done(0),
        Err(errno) => Answer::Fail(errno),
    })
}

fn refusal(file: &File, wanted: &Wanted) -> Answer {
    let right = match wanted {
        Wanted::Mode(_) => "chmod",
        Wanted::Owner(..) => "chown",
        Wanted::Times(_) => "utimes",
        Wanted::Set { .. } => "setxattr",
        Wanted::Remove(_) => "removexattr",
    };
    Refusal {
        operation: DeniedOperation::Metadata,
        path: path_of(&file.fd),
        second_path: None,
        layer: LayerName::Observer,
        errno: Errno::ACCESS,
        right: right.to_owned(),
        grant: None,
    }
    .into()
}

fn read(caller: Caller<'_>, change: Change) -> Result<Wanted, Look> {
    Ok(match change {
        Change::Mode(mode) => Wanted::Mode(caller.word(mode) & 0o7777),
        Change::Owner(owner, group) => Wanted::Owner(caller.word(owner), caller.word(group)),
        Change::Times(times) => Wanted::Times(read_times(caller, times)?),
        Change::RemoveAttribute(name) => Wanted::Remove(read_name(caller, name)?),
        Change::SetAttribute { name, value, size, flags } => {
            let (name, flags) = (read_name(caller, name)?, caller.word(flags));
            let value = read_value(caller, caller.argument(value), caller.argument(size))?;
            Wanted::Set { name, value, flags }
        }
        Change::SetAttributeBy { name, arguments, size } => {
            // `struct xattr_args`: an address, a size, flags. A longer one is a newer kernel's.
            if caller.argument(size) != 16 {
                return Err(Look::Native(Errno::INVAL));
            }
            let mut bytes = [0u8; 16];
            caller.bytes(caller.argument(arguments), &mut bytes)?;
            let [value, rest] = two_numbers(&bytes);
            let (size, flags) = (rest & u64::from(u32::MAX), (rest >> 32) as u32);
            let name = read_name(caller, name)?;
            Wanted::Set { name, value: read_value(caller, value, size)?, flags }
        }
    })
}

fn two_numbers(bytes: &[u8; 16]) -> [u64; 2] {
    let (low, high) = bytes.split_at(8);
    [low, high].map(|half| half.try_into().map_or(0, u64::from_ne_bytes))
}

fn read_name(caller: Caller<'_>, number: u8) -> Result<CString, Look> {
    let name = caller.text(number, LONGEST_NAME).map_err(|look| match look {
        Look::Native(Errno::NAMETOOLONG) => Look::Native(Errno::RANGE),
        look => look,
    })?;
    if name.is_empty() {
        return Err(Look::Native(Errno::RANGE));
    }
    CString::new(name).map_err(|_| Look::Native(Errno::RANGE))
}

fn read_value(caller: Caller<'_>, address: u64, size: u64) -> Result<Vec<u8>, Look> {
    if size > LONGEST_VALUE {
        return Err(Look::Native(Errno::TOOBIG));
    }
    let mut value = vec![0; usize::try_from(size).unwrap_or(0)];
    if !value.is_empty() {
        caller.bytes(address, &mut value)?;
    }
    Ok(value)
}

fn read_times(caller: Caller<'_>, times: Times) -> Result<Option<[Time; 2]>, Look> {
    let (Times::Seconds(number) | Times::Microseconds(number) | Times::Nanoseconds(number)) = times;
    let address = caller.argument(number);
    if address == 0 {
        return Ok(None);
    }
    let mut bytes = [0u8; 32];
    let length = if matches!(times, Times::Seconds(_)) { 16 } else { 32 };
    caller.bytes(address, &mut bytes[..length])?;
    let number = |at: usize| bytes[8 * at..8 * at + 8].try_into().map_or(0, i64::from_ne_bytes);
    Ok(Some(match times {
        Times::Seconds(_) => [[number(0), 0], [number(1), 0]],
        Times::Microseconds(_) => {
            let micros = [number(1), number(3)];
            if micros.iter().any(|micros| !(0..1_000_000).contains(micros)) {
                return Err(Look::Native(Errno::INVAL));
            }
            [[number(0), micros[0] * 1000], [number(2), micros[1] * 1000]]
        }
        Times::Nanoseconds(_) => [[number(0), number(1)], [number(2), number(3)]],
    }))
}

/// Such a call succeeds before the kernel has looked at any file.
fn changes_nothing(wanted: &Wanted) -> bool {
    matches!(wanted, Wanted::Times(Some([[_, UTIME_OMIT], [_, UTIME_OMIT]])))
}

/// Pins the file that the call names.
fn pin(caller: Caller<'_>, target: Target, change: Change) -> Result<(File, Option<Found>), Look> {
    let (place, flags) = match target {
        Target::Descriptor(number) => return Ok((by_descriptor(caller, number)?, None)),
        Target::Path(place, flags) => (place, caller.value(flags)),
    };
    // Calls without such an argument imply what is known.
    if flags & !(NO_FOLLOW | EMPTY_PATH) != 0 {
        return Err(Look::Native(Errno::INVAL));
    }
    if caller.argument(place.path) == 0 && matches!(change, Change::Times(_)) {
        return Ok((without_path(caller, place)?, None));
    }
    let path = caller.path(place.path)?;
    if path.is_empty() {
        if flags & EMPTY_PATH == 0 {
            return Err(Look::Native(Errno::NOENT));
        }
        return Ok((File::new(folder_itself(caller, place)?)?, None));
    }
    let last = if flags & NO_FOLLOW != 0 { LastLink::Keep } else { LastLink::Follow };
    let base = caller.base(place, path)?;
    let mut found = resolve::walk(caller, base, path, last)?;
    let file = found.file.take().ok_or(Look::Native(Errno::NOENT))?;
    Ok((file, Some(found)))
}

/// A descriptor that only names a file is none to these calls.
fn by_descriptor(caller: Caller<'_>, number: u8) -> Result<File, Look> {
    let number = caller.word(number);
    let fd = caller.descriptor(number)?;
    match caller.is_name_only(number)? {
        true => Err(Look::Native(Errno::BADF)),
        false => File::new(fd),
    }
}

/// utimensat(2) and futimesat(2) without a path change the descriptor's file.
fn without_path(caller: Caller<'_>, place: Place) -> Result<File, Look> {
    match place.folder {
        Folder::Argument(number) if caller.word(number).cast_signed() != CURRENT => {
            by_descriptor(caller, number)
        }
        Folder::Argument(_) | Folder::Current => Err(Look::Native(Errno::FAULT)),
    }
}

fn folder_itself(caller: Caller<'_>, place: Place) -> Result<std::os::fd::OwnedFd, Look> {
    match place.folder {
        Folder::Argument(number) if caller.word(number).cast_signed() != CURRENT => {
            caller.descriptor(caller.word(number))
        }
        Folder::Argument(_) | Folder::Current => caller.current(),
    }
}

fn carry_out(file: &File, wanted: &Wanted) -> Result<(), Errno> {
    match wanted {
        Wanted::Mode(mode) => file::change_mode(&file.fd, *mode),
        Wanted::Owner(owner, group) => file::change_owner(&file.fd, *owner, *group),
        Wanted::Times(times) => file::change_times(&file.fd, times.as_ref()),
        Wanted::Set { name, value, flags } => {
            file::set_attribute(&link(file), name, value, flags.cast_signed())
        }
        Wanted::Remove(name) => file::remove_attribute(&link(file), name),
    }
}

/// The path by which a pinned file is reached where a call takes nothing else.
fn link(file: &File) -> CString {
    CString::new(format!("/proc/self/fd/{}", file.fd.as_raw_fd())).unwrap_or_default()
}

/// What the kernel would refuse the change with, sandbox or not. In doubt it would not.
fn would_fail(file: &File, wanted: &Wanted) -> Option<Errno> {
    if native::is_read_only(&file.fd) {
        return Some(Errno::ROFS);
    }
    let attributes = native::attributes(&file.fd);
    if attributes.is_immutable || attributes.is_append_only {
        return Some(Errno::PERM);
    }
    match wanted {
        Wanted::Mode(_) if file.kind() == FileType::Symlink => Some(Errno::OPNOTSUPP),
        Wanted::Mode(_) | Wanted::Times(Some(_)) => owned(file),
        Wanted::Owner(UNCHANGED, UNCHANGED) => owned(file),
        Wanted::Owner(owner, group) => gives_away(file, *owner, *group),
        Wanted::Times(None) => writable(file).filter(|_| !host::owns(&file.stat)),
        Wanted::Set { name, flags, .. } => attribute(file, name, *flags),
        Wanted::Remove(name) => attribute(file, name, XATTR_REPLACE),
    }
}

fn owned(file: &File) -> Option<Errno> {
    (!host::owns(&file.stat)).then_some(Errno::PERM)
}

fn writable(file: &File) -> Option<Errno> {
    (!permits(&file.fd, Permission::Write)).then_some(Errno::ACCESS)
}

fn gives_away(file: &File, owner: u32, group: u32) -> Option<Errno> {
    if host::gives_away() {
        return None;
    }
    let keeps_owner = owner == UNCHANGED || owner == file.stat.st_uid;
    let own_group = group == UNCHANGED || host::is_member(group);
    (!(host::owns(&file.stat) && keeps_owner && own_group)).then_some(Errno::PERM)
}

/// Attributes of the user's own space go with writing, those of the system's with owning, the others with capabilities
/// that no command has (xattr(7)).
fn attribute(file: &File, name: &CString, flags: u32) -> Option<Errno> {
    if flags & !(XATTR_CREATE | XATTR_REPLACE) != 0 {
        return Some(Errno::INVAL);
    }
    let space = name.to_bytes();
    if space.starts_with(b"user.") {
        if !matches!(file.kind(), FileType::RegularFile | FileType::Directory) {
            return Some(Errno::PERM);
        }
        if let Some(errno) = writable(file) {
            return Some(errno);
        }
    } else if space.starts_with(b"system.posix_acl_") {
        if let Some(errno) = owned(file) {
            return Some(errno);
        }
    } else if space.starts_with(b"trusted.") || space.starts_with(b"security.") {
        return Some(Errno::PERM);
    } else {
        return Some(Errno::OPNOTSUPP);
    }
    let mut nothing: [u8; 0] = [];
    match rustix::fs::getxattr(link(file), name, &mut nothing[..]) {
        Err(Errno::NODATA) if flags & XATTR_REPLACE != 0 => Some(Errno::NODATA),
        Err(Errno::OPNOTSUPP) => Some(Errno::OPNOTSUPP),
        Ok(_) if flags & XATTR_CREATE != 0 => Some(Errno::EXIST),
        _ => None,
    }
}
