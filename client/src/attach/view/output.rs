//! A task's output, and how the task stands.

use brattice_protocol::tools::Stream;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::lists::state;
use super::{Theme, put, title, title_end};
use crate::attach::output::{Pane, Side};
use crate::attach::state::{Focus, Model};
use crate::cli::plain::plain;
use crate::commands::task::{elapsed, first_line, size};

/// Draws it.
pub(super) fn draw(model: &Model, pane: &Pane, theme: Theme, frame: &mut Frame, area: Rect) {
    title(theme, frame, area, heading(model, pane, theme), model.focus == Focus::Output);
    let runs = model.shown_task().is_some_and(|summary| !summary.status.is_final());
    match (pane.side(), runs) {
        (Side::Reading, _) => title_end(frame, area, Span::styled("G: end", theme.urgent())),
        (Side::Following, true) => title_end(frame, area, Span::styled("following", theme.good())),
        (Side::Following, false) => {}
    }
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

fn heading(model: &Model, pane: &Pane, theme: Theme) -> Vec<Span<'static>> {
    let which = pane.which();
    let stream = match which.stream {
        Stream::Stdout => "stdout",
        Stream::Stderr => "stderr",
    };
    let mut spans = vec![Span::styled(which.task.to_string(), theme.strong())];
    match model.shown_task() {
        None => spans.push(Span::raw(format!(" {stream}"))),
        Some(summary) => {
            let (word, style) = state(summary, theme);
            let (time, bytes) = (elapsed(summary, model.seen()), size(summary.bytes));
            spans.extend([Span::raw(" "), Span::styled(word, style)]);
            spans.push(Span::raw(format!(" · {time} · {bytes} · {stream} · ")));
            spans.push(Span::raw(plain(&first_line(&summary.command))));
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
