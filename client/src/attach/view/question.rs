//! What waits for an answer, in full: the words are those of `brattice approvals` and `brattice questions`.

use brattice_protocol::approval::ApprovalRequest;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{Theme, folded, put, title};
use crate::attach::state::{Asked, Model};
use crate::cli::plain::plain;

/// How wide the names of fields are, with the blanks around them.
const NAMES: usize = 11;

/// What an approval shows behind a rule, line by line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Body {
    /// A command.
    Command,
    /// What a change takes away and adds, each line by its sign.
    Change,
}

impl Body {
    fn of(request: &ApprovalRequest) -> Body {
        if request.command.is_some() { Body::Command } else { Body::Change }
    }

    fn style(self, line: &str, theme: Theme) -> Style {
        match (self, line.as_bytes().first()) {
            (Body::Command, _) => theme.strong(),
            (Body::Change, Some(b'+')) => theme.good(),
            (Body::Change, Some(b'-')) => theme.bad(),
            (Body::Change, _) => Style::new(),
        }
    }
}

/// Draws the selected question.
pub(super) fn draw(model: &Model, theme: Theme, frame: &mut Frame, area: Rect) {
    let Some((place, asked)) = model.asked.selected() else { return };
    let count = model.asked.items().len();
    let width = usize::from(area.width);
    let rows: Vec<Line> = asked
        .text(model.now)
        .lines()
        .flat_map(|line| match asked {
            Asked::Approval(request) => rows(line, width, Body::of(request), theme),
            Asked::Questions(_) | Asked::Plan(_) => prose(line, width, theme),
        })
        .collect();
    let height = usize::from(area.height);
    let from = model.question_from.min(rows.len().saturating_sub(height));
    let more = match rows.len().saturating_sub(from + height) {
        0 => String::new(),
        more => format!(", {more} more rows: PgDn"),
    };
    let name = format!("{} {} of {count}{more}", plain(asked.name()), place + 1);
    title(theme, frame, area, vec![Span::raw(name)], false);
    put(frame, area, &rows[from..]);
}

/// A line as rows that fit: a field's value goes on below itself, and a command's line behind a sign that says so.
fn rows(line: &str, width: usize, body: Body, theme: Theme) -> Vec<Line<'static>> {
    let Some((name, value)) = field(line).filter(|_| width > 2 * NAMES) else {
        let rows = folded::words(line, width.max(1)).into_iter();
        return rows.map(|row| Line::styled(row, theme.strong())).collect();
    };
    let room = width - NAMES;
    let pieces = match value.strip_prefix("│ ") {
        Some(line) => body_rows(line, room, body.style(line, theme), theme),
        None => folded::words(value, room).into_iter().map(|row| vec![Span::raw(row)]).collect(),
    };
    let named = |(number, mut spans): (usize, Vec<Span<'static>>)| {
        let name = if number == 0 { name } else { "" };
        spans.insert(0, Span::styled(format!("{name:NAMES$}"), theme.faint()));
        Line::from(spans)
    };
    pieces.into_iter().enumerate().map(named).collect()
}

/// A line of somebody's words: it goes on below itself, as far to the right.
fn prose(line: &str, width: usize, theme: Theme) -> Vec<Line<'static>> {
    let begin = line.len() - line.trim_start_matches([' ', '│']).len();
    let (before, text) = line.split_at(begin);
    let columns = before.chars().count();
    if columns * 2 > width {
        return folded::words(line, width.max(1)).into_iter().map(Line::raw).collect();
    }
    let row =
        |row| Line::from(vec![Span::styled(before.to_owned(), theme.faint()), Span::raw(row)]);
    folded::words(text, width - columns).into_iter().map(row).collect()
}

/// A line of a command, to the letter.
pub(super) fn command_rows(line: &str, width: usize, theme: Theme) -> Vec<Vec<Span<'static>>> {
    body_rows(line, width, theme.strong(), theme)
}

fn body_rows(line: &str, width: usize, style: Style, theme: Theme) -> Vec<Vec<Span<'static>>> {
    let rows = folded::exact(line, width.saturating_sub(2).max(1)).into_iter().enumerate();
    let row = |(number, row)| {
        let sign = if number == 0 { "│ " } else { "┆ " };
        vec![Span::styled(sign, theme.faint()), Span::styled(row, style)]
    };
    rows.map(row).collect()
}

/// The name of a field, with its blanks, and the value.
fn field(line: &str) -> Option<(&str, &str)> {
    line.starts_with("  ").then(|| line.split_at_checked(NAMES)).flatten()
}

#[cfg(test)]
mod tests {
    use ratatui::style::Color;

    use super::*;

    #[test]
    fn what_a_change_takes_and_adds_has_its_colour_and_a_command_has_none() {
        let colour = |line: &str, body| {
            let rows = rows(&format!("           │ {line}"), 40, body, Theme::Coloured);
            rows[0].spans[2].style.fg
        };
        for (line, in_change) in
            [("+new", Some(Color::Green)), ("-old", Some(Color::Red)), (" same", None)]
        {
            assert_eq!(
                (colour(line, Body::Change), colour(line, Body::Command)),
                (in_change, None)
            );
        }
    }
}
