//! Paths that the mount namespace keeps as they are. The kernel refuses there by itself, with `EROFS`, `EBUSY` or `EXDEV`, as
//! it would where no sandbox is; so what is refused because of the sandbox is put on record here, and nothing more: the
//! kernel's answer stands.
//!
//! Which calls are looked into is told apart by their text, since most concern none of these paths. A path that leads there
//! by another text costs a record.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use brattice_policy::enforce::seccomp::trap::{Folder, Place, Target, Trap};
use brattice_policy::{DeniedOperation, LayerName};
use rustix::fs::{FileType, OFlags};
use rustix::io::Errno;

use super::caller::{Caller, Look};
use super::permits as native;
use super::resolve::{self, File, Found, Last, LastLink};
use super::verdict::{Refusal, path_in, path_of};

/// `AT_FDCWD`.
const CURRENT: i32 = -100;

/// `AT_REMOVEDIR`.
const REMOVES_FOLDER: u32 = 0x200;

/// The paths that are kept.
#[derive(Debug, Default)]
pub(super) struct Guard(Vec<PathBuf>);

impl Guard {
    pub(super) fn new(held: Vec<PathBuf>) -> Self {
        Guard(held)
    }

    /// What the kernel is about to refuse because of what is kept, if anything.
    pub(super) fn refused(&self, caller: Caller<'_>, trap: Trap) -> Option<Refusal> {
        if self.0.is_empty() {
            return None;
        }
        let concerns = |place| self.concerns(caller, place);
        let found = match trap {
            Trap::Open(place, flags) => {
                let flags = OFlags::from_bits_retain(caller.value(flags));
                (is_change(flags) && concerns(place)).then(|| open(caller, place, flags))?
            }
            Trap::Truncate(place) => concerns(place).then(|| change(caller, place, Of::Content))?,
            Trap::MakeFolder(place) | Trap::MakeNode(place, _) | Trap::MakeLink(place) => {
                concerns(place).then(|| make(caller, place))?
            }
            Trap::Remove(place, flags) => {
                concerns(place).then(|| remove(caller, place, caller.value(flags)))?
            }
            Trap::Rename(from, to, _) => {
                (concerns(from) || concerns(to)).then(|| rename(caller, from, to))?
            }
            Trap::Link(from, to, _) => {
                (concerns(from) || concerns(to)).then(|| link(caller, from, to))?
            }
            Trap::Change(Target::Path(place, _), _) => {
                concerns(place).then(|| change(caller, place, Of::Metadata))?
            }
            _ => return None,
        };
        // What cannot be looked into has no record.
        found.unwrap_or(None)
    }

    /// Whether the text of a path leads to something that is kept, or to a folder above it.
    fn concerns(&self, caller: Caller<'_>, place: Place) -> bool {
        let Some(path) = text(caller, place) else { return false };
        self.0.iter().any(|kept| path.starts_with(kept) || kept.starts_with(&path))
    }
}

/// The absolute path that a call's text comes to, links unseen.
fn text(caller: Caller<'_>, place: Place) -> Option<PathBuf> {
    let path = Path::new(OsStr::from_bytes(caller.path(place.path).ok()?));
    let base = match place.folder {
        _ if path.is_absolute() => PathBuf::new(),
        Folder::Argument(number) if caller.word(number).cast_signed() != CURRENT => {
            path_of(caller.descriptor(caller.word(number)).ok()?)
        }
        Folder::Argument(_) | Folder::Current => {
            PathBuf::from(OsStr::from_bytes(caller.current_path()?))
        }
    };
    let mut whole = base;
    for name in path.components() {
        match name {
            Component::ParentDir => drop(whole.pop()),
            Component::CurDir => {}
            name => whole.push(name),
        }
    }
    Some(whole)
}

/// Whether an opening may change anything.
fn is_change(flags: OFlags) -> bool {
    let changes = OFlags::WRONLY | OFlags::RDWR | OFlags::TRUNC | OFlags::CREATE;
    flags.intersects(changes) && !flags.contains(OFlags::PATH)
}

fn open(caller: Caller<'_>, place: Place, flags: OFlags) -> Result<Option<Refusal>, Look> {
    let found = resolve::place(caller, place, LastLink::Follow)?;
    let writes = flags.intersects(OFlags::WRONLY | OFlags::RDWR | OFlags::TRUNC);
    let is_new = flags.contains(OFlags::CREATE | OFlags::EXCL);
    Ok(match &found.file {
        Some(file) if writes && !is_new => content(file, DeniedOperation::Write),
        None if flags.contains(OFlags::CREATE) => name(&found, DeniedOperation::Create),
        Some(_) | None => None,
    })
}

/// What of a file is changed.
#[derive(Clone, Copy)]
enum Of {
    Content,
    Metadata,
}

