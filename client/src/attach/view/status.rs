//! The lines at the top and at the bottom: whether there is a daemon, how much goes on, and what the keys do.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr as _;

use super::{Theme, put};
use crate::attach::keys;
use crate::attach::state::{Link, Model, Note, NoteKind, Start};
use crate::cli::plain::plain;

/// Between two keys.
const GAP: &str = "  ";

/// The line at the top.
pub(super) fn header(model: &Model, theme: Theme, frame: &mut Frame, area: Rect) {
    let mut spans = vec![Span::styled(" brattice", theme.strong()), Span::raw("  ")];
    match &model.link {
        Link::Down { why, .. } => {
            let text = format!("no daemon ({}); tasks in the background go on", plain(why));
            spans.push(Span::styled(text, theme.urgent()));
        }
        Link::Up(_) => {
            let running: usize = model.sessions.items().iter().map(|one| one.running).sum();
            let sessions = counted(model.sessions.items().len(), "session", "sessions");
            let tasks = counted(running, "task runs", "tasks run");
            spans.push(Span::raw(format!("{sessions}, {tasks}")));
            let asked = model.asked.items().len() + model.omitted.iter().sum::<usize>();
            if asked > 0 {
                let text = counted(asked, "question waits", "questions wait");
                spans.extend([
                    Span::raw("  "),
                    Span::styled(format!(" {text}: w "), theme.urgent().patch(theme.chosen())),
                ]);
            }
        }
    }
    put(frame, area, &[Line::from(spans)]);
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The line at the bottom: what there is to say, else the keys that fit.
pub(super) fn draw(model: &Model, theme: Theme, frame: &mut Frame, area: Rect) {
    let line = match &model.note {
        Some(Note { text, kind }) => {
            let style = match kind {
                NoteKind::Done => theme.good(),
                NoteKind::Failed => theme.bad(),
            };
            Line::styled(format!(" {}", plain(text)), style)
        }
        None => keys_of(model, theme, usize::from(area.width)),
    };
    put(frame, area, &[line]);
}

fn keys_of(model: &Model, theme: Theme, width: usize) -> Line<'static> {
    let mut spans = Vec::new();
    let mut used = 1;
    let may_start = model.start == Start::Allowed;
    let told = keys::told(model.context()).filter(|(name, _)| may_start || *name != "S");
    for (name, does) in told {
        let columns = GAP.width() + name.width() + 1 + does.width();
        if used + columns > width + GAP.width() {
            break;
        }
        used += columns;
        spans.push(Span::styled(format!(" {name}"), theme.strong()));
        spans.push(Span::styled(format!(" {does} "), theme.faint()));
    }
    Line::from(spans)
}
