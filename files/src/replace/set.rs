//! A set of files: staged, applied and committed together, or undone.

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{self, AtFlags, Mode, RenameFlags};
use rustix::io::Errno;

use super::stage::{self, Staged};
use super::{Failed, Planned, Replaced, entry, open_for_writing};
use crate::cancel::Cancel;
use crate::fault::{At as _, Fault, FaultKind, On as _, Operation};
use crate::journal::{
    Durability, FoundFile, Mark, Method, Record, Where, clean_up, overwrite, temporary, undo,
};
use crate::load::Identity;
use crate::place::listed;

/// Why an attempt ended; nothing is changed then.
pub(super) enum Stopped {
    Failed(Failed),
    /// This file cannot be replaced by another one.
    OnlyInPlace(usize),
}

impl From<Fault> for Stopped {
    /// The number is set by whoever knows it.
    fn from(fault: Fault) -> Self {
        Stopped::Failed(Failed { number: 0, fault })
    }
}

/// One file of an attempt.
pub(super) struct Step<'a, 'b> {
    pub(super) number: usize,
    pub(super) plan: &'a Planned<'b>,
    pub(super) method: Method,
    pub(super) folder: &'a OwnedFd,
}

/// What was done for the files so far.
struct Done {
    folder: OwnedFd,
    staged: Staged,
}

pub(super) fn attempt(
    planned: &[Planned<'_>],
    methods: &[Method],
    journal: &Path,
    cancel: &Cancel,
) -> Result<Vec<Replaced>, Stopped> {
    let entries: Vec<_> =
        planned.iter().zip(methods).map(|(plan, method)| entry(plan, *method)).collect();
    let durability = if entries.len() > 1 || methods.contains(&Method::InPlace) {
        Durability::Power
    } else {
        Durability::Process
    };
    let record = Record::begin(journal, &entries, durability)?;
    let mut files: Vec<FoundFile> =
        entries.into_iter().map(|entry| FoundFile { entry, made: None, is_saved: false }).collect();
    match run(planned, &mut files, &record, durability, cancel) {
        Ok(done) => Ok(finish(planned, &files, record, done)),
        Err(stopped) => Err(undone(planned, &files, record, stopped)),
    }
}

/// Everything up to the commit.
fn run(
    planned: &[Planned<'_>],
    files: &mut [FoundFile],
    record: &Record,
    durability: Durability,
    cancel: &Cancel,
) -> Result<Vec<Done>, Stopped> {
    let numbered = |number| {
        move |stopped| match stopped {
            Stopped::Failed(Failed { fault, .. }) => Stopped::Failed(Failed { number, fault }),
            other => other,
        }
    };
    let mut done = Vec::new();
    for (number, (plan, file)) in planned.iter().zip(&mut *files).enumerate() {
        let folder = stage::folder(plan).map_err(Stopped::from).map_err(numbered(number))?;
        let step = Step { number, plan, method: file.entry.method, folder: &folder };
        let staged = stage::stage(&step, record, cancel).map_err(numbered(number))?;
        file.made = staged.identity;
        file.is_saved = file.entry.method == Method::InPlace;
        done.push(Done { folder, staged });
    }
    for (number, ((plan, file), done)) in planned.iter().zip(&*files).zip(&done).enumerate() {
        let step = Step { number, plan, method: file.entry.method, folder: &done.folder };
        apply(&step, record, cancel).map_err(numbered(number))?;
    }
    if durability == Durability::Power {
        sync_folders(planned, &done)?;
    }
    record.mark(Mark::Commit)?;
    Ok(done)
}

fn apply(step: &Step<'_, '_>, record: &Record, cancel: &Cancel) -> Result<(), Stopped> {
    cancel.check().on(step.plan.path)?;
    let temporary = temporary(record.id(), step.number, "new");
    match step.method {
        Method::Create => Ok(give_name(step, &temporary)?),
        Method::Exchange => {
            stage::unchanged(step)?;
            exchange(step, &temporary, record)
        }
        Method::InPlace => {
            stage::unchanged(step)?;
            Ok(write_in_place(step)?)
        }
    }
}

/// Gives a temporary a name that nobody has.
fn give_name(step: &Step<'_, '_>, temporary: &str) -> Result<(), Fault> {
    let (folder, name) = (step.folder, &step.plan.place.name);
    let answer = match fs::renameat_with(folder, temporary, folder, name, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            fs::linkat(folder, temporary, folder, name, AtFlags::empty())
        }
        answer => answer,
    };
    match answer {
        Err(Errno::EXIST) => Err(Fault::new(step.plan.path, FaultKind::Exists)),
        answer => answer.at(step.plan.path, Operation::Rename),
    }
}

/// Puts the temporary in the file's place, and looks at what was moved aside by that.
fn exchange(step: &Step<'_, '_>, temporary: &str, record: &Record) -> Result<(), Stopped> {
    let (folder, name) = (step.folder, &step.plan.place.name);
    match fs::renameat_with(folder, temporary, folder, name, RenameFlags::EXCHANGE) {
        Ok(()) => {}
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
            return rename_over(step, temporary, record);
        }
        // A mount point.
        Err(Errno::BUSY | Errno::XDEV) => return Err(Stopped::OnlyInPlace(step.number)),
        Err(errno) => return Err(failed(step, errno)),
    }
    let aside = fs::statat(folder, temporary, AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|errno| failed(step, errno))?;
    if step.plan.old.as_ref().map(Identity::of) == Some(Identity::of(&aside)) {
        Ok(())
    } else {
        Err(Fault::new(step.plan.path, FaultKind::Changed).into())
    }
}

