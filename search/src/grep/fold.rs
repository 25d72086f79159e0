//! The results of files, put together in order until there is enough.

use std::path::PathBuf;

use super::file::{Content, Searched};
use super::{FileHits, Found, Line, LineKind, Output, Stop};
use crate::query::{Unreadable, UnreadableList};
use crate::walk::{Flow, Fold, Weight};

/// What came of a batch of files.
#[derive(Debug, Default)]
pub(crate) struct Record {
    events: Vec<Event>,
    pub(super) weight: Weight,
}

/// What is worth telling of a file.
#[derive(Debug)]
enum Event {
    Hits(FileHits),
    Binary,
    Unreadable(Unreadable),
}

impl Record {
    /// Adds what came of a file. Most come to nothing and need no path.
    pub(super) fn add(&mut self, searched: Searched, output: Output, path: impl Fn() -> PathBuf) {
        if searched.matches > 0 {
            let hits = FileHits { path: path(), matches: searched.matches, lines: searched.lines };
            self.weight.results += results(&hits, output);
            self.weight.bytes += bytes(&hits);
            self.events.push(Event::Hits(hits));
        }
        if searched.content == Content::Binary {
            self.events.push(Event::Binary);
        }
        if let Some(cause) = searched.failure {
            self.events.push(Event::Unreadable(Unreadable { path: path(), cause }));
        }
    }
}

fn results(hits: &FileHits, output: Output) -> usize {
    match output {
        Output::Content { .. } => usize::try_from(hits.matches).unwrap_or(usize::MAX),
        Output::Files | Output::Count => 1,
    }
}

fn bytes(hits: &FileHits) -> usize {
    let lines: usize = hits.lines.iter().map(|line| line.text.len()).sum();
    hits.path.as_os_str().len() + lines
}

/// What was found so far.
pub(super) struct Together {
    pub(super) found: Found,
    output: Output,
    wanted: Weight,
    taken: Weight,
}

impl Together {
    pub(super) fn new(output: Output, wanted: Weight) -> Self {
        let found = Found {
            files: Vec::new(),
            stop: Stop::Complete,
            binary: 0,
            unreadable: UnreadableList::default(),
        };
        Together { found, output, wanted, taken: Weight::default() }
    }

    /// Takes of a file what there is room for.
    fn take(&mut self, mut hits: FileHits) -> Flow {
        let room = Weight {
            results: self.wanted.results - self.taken.results,
            bytes: self.wanted.bytes - self.taken.bytes,
        };
        let mut stop = Stop::Complete;
        if results(&hits, self.output) > room.results {
            stop = Stop::Results;
            self.keep_first(&mut hits, room.results);
        }
        if bytes(&hits) > room.bytes {
            stop = Stop::Bytes;
            keep_bytes(&mut hits, room.bytes);
        }
        self.found.stop = stop;
        let emptied = match self.output {
            Output::Content { .. } => !hits.lines.iter().any(|line| line.kind == LineKind::Match),
            Output::Files | Output::Count => stop != Stop::Complete,
        };
        if !emptied {
            self.taken.results += results(&hits, self.output);
            self.taken.bytes += bytes(&hits);
            self.found.files.push(hits);
        }
        if stop == Stop::Complete { Flow::More } else { Flow::Enough }
    }

    /// Keeps the first matches of a file, with the lines that stand after the last of them.
    fn keep_first(&self, hits: &mut FileHits, matches: usize) {
        let after = match self.output {
            Output::Content { after, .. } => after,
            Output::Files | Output::Count => 0,
        };
        let mut seen = 0;
        let excess = |line: &Line| {
            seen += usize::from(line.kind == LineKind::Match);
            seen > matches
        };
        let end = hits.lines.iter().position(excess).unwrap_or(hits.lines.len());
        hits.lines.truncate(end);
        let last = hits.lines.iter().rfind(|line| line.kind != LineKind::Context);
        let last = last.map_or(0, |line| line.number + after as u64);
        hits.lines.retain(|line| line.kind != LineKind::Context || line.number <= last);
        hits.matches = matches as u64;
    }
}

/// Keeps the first lines of a file, as many as fit.
fn keep_bytes(hits: &mut FileHits, most: usize) {
    let mut left = most.saturating_sub(hits.path.as_os_str().len());
    let too_much = |line: &Line| {
        let left_after = left.checked_sub(line.text.len());
        left = left_after.unwrap_or(left);
        left_after.is_none()
    };
    let end = hits.lines.iter().position(too_much).unwrap_or(hits.lines.len());
    hits.lines.truncate(end);
    let matches = hits.lines.iter().filter(|line| line.kind == LineKind::Match).count();
    hits.matches = matches as u64;
}

impl Fold for Together {
    type Record = Record;

    fn weigh(&self, record: &Record) -> Weight {
        record.weight
    }

    fn wanted(&self) -> Weight {
        self.wanted
    }

    fn fold(&mut self, record: Record) -> Flow {
        for event in record.events {
            match event {
                Event::Hits(hits) => {
                    if self.take(hits) == Flow::Enough {
                        return Flow::Enough;
                    }
                }
                Event::Binary => self.found.binary += 1,
                Event::Unreadable(unreadable) => self.found.unreadable.add(unreadable),
            }
        }
        Flow::More
    }

    fn unreadable(&mut self, unreadable: Unreadable) {
        self.found.unreadable.add(unreadable);
    }
}
