//! The lines of one stretch of a stream. It grows at either end as bytes are read, and what is then too much falls out at the
//! other: bytes, lines and styles of it are bounded, whatever a command prints.

use std::collections::VecDeque;

use ratatui::style::{Modifier, Style};

use super::line::{Line, Run};

/// Most bytes of memory that its lines take, or so.
const MOST_BYTES: usize = 4 << 20;

/// Most lines.
const MOST_LINES: usize = 6_000;

/// Most lines that one read adds; more of them are read again when they are scrolled to.
const MOST_READ: usize = 2_000;

/// A line of more bytes is shown in pieces.
const LONGEST: usize = 8 << 10;

/// Which lines stay where there are too many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    /// The first ones.
    First,
    /// The last ones.
    Last,
}

/// A stretch of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Window {
    /// Whole lines.
    lines: VecDeque<Line>,
    /// The bytes of the last one, which may go on.
    rest: Vec<u8>,
    /// The same as a line.
    last: Option<Line>,
    from: u64,
    to: u64,
    /// The style in which the next line begins.
    style: Style,
    /// Bytes of memory that the whole lines take.
    bytes: usize,
}

impl Window {
    /// An empty one at that offset.
    pub(super) fn at(offset: u64) -> Window {
        Window { from: offset, to: offset, ..Window::default() }
    }

    /// The end of a stream: bytes whose first part is left out, unless they begin it, as it is the end of a line.
    pub(super) fn tail(offset: u64, bytes: &[u8]) -> Window {
        let skipped = if offset == 0 { 0 } else { whole(bytes) };
        let begin = offset + skipped as u64;
        let mut window = Window::at(begin);
        window.append(begin, &bytes[skipped..], Keep::Last);
        window
    }

    /// The offset of its first byte.
    pub(super) fn from(&self) -> u64 {
        self.from
    }

    /// The offset after its last one.
    pub(super) fn to(&self) -> u64 {
        self.to
    }

    /// How many lines there are.
    pub(super) fn len(&self) -> usize {
        self.lines.len() + usize::from(self.last.is_some())
    }

    /// One of them.
    pub(super) fn line(&self, index: usize) -> Option<&Line> {
        self.lines.get(index).or(self.last.as_ref().filter(|_| index == self.lines.len()))
    }

    /// The index of the line that begins at that offset, or of the last one before it.
    pub(super) fn index(&self, offset: u64) -> usize {
        let after = self.lines.partition_point(|line| line.offset <= offset);
        match &self.last {
            Some(last) if last.offset <= offset && after == self.lines.len() => after,
            _ => after.saturating_sub(1),
        }
    }

    /// Adds what follows. Where it begins later than this ends, what lies between was not kept.
    pub(super) fn append(&mut self, offset: u64, bytes: &[u8], keep: Keep) {
        if offset > self.to {
            self.close();
            self.push_back(gap(self.to, offset - self.to));
            self.to = offset;
        }
        let begins = self.to - self.rest.len() as u64;
        let mut text = std::mem::take(&mut self.rest);
        text.extend_from_slice(bytes);
        self.to += bytes.len() as u64;
        let style = self.last.take().map_or(self.style, |last| last.begins);
        let Parsed { mut lines, rest, style } = parse(begins, &text, style);
        let dropped = match keep {
            Keep::First if lines.len() > MOST_READ => lines.split_off(MOST_READ),
            Keep::First | Keep::Last => Vec::new(),
        };
        lines.into_iter().for_each(|line| self.push_back(line));
        self.style = style;
        let begins = self.to - rest.len() as u64;
        self.last = (!rest.is_empty()).then(|| Line::read(begins, &rest, style).0);
        self.rest = rest;
        self.end_before(dropped.first());
        // Whoever asked for more below looks at the last lines that there were, not at the first.
        self.shrink(Keep::Last);
    }

    /// Adds what stands before it: bytes that end where it begins. Unless they begin a line, a first part of them is left out,
    /// as it is the end of a line.
    pub(super) fn prepend(&mut self, offset: u64, bytes: &[u8], begin: Begin) {
        let skipped = match begin {
            Begin::Line => 0,
            Begin::Anywhere => whole(bytes),
        };
        let Parsed { mut lines, rest, style } =
            parse(offset + skipped as u64, &bytes[skipped..], Style::new());
        if !rest.is_empty() {
            lines.push(Line::read(self.from - rest.len() as u64, &rest, style).0);
        }
        let many = lines.len().saturating_sub(MOST_READ);
        for line in lines.drain(many..).rev() {
            self.push_front(line);
        }
        self.shrink(Keep::First);
    }

