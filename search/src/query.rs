//! What both searches ask for and how they fail before they begin.

use serde::{Deserialize, Serialize};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::pattern::GlobError;

/// What becomes of files that ignore rules name and of hidden ones. `.git` is never entered by either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ignored {
    /// As ripgrep: `.gitignore`, `.ignore`, `.git/info/exclude` and the user's own rules hold, those of folders above
    /// the root too, in a repository or not. Rules win over git's index. Names that begin with a dot are skipped, unless
    /// a rule brings them back (`!.github`) or a component of the glob begins with that dot.
    Skip,
    /// No rule holds, and hidden names are as good as any.
    Include,
}

/// Whether the user's own ignore rules hold, those that apply to every repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum UserRules {
    /// The file that git would take, found by this process's environment: `core.excludesFile` of the user's git
    /// configuration, or `git/ignore` in the user's configuration folder.
    Apply,
    /// None.
    Leave,
}

/// Why a search did not begin.
#[derive(Debug, thiserror::Error)]
pub enum QueryError {
    /// The pattern is no regular expression that can be searched for.
    #[error(transparent)]
    Pattern(#[from] crate::grep::PatternError),
    /// The glob is none.
    #[error(transparent)]
    Glob(#[from] GlobError),
    /// The root cannot be looked at, most often because it does not exist.
    #[error("cannot search {}", path.display())]
    Root {
        /// The root as it was asked for.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The root is neither a folder nor a regular file. It was not opened.
    #[error("cannot search {}: not a regular file or folder", path.display())]
    Kind {
        /// The root as it was asked for.
        path: PathBuf,
    },
}

/// Where a search begins.
#[derive(Debug)]
pub(crate) struct Root {
    /// As the caller wrote it: what results begin with.
    pub(crate) shown: PathBuf,
    /// Without links: what rules are found by, and what is opened.
    pub(crate) real: PathBuf,
    pub(crate) kind: RootKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RootKind {
    Folder,
    File,
}

impl Root {
    /// Looks at a root; one that is a link stands for what it leads to.
    pub(crate) fn find(shown: &Path) -> Result<Root, QueryError> {
        let failed = |source| QueryError::Root { path: shown.to_owned(), source };
        let real = shown.canonicalize().map_err(failed)?;
        let stat = rustix::fs::lstat(&real).map_err(|errno| failed(errno.into()))?;
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => RootKind::Folder,
            FileType::RegularFile => RootKind::File,
            _ => return Err(QueryError::Kind { path: shown.to_owned() }),
        };
        Ok(Root { shown: shown.to_owned(), real, kind })
    }

    /// A path below the root as results show it.
    pub(crate) fn show(&self, relative: &[u8]) -> PathBuf {
        if relative.is_empty() {
            return self.shown.clone();
        }
        self.shown.join(OsStr::from_bytes(relative))
    }
}

/// A file or folder that could not be looked into. It stands beside what was found, never instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    /// What it is.
    #[serde(serialize_with = "crate::shown::path")]
    pub path: PathBuf,
    /// Why.
    pub cause: Cause,
}

/// Why a file or folder was not looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Cause {
    /// The system call's error number, for instance 13 for EACCES.
    Errno(i32),
    /// It holds a line (or is, where matches may span lines) longer than what is kept in memory.
    TooLong,
}

/// The first of them in the order of paths, and how many more there were.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadableList {
    /// At most 100.
    pub first: Vec<Unreadable>,
    /// How many were not kept.
    pub more: u64,
}

impl UnreadableList {
    const KEPT: usize = 100;

    pub(crate) fn add(&mut self, unreadable: Unreadable) {
        if self.first.len() < Self::KEPT {
            self.first.push(unreadable);
        } else {
            self.more += 1;
        }
    }
}
