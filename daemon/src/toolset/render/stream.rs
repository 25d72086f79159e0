//! What one read of a task shows of one stream: which bytes to read for it, which of them are shown, and the lines that
//! say what is not.
//!
//! ```text
//!  new          ├─ seen before ─┤ cursor ··········· ├── shown, at most the cap ──┤ held back ┤ end
//!  from         offset ├── shown, at most the cap ──┤ ··· go on ··················· end
//!  tail lines   ································ ├── the last lines, at most the cap ──┤ end
//! ```
//!
//! A stretch that is shown never spans a gap, because head and tail that are joined in silence look contiguous. What is
//! held back is the beginning of a character whose rest has not come yet, so that texts of consecutive reads can be
//! joined. A little that comes before the stretch is read as well: it tells whether the stretch begins in the middle
//! of an escape sequence.

use std::path::Path;

use brattice_protocol::outcome::Lost;
use brattice_protocol::task;

use super::closing::{dropped_line, truncated_line};
use super::decode::{Excerpt, Rest, Stretch, decode_head, decode_tail, settled_length};
use crate::exec::spec::Chunk;
use crate::toolset::arguments::Part;
use crate::toolset::definition::{CONTEXT_BYTES, OutputRules, Toolset};

/// Which bytes of a stream a read needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The offset of the first.
    pub(crate) offset: u64,
    /// The offset after the last.
    pub(crate) end: u64,
}

/// One stream of a task, as it was read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamReading<'a> {
    /// Up to where this session has read the stream before.
    pub(crate) cursor: u64,
    /// How long the stream is now.
    pub(crate) length: u64,
    /// What could be read of the span ([`Part::span`]), in order. Between chunks are gaps: bytes that were not kept.
    pub(crate) chunks: &'a [Chunk],
    /// The file that holds it, if there is one.
    pub(crate) file: Option<&'a Path>,
    /// The range of bytes that was dropped from the middle, end exclusive; empty when nothing was.
    pub(crate) dropped: (u64, u64),
    /// What could not be kept.
    pub(crate) lost: Option<&'a Lost>,
}

impl Part {
    /// What to read of a stream that this session has read up to `cursor` and that is `length` bytes long. All of it is
    /// to be read, chunk after chunk.
    pub(crate) fn span(self, toolset: &Toolset, cursor: u64, length: u64) -> Span {
        let kept = toolset.output.kept_bytes as u64;
        let tail = length.saturating_sub(kept);
        let (first, end) = match self {
            Part::New => (cursor.max(tail), length),
            Part::From(offset) => (offset, offset.saturating_add(kept).min(length)),
            Part::TailLines(_) => (tail, length),
        };
        Span { offset: first.min(length).saturating_sub(CONTEXT_BYTES as u64), end }
    }
}

/// What a read shows of a stream.
#[derive(Debug)]
pub(super) struct Shown {
    /// The stretch.
    pub(super) excerpt: Excerpt,
    /// The range that the read covers: what is not shown of it was skipped.
    covered: (u64, u64),
    /// Whether there is more after it, of what was asked for.
    after: After,
}

/// Whether there is more of what was asked for than could be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum After {
    More,
    Nothing,
}

impl Shown {
    /// Chooses and decodes what is shown.
    pub(super) fn of(
        stream: &StreamReading<'_>,
        part: Part,
        rest: Rest,
        rules: &OutputRules,
    ) -> Self {
        match part {
            Part::New => Shown::tail(stream, stream.cursor.min(stream.length), rest, rules),
            Part::From(offset) => Shown::head(stream, offset.min(stream.length), rest, rules),
            Part::TailLines(lines) => {
                let last =
                    stream.last_chunk().map(|chunk| stream.settled(chunk, stream.length, rest));
                // Lines that begin before all that was read are cut, and with them everything that is not shown.
                let begin = last.and_then(|stretch| last_lines(stretch, lines)).unwrap_or(0);
                Shown::tail(stream, begin, rest, rules)
            }
        }
    }

    /// What follows `from`, the end of it where it is too long.
    fn tail(stream: &StreamReading<'_>, from: u64, rest: Rest, rules: &OutputRules) -> Self {
        let Some(chunk) = stream.last_chunk() else {
            return Shown::nothing(from, stream.length);
        };
        let stretch = stream.settled(chunk, stream.length, rest);
        // What is held back is the next read's; what is missing after the last chunk is nobody's.
        let is_held_back = stretch.end() < chunk.end();
        let to = if is_held_back { stretch.end() } else { chunk.end().max(stream.length) };
        let mut excerpt = decode_tail(stretch, from, rules);
        if excerpt.length() == 0 {
            (excerpt.from, excerpt.to) = (to, to);
        }
        Shown { excerpt, covered: (from, to), after: After::Nothing }
    }

