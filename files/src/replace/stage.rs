//! The first half: new contents on the disk, beside their targets or in the journal, with nothing changed yet.

use std::os::fd::OwnedFd;

use rustix::fs::{self, AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::set::{Step, Stopped};
use super::{Planned, attributes};
use crate::cancel::Cancel;
use crate::fault::{At as _, Fault, FaultKind, On as _, Operation};
use crate::journal::{Mark, Method, Record, Saved, container, temporary};
use crate::load::Identity;

/// Bytes that are written or copied at once.
const PIECE: usize = 1 << 20;

/// Opens the folder of the target, made first where it is missing.
pub(super) fn folder(plan: &Planned<'_>) -> Result<OwnedFd, Fault> {
    let missing = &plan.place.missing;
    let mut made = plan.place.path.clone();
    let paths: Vec<_> = (0..=missing.len())
        .map(|_| {
            made.pop();
            made.clone()
        })
        .collect();
    for depth in 0..missing.len() {
        let path = &paths[missing.len() - 1 - depth];
        let parent = opened(plan, depth)?;
        match fs::mkdirat(&parent, &missing[depth], Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(Fault::kernel(path, Operation::MakeFolder, errno)),
        }
    }
    opened(plan, missing.len())
}

/// The folder so many missing ones down.
fn opened(plan: &Planned<'_>, depth: usize) -> Result<OwnedFd, Fault> {
    container(plan.place.missing[..depth].iter(), &plan.place.folder)
        .at(plan.path, Operation::Find)?
        .ok_or_else(|| Fault::kernel(plan.path, Operation::Find, Errno::NOENT))
}

/// Stages one file. Returns the attributes that could not be kept.
pub(super) fn stage(
    step: &Step<'_, '_>,
    record: &Record,
    cancel: &Cancel,
) -> Result<Staged, Stopped> {
    if step.method == Method::InPlace {
        save(step, record, cancel)?;
        return Ok(Staged { identity: None, lost: Vec::new() });
    }
    let name = temporary(record.id(), step.number, "new");
    let file = create(step, &name)?;
    write(&file, step.plan, cancel)?;
    let lost = match &step.plan.old {
        None => Vec::new(),
        Some(status) => {
            let old = open_old(step)?;
            match attributes::keep(&old, status, &file) {
                Ok(lost) => lost,
                Err(Errno::PERM | Errno::INVAL | Errno::ACCESS | Errno::OPNOTSUPP) => {
                    return Err(Stopped::OnlyInPlace(step.number));
                }
                Err(errno) => {
                    let fault = Fault::kernel(step.plan.path, Operation::SetAttributes, errno);
                    return Err(fault.into());
                }
            }
        }
    };
    fs::fsync(&file).at(step.plan.path, Operation::Sync)?;
    let identity = Identity::of(&fs::fstat(&file).at(step.plan.path, Operation::Write)?);
    record.mark(Mark::Made(step.number, identity))?;
    Ok(Staged { identity: Some(identity), lost })
}

/// What was staged.
pub(super) struct Staged {
    /// Of the temporary.
    pub(super) identity: Option<Identity>,
    pub(super) lost: Vec<String>,
}

/// A new file has the mode that the process's mask leaves; one that takes another's place is closed to all others until it has
/// that one's mode.
fn create(step: &Step<'_, '_>, name: &str) -> Result<OwnedFd, Stopped> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = if step.plan.old.is_some() { 0o600 } else { 0o666 };
    match fs::openat(step.folder, name, flags, Mode::from_raw_mode(mode)) {
        Ok(file) => Ok(file),
        Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) if step.plan.old.is_some() => {
            Err(Stopped::OnlyInPlace(step.number))
        }
        Err(errno) => Err(Fault::kernel(step.plan.path, Operation::Create, errno).into()),
    }
}

fn write(file: &OwnedFd, plan: &Planned<'_>, cancel: &Cancel) -> Result<(), Fault> {
    let mut left = plan.content;
    while !left.is_empty() {
        cancel.check().on(plan.path)?;
        match rustix::io::write(file, &left[..left.len().min(PIECE)]) {
            Ok(count) => left = &left[count..],
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Fault::kernel(plan.path, Operation::Write, errno)),
        }
    }
    Ok(())
}

fn open_old(step: &Step<'_, '_>) -> Result<OwnedFd, Fault> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    fs::openat(step.folder, &step.plan.place.name, flags, Mode::empty()).map_err(
        |errno| match errno {
            Errno::NOENT | Errno::LOOP => Fault::new(step.plan.path, FaultKind::Changed),
            errno => Fault::kernel(step.plan.path, Operation::Read, errno),
        },
    )
}

/// Saves the old and the new content of a file that will be written in place.
fn save(step: &Step<'_, '_>, record: &Record, cancel: &Cancel) -> Result<(), Fault> {
    let path = step.plan.path;
    let old = open_old(step)?;
    record.save(step.number, Saved::Old, |keep| {
        let mut buffer = vec![0; PIECE];
        loop {
            cancel.check().on(path)?;
            match rustix::io::read(&old, &mut buffer) {
                Ok(0) => return Ok(()),
                Ok(count) => keep(&buffer[..count])?,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(Fault::kernel(path, Operation::Read, errno)),
            }
        }
    })?;
    record.save(step.number, Saved::New, |keep| {
        step.plan.content.chunks(PIECE).try_for_each(|piece| {
            cancel.check().on(path)?;
            keep(piece)
        })
    })?;
    record.mark(Mark::Saved(step.number))
}

/// Whether the target is still what was read, by everything that its status says.
pub(super) fn unchanged(step: &Step<'_, '_>) -> Result<(), Fault> {
    let changed = || Fault::new(step.plan.path, FaultKind::Changed);
    let status = match fs::statat(step.folder, &step.plan.place.name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(status) => status,
        Err(Errno::NOENT) => return Err(changed()),
        Err(errno) => return Err(Fault::kernel(step.plan.path, Operation::Find, errno)),
    };
    let same = step.plan.old.as_ref().is_some_and(|old| {
        Identity::of(old) == Identity::of(&status)
            && (old.st_dev, old.st_ctime, old.st_ctime_nsec)
                == (status.st_dev, status.st_ctime, status.st_ctime_nsec)
    });
    if same { Ok(()) } else { Err(changed()) }
}
