//! Where somebody is in a task's output, what they see there, and what has to be read for that.
//!
//! ```text
//!            scroll up                    scroll up, near the first line
//!   End ───────────────────▶ At ─────────────────────────────▶ the window moves back
//!    ▲  new lines are shown   │ ◀── what is above and below stays as it is
//!    └──── the last row ──────┘
//! ```

use brattice_protocol::task::TaskStatus;
use brattice_protocol::tools::Stream;
use brattice_protocol::{SessionId, TaskId};
use ratatui::layout::Size;

use super::line::Run;
use super::rows::{height, wrap};
use super::window::{Begin, Keep, Window};

/// Most bytes of one read.
pub(crate) const PIECE: u64 = 64 << 10;

/// So many full reads in a row mean that the command prints faster than this reads: what is newest is looked for instead.
const BEHIND: usize = 4;

/// So many screens above and below are read before somebody scrolls there.
const NEAR: usize = 3;

/// A task's stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Which {
    /// The session.
    pub(crate) session: SessionId,
    /// The task.
    pub(crate) task: TaskId,
    /// Which of its streams.
    pub(crate) stream: Stream,
}

/// Something to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    /// Of what.
    pub(crate) which: Which,
    /// Which part of it.
    pub(crate) sought: Sought,
}

/// A part of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sought {
    /// Its last bytes, wherever they are.
    Tail,
    /// Its first ones.
    Start,
    /// From there on, once there is something.
    From(u64),
    /// Up to there.
    Before(u64),
}

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// Where the bytes begin; later than they were sought where some were not kept.
    pub(crate) offset: u64,
    /// The bytes.
    pub(crate) bytes: Vec<u8>,
    /// How the task stood before they were read.
    pub(crate) status: TaskStatus,
}

/// Whether new output moves what is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    /// The end is shown, and goes on being.
    Following,
    /// Somebody reads elsewhere.
    Reading,
}

