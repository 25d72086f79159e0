//! What waits for an answer, in full: the words are those of `brattice approvals`.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{Theme, folded, put, title};
use crate::attach::state::Model;
use crate::cli::plain::plain;
use crate::cli::terminal;
use crate::commands::approval;

/// How wide the names of fields are, with the blanks around them.
const NAMES: usize = 11;

/// Draws the selected question.
pub(super) fn draw(model: &Model, theme: Theme, frame: &mut Frame, area: Rect) {
    let Some((place, request)) = model.asked.selected() else { return };
    let count = model.asked.items().len();
    let text = approval::question(request, terminal::Style::Plain, model.now);
    let rows: Vec<Line> =
        text.lines().flat_map(|line| rows(line, usize::from(area.width), theme)).collect();
    let height = usize::from(area.height);
    let from = model.question_from.min(rows.len().saturating_sub(height));
    let more = match rows.len().saturating_sub(from + height) {
        0 => String::new(),
        more => format!(", {more} more rows: PgDn"),
    };
    let name = format!("{} {} of {count}{more}", plain(&request.tool), place + 1);
    title(theme, frame, area, vec![Span::raw(name)], false);
    put(frame, area, &rows[from..]);
}

/// A line as rows that fit: a field's value goes on below itself, and a command's line behind a sign that says so.
fn rows(line: &str, width: usize, theme: Theme) -> Vec<Line<'static>> {
    let Some((name, value)) = field(line).filter(|_| width > 2 * NAMES) else {
        let rows = folded::words(line, width.max(1)).into_iter();
        return rows.map(|row| Line::styled(row, theme.strong())).collect();
    };
    let room = width - NAMES;
    let pieces = match value.strip_prefix("│ ") {
        Some(command) => command_rows(command, room, theme),
        None => folded::words(value, room).into_iter().map(|row| vec![Span::raw(row)]).collect(),
    };
    let named = |(number, mut spans): (usize, Vec<Span<'static>>)| {
        let name = if number == 0 { name } else { "" };
        spans.insert(0, Span::styled(format!("{name:NAMES$}"), theme.faint()));
        Line::from(spans)
    };
    pieces.into_iter().enumerate().map(named).collect()
}

/// A line of a command, to the letter.
pub(super) fn command_rows(line: &str, width: usize, theme: Theme) -> Vec<Vec<Span<'static>>> {
    let rows = folded::exact(line, width.saturating_sub(2).max(1)).into_iter().enumerate();
    let row = |(number, row)| {
        let sign = if number == 0 { "│ " } else { "┆ " };
        vec![Span::styled(sign, theme.faint()), Span::styled(row, theme.strong())]
    };
    rows.map(row).collect()
}

/// The name of a field, with its blanks, and the value.
fn field(line: &str) -> Option<(&str, &str)> {
    line.starts_with("  ").then(|| line.split_at_checked(NAMES)).flatten()
}
