//! What there is to know of the selected session, and what to do where there is none.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{Theme, folded, put, title};
use crate::attach::state::Model;
use crate::cli::plain::plain;
use crate::commands::session;

const NOTHING: &str =
    "No session is open. What an agent runtime asks for is shown here, and what is started by";

const EXAMPLE: &str = "brattice task start -- 'make test'";

/// Draws them.
pub(super) fn draw(model: &Model, theme: Theme, frame: &mut Frame, area: Rect) {
    let Some((_, summary)) = model.sessions.selected() else {
        title(theme, frame, area, vec![Span::raw("Nothing runs")], false);
        let width = usize::from(area.width).saturating_sub(2).max(1);
        let words = [NOTHING, EXAMPLE].into_iter().flat_map(|text| folded::words(text, width));
        let lines: Vec<Line> = words.map(|row| Line::raw(format!(" {row}"))).collect();
        put(frame, area, &lines);
        return;
    };
    title(theme, frame, area, vec![Span::raw("Session")], false);
    let facts = session::facts(summary, model.now);
    let width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut lines: Vec<Line> = facts
        .iter()
        .map(|(name, value)| {
            let name = Span::styled(format!(" {name:width$}  "), theme.faint());
            Line::from(vec![name, Span::raw(plain(value))])
        })
        .collect();
    if model.tasks_of.is_some() && model.tasks.items().is_empty() {
        lines.extend([Line::raw(""), Line::raw(" It has no tasks.")]);
    }
    put(frame, area, &lines);
}
