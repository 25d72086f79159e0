//! Searching by content.
//!
//! `pattern` compiles what is searched for, `file` reads a file and searches it, `hits` keeps what matched, `fold` puts
//! the files' results together.

mod file;
mod fold;
mod hits;
mod pattern;

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

use grep_regex::RegexMatcher;

use crate::cancel::Cancel;
use crate::pattern::Filter;
use crate::query::{Ignored, QueryError, Root, UnreadableList, UserRules};
use crate::walk::{Batch, Flow, Job, Walk, Weight};
use fold::{Record, Together};

pub use pattern::PatternError;

/// What to search for, and where.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GrepQuery {
    /// A folder, or a file, which is searched whatever rules and glob say of it. Results begin with it.
    pub root: PathBuf,
    /// What lines must hold. An empty one is in every line.
    pub pattern: String,
    /// How the pattern is read.
    pub syntax: Syntax,
    /// Whether capital and small letters differ in it.
    pub letter_case: LetterCase,
    /// Whether a match stays within a line.
    pub span: Span,
    /// Narrows the search to files that it matches: `*.rs` at any depth, `src/**/*.rs` from the root, `!*.min.js` all
    /// others. A component that begins with a dot reaches hidden names.
    pub glob: Option<String>,
    /// What becomes of ignored and hidden files.
    pub ignored: Ignored,
    /// Whether the user's own ignore rules count among the rules.
    pub user_rules: UserRules,
    /// What is told of a file.
    pub output: Output,
    /// How many matches, or files, are wanted. It then is told whether there are more.
    pub max_results: usize,
    /// How many bytes of lines and paths are wanted.
    pub max_bytes: usize,
}

/// How a pattern is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Syntax {
    /// The regex crate's: linear time, no look-around. `^` and `$` are about lines.
    Regex,
    /// As it stands.
    Literal,
}

/// Whether capital and small letters differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LetterCase {
    /// They do.
    Sensitive,
    /// They do not, in any script.
    Insensitive,
}

/// How far a match may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Span {
    /// Within a line.
    Line,
    /// Over lines, where the pattern says so (`\n`, `\s`, `(?s).`). A file is then held in memory, up to 8 MiB.
    Lines,
}

/// What is told of files that match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Output {
    /// Matching lines, with so many lines around them.
    Content {
        /// Before each.
        before: usize,
        /// After each.
        after: usize,
    },
    /// Their paths.
    Files,
    /// How many lines match, or have a match begin in them.
    Count,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Files that match, in the order of their paths.
    pub files: Vec<FileHits>,
    /// Why it is no more.
    pub stop: Stop,
    /// Files with a NUL byte. One with it in its first 64 KiB is skipped, another searched up to there.
    pub binary: u64,
    /// What could not be looked into.
    pub unreadable: UnreadableList,
}

/// Why a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    /// This is all.
    Complete,
    /// There is more than `max_results`.
    Results,
    /// There is more than `max_bytes`.
    Bytes,
    /// It was cancelled: this is what was known in order until then.
    Cancelled,
}

/// What matched in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHits {
    /// The root as it was given, and the path below it.
    #[serde(serialize_with = "crate::shown::path")]
    pub path: PathBuf,
    /// In how many lines a match begins. For [`Output::Files`] it is 1, with which that file is done.
    pub matches: u64,
    /// For [`Output::Content`] the lines, in order. A gap in their numbers is a gap in the file.
    pub lines: Vec<Line>,
}

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Counted from 1. Only LF ends a line.
    pub number: u64,
    /// What it is there for.
    pub kind: LineKind,
    /// At most 2,000 characters, without the line's end. What is not UTF-8 is shown as U+FFFD. Of a longer line it is
    /// the beginning, or where the match does not begin in that, the part around the match.
    pub text: String,
    /// How many characters before the text were left out.
    pub omitted_before: usize,
    /// How many characters after the text were left out.
    pub omitted_after: usize,
}

/// What a line is told for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LineKind {
    /// A match is in it, or begins in it.
    Match,
    /// The match of the line before goes on.
    Continued,
    /// It stands near one.
    Context,
}

/// Searches files by content. The answer does not depend on how many threads took part.
///
/// # Errors
///
/// Where pattern or glob have a fault, or there is no such root. Files that cannot be read are no error: they are told
/// in [`Found::unreadable`].
pub fn grep(query: &GrepQuery, cancel: &Cancel) -> Result<Found, QueryError> {
    let matcher = pattern::compile(query)?;
    let root = Root::find(&query.root)?;
    let filter = match &query.glob {
        Some(glob) => Filter::new(glob, &root)?,
        None => Filter::All,
    };
    let wanted = Weight { results: query.max_results, bytes: query.max_bytes };
    let job = Grep { matcher, query, root: &root, wanted };
    let rules = (query.ignored, query.user_rules);
    let together = Together::new(query.output, wanted);
    let mut found = Walk::new(&root, &filter, rules, cancel).run(&job, together).found;
    if found.stop == Stop::Complete && cancel.is_cancelled() {
        found.stop = Stop::Cancelled;
    }
    Ok(found)
}

struct Grep<'a> {
    matcher: RegexMatcher,
    query: &'a GrepQuery,
    root: &'a Root,
    wanted: Weight,
}

impl Job for Grep<'_> {
    type Local = file::Reader;
    type Record = Record;

    /// Small, so that threads stay close to each other in the order of paths.
    const BATCH: usize = 16;

    fn local(&self) -> file::Reader {
        file::Reader::new(self.matcher.clone(), self.query)
    }

    fn run(
        &self,
        reader: &mut file::Reader,
        batch: &Batch<'_>,
        stop: &crate::walk::Stop<'_>,
    ) -> Record {
        let mut record = Record::default();
        batch.each(|candidate| {
            let path = || self.root.show(candidate.relative);
            let (output, span) = (self.query.output, self.query.span);
            let limits = hits::Limits { output, span, wanted: self.wanted };
            let searched = reader.search(candidate.path, limits, stop);
            record.add(searched, output, path);
            let full = record.weight.results > self.wanted.results
                || record.weight.bytes > self.wanted.bytes;
            if full || stop.is_wanted() { Flow::Enough } else { Flow::More }
        });
        record
    }
}