    /// What follows `from`, the beginning of it where it is too long.
    fn head(stream: &StreamReading<'_>, from: u64, rest: Rest, rules: &OutputRules) -> Self {
        let Some(chunk) = stream.chunks.iter().map(Stretch::from).find(|chunk| chunk.end() > from)
        else {
            return Shown::nothing(from, stream.length);
        };
        let asked = from.saturating_add(rules.kept_bytes as u64).min(stream.length);
        let stretch = stream.settled(chunk, asked, rest);
        let excerpt = decode_head(stretch, from, rules);
        let is_cut = excerpt.to < stretch.end() || chunk.end() < stream.length;
        let after = if is_cut { After::More } else { After::Nothing };
        Shown { covered: (from, excerpt.to), after, excerpt }
    }

    fn nothing(from: u64, to: u64) -> Self {
        Shown { excerpt: Excerpt::nothing_at(to), covered: (from, to), after: After::Nothing }
    }

    /// Where the read ended: the next read of what is new begins there.
    pub(super) const fn end(&self) -> u64 {
        self.covered.1
    }

    /// The same as data.
    pub(super) fn facts(&self) -> task::StreamRead {
        let Excerpt { from, to, .. } = self.excerpt;
        task::StreamRead { from, to, skipped: self.skipped() }
    }

    fn skipped(&self) -> u64 {
        let (from, to) = self.covered;
        to.saturating_sub(from).saturating_sub(self.excerpt.length())
    }

    /// What of the stream is not shown, or not anywhere.
    pub(super) fn lines(&self, name: &str, stream: &StreamReading<'_>, part: Part) -> Vec<String> {
        let first = match (part, self.after) {
            (Part::New | Part::TailLines(_), _) => {
                let omitted = self.skipped().saturating_sub(stream.lost_within(self.covered));
                truncated_line(name, omitted, stream.file)
            }
            (Part::From(_), After::More) => {
                let (Excerpt { from, to, .. }, length) = (&self.excerpt, stream.length);
                Some(format!("[{name}: bytes {from}-{to} of {length}; go on with offset {to}]"))
            }
            (Part::From(_), After::Nothing) => None,
        };
        let dropped =
            stream.dropped_within(self.covered).and_then(|range| dropped_line(name, range));
        first.into_iter().chain(dropped).collect()
    }
}

impl StreamReading<'_> {
    /// The last chunk that has bytes.
    fn last_chunk(&self) -> Option<Stretch<'_>> {
        self.chunks.iter().rev().map(Stretch::from).find(|chunk| !chunk.data.is_empty())
    }

    /// A chunk of a read up to `asked`, less what waits for its rest. Where a chunk ends early there is a gap, and no
    /// rest of its last character.
    fn settled<'a>(&self, chunk: Stretch<'a>, asked: u64, rest: Rest) -> Stretch<'a> {
        let rest = match chunk.end() {
            end if end >= self.length => rest,
            end if end >= asked => Rest::MayCome,
            _ => Rest::None,
        };
        let length = settled_length(chunk.data, rest);
        Stretch { data: &chunk.data[..length], ..chunk }
    }

    /// The ranges that the read found missing.
    fn gaps(&self) -> impl Iterator<Item = (u64, u64)> {
        self.chunks.iter().map(|chunk| (chunk.offset.saturating_sub(chunk.skipped), chunk.offset))
    }

    /// The part of a range that was dropped from the middle. Of a task that runs it may be known by its gap alone.
    fn dropped_within(&self, range: (u64, u64)) -> Option<(u64, u64)> {
        let known = overlap(self.dropped, range);
        let found = || self.gaps().find_map(|gap| overlap(gap, range));
        known.or_else(|| if self.lost.is_none() { found() } else { None })
    }

    /// Bytes of a range that are missing and were not dropped.
    fn lost_within(&self, range: (u64, u64)) -> u64 {
        if self.lost.is_none() {
            return 0;
        }
        let length = |range: Option<(u64, u64)>| range.map_or(0, |(from, to)| to - from);
        let gaps = self.gaps().filter_map(|gap| overlap(gap, range));
        gaps.map(|gap| length(Some(gap)) - length(overlap(gap, self.dropped))).sum()
    }
}

/// What two ranges have in common, if it is anything.
fn overlap(one: (u64, u64), other: (u64, u64)) -> Option<(u64, u64)> {
    let (from, to) = (one.0.max(other.0), one.1.min(other.1));
    (from < to).then_some((from, to))
}

/// Where the last so many lines begin, if that is within the bytes. A newline at the end ends the last line.
fn last_lines(stretch: Stretch<'_>, lines: u64) -> Option<u64> {
    let lines = usize::try_from(lines).unwrap_or(usize::MAX);
    let body = stretch.data.strip_suffix(b"\n").unwrap_or(stretch.data);
    let newlines = body.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n');
    let before = newlines.map(|(position, _)| position as u64 + 1).nth(lines.saturating_sub(1));
    before.map(|position| stretch.offset + position).or((stretch.offset == 0).then_some(0))
}

#[cfg(test)]
#[path = "tests/stream.rs"]
mod tests;
