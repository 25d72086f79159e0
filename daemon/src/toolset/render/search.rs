//! What a search found, in words and as data.

use std::path::Path;

use brattice_files::Errno;
use brattice_protocol::files::{Match, Matches, Unreadable};
use brattice_search::{Cause, FileHits, Found, LineKind, Listed, Output, Stop, UnreadableList};

use super::capped::Capped;
use super::characters::StreamLength;
use super::files::{omission, shown_path};
use super::lines::{count, push_line};
use super::task_words::Said;
use crate::toolset::file_rules::ListCut;
use crate::toolset::tool::SessionTools;
use crate::toolset::wording::ResultCap;

/// Files and folders that could not be read, and are named.
const NAMED: usize = 10;

/// Bytes of a list of files; as data they are there once more.
const MOST_BYTES: usize = 96 * 1024;

/// What of a search is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Searched<'a> {
    /// Whose.
    pub(crate) tools: SessionTools<'a>,
    /// Paths below it are shown relative to it.
    pub(crate) workspace: &'a Path,
    /// How many results were asked for.
    pub(crate) most: usize,
}

/// What `grep` found.
pub(crate) fn render_found(searched: Searched<'_>, output: Output, found: &Found) -> Said<Matches> {
    let mut closing = Vec::new();
    let mut listing = Listing::default();
    for file in &found.files {
        let path = searched.shown(&file.path);
        match output {
            Output::Content { before, after } => {
                let gaps = if before + after > 0 { Gaps::Shown } else { Gaps::Hidden };
                listing.push_content(&path, file, gaps);
            }
            Output::Files => listing.push_file(path),
            Output::Count => {
                let line = format!("{path}:{}", file.matches);
                listing.push(&line, Match { count: Some(file.matches), ..bare(path) });
            }
        }
    }
    if found.files.is_empty() {
        push_line(&mut listing.text, "no matches");
    }
    let what = match output {
        Output::Content { .. } => "matches",
        Output::Files | Output::Count => "files",
    };
    match found.stop {
        Stop::Complete | Stop::Cancelled => {}
        Stop::Results => closing.push(format!("[truncated at {} {what}]", searched.most)),
        Stop::Bytes => {
            let told = listing.told.iter().filter(|told| !told.fact.context).count();
            closing.push(format!("[truncated at {told} {what}]"));
        }
    }
    if found.binary > 0 {
        let files = count(found.binary, "binary file", "binary files");
        closing.push(format!("[{files} not searched]"));
    }
    let unreadable = searched.unreadable(&mut closing, &found.unreadable);
    let (text, matches, extent) = listing.finish(searched.tools.cap(), closing);
    let is_stopped = matches!(found.stop, Stop::Results | Stop::Bytes);
    let facts = Matches {
        matches,
        truncated: is_stopped || extent == Extent::Cut,
        total: None,
        binary: found.binary,
        unreadable,
        unreadable_more: found.unreadable.more,
    };
    Said { text, facts }
}

/// What `glob` found.
pub(crate) fn render_listed(searched: Searched<'_>, listed: &Listed) -> Said<Matches> {
    let (mut listing, mut closing) = (Listing::default(), Vec::new());
    for file in &listed.files {
        let path = searched.shown(file);
        if listing.text.len() + path.len() > MOST_BYTES {
            break;
        }
        listing.push_file(path);
    }
    if listing.told.is_empty() {
        push_line(&mut listing.text, "no files");
    }
    let is_stopped = listed.total > listing.told.len() as u64;
    if is_stopped {
        let of_all = match searched.tools.toolset().files.list {
            ListCut::Counted => format!(" of {}", listed.total),
            ListCut::Bare => String::new(),
        };
        closing.push(format!("[truncated at {} files{of_all}]", listing.told.len()));
    }
    let unreadable = searched.unreadable(&mut closing, &listed.unreadable);
    let (text, matches, extent) = listing.finish(searched.tools.cap(), closing);
    let facts = Matches {
        matches,
        truncated: is_stopped || extent == Extent::Cut,
        total: Some(listed.total),
        binary: 0,
        unreadable,
        unreadable_more: listed.unreadable.more,
    };
    Said { text, facts }
}

