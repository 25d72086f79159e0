//! A model as a frame. Pure: what is drawn is a function of the model, the theme and nothing else.
//!
//! Text of others goes through [`plain`](crate::cli::plain::plain()) or comes from [`crate::attach::output`], where nothing is
//! left that a terminal acts on.

mod facts;
mod folded;
mod form;
mod lists;
mod output;
mod overlay;
mod question;
mod status;
mod theme;

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::layout;
use super::state::{Focus, Model};

pub(super) use theme::Theme;

/// The least of a terminal that anything fits on.
const SMALLEST: (u16, u16) = (24, 6);

/// Draws all of it.
pub(super) fn draw(model: &Model, theme: Theme, frame: &mut Frame) {
    let screen = frame.area();
    if screen.width < SMALLEST.0 || screen.height < SMALLEST.1 {
        let text = format!("at least {}x{}, please", SMALLEST.0, SMALLEST.1);
        put(frame, screen, &[Line::raw(text)]);
        return;
    }
    let areas = model.areas();
    status::header(model, theme, frame, areas.header);
    lists::asked(model, theme, frame, areas.asked);
    lists::sessions(model, theme, frame, areas.sessions);
    lists::tasks(model, theme, frame, areas.tasks);
    rule(theme, frame, areas.rule);
    match (model.focus, &model.pane) {
        (Focus::Asked, _) => question::draw(model, theme, frame, areas.output),
        (Focus::Sessions, _) | (_, None) => facts::draw(model, theme, frame, areas.output),
        (Focus::Tasks | Focus::Output, Some(pane)) => {
            output::draw(model, pane, theme, frame, areas.output);
        }
    }
    status::draw(model, theme, frame, areas.status);
    overlay::draw(model, theme, frame);
}

/// Lines in an area, as many as fit.
fn put(frame: &mut Frame, area: Rect, lines: &[Line]) {
    let buffer = frame.buffer_mut();
    for (y, line) in (area.y..area.bottom()).zip(lines) {
        buffer.set_line(area.x, y, line, area.width);
    }
}

/// The title of a part: its name, marked where keys are for it, and what there is to say beside it.
fn title(theme: Theme, frame: &mut Frame, area: Rect, name: Vec<Span>, is_chosen: bool) {
    if area.width == 0 {
        return;
    }
    let area = layout::title(area);
    let line = "─".repeat(usize::from(area.width));
    frame.buffer_mut().set_string(area.x, area.y, line, theme.faint());
    let style = if is_chosen { theme.chosen() } else { Style::new() };
    let mut spans = vec![Span::styled(" ", style)];
    spans.extend(name.into_iter().map(|span| Span::styled(span.content, style.patch(span.style))));
    spans.push(Span::styled(" ", style));
    let width = area.width.saturating_sub(1);
    frame.buffer_mut().set_line(area.x + 1, area.y, &Line::from(spans), width);
}

/// A word at the right end of a part's title.
fn title_end(frame: &mut Frame, area: Rect, word: Span) {
    let width = u16::try_from(word.width()).unwrap_or(u16::MAX).saturating_add(2);
    if width > 2 && area.width > 2 * width {
        let area = layout::title(area);
        let line = Line::from(vec![Span::raw(" "), word, Span::raw(" ")]);
        frame.buffer_mut().set_line(area.right() - width, area.y, &line, width);
    }
}

fn rule(theme: Theme, frame: &mut Frame, area: Rect) {
    for y in area.y..area.bottom() {
        frame.buffer_mut().set_string(area.x, y, "│", theme.faint());
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
