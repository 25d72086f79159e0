//! What matches in a file, kept within bounds.

use std::io;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};
use memchr::memchr_iter;

use super::{Line, LineKind, Output, Span};
use crate::walk::{Stop, Weight};

/// Characters of a line that are kept.
const LINE_CHARS: usize = 2000;
/// Characters before a match that are kept where the line's beginning is not.
const LEAD_CHARS: usize = 200;

/// When a file has given enough.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    pub(super) output: Output,
    pub(super) span: Span,
    pub(super) wanted: Weight,
}

/// Takes what the searcher finds in a file.
pub(super) struct Hits<'a> {
    limits: Limits,
    matcher: &'a RegexMatcher,
    stop: Stop<'a>,
    pub(super) matches: u64,
    pub(super) lines: Vec<Line>,
    pub(super) bytes: usize,
    /// Where a NUL byte ended the search.
    pub(super) nul: Option<u64>,
}

impl<'a> Hits<'a> {
    pub(super) fn new(limits: Limits, matcher: &'a RegexMatcher, stop: &Stop<'a>) -> Self {
        Hits { limits, matcher, stop: *stop, matches: 0, lines: Vec::new(), bytes: 0, nul: None }
    }

    pub(super) fn stop(&self) -> Stop<'a> {
        self.stop
    }

    /// Whether the search goes on. One match more than is wanted tells that there are more.
    fn more(&self) -> bool {
        let enough = match self.limits.output {
            Output::Content { .. } => {
                self.matches > self.limits.wanted.results as u64
                    || self.bytes > self.limits.wanted.bytes
            }
            Output::Files => true,
            Output::Count => false,
        };
        !enough && !self.stop.is_wanted()
    }

    fn keep(&mut self, line: Line) {
        self.bytes += line.text.len();
        self.lines.push(line);
    }

    fn keep_match(&mut self, matched: &SinkMatch<'_>, begin: &[usize]) {
        let first = matched.line_number().unwrap_or(1);
        for ((index, number), bytes) in (first..).enumerate().zip(matched.lines()) {
            let bytes = without_end(bytes);
            let kind = if index == 0 || begin.binary_search(&index).is_ok() {
                LineKind::Match
            } else {
                LineKind::Continued
            };
            let begins = if kind == LineKind::Match && bytes.len() > LINE_CHARS {
                self.match_in(bytes)
            } else {
                0
            };
            self.keep(line(number, kind, bytes, begins));
            if self.bytes > self.limits.wanted.bytes {
                break;
            }
        }
    }

    /// In which of its lines matches begin. The searcher hands over matches in adjacent lines as one.
    fn beginnings(&self, matched: &SinkMatch<'_>) -> Vec<usize> {
        let range = matched.bytes_range_in_buffer();
        let mut lines = Vec::new();
        let (mut line, mut seen) = (0, range.start);
        let found = self.matcher.find_iter_at(matched.buffer(), range.start, |found| {
            if found.start() >= range.end {
                return false;
            }
            let between = &matched.buffer()[seen..found.start()];
            line += memchr_iter(b'\n', between).count();
            seen = found.start();
            if lines.last() != Some(&line) {
                lines.push(line);
            }
            true
        });
        // A regex matcher never fails; what it would have found is one match.
        found.map_or_else(|_| vec![0], |()| lines)
    }

    fn match_in(&self, bytes: &[u8]) -> usize {
        self.matcher.find(bytes).ok().flatten().map_or(0, |found| found.start())
    }
}

impl Sink for Hits<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, matched: &SinkMatch<'_>) -> io::Result<bool> {
        let begin = match self.limits.span {
            Span::Line => vec![0],
            Span::Lines => self.beginnings(matched),
        };
        self.matches += begin.len().max(1) as u64;
        if let Output::Content { .. } = self.limits.output {
            self.keep_match(matched, &begin);
        }
        Ok(self.more())
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let number = context.line_number().unwrap_or(1);
        self.keep(line(number, LineKind::Context, without_end(context.bytes()), 0));
        Ok(self.more())
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.nul = finish.binary_byte_offset();
        Ok(())
    }
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Makes a line of its bytes, of a long one the part in which something begins at a byte.
fn line(number: u64, kind: LineKind, bytes: &[u8], begins: usize) -> Line {
    // Most lines are short, and those need no counting.
    if bytes.len() <= LINE_CHARS {
        let text = String::from_utf8_lossy(bytes).into_owned();
        return Line { number, kind, text, omitted_before: 0, omitted_after: 0 };
    }
    let text = String::from_utf8_lossy(bytes);
    let total = text.chars().count();
    let begins = String::from_utf8_lossy(&bytes[..begins]).chars().count();
    let omitted_before = if begins < LINE_CHARS {
        0
    } else {
        (begins - LEAD_CHARS).min(total.saturating_sub(LINE_CHARS))
    };
    let text: String = text.chars().skip(omitted_before).take(LINE_CHARS).collect();
    let omitted_after = total - omitted_before - text.chars().count();
    Line { number, kind, text, omitted_before, omitted_after }
}