/// The output of a task, as far as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pane {
    which: Which,
    window: Option<Window>,
    place: Place,
    /// A part elsewhere that is to be shown instead.
    jump: Option<Jump>,
    /// The offset at which the stream ended when it was read last.
    tip: Option<u64>,
    /// The offset at which it was seen to end for good.
    end: Option<u64>,
    full_reads: usize,
    fault: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    End,
    /// The row at the top: a line by its offset, and a row of it.
    At {
        offset: u64,
        row: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Jump {
    Tail,
    Start,
}

/// A row of the window: the index of a line, and which of its rows.
type Row = (usize, usize);

impl Pane {
    /// The end of a stream, still to be read.
    pub(crate) fn new(which: Which) -> Pane {
        Pane {
            which,
            window: None,
            place: Place::End,
            jump: Some(Jump::Tail),
            tip: None,
            end: None,
            full_reads: 0,
            fault: None,
        }
    }

    /// Whose output it is.
    pub(crate) fn which(&self) -> &Which {
        &self.which
    }

    /// Whether it follows what is printed.
    pub(crate) fn side(&self) -> Side {
        match self.place {
            Place::End => Side::Following,
            Place::At { .. } => Side::Reading,
        }
    }

    /// Why nothing more can be read.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.as_deref()
    }

    /// Whether it was read to its end, and there is nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.window.as_ref().is_some_and(|window| window.len() == 0 && window.from() == 0)
    }

    /// What has to be read for what is shown in an area of that size.
    pub(crate) fn wants(&self, area: Size) -> Option<Read> {
        if self.fault.is_some() {
            return None;
        }
        let sought = match (self.jump, &self.window) {
            (Some(Jump::Start), _) => Some(Sought::Start),
            (Some(Jump::Tail), _) | (None, None) => Some(Sought::Tail),
            (None, Some(window)) => self.missing(window, area),
        };
        sought.map(|sought| Read { which: self.which.clone(), sought })
    }

    fn missing(&self, window: &Window, area: Size) -> Option<Sought> {
        let near = NEAR * usize::from(area.height);
        let top = self.top(window, area);
        if back(window, top, near, area) == (0, 0) && window.from() > 0 {
            return Some(Sought::Before(window.from()));
        }
        let goes_on = self.end != Some(window.to());
        // From the top of what is shown, which takes one screen itself.
        let below = match self.place {
            Place::End => 0,
            Place::At { .. } => rows_from(window, top, near + 1, area),
        };
        (goes_on && below <= near).then_some(Sought::From(window.to()))
    }

    /// Takes what was read for it.
    pub(crate) fn take(&mut self, sought: Sought, piece: Piece) {
        let Piece { offset, bytes, status } = piece;
        let keep = match self.side() {
            Side::Following => Keep::Last,
            Side::Reading => Keep::First,
        };
        match sought {
            Sought::Tail => {
                self.window = Some(Window::tail(offset, &bytes));
                self.tip = Some(offset + bytes.len() as u64);
                (self.place, self.jump, self.full_reads) = (Place::End, None, 0);
            }
            Sought::Start => {
                let mut window = Window::at(0);
                window.append(offset, &bytes, Keep::First);
                self.window = Some(window);
                (self.place, self.jump) = (Place::At { offset: 0, row: 0 }, None);
            }
            Sought::From(_) => {
                if let Some(window) = &mut self.window {
                    if bytes.is_empty() && status.is_final() {
                        self.end = Some(window.to());
                    }
                    window.append(offset, &bytes, keep);
                    if (bytes.len() as u64) < PIECE {
                        self.tip = Some(offset + bytes.len() as u64);
                    }
                    self.pace(bytes.len());
                }
            }
            Sought::Before(_) => {
                if let Some(window) = &mut self.window {
                    let until = offset + bytes.len() as u64;
                    if until < window.from() {
                        window.missing_before(until);
                    }
                    let begin = if offset == 0 { Begin::Line } else { Begin::Anywhere };
                    window.prepend(offset, &bytes, begin);
                }
            }
        }
    }

    fn pace(&mut self, bytes: usize) {
        let is_full = bytes as u64 >= PIECE;
        self.full_reads = if is_full { self.full_reads + 1 } else { 0 };
        if self.full_reads >= BEHIND && self.place == Place::End {
            self.jump = Some(Jump::Tail);
        }
    }

    /// Takes note that it cannot be read.
    pub(crate) fn fail(&mut self, fault: String) {
        self.fault = Some(fault);
    }

    /// Reads again what it could not, now that there is a daemon again.
    pub(crate) fn retry(&mut self) {
        self.fault = None;
    }

    /// Shows the end, and follows it.
    pub(crate) fn show_end(&mut self) {
        match self.window.as_ref().is_some_and(|window| self.is_at_tip(window)) {
            true => self.place = Place::End,
            false => self.jump = Some(Jump::Tail),
        }
    }

    /// Whether the window reaches as far as the stream did.
    fn is_at_tip(&self, window: &Window) -> bool {
        self.tip == Some(window.to()) || self.place == Place::End
    }

    /// Shows the beginning.
    pub(crate) fn show_start(&mut self) {
        match self.window.as_ref().is_some_and(|window| window.from() == 0) {
            true => self.place = Place::At { offset: 0, row: 0 },
            false => self.jump = Some(Jump::Start),
        }
    }

    /// Moves so many rows, up where it is negative.
    pub(crate) fn scroll(&mut self, by: isize, area: Size) {
        let Some(window) = &self.window else { return };
        let top = self.top(window, area);
        let lowest =
            back(window, last(window, area), usize::from(area.height).saturating_sub(1), area);
        let moved = match usize::try_from(by) {
            Ok(down) => forth(window, top, down, area),
            Err(_) => back(window, top, by.unsigned_abs(), area),
        };
        let is_all = moved >= lowest && self.is_at_tip(window);
        self.place = match by >= 0 && is_all {
            true => Place::End,
            false => at(window, moved.min(lowest)),
        };
    }

    /// The rows of an area of that size.
    pub(crate) fn rows(&self, area: Size) -> Vec<Vec<Run>> {
        let Some(window) = &self.window else { return Vec::new() };
        let (first, row) = self.top(window, area);
        let lines = (first..window.len()).filter_map(|index| window.line(index));
        let rows = lines.flat_map(|line| wrap(line, columns(area)));
        rows.skip(row).take(usize::from(area.height)).collect()
    }

    fn top(&self, window: &Window, area: Size) -> Row {
        let lowest =
            back(window, last(window, area), usize::from(area.height).saturating_sub(1), area);
        match self.place {
            Place::End => lowest,
            Place::At { offset, row } => {
                let index = window.index(offset);
                let rows = window.line(index).map_or(1, |line| height(line, columns(area)));
                (index, row.min(rows - 1)).min(lowest)
            }
        }
    }
}

fn columns(area: Size) -> usize {
    usize::from(area.width).max(1)
}

fn at(window: &Window, (index, row): Row) -> Place {
    let offset = window.line(index).map_or(window.from(), |line| line.offset);
    Place::At { offset, row }
}

/// The last row.
fn last(window: &Window, area: Size) -> Row {
    let index = window.len().saturating_sub(1);
    (index, rows_of(window, index, area).saturating_sub(1))
}

fn rows_of(window: &Window, index: usize, area: Size) -> usize {
    window.line(index).map_or(0, |line| height(line, columns(area)))
}

/// The row that is so many above, or the first.
fn back(window: &Window, (mut index, mut row): Row, by: usize, area: Size) -> Row {
    let mut left = by;
    while left > row {
        if index == 0 {
            return (0, 0);
        }
        left -= row + 1;
        index -= 1;
        row = rows_of(window, index, area).saturating_sub(1);
    }
    (index, row - left)
}

/// The row that is so many below, or the last.
fn forth(window: &Window, (mut index, mut row): Row, by: usize, area: Size) -> Row {
    let mut left = by;
    loop {
        let below = rows_of(window, index, area).saturating_sub(row + 1);
        if left <= below {
            return (index, row + left);
        }
        if index + 1 >= window.len() {
            return (index, row + below);
        }
        (left, index, row) = (left - below - 1, index + 1, 0);
    }
}

/// How many rows there are from there on; `most` where there are more.
fn rows_from(window: &Window, (index, row): Row, most: usize, area: Size) -> usize {
    let mut rows = 0;
    for index in index..window.len() {
        if rows >= most + row {
            break;
        }
        rows += rows_of(window, index, area);
    }
    rows.saturating_sub(row).min(most)
}

#[cfg(test)]
#[path = "pane_tests.rs"]
mod tests;