    /// Says that nothing was kept of the bytes before it, down to that offset.
    pub(super) fn missing_before(&mut self, offset: u64) {
        self.push_front(gap(offset, self.from - offset));
    }

    fn shrink(&mut self, keep: Keep) {
        while self.lines.len() > MOST_LINES || (self.bytes > MOST_BYTES && self.lines.len() > 1) {
            match keep {
                Keep::Last => {
                    if let Some(line) = self.lines.pop_front() {
                        self.bytes -= line.bytes();
                    }
                    let next = self.lines.front().or(self.last.as_ref());
                    self.from = next.map_or(self.to, |line| line.offset);
                }
                Keep::First => {
                    let dropped = self.last.take().or_else(|| {
                        self.lines.pop_back().inspect(|line| self.bytes -= line.bytes())
                    });
                    self.end_before(dropped.as_ref());
                }
            }
        }
    }

    fn push_back(&mut self, line: Line) {
        self.bytes += line.bytes();
        self.lines.push_back(line);
    }

    fn push_front(&mut self, line: Line) {
        self.bytes += line.bytes();
        self.from = line.offset;
        self.lines.push_front(line);
    }

    /// Ends where that line would begin.
    fn end_before(&mut self, dropped: Option<&Line>) {
        if let Some(line) = dropped {
            (self.to, self.style) = (line.offset, line.begins);
            self.rest.clear();
            self.last = None;
        }
    }

    /// The last line is whole: what comes is another one.
    fn close(&mut self) {
        if let Some(last) = self.last.take() {
            (_, self.style) = Line::read(last.offset, &self.rest, last.begins);
            self.push_back(last);
            self.rest.clear();
        }
    }
}

/// What the bytes that are put before a window begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Begin {
    /// A line.
    Line,
    /// Whatever was there.
    Anywhere,
}

/// How many bytes come before the first line that is whole; none where no other one begins.
fn whole(bytes: &[u8]) -> usize {
    let feed = bytes.iter().position(|byte| *byte == b'\n');
    feed.map(|at| at + 1).filter(|begin| *begin < bytes.len()).unwrap_or(0)
}

struct Parsed {
    lines: Vec<Line>,
    rest: Vec<u8>,
    style: Style,
}

/// The lines of these bytes, what is left of an unfinished one, and the style in which that begins.
fn parse(offset: u64, bytes: &[u8], style: Style) -> Parsed {
    let (mut lines, mut style, mut at) = (Vec::new(), style, 0);
    while let Some(line) = next(&bytes[at..]) {
        let (read, after) = Line::read(
            offset + (at + line.from) as u64,
            &bytes[at + line.from..at + line.to],
            style,
        );
        lines.push(read);
        style = after;
        at += line.next;
    }
    let from = redrawn(&bytes[at..]);
    Parsed { lines, rest: bytes[at + from..].to_vec(), style }
}

/// Where a line is in what follows.
struct Found {
    from: usize,
    to: usize,
    next: usize,
}

/// The next whole line, or piece of one that is too long.
fn next(bytes: &[u8]) -> Option<Found> {
    let feed = bytes.iter().position(|byte| *byte == b'\n');
    let to = feed.unwrap_or(bytes.len());
    let from = redrawn(&bytes[..to]);
    match feed {
        _ if to - from > LONGEST => {
            let cut = from + cut(&bytes[from..]);
            Some(Found { from, to: cut, next: cut })
        }
        Some(feed) => Some(Found { from, to: feed, next: feed + 1 }),
        None => None,
    }
}

/// Of a line that is too long, where it was drawn anew for the last time.
fn redrawn(line: &[u8]) -> usize {
    if line.len() <= LONGEST {
        return 0;
    }
    // One that stands at the end draws nothing.
    let drawn = line.iter().rposition(|byte| *byte != b'\r').map_or(0, |last| last + 1);
    line[..drawn].iter().rposition(|byte| *byte == b'\r').unwrap_or(0)
}

/// Where a line that is too long is cut: between two characters.
fn cut(bytes: &[u8]) -> usize {
    let is_inside = |byte: u8| byte & 0b1100_0000 == 0b1000_0000;
    (LONGEST - 3..=LONGEST).rev().find(|at| !is_inside(bytes[*at])).unwrap_or(LONGEST)
}

/// The line that stands for bytes that were not kept.
fn gap(offset: u64, bytes: u64) -> Line {
    let text = format!("[{bytes} bytes were dropped here]");
    let style = Style::new().add_modifier(Modifier::DIM);
    Line { offset, begins: Style::new(), runs: vec![Run { text, style }] }
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
