//! What a change did, for people and editors: counts, the first changed line, a numbered diff and both texts, each bounded.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp};

use crate::edit::{Hunk, MARK};

/// Lines of a diff that are kept, and their bytes.
pub const LINES: usize = 2000;
/// Bytes of all lines of a diff.
pub const BYTES: usize = 64 * 1024;
/// Characters of one line of a diff.
pub const LINE_CHARACTERS: usize = 500;
/// Bytes of an old or a new text that is given whole.
pub const WHOLE: usize = 64 * 1024;

/// Equal lines before and after a change.
const CONTEXT: usize = 3;
/// How long lines may be compared; what is not done by then is taken as replaced.
const PATIENCE: Duration = Duration::from_millis(300);
/// Longer parts are not compared line by line.
const COMPARED: usize = 200_000;

/// What a change did to one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// Lines that the new text has and the old one has not.
    pub added: u64,
    /// Lines that the old text has and the new one has not.
    pub deleted: u64,
    /// The first line of the new text that differs; where lines were deleted, the one that follows.
    pub first_line: Option<u64>,
    /// The diff, with three equal lines around each change.
    pub lines: Vec<DiffLine>,
    /// Lines of the diff that are not kept.
    pub omitted: u64,
    /// Whether the lines could be compared in time.
    pub precision: Precision,
    /// The whole old text, without a byte-order mark that both have, if it has at most [`WHOLE`] bytes.
    pub old: Option<String>,
    /// The same of the new text.
    pub new: Option<String>,
}

/// How carefully lines were compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Precision {
    /// Line by line.
    Fine,
    /// There were too many: equal lines between changed ones may be given as deleted and added.
    Coarse,
}

/// A line of a diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffLine {
    /// What became of it.
    pub sign: Sign,
    /// Its number; in the new text, or in the old one if it was deleted.
    pub number: u64,
    /// The line without its end, and without a byte-order mark that both texts have, at most [`LINE_CHARACTERS`].
    pub text: String,
    /// Its end.
    pub end: LineEnd,
    /// Characters that were cut.
    pub omitted: u64,
}

/// How a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LineEnd {
    /// With LF.
    Lf,
    /// With CR and LF.
    CrLf,
    /// With the text.
    None,
}

impl LineEnd {
    /// The signs.
    pub const fn as_str(self) -> &'static str {
        match self {
            LineEnd::Lf => "\n",
            LineEnd::CrLf => "\r\n",
            LineEnd::None => "",
        }
    }
}

/// What becomes of a byte-order mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mark {
    /// Both texts have it.
    Hidden,
    /// It came, or went, or there is none.
    Shown,
}

impl Mark {
    fn of(old: &str, new: &str) -> Mark {
        match old.starts_with(MARK) && new.starts_with(MARK) {
            true => Mark::Hidden,
            false => Mark::Shown,
        }
    }

    fn strip(self, text: &str) -> &str {
        match self {
            Mark::Hidden => text.strip_prefix(MARK).unwrap_or(text),
            Mark::Shown => text,
        }
    }
}

/// What became of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Sign {
    /// It stayed.
    Kept,
    /// It is new.
    Added,
    /// It is gone.
    Deleted,
    /// No line: what lies between is equal and not shown. Its number is that of the next line.
    Gap,
}

/// Compares two texts that differ in the hunks.
pub(crate) fn changes(old: &str, new: &str, hunks: &[Hunk]) -> Changes {
    let mut writer = Writer::new(old, new);
    for region in regions(old, new, hunks) {
        writer.region(&region);
    }
    let mark = Mark::of(old, new);
    Changes { old: whole(old, mark), new: whole(new, mark), ..writer.finish() }
}

/// Hunks that are widened to whole lines and joined where they meet.
fn regions(old: &str, new: &str, hunks: &[Hunk]) -> Vec<Hunk> {
    let mut regions: Vec<Hunk> = Vec::new();
    for hunk in hunks {
        let mut wide = Hunk {
            old: line_start(old, hunk.old.start)..hunk.old.end,
            new: line_start(new, hunk.new.start)..hunk.new.end,
        };
        let starts = |text: &str, place: usize| place == 0 || text[..place].ends_with('\n');
        if !(starts(old, wide.old.end) && starts(new, wide.new.end)) {
            wide.old.end = line_end(old, wide.old.end);
            wide.new.end = line_end(new, wide.new.end);
        }
        match regions.last_mut() {
            Some(last) if wide.old.start < last.old.end || wide.new.start < last.new.end => {
                last.old.end = last.old.end.max(wide.old.end);
                last.new.end = last.new.end.max(wide.new.end);
            }
            _ => regions.push(wide),
        }
    }
    regions
}

fn line_start(text: &str, place: usize) -> usize {
    memchr::memrchr(b'\n', &text.as_bytes()[..place]).map_or(0, |end| end + 1)
}

fn line_end(text: &str, place: usize) -> usize {
    memchr::memchr(b'\n', &text.as_bytes()[place..]).map_or(text.len(), |end| place + end + 1)
}

/// Puts lines in a row, with context around what changed.
struct Writer<'a> {
    old: &'a str,
    new: &'a str,
    changes: Changes,
    /// How far the texts were written, and the lines there.
    old_place: usize,
    new_place: usize,
    old_line: u64,
    new_line: u64,
    /// Equal lines that may come to stand before a change.
    before: VecDeque<DiffLine>,
    /// Equal lines that still follow the last change.
    after: usize,
    has_gap: bool,
    bytes: usize,
    mark: Mark,
    deadline: Instant,
}