impl Searched<'_> {
    fn shown(self, path: &Path) -> String {
        match path.strip_prefix(self.workspace) {
            Ok(below) if !below.as_os_str().is_empty() => shown_path(below),
            Ok(_) | Err(_) => shown_path(path),
        }
    }

    fn unreadable(self, closing: &mut Vec<String>, list: &UnreadableList) -> Vec<Unreadable> {
        let told: Vec<Unreadable> = list
            .first
            .iter()
            .map(|one| Unreadable { path: self.shown(&one.path), reason: reason(one.cause) })
            .collect();
        for Unreadable { path, reason } in told.iter().take(NAMED) {
            closing.push(format!("[cannot read {path}: {reason}]"));
        }
        let more = told.len().saturating_sub(NAMED) as u64 + list.more;
        if more > 0 {
            closing.push(format!("[cannot read {more} more]"));
        }
        told
    }
}

fn reason(cause: Cause) -> String {
    match cause {
        Cause::Errno(number) => Errno::from_raw_os_error(number).to_string(),
        Cause::TooLong => "a line is too long to be searched".to_owned(),
    }
}

fn bare(path: String) -> Match {
    Match { path, line: None, text: None, context: false, count: None }
}

/// Whether places that do not meet are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gaps {
    Shown,
    Hidden,
}

/// Whether all of a text is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Extent {
    Whole,
    Cut,
}

/// A fact, and where in the text it is told.
struct Told {
    fact: Match,
    /// The byte from which on the text of a line stands; else that of the end.
    from: usize,
    end: usize,
}

/// The lines of a result, and the same as data.
#[derive(Default)]
struct Listing {
    text: String,
    told: Vec<Told>,
}

impl Listing {
    /// A line that is of use only as a whole.
    fn push(&mut self, line: &str, fact: Match) {
        push_line(&mut self.text, line);
        let end = self.text.len();
        self.told.push(Told { fact, from: end, end });
    }

    fn push_file(&mut self, path: String) {
        self.push(&path.clone(), bare(path));
    }

    /// The lines of a file.
    fn push_content(&mut self, path: &str, file: &FileHits, gaps: Gaps) {
        let mut before = None;
        for line in &file.lines {
            let meets = before.is_some_and(|before: u64| before + 1 == line.number);
            if gaps == Gaps::Shown && !meets && !self.text.is_empty() {
                push_line(&mut self.text, "--");
            }
            before = Some(line.number);
            let (sign, context) = match line.kind {
                LineKind::Match | LineKind::Continued => (':', false),
                LineKind::Context => ('-', true),
            };
            let lead = match line.omitted_before {
                0 => String::new(),
                more => format!("[{} omitted] …", count(more as u64, "character", "characters")),
            };
            let shown = format!("{lead}{}{}", line.text, omission(line.omitted_after as u64));
            push_line(&mut self.text, &format!("{path}{sign}{}{sign}", line.number));
            let from = self.text.len();
            self.text.push_str(&shown);
            let (number, text) = (Some(line.number), Some(shown));
            let fact = Match { line: number, text, context, ..bare(path.to_owned()) };
            self.told.push(Told { fact, from, end: self.text.len() });
        }
    }

    /// The text under the cap, and what it tells: of a line that was cut what is left of its text, of others those that are whole.
    fn finish(self, cap: ResultCap, closing: Vec<String>) -> (String, Vec<Match>, Extent) {
        let Listing { text: body, told } = self;
        let capped = Capped { body, closing };
        let kept = capped.kept(cap);
        let extent = if kept < capped.body.len() { Extent::Cut } else { Extent::Whole };
        let shown = told.into_iter().filter_map(|Told { mut fact, from, end }| {
            if end > kept {
                let text = fact.text.as_mut().filter(|_| from < kept)?;
                text.truncate(kept - from);
            }
            Some(fact)
        });
        let matches = shown.collect();
        (capped.finish(cap, StreamLength::AsRead), matches, extent)
    }
}

#[cfg(test)]
#[path = "tests/search.rs"]
mod tests;
