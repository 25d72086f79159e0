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
    let mut text = String::new();
    let mut matches = Vec::new();
    for file in &found.files {
        let path = searched.shown(&file.path);
        match output {
            Output::Content { before, after } => {
                let gaps = before + after > 0;
                push_content(&mut text, &mut matches, &path, file, gaps);
            }
            Output::Files => {
                push_line(&mut text, &path);
                matches.push(bare(path));
            }
            Output::Count => {
                push_line(&mut text, &format!("{path}:{}", file.matches));
                matches.push(Match { count: Some(file.matches), ..bare(path) });
            }
        }
    }
    if found.files.is_empty() {
        push_line(&mut text, "no matches");
    }
    let what = match output {
        Output::Content { .. } => "matches",
        Output::Files | Output::Count => "files",
    };
    match found.stop {
        Stop::Complete | Stop::Cancelled => {}
        Stop::Results => closing.push(format!("[truncated at {} {what}]", searched.most)),
        Stop::Bytes => {
            let told = matches.iter().filter(|told| !told.context).count();
            closing.push(format!("[truncated at {told} {what}]"));
        }
    }
    if found.binary > 0 {
        let files = count(found.binary, "binary file", "binary files");
        closing.push(format!("[{files} not searched]"));
    }
    let unreadable = searched.unreadable(&mut closing, &found.unreadable);
    let facts = Matches {
        matches,
        truncated: matches!(found.stop, Stop::Results | Stop::Bytes),
        total: None,
        binary: found.binary,
        unreadable,
        unreadable_more: found.unreadable.more,
    };
    Said { text: searched.capped(text, closing), facts }
}

/// What `glob` found.
pub(crate) fn render_listed(searched: Searched<'_>, listed: &Listed) -> Said<Matches> {
    let (mut text, mut closing) = (String::new(), Vec::new());
    let mut matches = Vec::new();
    for file in &listed.files {
        let path = searched.shown(file);
        if text.len() + path.len() > MOST_BYTES {
            break;
        }
        push_line(&mut text, &path);
        matches.push(bare(path));
    }
    if matches.is_empty() {
        push_line(&mut text, "no files");
    }
    let truncated = listed.total > matches.len() as u64;
    if truncated {
        let of_all = match searched.tools.toolset().files.list {
            ListCut::Counted => format!(" of {}", listed.total),
            ListCut::Bare => String::new(),
        };
        closing.push(format!("[truncated at {} files{of_all}]", matches.len()));
    }
    let unreadable = searched.unreadable(&mut closing, &listed.unreadable);
    let facts = Matches {
        matches,
        truncated,
        total: Some(listed.total),
        binary: 0,
        unreadable,
        unreadable_more: listed.unreadable.more,
    };
    Said { text: searched.capped(text, closing), facts }
}

impl Searched<'_> {
    fn shown(self, path: &Path) -> String {
        match path.strip_prefix(self.workspace) {
            Ok(below) if !below.as_os_str().is_empty() => shown_path(below),
            Ok(_) | Err(_) => shown_path(path),
        }
    }

    fn capped(self, body: String, closing: Vec<String>) -> String {
        Capped { body, closing }.finish(self.tools.cap(), StreamLength::AsRead)
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

/// The lines of a file. With lines around the matches, places that do not meet are told apart.
fn push_content(
    text: &mut String,
    matches: &mut Vec<Match>,
    path: &str,
    file: &FileHits,
    gaps: bool,
) {
    let mut before = None;
    for line in &file.lines {
        let meets = before.is_some_and(|before: u64| before + 1 == line.number);
        if gaps && !meets && !text.is_empty() {
            push_line(text, "--");
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
        push_line(text, &format!("{path}{sign}{}{sign}{shown}", line.number));
        matches.push(Match {
            line: Some(line.number),
            text: Some(shown),
            context,
            ..bare(path.to_owned())
        });
    }
}

#[cfg(test)]
#[path = "tests/search.rs"]
mod tests;