impl<'a> Writer<'a> {
    fn new(old: &'a str, new: &'a str) -> Self {
        Writer {
            old,
            new,
            changes: Changes {
                added: 0,
                deleted: 0,
                first_line: None,
                lines: Vec::new(),
                omitted: 0,
                precision: Precision::Fine,
                old: None,
                new: None,
            },
            old_place: 0,
            new_place: 0,
            old_line: 1,
            new_line: 1,
            before: VecDeque::new(),
            after: 0,
            has_gap: false,
            bytes: 0,
            mark: Mark::of(old, new),
            deadline: Instant::now() + PATIENCE,
        }
    }

    /// Everything up to the region is equal, then its lines are compared.
    fn region(&mut self, region: &Hunk) {
        self.equal_until(region.old.start, region.new.start);
        let (old, new) = (&self.old[region.old.clone()], &self.new[region.new.clone()]);
        let count = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).count();
        if count(old) + count(new) <= COMPARED && Instant::now() < self.deadline {
            self.compared(old, new);
        } else {
            // A list of the lines alone could take many times the memory of the text.
            self.changes.precision = Precision::Coarse;
            old.split_inclusive('\n').for_each(|line| self.changed(Sign::Deleted, line));
            new.split_inclusive('\n').for_each(|line| self.changed(Sign::Added, line));
        }
        (self.old_place, self.new_place) = (region.old.end, region.new.end);
    }

    fn compared(&mut self, old: &str, new: &str) {
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let new: Vec<&str> = new.split_inclusive('\n').collect();
        let operations = similar::capture_diff_slices_deadline(
            Algorithm::Myers,
            &old,
            &new,
            Some(self.deadline),
        );
        if Instant::now() >= self.deadline {
            self.changes.precision = Precision::Coarse;
        }
        for operation in operations {
            let (_, old_range, new_range) = operation.as_tag_tuple();
            if let DiffOp::Equal { .. } = operation {
                new[new_range].iter().for_each(|line| self.kept(line));
            } else {
                old[old_range].iter().for_each(|line| self.changed(Sign::Deleted, line));
                new[new_range].iter().for_each(|line| self.changed(Sign::Added, line));
            }
        }
    }

    /// Equal text, of which only the lines near a change are looked at one by one.
    fn equal_until(&mut self, old_end: usize, new_end: usize) {
        let text: &'a str = &self.new[self.new_place..new_end];
        let mut place = 0;
        while self.after > 0 && place < text.len() {
            let end = line_end(text, place);
            self.kept(&text[place..end]);
            place = end;
        }
        let mut near = text.len();
        for _ in 0..CONTEXT {
            if near > place {
                near = line_start(text, near - 1).max(place);
            }
        }
        let skipped = memchr::memchr_iter(b'\n', &text.as_bytes()[place..near]).count() as u64;
        if skipped > 0 {
            self.before.clear();
            self.has_gap = true;
            self.old_line += skipped;
            self.new_line += skipped;
        }
        for line in text[near..].split_inclusive('\n') {
            self.kept(line);
        }
        (self.old_place, self.new_place) = (old_end, new_end);
    }

    fn kept(&mut self, text: &str) {
        let line = self.line(Sign::Kept, self.new_line, text);
        self.old_line += 1;
        self.new_line += 1;
        if self.after > 0 {
            self.after -= 1;
            return self.push(line);
        }
        self.before.push_back(line);
        if self.before.len() > CONTEXT {
            self.before.pop_front();
            self.has_gap = true;
        }
    }

    fn changed(&mut self, sign: Sign, text: &str) {
        self.changes.first_line.get_or_insert(self.new_line);
        let number = if sign == Sign::Deleted { self.old_line } else { self.new_line };
        if std::mem::take(&mut self.has_gap) && !self.changes.lines.is_empty() {
            let next = self.before.front().map_or(number, |line| line.number);
            self.push(self.line(Sign::Gap, next, ""));
        }
        for line in std::mem::take(&mut self.before) {
            self.push(line);
        }
        self.after = CONTEXT;
        if sign == Sign::Deleted {
            self.changes.deleted += 1;
            self.old_line += 1;
        } else {
            self.changes.added += 1;
            self.new_line += 1;
        }
        if self.is_full() {
            self.changes.omitted += 1;
        } else {
            self.push(self.line(sign, number, text));
        }
    }

    fn is_full(&self) -> bool {
        self.changes.omitted > 0
    }

    fn push(&mut self, line: DiffLine) {
        let bytes = self.bytes + line.text.len() + 1;
        if self.is_full() || self.changes.lines.len() == LINES || bytes > BYTES {
            self.changes.omitted += 1;
            return;
        }
        self.bytes = bytes;
        self.changes.lines.push(line);
    }

    fn line(&self, sign: Sign, number: u64, text: &str) -> DiffLine {
        let (text, end) = match text.strip_suffix('\n') {
            None => (text, LineEnd::None),
            Some(text) => match text.strip_suffix('\r') {
                None => (text, LineEnd::Lf),
                Some(text) => (text, LineEnd::CrLf),
            },
        };
        let text = if number == 1 { self.mark.strip(text) } else { text };
        let cut = text.char_indices().nth(LINE_CHARACTERS).map_or(text.len(), |(place, _)| place);
        let (text, rest) = text.split_at(cut);
        let omitted = rest.chars().count() as u64;
        DiffLine { sign, number, text: text.to_owned(), end, omitted }
    }

    fn finish(mut self) -> Changes {
        let text: &'a str = &self.new[self.new_place..];
        let mut place = 0;
        while self.after > 0 && place < text.len() {
            let end = line_end(text, place);
            self.kept(&text[place..end]);
            place = end;
        }
        self.changes
    }
}

/// The whole text, if it is not too long.
fn whole(text: &str, mark: Mark) -> Option<String> {
    let body = mark.strip(text);
    (body.len() <= WHOLE).then(|| body.to_owned())
}

#[cfg(test)]
mod tests;
