//! What a file worker is asked and what it answers: the engines' own values.

use std::path::{Path, PathBuf};

use brattice_files::read::Caps;
use brattice_files::{
    Apply, Edited, Expected, Fault, FileEdits, FileFault, Reading, Recovery, Window, Written,
};
use brattice_search::{GlobQuery, GrepQuery, Listed, QueryError};
use brattice_skills::{Catalogue, Root, SkillError, SkillText};
use serde::{Deserialize, Serialize};

/// Daemon to worker.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum ToWorker {
    /// Do this.
    Call {
        /// Its number, by which it is answered.
        id: u64,
        /// What.
        request: Request,
    },
    /// Nobody waits for that call any more.
    Cancel {
        /// Its number.
        id: u64,
    },
}

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
    /// Write a whole file.
    Write {
        /// The file.
        path: PathBuf,
        /// What it shall hold.
        content: String,
        /// What it must be.
        expected: Expected,
        /// Whether it is done.
        apply: Apply,
        /// The journal's folder.
        journal: PathBuf,
    },
    /// Edit files, all or none.
    Edit {
        /// The files.
        files: Vec<FileEdits>,
        /// Whether it is done.
        apply: Apply,
        /// The journal's folder.
        journal: PathBuf,
    },
    /// Search in files.
    Grep(GrepQuery),
    /// Search for files.
    Glob(GlobQuery),
    /// List the skills of these roots.
    Skills {
        /// The roots, the first claim first.
        roots: Vec<Root>,
    },
    /// Read one of them.
    Skill {
        /// The roots.
        roots: Vec<Root>,
        /// Its name.
        name: String,
    },
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
    /// Of [`Request::Skills`].
    Skills(Catalogue),
    /// Of [`Request::Skill`].
    Skill(Result<Box<SkillText>, SkillError>),
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
}
