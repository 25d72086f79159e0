//! What may be opened below a root: regular files of a bounded size, to which no link leads out.
//!
//! A path is resolved first and must still lie below the root. It is then walked once more without following any link, so
//! that what is opened is what was looked at, whoever moves things meanwhile. (`openat2` would do both at once; a sandbox that
//! looks into calls refuses it.)

use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, openat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use crate::MOST_BYTES;

/// A folder of skills.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Root {
    /// Where it is, absolute.
    pub path: PathBuf,
    /// The folder that it may not lead out of, where it is one that somebody else may have put there.
    pub within: Option<PathBuf>,
    /// Whether files of it are skills.
    pub flat: Flat,
}

/// Whether `<root>/<name>.md` is a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Flat {
    /// It is.
    Skills,
    /// It is none: only folders are.
    Ignored,
}

/// A root that is there.
#[derive(Debug)]
pub(crate) struct Tree {
    /// Without links.
    real: PathBuf,
    folder: OwnedFd,
}

/// Why a file is not read. None of it is about what stands in it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileFault {
    #[error("it does not exist")]
    Missing,
    #[error("it leads out of its folder of skills")]
    Outside,
    #[error("it is no regular file")]
    NotRegular,
    #[error("it is {0} bytes long, and a skill may have {MOST_BYTES}")]
    TooLarge(u64),
    #[error("it cannot be read: {0}")]
    Kernel(#[from] io::Error),
}

impl From<Errno> for FileFault {
    fn from(errno: Errno) -> Self {
        match errno {
            Errno::NOENT | Errno::NOTDIR => FileFault::Missing,
            // It was another one a moment ago.
            Errno::LOOP => FileFault::Outside,
            other => FileFault::Kernel(other.into()),
        }
    }
}

impl Tree {
    /// The root, if it is there.
    pub(crate) fn open(root: &Root) -> Result<Tree, FileFault> {
        let real = resolve(&root.path)?;
        if let Some(within) = &root.within
            && !real.starts_with(resolve(within)?)
        {
            return Err(FileFault::Outside);
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = rustix::fs::open(&real, flags, Mode::empty())?;
        Ok(Tree { real, folder })
    }

    /// Its path without links.
    pub(crate) fn path(&self) -> &Path {
        &self.real
    }

    /// A file below it, and its length.
    pub(crate) fn file(&self, relative: &Path) -> Result<(File, u64), FileFault> {
        let real = resolve(&self.real.join(relative))?;
        let relative = real.strip_prefix(&self.real).map_err(|_| FileFault::Outside)?;
        let name = relative.file_name().ok_or(FileFault::NotRegular)?;
        let mut at = None;
        for folder in relative.parent().into_iter().flat_map(Path::components) {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let from = at.as_ref().unwrap_or(&self.folder);
            at = Some(openat(from, folder.as_os_str(), flags, Mode::empty())?);
        }
        // Looked at first: to open a device may already do something.
        let from = at.as_ref().unwrap_or(&self.folder);
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        is_regular(&File::from(openat(from, name, flags, Mode::empty())?))?;
        let flags =
            OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = File::from(openat(from, name, flags, Mode::empty())?);
        match is_regular(&file)? {
            length if length > MOST_BYTES => Err(FileFault::TooLarge(length)),
            length => Ok((file, length)),
        }
    }
}

/// The length of a regular file.
fn is_regular(file: &File) -> Result<u64, FileFault> {
    let found = file.metadata()?;
    if found.is_file() { Ok(found.len()) } else { Err(FileFault::NotRegular) }
}

fn resolve(path: &Path) -> Result<PathBuf, FileFault> {
    fs::canonicalize(path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => FileFault::Missing,
        _ => FileFault::Kernel(error),
    })
}
