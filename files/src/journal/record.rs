//! A record that is being written, in the hands of its writer.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{self, AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::entry::{self, Entry, Mark};
use crate::fault::{Fault, FaultKind, Operation};

/// Whether a record must survive a loss of power, or only the death of its writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    Power,
    Process,
}

/// Which content of a file is saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Saved {
    Old,
    New,
}

/// The record of a set. Dropped without [`Record::end`] it stays, for a recovery.
pub(crate) struct Record {
    path: PathBuf,
    folder: OwnedFd,
    file: OwnedFd,
    id: String,
    durability: Durability,
}

impl Record {
    /// Puts down what is about to be done.
    pub(crate) fn begin(
        path: &Path,
        entries: &[Entry],
        durability: Durability,
    ) -> Result<Record, Fault> {
        let failed = |operation| move |errno| fault(path, operation, errno);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut folder = fs::open(path, flags, Mode::empty()).map_err(failed(Operation::Find))?;
        loop {
            let id = random().map_err(failed(Operation::Create))?;
            let file = create(&folder, &file_name(&id)).map_err(failed(Operation::Create))?;
            lock(&file).map_err(failed(Operation::Lock))?;
            let record = Record { path: path.to_owned(), folder, file, id, durability };
            // A recovery may have come between the two calls, and taken the empty record for a dead writer's.
            let status = fs::fstat(&record.file).map_err(failed(Operation::Create))?;
            if status.st_nlink > 0 {
                let begun = record.write(&record.file, entry::written(entries).as_bytes());
                let begun = begun.and_then(|()| record.sync());
                // Nothing was changed, so nothing is to be recovered.
                return match begun {
                    Ok(()) => Ok(record),
                    Err(fault) => {
                        let ended = record.end();
                        Err(ended.err().unwrap_or(fault))
                    }
                };
            }
            folder = record.folder;
        }
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// The journal's folder.
    pub(crate) fn folder(&self) -> &OwnedFd {
        &self.folder
    }

    fn failed(&self, operation: Operation) -> impl Fn(Errno) -> Fault + '_ {
        move |errno| fault(&self.path, operation, errno)
    }

    fn write(&self, file: &OwnedFd, mut bytes: &[u8]) -> Result<(), Fault> {
        while !bytes.is_empty() {
            match rustix::io::write(file, bytes) {
                Ok(count) => bytes = &bytes[count..],
                Err(Errno::INTR) => {}
                Err(errno) => return Err(fault(&self.path, Operation::Write, errno)),
            }
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), Fault> {
        if self.durability == Durability::Power {
            fs::fsync(&self.file).map_err(self.failed(Operation::Sync))?;
            fs::fsync(&self.folder).map_err(self.failed(Operation::Sync))?;
        }
        Ok(())
    }

    /// Adds what happened.
    pub(crate) fn mark(&self, mark: Mark) -> Result<(), Fault> {
        self.write(&self.file, entry::line(mark).as_bytes())?;
        if self.durability == Durability::Power {
            fs::fdatasync(&self.file).map_err(self.failed(Operation::Sync))?;
        }
        Ok(())
    }

    /// Keeps a content, piece by piece, and puts it on the disk. `next` gives an empty piece at the end.
    pub(crate) fn save(
        &self,
        number: usize,
        which: Saved,
        mut next: impl FnMut(&mut dyn FnMut(&[u8]) -> Result<(), Fault>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let name = saved_name(&self.id, number, which);
        let file = create(&self.folder, &name).map_err(self.failed(Operation::Create))?;
        next(&mut |piece| self.write(&file, piece))?;
        fs::fsync(&file).map_err(self.failed(Operation::Sync))?;
        fs::fsync(&self.folder).map_err(self.failed(Operation::Sync))
    }

    /// Nothing is to be recovered any more.
    pub(crate) fn end(self) -> Result<(), Fault> {
        remove(&self.folder, &self.id, 0).map_err(self.failed(Operation::Remove))
    }

    /// The same with the contents that were saved of so many files.
    pub(crate) fn end_saved(self, files: usize) -> Result<(), Fault> {
        remove(&self.folder, &self.id, files).map_err(self.failed(Operation::Remove))
    }
}

fn fault(path: &Path, operation: Operation, errno: Errno) -> Fault {
    Fault::new(path, FaultKind::Journal { operation, errno })
}

/// Takes away what one record has in the journal's folder, itself last.
pub(super) fn remove(folder: &OwnedFd, id: &str, files: usize) -> Result<(), Errno> {
    for number in 0..files {
        for which in [Saved::Old, Saved::New] {
            unlink(folder, &saved_name(id, number, which))?;
        }
    }
    unlink(folder, &file_name(id))
}

/// Takes a name away; one that is gone already is fine.
pub(super) fn unlink(folder: &OwnedFd, name: &str) -> Result<(), Errno> {
    match fs::unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// The file of a record.
pub(super) fn file_name(id: &str) -> String {
    format!("{id}{RECORD}")
}

/// The ending of a record's file.
pub(super) const RECORD: &str = ".journal";

/// The file of a saved content.
pub(super) fn saved_name(id: &str, number: usize, which: Saved) -> String {
    let which = match which {
        Saved::Old => "old",
        Saved::New => "new",
    };
    format!("{id}-{number}.{which}")
}

fn create(folder: &OwnedFd, name: &str) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR)
}

/// Waits: only a recovery that has just found the record can hold it, and it will not for long.
fn lock(file: &OwnedFd) -> Result<(), Errno> {
    loop {
        match fs::flock(file, FlockOperation::LockExclusive) {
            Err(Errno::INTR) => {}
            answer => return answer,
        }
    }
}

fn random() -> Result<String, Errno> {
    let mut bytes = [0_u8; 10];
    let count = rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty())?;
    if count < bytes.len() {
        return Err(Errno::IO);
    }
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