fn change(caller: Caller<'_>, place: Place, of: Of) -> Result<Option<Refusal>, Look> {
    let found = resolve::place(caller, place, LastLink::Follow)?;
    Ok(found.file.as_ref().and_then(|file| match of {
        Of::Content => content(file, DeniedOperation::Write),
        Of::Metadata => read_only(&file.fd, DeniedOperation::Metadata, || path_of(&file.fd)),
    }))
}

fn make(caller: Caller<'_>, place: Place) -> Result<Option<Refusal>, Look> {
    let found = resolve::place(caller, place, LastLink::Name)?;
    Ok(match found.file {
        None => name(&found, DeniedOperation::Create),
        Some(_) => None,
    })
}

fn remove(caller: Caller<'_>, place: Place, flags: u32) -> Result<Option<Refusal>, Look> {
    let found = resolve::place(caller, place, LastLink::Name)?;
    let Some(file) = &found.file else { return Ok(None) };
    if (flags & REMOVES_FOLDER != 0) != (file.kind() == FileType::Directory) {
        return Ok(None);
    }
    Ok(name(&found, DeniedOperation::Remove).or_else(|| {
        busy(&found).then(|| refusal(DeniedOperation::Remove, full(&found), Errno::BUSY))
    }))
}

fn rename(caller: Caller<'_>, from: Place, to: Place) -> Result<Option<Refusal>, Look> {
    let from = resolve::place(caller, from, LastLink::Name)?;
    let to = resolve::place(caller, to, LastLink::Name)?;
    if from.file.is_none() || from.last != Last::Name || to.last != Last::Name {
        return Ok(None);
    }
    let errno = match border(&from, &to)? {
        Border::Mount => Errno::XDEV,
        Border::Device => return Ok(None),
        Border::None if native::is_read_only(&from.folder) => Errno::ROFS,
        Border::None if busy(&from) || busy(&to) => Errno::BUSY,
        Border::None => return Ok(None),
    };
    Ok(Some(between(DeniedOperation::Rename, &from, &to, errno)))
}

fn link(caller: Caller<'_>, from: Place, to: Place) -> Result<Option<Refusal>, Look> {
    let from = resolve::place(caller, from, LastLink::Name)?;
    let to = resolve::place(caller, to, LastLink::Name)?;
    let is_possible = from.file.as_ref().is_some_and(|file| file.kind() != FileType::Directory);
    if !is_possible || to.file.is_some() || to.last != Last::Name {
        return Ok(None);
    }
    let errno = match border(&from, &to)? {
        Border::Mount => Errno::XDEV,
        Border::None if native::is_read_only(&to.folder) => Errno::ROFS,
        Border::Device | Border::None => return Ok(None),
    };
    Ok(Some(between(DeniedOperation::Link, &from, &to, errno)))
}

/// What lies between two folders.
enum Border {
    None,
    /// A mount of the namespace's: one file system.
    Mount,
    /// Two file systems, which nothing crosses anyway.
    Device,
}

fn border(from: &Found, to: &Found) -> Result<Border, Look> {
    let device = |found: &Found| {
        rustix::fs::fstat(&found.folder).map(|stat| stat.st_dev).map_err(Look::Native)
    };
    Ok(match native::mount(&from.folder) == native::mount(&to.folder) {
        true => Border::None,
        false if device(from)? == device(to)? => Border::Mount,
        false => Border::Device,
    })
}

/// Whether something is mounted on the name.
fn busy(found: &Found) -> bool {
    let mount = |file: &File| native::mount(&file.fd) != native::mount(&found.folder);
    found.file.as_ref().is_some_and(mount)
}

/// The content of a file: other kinds than regular files are written to on mounts that are read-only as well.
fn content(file: &File, operation: DeniedOperation) -> Option<Refusal> {
    let is_regular = file.kind() == FileType::RegularFile;
    is_regular.then(|| read_only(&file.fd, operation, || path_of(&file.fd)))?
}

/// A name in a folder.
fn name(found: &Found, operation: DeniedOperation) -> Option<Refusal> {
    let is_name = found.last == Last::Name;
    is_name.then(|| read_only(&found.folder, operation, || full(found)))?
}

fn read_only(
    at: &OwnedFd,
    operation: DeniedOperation,
    path: impl FnOnce() -> PathBuf,
) -> Option<Refusal> {
    native::is_read_only(at).then(|| refusal(operation, path(), Errno::ROFS))
}

fn full(found: &Found) -> PathBuf {
    path_in(&found.folder, &found.name)
}

fn between(operation: DeniedOperation, from: &Found, to: &Found, errno: Errno) -> Refusal {
    Refusal { second_path: Some(full(to)), ..refusal(operation, full(from), errno) }
}

fn refusal(operation: DeniedOperation, path: PathBuf, errno: Errno) -> Refusal {
    Refusal {
        operation,
        path,
        second_path: None,
        layer: LayerName::Namespaces,
        errno,
        right: operation.as_str().to_owned(),
        grant: None,
    }
}
