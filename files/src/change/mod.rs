//! `write` and `edit`: lock, read, decide, replace, and once more from the start where somebody else came between.

mod edits;
mod write;

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cancel::Cancel;
use crate::diff::Changes;
use crate::edit::{Edit, Order, Refusal};
use crate::fault::{Fault, FaultKind};
use crate::fingerprint::Fingerprint;
use crate::journal::Method;
use crate::place::Links;
use crate::replace::Replaced;

pub use edits::edit;
pub use write::write;

/// How often a change is tried when others change the same files in between.
const ATTEMPTS: usize = 20;

/// What every change needs.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// The folder of the journal; see [`crate::journal`]. One for all processes that are recovered together.
    pub journal: &'a Path,
    /// Stops the change; what was done by then is undone.
    pub cancel: &'a Cancel,
    /// How long other writers of the same folder are waited for.
    pub lock_wait: Duration,
    /// Whether a path may lead through links.
    pub links: Links,
}

/// Whether a change is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Apply {
    /// It is.
    Write,
    /// It is only worked out; nothing is opened for writing.
    DryRun,
}

/// What a file that is changed must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Expected {
    /// Not there.
    Absent,
    /// There, with this content.
    Fingerprint(Fingerprint),
    /// Whatever it is.
    Any,
}

/// The edits of one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEdits {
    /// Absolute.
    #[serde(serialize_with = "crate::shown::path")]
    pub path: PathBuf,
    /// What is replaced.
    pub edits: Vec<Edit>,
    /// Against what.
    pub order: Order,
    /// What it must be; a file that is not there cannot be edited anyway.
    pub expected: Expected,
}

/// What became of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Outcome {
    /// It was made.
    Created,
    /// It has a new content.
    Updated {
        /// How it got that.
        method: Replacement,
    },
    /// It has this content already; nothing was written.
    Unchanged,
    /// A dry run: it would have been made or updated.
    Planned,
}

/// How a file got a new content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Replacement {
    /// Another file took its name, at once.
    Exchanged,
    /// Its own bytes were overwritten, so that its other names, or its owner, stay.
    InPlace,
}

/// A file that was written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// Its path without links.
    #[serde(serialize_with = "crate::shown::path")]
    pub path: PathBuf,
    /// What became of it.
    pub outcome: Outcome,
    /// The content that it had; none where it was not there.
    pub before: Option<Fingerprint>,
    /// The content that it has now, or would have.
    pub fingerprint: Fingerprint,
    /// What was changed. None where the old content is no UTF-8 text, or too large to be compared.
    pub changes: Option<Changes>,
    /// Extended attributes that could not be kept.
    pub lost_attributes: Vec<String>,
}

/// A file that was edited.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edited {
    /// Its path without links.
    #[serde(serialize_with = "crate::shown::path")]
    pub path: PathBuf,
    /// What became of it.
    pub outcome: Outcome,
    /// The content that it had.
    pub before: Fingerprint,
    /// The content that it has now, or would have.
    pub fingerprint: Fingerprint,
    /// Places that were replaced.
    pub replaced: usize,
    /// What was changed.
    pub changes: Changes,
    /// Extended attributes that could not be kept.
    pub lost_attributes: Vec<String>,
}

/// A file of a set whose edits failed. Nothing is changed in any.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("{fault}")]
pub struct FileFault {
    /// Which of the set, from 0.
    pub file: usize,
    /// Why.
    pub fault: EditFault,
}

/// Why a file was not edited.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum EditFault {
    /// The file cannot be read or written, or is no text.
    #[error(transparent)]
    File(#[from] Fault),
    /// Its edits cannot be applied; all of them that cannot.
    #[error("{}: {}", path.display(), refusals.iter().map(Refusal::to_string).collect::<Vec<_>>().join("; "))]
    Refused {
        /// As the caller named it.
        #[serde(serialize_with = "crate::shown::path")]
        path: PathBuf,
        /// In the order of the edits.
        refusals: Vec<Refusal>,
    },
}

impl Outcome {
    fn of(replaced: &Replaced) -> Self {
        match replaced.method {
            Method::Create => Outcome::Created,
            Method::Exchange => Outcome::Updated { method: Replacement::Exchanged },
            Method::InPlace => Outcome::Updated { method: Replacement::InPlace },
        }
    }
}

/// Whether another attempt may do better: somebody came between reading and writing.
fn is_contended(fault: &Fault) -> bool {
    matches!(fault.kind, FaultKind::Changed | FaultKind::Exists)
}

/// The fault after the last attempt.
fn unstable(fault: Fault) -> Fault {
    Fault { kind: FaultKind::Unstable, ..fault }
}
