//! One line of output: from bytes to runs of text in one style each.
//!
//! A command may print anything. What is left of it here is text, styles, and the last state of a line that it drew again
//! (`\r`, backspace, erasing within the line). Moves of the cursor, titles, clipboards, modes, questions to the terminal and
//! the rest are dropped, and an unfinished sequence ends with its line.

use ratatui::style::Style;
use unicode_width::UnicodeWidthChar as _;
use vte::{Params, Parser, Perform};

use super::colours;
use super::glyphs::{MOST_MARKS, visible};

/// Where a tab leads: the next multiple of this.
const TAB: usize = 8;

/// A piece of a line in one style. Its text holds no control character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// The text.
    pub(crate) text: String,
    /// How it is shown.
    pub(crate) style: Style,
}

/// A line, or a piece of one that is too long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Where its bytes begin in the stream.
    pub(crate) offset: u64,
    /// The style in which it began.
    pub(crate) begins: Style,
    /// What it shows.
    pub(crate) runs: Vec<Run>,
}

impl Line {
    /// What these bytes show, without the line feed, and the style in which the next line begins.
    pub(super) fn read(offset: u64, bytes: &[u8], begins: Style) -> (Line, Style) {
        let mut drawing = Drawing { style: begins, ..Drawing::default() };
        // A fixed buffer, so that no sequence grows memory.
        Parser::new().advance(&mut drawing, bytes);
        let style = drawing.style;
        (Line { offset, begins, runs: drawing.runs() }, style)
    }

    /// Bytes of memory that it takes, or so.
    pub(super) fn bytes(&self) -> usize {
        let runs = self.runs.iter().map(|run| size_of::<Run>() + run.text.len());
        size_of::<Line>() + runs.sum::<usize>()
    }
}

/// A line while it is drawn, a cell a column.
#[derive(Default)]
struct Drawing {
    cells: Vec<Cell>,
    column: usize,
    style: Style,
}

#[derive(Clone)]
struct Cell {
    /// Empty in the second column of a wide character.
    text: String,
    style: Style,
}

impl Drawing {
    fn put(&mut self, text: &str, width: usize) {
        self.pad(self.column);
        let style = self.style;
        // What is wide and will be half overwritten is blank, on both sides.
        let is_half = |cell: &&mut Cell| cell.text.is_empty();
        if self.cells.get_mut(self.column).filter(is_half).is_some()
            && let Some(first) = self.cells[..self.column].last_mut()
        {
            " ".clone_into(&mut first.text);
        }
        for index in 0..width {
            let text = if index == 0 { text.to_owned() } else { String::new() };
            match self.cells.get_mut(self.column + index) {
                Some(cell) => *cell = Cell { text, style },
                None => self.cells.push(Cell { text, style }),
            }
        }
        self.column += width;
        if let Some(second) = self.cells.get_mut(self.column).filter(is_half) {
            " ".clone_into(&mut second.text);
        }
    }

    fn pad(&mut self, to: usize) {
        while self.cells.len() < to {
            self.cells.push(Cell { text: " ".to_owned(), style: Style::new() });
        }
    }

    fn mark(&mut self, sign: char) {
        let drawn = self.cells.get_mut(..self.column).unwrap_or_default();
        let cell = drawn.iter_mut().rev().find(|cell| !cell.text.is_empty());
        if let Some(cell) = cell.filter(|cell| cell.text.len() + sign.len_utf8() <= MOST_MARKS) {
            cell.text.push(sign);
        }
    }

    fn erase(&mut self, what: u16) {
        match what {
            0 => self.cells.truncate(self.column),
            1 => {
                let blank = Cell { text: " ".to_owned(), style: Style::new() };
                let until = (self.column + 1).min(self.cells.len());
                self.cells[..until].fill(blank);
            }
            2 => self.cells.clear(),
            _ => {}
        }
    }

    fn runs(self) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        for Cell { text, style } in self.cells {
            match runs.last_mut().filter(|run| run.style == style) {
                Some(run) => run.text.push_str(&text),
                None => runs.push(Run { text, style }),
            }
        }
        runs
    }
}

impl Perform for Drawing {
    fn print(&mut self, sign: char) {
        let shown = visible(sign);
        let mut buffer = [0; 4];
        let is_itself = shown == *sign.encode_utf8(&mut buffer);
        match sign.width().filter(|_| is_itself) {
            Some(0) => self.mark(sign),
            Some(width) => self.put(&shown, width),
            None => shown.chars().for_each(|sign| self.put(sign.encode_utf8(&mut [0; 4]), 1)),
        }
    }

    fn execute(&mut self, byte: u8) {
        match byte {
            b'\r' => self.column = 0,
            0x08 => self.column = self.column.saturating_sub(1),
            b'\t' => {
                self.column = (self.column / TAB + 1) * TAB;
                self.pad(self.column);
            }
            _ => {}
        }
    }

    fn csi_dispatch(&mut self, params: &Params, intermediates: &[u8], ignore: bool, action: char) {
        if ignore || !intermediates.is_empty() {
            return;
        }
        match action {
            'm' => self.style = colours::changed(self.style, params),
            'K' => self
                .erase(params.iter().next().and_then(|group| group.first()).copied().unwrap_or(0)),
            _ => {}
        }
    }
}

#[cfg(test)]
#[path = "line_tests.rs"]
mod tests;
