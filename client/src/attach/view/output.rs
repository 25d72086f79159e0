//! A task's output, and how the task stands.

use brattice_protocol::tools::Stream;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::lists::state;
use super::{Theme, folded, put, title, title_end};
use crate::attach::output::{Pane, Side};
use crate::attach::state::{Focus, Model};
use crate::cli::plain::plain;
use crate::commands::task::{elapsed, first_line, size};

/// Draws it.
pub(super) fn draw(model: &Model, pane: &Pane, theme: Theme, frame: &mut Frame, area: Rect) {
    let runs = model.shown_task().is_some_and(|summary| !summary.status.is_final());
    let end = match (pane.side(), runs) {
        (Side::Reading, _) => Span::styled("G: end", theme.urgent()),
        (Side::Following, true) => Span::styled("following", theme.good()),
        (Side::Following, false) => Span::raw(""),
    };
    // Beside the signs of the line at both ends, and the blanks around the word.
    let taken = if end.width() > 0 { end.width() + 4 } else { 3 };
    let room = usize::from(area.width).saturating_sub(taken);
    title(theme, frame, area, heading(model, pane, theme, room), model.focus == Focus::Output);
    title_end(frame, area, end);
    let rows = pane.rows(area.as_size());
    if rows.is_empty() {
        let text = nothing(model, pane);
        put(frame, area, &[Line::styled(text, theme.faint())]);
        return;
    }
    let lines: Vec<Line> = rows
        .into_iter()
        .map(|row| {
            let spans = row.into_iter().map(|run| Span::styled(run.text, theme.own(run.style)));
            Line::from(spans.collect::<Vec<_>>())
        })
        .collect();
    put(frame, area, &lines);
}

/// The task, how it stands and, in what is left of the room, its command.
fn heading(model: &Model, pane: &Pane, theme: Theme, room: usize) -> Vec<Span<'static>> {
    let which = pane.which();
    // The usual one goes without saying.
    let stream = match which.stream {
        Stream::Stdout => "",
        Stream::Stderr => " · stderr",
    };
    let mut spans = vec![Span::styled(which.task.to_string(), theme.strong())];
    match model.shown_task() {
        None => spans.push(Span::raw(stream)),
        Some(summary) => {
            let (word, style) = state(summary, theme);
            let (time, bytes) = (elapsed(summary, model.seen()), size(summary.bytes));
            spans.extend([Span::raw(" "), Span::styled(word, style)]);
            spans.push(Span::raw(format!(" · {time} · {bytes}{stream} · ")));
            let used: usize = spans.iter().map(Span::width).sum();
            let command = plain(&first_line(&summary.command));
            spans.push(Span::raw(folded::begin(&command, room.saturating_sub(used))));
        }
    }
    spans
}

/// Why there is nothing.
fn nothing(model: &Model, pane: &Pane) -> String {
    if let Some(fault) = pane.fault() {
        return format!(" cannot be read: {}", plain(fault));
    }
    if !pane.is_empty() {
        return String::new();
    }
    let elsewhere = model.shown_task().is_some_and(|summary| summary.bytes > 0);
    match (pane.which().stream, elsewhere) {
        (Stream::Stdout, true) => " nothing on stdout; o shows stderr".to_owned(),
        (Stream::Stderr, true) => " nothing on stderr; o shows stdout".to_owned(),
        (Stream::Stdout | Stream::Stderr, false) => " (no output)".to_owned(),
    }
}
