//! What a file worker is asked and what it answers: the engines' own values.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use brattice_files::read::Caps;
use brattice_files::{
    Apply, Edited, Expected, Fault, FileEdits, FileFault, Links, Reading, Recovery, Window, Written,
};
use brattice_search::{GlobQuery, GrepQuery, Listed, QueryError};
use serde::{Deserialize, Serialize};

use crate::approval::Change;

/// Something to do with files. Paths are absolute.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Put in order what dead workers left, by their journal.
    Recover {
        /// Its folder, made where it is missing.
        journal: PathBuf,
    },
    /// Tell where these paths lead, and whether a file is there.
    Find {
        /// The paths.
        paths: Vec<PathBuf>,
    },
    /// Show a window of a file.
    Read {
        /// The file.
        path: PathBuf,
        /// Which lines.
        window: Window,
        /// How much of them.
        caps: Caps,
    },
    /// Write a whole file, its folders made where they are missing.
    Write {
        /// The file.
        path: PathBuf,
        /// What it shall hold.
        content: String,
        /// What it must be.
        expected: Expected,
        /// How.
        manner: Manner,
    },
    /// Edit files, all or none.
    Edit {
        /// The files.
        files: Vec<FileEdits>,
        /// How.
        manner: Manner,
    },
    /// Search in files.
    Grep(GrepQuery),
    /// Search for files.
    Glob(GlobQuery),
}

/// How a change is made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Manner {
    /// Whether it is done.
    pub(crate) apply: Apply,
    /// Whether the paths may lead through links.
    pub(crate) links: Links,
    /// The journal's folder: the session's word, by the mode of the worker that is asked.
    journal: PathBuf,
}

impl Manner {
    /// A manner of which the journal is still to be said.
    pub(crate) fn new(apply: Apply, links: Links) -> Manner {
        Manner { apply, links, journal: PathBuf::new() }
    }

    /// The journal's folder.
    pub(super) fn journal(&self) -> &Path {
        &self.journal
    }
}

impl Request {
    /// The same, of a worker whose journal is in this folder.
    pub(crate) fn with_journal(mut self, folder: PathBuf) -> Request {
        match &mut self {
            Request::Write { manner, .. } | Request::Edit { manner, .. } => manner.journal = folder,
            Request::Recover { journal } => *journal = folder,
            Request::Find { .. } | Request::Read { .. } | Request::Grep(_) | Request::Glob(_) => {}
        }
        self
    }

    /// Whether it changes nothing, so that it may be asked twice.
    pub(crate) fn only_reads(&self) -> bool {
        match self {
            Request::Find { .. } | Request::Read { .. } | Request::Grep(_) | Request::Glob(_) => {
                true
            }
            Request::Write { manner, .. } | Request::Edit { manner, .. } => {
                manner.apply == Apply::DryRun
            }
            Request::Recover { .. } => false,
        }
    }

    /// The change that it asks for, if it asks for one: all that is done to which files. What they must hold for that is left out.
    pub(crate) fn change(&self) -> Option<Change> {
        let bytes = |path: &Path| path.as_os_str().as_bytes().to_owned();
        let (what, paths) = match self {
            Request::Write { path, content, .. } => {
                (serde_json::to_vec(&(bytes(path), content)), vec![path.clone()])
            }
            Request::Edit { files, .. } => {
                let whats: Vec<_> =
                    files.iter().map(|file| (bytes(&file.path), &file.edits, file.order)).collect();
                let paths = files.iter().map(|file| file.path.clone()).collect();
                (serde_json::to_vec(&whats), paths)
            }
            Request::Recover { .. }
            | Request::Find { .. }
            | Request::Read { .. }
            | Request::Grep(_)
            | Request::Glob(_) => return None,
        };
        Some(Change::new(&what.ok()?, paths))
    }
}

/// What came of it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Answer {
    /// Of [`Request::Recover`].
    Recovered(Result<Recovery, Fault>),
    /// Of [`Request::Find`], a result for each path.
    Found(Vec<Result<Target, Refused<Fault>>>),
    /// Of [`Request::Read`].
    Read(Result<Box<ReadFile>, Refused<Fault>>),
    /// Of [`Request::Write`].
    Written(Result<Box<Written>, Refused<Fault>>),
    /// Of [`Request::Edit`], with every file that is at fault.
    Edited(Result<Vec<Edited>, Vec<Refused<FileFault>>>),
    /// Of [`Request::Grep`].
    Grepped(Result<brattice_search::Found, QueryFault>),
    /// Of [`Request::Glob`].
    Listed(Result<Listed, QueryFault>),
    /// The engine failed in a way that it should not; the worker goes on.
    Broken,
}

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Target {
    /// The path without links. One that is no UTF-8 is as people see it: it names no file then.
    #[serde(serialize_with = "lossy")]
    pub(crate) path: PathBuf,
    /// What is there.
    pub(crate) standing: Standing,
}

/// Whether a file is where a path leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Standing {
    /// It is.
    There,
    /// It could be made.
    Absent,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadFile {
    /// Its path without links, as [`Target::path`]; none where its name leads to no file that could be written.
    pub(crate) target: Option<Target>,
    /// What was read.
    pub(crate) reading: Reading,
}

fn lossy<S: serde::Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}

/// Why a search did not begin, in words; those of a pattern's fault are several lines, and point at it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct QueryFault {
    /// Which argument is at fault.
    pub(crate) argument: QueryArgument,
    /// What is wrong.
    pub(crate) text: String,
}

/// An argument of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum QueryArgument {
    /// What is searched for.
    Pattern,
    /// Which files.
    Glob,
    /// Where.
    Root,
}

impl From<QueryError> for QueryFault {
    fn from(error: QueryError) -> Self {
        let argument = match error {
            QueryError::Pattern(_) => QueryArgument::Pattern,
            QueryError::Glob(_) => QueryArgument::Glob,
            QueryError::Root { .. } | QueryError::Kind { .. } => QueryArgument::Root,
        };
        QueryFault { argument, text: crate::fault::chain(&error) }
    }
}

/// A fault, and what stands behind it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Refused<F> {
    /// The fault.
    pub(crate) fault: F,
    /// Who refused.
    pub(crate) barrier: Barrier,
}

/// Who stood in the way, as far as a worker can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Barrier {
    /// No sandbox: the fault is about the file, or its permissions refuse as well.
    Ordinary,
    /// The kernel refused what the file's permissions allow.
    Sandbox,
    /// It is on a mount that is read-only: the sandbox's, or the machine's.
    ReadOnly,
}
