//! The writer's own state: where it is, how deep, and how much it has written.

use std::time::Instant;

use url::Url;

use super::blocks::{Blocks, Kind, Spacing};
use crate::html::parse::Extent;
use crate::html::reading::{Reading, text_of};
use crate::html::tree::{NodeId, Tree};

/// Bytes after which no more is written.
const MOST_BYTES: usize = 4 << 20;

/// Elements in one another beyond which text is all that is told. Pages of people stay below 100.
const MOST_DEPTH: usize = 160;

/// Lists, quotations and cells in one another beyond which they are flattened: each of them copies what is in it.
const MOST_NESTED: usize = 12;

/// The longest address that a link keeps.
const LONGEST_LINK: usize = 2048;

/// Writes what is to be read.
pub(in crate::html) fn write(
    tree: &Tree,
    reading: &Reading,
    base: &Url,
    deadline: Instant,
) -> (String, Extent) {
    let mut writer = Writer {
        tree,
        reading,
        base,
        deadline,
        depth: 0,
        nested: 0,
        marks: Vec::new(),
        written: 0,
        steps: 0,
        is_over: false,
    };
    let mut blocks = Blocks::new(Spacing::Apart);
    if let Some(title) = &reading.title {
        let mut line = super::line::Line::default();
        line.push(title);
        blocks.push(&format!("# {}", line.text()), Kind::Other);
    }
    writer.block(reading.root, &mut blocks);
    let extent = if writer.is_over { Extent::Beginning } else { Extent::Whole };
    (blocks.finish(), extent)
}

/// Writes a page.
pub(super) struct Writer<'a> {
    pub(super) tree: &'a Tree,
    pub(super) reading: &'a Reading,
    base: &'a Url,
    deadline: Instant,
    depth: usize,
    nested: usize,
    /// The marks that text stands in.
    pub(super) marks: Vec<&'static str>,
    written: usize,
    steps: u32,
    is_over: bool,
}

impl Writer<'_> {
    /// The children of a node that are to be read.
    pub(super) fn children(&self, id: NodeId) -> Vec<NodeId> {
        self.tree.children(id).filter(|child| !self.reading.leaves_out(*child)).collect()
    }

    /// The text of a node that is to be read.
    pub(super) fn text(&self, id: NodeId) -> String {
        text_of(self.tree, id, |id| self.reading.leaves_out(id))
    }

    /// Enters an element; false where nothing more is written.
    pub(super) fn enter(&mut self) -> bool {
        self.depth += 1;
        self.steps += 1;
        if self.steps.is_multiple_of(1024) && Instant::now() >= self.deadline {
            self.is_over = true;
        }
        !self.is_over
    }

    /// Whether nothing more is written.
    pub(super) const fn is_over(&self) -> bool {
        self.is_over
    }

    /// Leaves an element.
    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Whether elements count no more.
    pub(super) fn is_too_deep(&self) -> bool {
        self.depth > MOST_DEPTH
    }

    /// Counts what was written.
    pub(super) fn count(&mut self, bytes: usize) {
        self.written += bytes;
        if self.written > MOST_BYTES {
            self.is_over = true;
        }
    }

    /// Writes the inside of something that moves its lines, unless it stands in too many of those.
    pub(super) fn nested<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.nested >= MOST_NESTED {
            return None;
        }
        self.nested += 1;
        let written = write(self);
        self.nested -= 1;
        Some(written)
    }

    /// An address of the page as one that leads there from anywhere. None for what is on this page, is no address, or runs a
    /// program.
    pub(super) fn address(&self, text: &str) -> Option<String> {
        let text = text.trim();
        if text.is_empty() || text.starts_with('#') {
            return None;
        }
        let url = self.base.join(text).ok()?;
        let leads = matches!(url.scheme(), "http" | "https" | "mailto" | "tel" | "ftp");
        let text = String::from(url);
        if !leads || text.len() > LONGEST_LINK {
            return None;
        }
        let is_balanced = text.chars().try_fold(0_i32, |open, sign| match sign {
            '(' => Some(open + 1),
            ')' => Some(open - 1).filter(|open| *open >= 0),
            _ => Some(open),
        });
        match is_balanced {
            Some(0) => Some(text),
            _ => Some(text.replace('(', "%28").replace(')', "%29")),
        }
    }
}
