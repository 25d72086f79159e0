//! The lists: what waits for an answer, sessions, tasks.

use brattice_protocol::Mode;
use brattice_protocol::session::SessionSummary;
use brattice_protocol::task::{TaskStatus, TaskSummary};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{Theme, title};
use crate::attach::state::{Asked, Focus, Keyed, List, Model};
use crate::cli::plain::plain;
use crate::commands::sessions::{cut, ids, label, short};
use crate::commands::task::{elapsed, first_line};

/// What waits for an answer.
pub(super) fn asked(model: &Model, theme: Theme, frame: &mut Frame, area: Rect) {
    let items = model.asked.items().len();
    let omitted: usize = model.omitted.iter().sum();
    let more = if omitted > 0 { format!("+{omitted}") } else { String::new() };
    let name = vec![Span::styled(format!("Waiting {items}{more}"), theme.urgent())];
    let focus = model.focus == Focus::Asked;
    title(theme, frame, area, name, focus);
    list(&model.asked, theme, frame, area, focus, |asked| question(asked, theme));
}

/// The sessions.
pub(super) fn sessions(model: &Model, theme: Theme, frame: &mut Frame, area: Rect) {
    let all = model.sessions.items();
    let focus = model.focus == Focus::Sessions;
    title(theme, frame, area, vec![Span::raw(format!("Sessions {}", all.len()))], focus);
    let length = short(&ids(all));
    list(&model.sessions, theme, frame, area, focus, |summary| session(summary, length, theme));
    if all.is_empty() {
        let text = Line::styled(" none", theme.faint());
        super::put(frame, area, &[text]);
    }
}

/// The tasks of the selected session.
pub(super) fn tasks(model: &Model, theme: Theme, frame: &mut Frame, area: Rect) {
    let focus = model.focus == Focus::Tasks;
    let count = model.tasks.items().len();
    title(theme, frame, area, vec![Span::raw(format!("Tasks {count}"))], focus);
    list(&model.tasks, theme, frame, area, focus, |summary| task(summary, model, theme));
    if count == 0 && area.height > 0 {
        let text = if model.tasks_of.is_some() { " none" } else { "" };
        super::put(frame, area, &[Line::styled(text, theme.faint())]);
    }
}

/// The lines of a list around what is selected.
fn list<T: Keyed>(
    list: &List<T>,
    theme: Theme,
    frame: &mut Frame,
    area: Rect,
    is_chosen: bool,
    line: impl Fn(&T) -> Vec<Span<'static>>,
) {
    let selected = list.selected().map(|(place, _)| place);
    let height = usize::from(area.height);
    let first = selected.map_or(0, |place| (place + 1).saturating_sub(height));
    for (place, (y, item)) in (first..).zip((area.y..area.bottom()).zip(&list.items()[first..])) {
        let is_selected = selected == Some(place);
        let mark = if is_selected { "▸" } else { " " };
        let mut spans = vec![Span::raw(mark)];
        spans.extend(line(item));
        let row = Rect { y, height: 1, ..area };
        super::put(frame, row, &[Line::from(spans)]);
        if is_selected && is_chosen {
            frame.buffer_mut().set_style(row, theme.chosen());
        }
    }
}

fn question(asked: &Asked, theme: Theme) -> Vec<Span<'static>> {
    let kind = match asked {
        Asked::Approval(request) => {
            Span::styled(mode_word(request.to), mode_style(request.to, theme))
        }
        Asked::Questions(_) | Asked::Plan(_) => {
            Span::styled(asked.name().to_owned(), theme.faint())
        }
    };
    vec![kind, Span::raw(format!(" {}", plain(&asked.subject())))]
}

fn session(summary: &SessionSummary, length: usize, theme: Theme) -> Vec<Span<'static>> {
    let id = cut(&summary.session, length).to_owned();
    let word = if summary.plan { "plan" } else { mode_word(summary.mode) };
    let mode = Span::styled(word, mode_style(summary.mode, theme));
    let running = match (summary.lost, summary.running) {
        (true, _) => Span::styled("lost ", theme.bad()),
        (false, 0) => Span::raw(""),
        (false, running) => Span::styled(format!("{running} runs "), theme.good()),
    };
    let folder = summary.workspace.rsplit('/').next().unwrap_or_default();
    let name = plain(label(summary).unwrap_or(folder));
    vec![Span::raw(format!("{id} ")), mode, Span::raw(" "), running, Span::raw(name)]
}

fn task(summary: &TaskSummary, model: &Model, theme: Theme) -> Vec<Span<'static>> {
    let (state, style) = state(summary, theme);
    let time = elapsed(summary, model.seen());
    let command = plain(&first_line(&summary.command));
    let (task, time) = (format!("{} ", summary.task), format!(" {time}  {command}"));
    vec![Span::raw(task), Span::styled(state, style), Span::raw(time)]
}

/// How a task stands, in a word.
pub(super) fn state(summary: &TaskSummary, theme: Theme) -> (String, Style) {
    match (summary.status, summary.exit_code, &summary.signal) {
        (TaskStatus::Running, ..) => ("runs".to_owned(), theme.good()),
        (TaskStatus::Stopping, ..) => ("stopping".to_owned(), theme.urgent()),
        (TaskStatus::Completed, Some(0) | None, _) => ("done".to_owned(), theme.faint()),
        (TaskStatus::Completed, Some(code), _) => (format!("exit {code}"), theme.bad()),
        (TaskStatus::Killed, _, Some(signal)) => (plain(signal), theme.bad()),
        (TaskStatus::Killed, _, None) => ("killed".to_owned(), theme.bad()),
        (TaskStatus::Failed, ..) => ("failed".to_owned(), theme.bad()),
    }
}

/// A mode, short.
pub(super) fn mode_word(mode: Mode) -> &'static str {
    match mode {
        Mode::ReadOnly => "read",
        Mode::WorkspaceWrite => "write",
        Mode::DangerFullAccess => "DANGER",
    }
}

/// The wider, the louder.
pub(super) fn mode_style(mode: Mode, theme: Theme) -> Style {
    match mode {
        Mode::ReadOnly | Mode::WorkspaceWrite => theme.faint(),
        Mode::DangerFullAccess => theme.bad(),
    }
}
