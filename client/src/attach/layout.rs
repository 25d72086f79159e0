//! Which part of the screen is where. Pure, and shared by those who draw it and those who must know how much fits.
//!
//! ```text
//!  wide                              narrow, or the whole screen for one part
//!  ┌ header ───────────────────┐     ┌ header ─────────┐
//!  │ waiting  │ output, or the │     │ the part in     │
//!  │ sessions │ question or    │     │ focus           │
//!  │ tasks    │ session        │     │                 │
//!  └ status ───────────────────┘     └ status ─────────┘
//! ```

use ratatui::layout::Rect;

use super::state::{Focus, Model, Zoom};

/// Narrower terminals show one part at a time.
const WIDE: u16 = 64;

/// How wide the lists are at least and at most.
const LISTS: (u16, u16) = (28, 46);

/// Most lines of what waits.
const MOST_ASKED: usize = 4;

/// A part's title line.
const TITLE: u16 = 1;

/// The parts, without their titles; an empty one is not shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Areas {
    /// The line at the top.
    pub(super) header: Rect,
    /// What waits.
    pub(super) asked: Rect,
    /// The sessions.
    pub(super) sessions: Rect,
    /// The tasks.
    pub(super) tasks: Rect,
    /// Between the lists and the rest.
    pub(super) rule: Rect,
    /// Output, a question or a session's facts.
    pub(super) output: Rect,
    /// The line at the bottom.
    pub(super) status: Rect,
}

/// The parts of the model's screen.
pub(super) fn areas(model: &Model) -> Areas {
    let (width, height) = (model.screen.width, model.screen.height);
    let row = |y, height| Rect { x: 0, y, width, height };
    let header = row(0, height.min(1));
    let status = row(height.saturating_sub(1), u16::from(height > 1));
    let body = row(1, height.saturating_sub(2));
    let areas = Areas { header, status, ..Areas::default() };
    match (model.zoom, width >= WIDE) {
        (Zoom::Parts, true) => parts(model, body, areas),
        (Zoom::Whole, _) | (Zoom::Parts, false) => one(model, body, areas),
    }
}

fn parts(model: &Model, body: Rect, areas: Areas) -> Areas {
    let wide = (body.width * 2 / 5).clamp(LISTS.0, LISTS.1);
    let [lists, rest] = split_columns(body, wide);
    let [rule, output] = split_columns(rest, 1);
    let count = |items: usize| u16::try_from(items).unwrap_or(u16::MAX);
    let asked = match model.asked.items().len() {
        0 => 0,
        items => TITLE + count(items.min(MOST_ASKED)),
    };
    let [asked, below] = split_rows(lists, asked);
    // No more than they need, and at most two fifths.
    let sessions = count(model.sessions.items().len().max(1));
    let sessions = TITLE + sessions.min((below.height * 2 / 5).max(2));
    let [sessions, tasks] = split_rows(below, sessions);
    Areas {
        asked: titled(asked),
        sessions: titled(sessions),
        tasks: titled(tasks),
        rule,
        output: titled(output),
        ..areas
    }
}

fn one(model: &Model, body: Rect, areas: Areas) -> Areas {
    let all = titled(body);
    match model.focus {
        Focus::Sessions => Areas { sessions: all, ..areas },
        Focus::Tasks => Areas { tasks: all, ..areas },
        Focus::Output => Areas { output: all, ..areas },
        Focus::Asked => {
            let items = model.asked.items().len().min(MOST_ASKED);
            let lines = TITLE + u16::try_from(items).unwrap_or(u16::MAX);
            let [asked, question] = split_rows(body, lines.min(body.height / 2));
            Areas { asked: titled(asked), output: titled(question), ..areas }
        }
    }
}

/// The part below its title; nothing where there is no room for that.
fn titled(area: Rect) -> Rect {
    match area.height {
        0 => Rect::ZERO,
        _ => split_rows(area, TITLE)[1],
    }
}

/// The title above a part.
pub(super) fn title(area: Rect) -> Rect {
    Rect { y: area.y.saturating_sub(TITLE), height: TITLE, ..area }
}

fn split_rows(area: Rect, first: u16) -> [Rect; 2] {
    let first = first.min(area.height);
    [
        Rect { height: first, ..area },
        Rect { y: area.y + first, height: area.height - first, ..area },
    ]
}

fn split_columns(area: Rect, first: u16) -> [Rect; 2] {
    let first = first.min(area.width);
    [Rect { width: first, ..area }, Rect { x: area.x + first, width: area.width - first, ..area }]
}

/// A box of that size, or less, in the middle.
pub(super) fn centred(screen: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(screen.width), height.min(screen.height));
    let (x, y) = ((screen.width - width) / 2, (screen.height - height) / 2);
    Rect { x: screen.x + x, y: screen.y + y, width, height }
}