fn failed(step: &Step<'_, '_>, errno: Errno) -> Stopped {
    Fault::kernel(step.plan.path, Operation::Rename, errno).into()
}

/// Where names cannot be exchanged: the old file gets a second name, by which it can be put back, and is renamed over.
fn rename_over(step: &Step<'_, '_>, new: &str, record: &Record) -> Result<(), Stopped> {
    let (folder, name) = (step.folder, &step.plan.place.name);
    let old = temporary(record.id(), step.number, "old");
    match fs::linkat(folder, name, folder, &old, AtFlags::empty()) {
        Ok(()) => {}
        Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS | Errno::MLINK | Errno::ACCESS) => {
            return Err(Stopped::OnlyInPlace(step.number));
        }
        Err(errno) => return Err(failed(step, errno)),
    }
    match fs::renameat(folder, new, folder, name) {
        Ok(()) => Ok(()),
        Err(Errno::BUSY | Errno::XDEV) => Err(Stopped::OnlyInPlace(step.number)),
        Err(errno) => Err(failed(step, errno)),
    }
}

fn write_in_place(step: &Step<'_, '_>) -> Result<(), Fault> {
    let path = step.plan.path;
    let file = open_for_writing(step.plan.place).at(path, Operation::Write)?;
    let status = fs::fstat(&file).at(path, Operation::Write)?;
    if step.plan.old.as_ref().map(Identity::of) != Some(Identity::of(&status)) {
        return Err(Fault::new(path, FaultKind::Changed));
    }
    overwrite(&file, step.plan.content).at(path, Operation::Write)?;
    // Writing takes set-ID bits away.
    if fs::fstat(&file).at(path, Operation::Write)?.st_mode != status.st_mode {
        fs::fchmod(&file, Mode::from_raw_mode(status.st_mode))
            .at(path, Operation::SetAttributes)?;
    }
    Ok(())
}

/// Puts the names on the disk. A folder that may not be listed cannot be synced.
fn sync_folders(planned: &[Planned<'_>], done: &[Done]) -> Result<(), Fault> {
    for (plan, done) in planned.iter().zip(done) {
        let base = (!plan.place.missing.is_empty()).then_some(&plan.place.folder);
        for folder in [Some(&done.folder), base].into_iter().flatten() {
            let Ok(folder) = listed(folder) else {
                continue;
            };
            match fs::fsync(&folder) {
                Ok(()) | Err(Errno::INVAL) => {}
                Err(errno) => return Err(Fault::kernel(plan.path, Operation::Sync, errno)),
            }
        }
    }
    Ok(())
}

/// After the commit nothing fails any more: what cannot be cleaned up now stays on record, for the next recovery.
fn finish(
    planned: &[Planned<'_>],
    files: &[FoundFile],
    record: Record,
    done: Vec<Done>,
) -> Vec<Replaced> {
    let is_clean = planned.iter().enumerate().zip(files).all(|((number, plan), file)| {
        let base = &plan.place.folder;
        let at = Where { journal: record.folder(), id: record.id(), number, base };
        clean_up(file, at).is_ok()
    });
    let is_synced = is_clean && sync_folders(planned, &done).is_ok();
    if is_synced {
        // A record that stays is found committed, with nothing left to do.
        record.end_saved(saved(files)).ok();
    }
    let replaced = |(file, done): (&FoundFile, Done)| Replaced {
        method: file.entry.method,
        lost: done.staged.lost,
    };
    files.iter().zip(done).map(replaced).collect()
}

/// How many files may have contents in the journal's folder.
fn saved(files: &[FoundFile]) -> usize {
    let has_saved = files.iter().any(|file| file.entry.method == Method::InPlace);
    if has_saved { files.len() } else { 0 }
}

/// Puts back what was done, from the last file to the first.
fn undone(
    planned: &[Planned<'_>],
    files: &[FoundFile],
    record: Record,
    stopped: Stopped,
) -> Stopped {
    for (number, (plan, file)) in planned.iter().zip(files).enumerate().rev() {
        let base = &plan.place.folder;
        let at = Where { journal: record.folder(), id: record.id(), number, base };
        if let Err(errno) = undo(file, at) {
            let kind = FaultKind::Kernel { operation: Operation::Rename, errno };
            let fault = Fault::new(plan.path, FaultKind::NotUndone(Box::new(kind)));
            return Stopped::Failed(Failed { number, fault });
        }
    }
    match record.end_saved(saved(files)) {
        Ok(()) => stopped,
        Err(fault) => Stopped::Failed(Failed { number: 0, fault }),
    }
}
