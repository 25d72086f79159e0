//! Globs: which names a search is narrowed to.
//!
//! A glob's text is read by `parse`, which knows where a fault stands and writes braces out; `components` follows a
//! path's components through it, to tell which folders are worth entering and which hidden names are meant.
//!
//! A glob without a slash speaks of names at any depth, as in a `.gitignore` or `rg --glob`; one with a slash of paths
//! from the root of the search, and `./*.rs` of that folder alone. An absolute one is taken where it begins with the
//! root. `!` in front means all files but those. A `*` does not cross a slash.

mod components;
mod parse;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::query::Root;
use crate::rules::EntryKind;
use components::Alternative;

pub use parse::{GlobError, GlobFault};

/// Which files a search is narrowed to. It only ever takes away from what ignore rules left.
#[derive(Debug)]
pub(crate) enum Filter {
    All,
    Only { files: GlobSet, alternatives: Vec<Alternative> },
    Except { files: GlobSet },
}

impl Filter {
    /// Reads a glob that speaks of what is below a root.
    pub(crate) fn new(glob: &str, root: &Root) -> Result<Filter, GlobError> {
        let parsed = parse::parse(glob, &[&root.shown, &root.real])?;
        let mut files = GlobSetBuilder::new();
        let mut alternatives = Vec::new();
        for components in parsed.alternatives {
            let failed = |error: globset::Error| parse::fault_of(glob, &error);
            files.add(compile(&components.join("/")).map_err(failed)?);
            alternatives.push(Alternative::new(&components).map_err(failed)?);
        }
        let files = files.build().map_err(|error| parse::fault_of(glob, &error))?;
        Ok(match parsed.sense {
            parse::Sense::Only => Filter::Only { files, alternatives },
            parse::Sense::Except => Filter::Except { files },
        })
    }

    /// Whether a file is among those, hidden or not.
    pub(crate) fn takes(&self, relative: &[u8]) -> bool {
        let matches = |files: &GlobSet| files.is_match(Path::new(OsStr::from_bytes(relative)));
        match self {
            Filter::All => true,
            Filter::Only { files, .. } => matches(files),
            Filter::Except { files } => !matches(files),
        }
    }

    /// Whether a folder may hold some of them.
    pub(crate) fn enters(&self, relative: &[u8]) -> bool {
        match self {
            Filter::All | Filter::Except { .. } => true,
            Filter::Only { alternatives, .. } => {
                alternatives.iter().any(|alternative| alternative.enters(relative))
            }
        }
    }

    /// Whether a hidden name, in a folder that was entered, is meant by a component that begins with its dot.
    pub(crate) fn names_hidden(&self, relative: &[u8], kind: EntryKind) -> bool {
        match self {
            Filter::All | Filter::Except { .. } => false,
            Filter::Only { alternatives, .. } => {
                alternatives.iter().any(|alternative| alternative.names_hidden(relative, kind))
            }
        }
    }
}

/// A pattern without braces, whose `*` stays within a component.
fn compile(pattern: &str) -> Result<globset::Glob, globset::Error> {
    GlobBuilder::new(pattern).literal_separator(true).backslash_escape(true).build()
}
