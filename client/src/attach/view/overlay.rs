//! What is shown over all else: a question back, a line to type, the help.

use brattice_protocol::approval::{ApprovalChoice, ApprovalRequest};
use brattice_protocol::{ApprovalId, QuestionId};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget as _};

use super::question::command_rows;
use super::{Theme, folded, form, put};
use crate::attach::keys;
use crate::attach::layout::centred;
use crate::attach::state::{Answer, Asked, AskedId, Keyed as _, Kill, Model, Overlay};
use crate::cli::plain::plain;

/// How wide a box is at most.
const WIDE: u16 = 72;

/// Said to whoever does not approve a plan.
const FEEDBACK: &str = "What is to be different? The model is told. Nothing need be said.";

/// How many rows of a command a question back shows.
const MOST_COMMAND: usize = 6;

/// Draws it, where there is something.
pub(super) fn draw(model: &Model, theme: Theme, frame: &mut Frame) {
    match &model.overlay {
        None => {}
        Some(Overlay::Help(from)) => help(*from, theme, frame),
        Some(Overlay::Answer(answer)) => confirm(model, answer, theme, frame),
        Some(Overlay::Reason(id, field)) => reason(model, id, field.text(), theme, frame),
        Some(Overlay::Form(form)) => form::draw(form, theme, frame),
        Some(Overlay::Dismiss(id)) => {
            said_back(model, id, "Leave it without an answer?", theme, frame)
        }
        Some(Overlay::Approve(id)) => said_back(model, id, "Approve this plan?", theme, frame),
        Some(Overlay::Feedback(id, field)) => {
            let mut lines = subject(model, id, theme, inner(frame));
            lines.push(Line::raw(""));
            lines.extend(folded_lines(FEEDBACK, inner(frame)));
            typing("Keep planning", lines, field.text(), theme, frame);
        }
        Some(Overlay::Kill(Kill { task, command, .. })) => {
            let width = inner(frame);
            let mut lines = folded_lines(&format!("{task} and all that it started:"), width);
            lines.extend(shown(command, width, theme));
            lines.extend(folded_lines("SIGTERM, and SIGKILL after the grace.", width));
            let inside = boxed("Stop it?", lines.len(), theme, frame);
            put(frame, inside, &lines);
        }
    }
}

fn reason(model: &Model, id: &ApprovalId, typed: &str, theme: Theme, frame: &mut Frame) {
    let Some(request) = find(model, id) else { return };
    let width = inner(frame);
    let mut lines = about(request, width, theme);
    lines.push(Line::raw(""));
    lines.extend(folded_lines("Why? The model is told. Nothing need be said.", width));
    typing("Reject", lines, typed, theme, frame);
}

/// A box with a line to type into below these.
fn typing(title: &'static str, mut lines: Vec<Line>, typed: &str, theme: Theme, frame: &mut Frame) {
    lines.push(field(typed, inner(frame), theme));
    let inside = boxed(title, lines.len(), theme, frame);
    // The line that is typed into is there, whatever else has no room.
    let from = lines.len().saturating_sub(usize::from(inside.height));
    put(frame, inside, &lines[from..]);
}

/// Whether something is really meant for a question or a plan.
fn said_back(model: &Model, id: &QuestionId, title: &'static str, theme: Theme, frame: &mut Frame) {
    let lines = subject(model, id, theme, inner(frame));
    let inside = boxed(title, lines.len(), theme, frame);
    put(frame, inside, &lines);
}

/// What a question or a plan is about.
fn subject(model: &Model, id: &QuestionId, theme: Theme, width: usize) -> Vec<Line<'static>> {
    let id = AskedId::Question(id.clone());
    let asked = model.asked.items().iter().find(|asked| asked.key() == id);
    let rows = asked.map(|asked| folded::words(&plain(&asked.subject()), width));
    rows.unwrap_or_default().into_iter().map(|row| Line::styled(row, theme.strong())).collect()
}

fn find<'a>(model: &'a Model, id: &ApprovalId) -> Option<&'a ApprovalRequest> {
    model.asked.items().iter().find_map(|asked| match asked {
        Asked::Approval(request) if request.id == *id => Some(&**request),
        Asked::Approval(_) | Asked::Questions(_) | Asked::Plan(_) => None,
    })
}

fn confirm(model: &Model, Answer { id, choice }: &Answer, theme: Theme, frame: &mut Frame) {
    let Some(request) = find(model, id) else { return };
    let title = match choice {
        ApprovalChoice::AllowOnce => "Allow this once?",
        ApprovalChoice::AllowAlways => "Allow exactly this for the rest of the session?",
        ApprovalChoice::RejectOnce => "Reject?",
    };
    let lines = about(request, inner(frame), theme);
    let inside = boxed(title, lines.len(), theme, frame);
    put(frame, inside, &lines);
}

/// Which question it is.
fn about(request: &ApprovalRequest, width: usize, theme: Theme) -> Vec<Line<'static>> {
    let mode = match request.from == request.to {
        true => format!("in {}", request.to),
        false => format!("{} → {}", request.from, request.to),
    };
    let place = format!("{} in {}", plain(&request.tool), plain(&request.workdir));
    let mut lines = vec![Line::styled(mode, theme.urgent())];
    lines.extend(folded_lines(&place, width));
    lines.extend(shown(request.subject(), width, theme));
    lines
}

/// The first rows of a command, and how many more there are.
fn shown(command: &str, width: usize, theme: Theme) -> Vec<Line<'static>> {
    let rows = command.split('\n').flat_map(|line| command_rows(&plain(line), width, theme));
    let mut lines: Vec<Line> = rows.map(Line::from).collect();
    if lines.len() > MOST_COMMAND {
        let text = format!("and {} more rows: Esc, and read them", lines.len() - MOST_COMMAND);
        lines.truncate(MOST_COMMAND);
        lines.push(Line::styled(text, theme.urgent()));
    }
    lines
}

fn folded_lines(text: &str, width: usize) -> Vec<Line<'static>> {
    folded::words(text, width).into_iter().map(Line::raw).collect()
}

/// The end of what was typed, and where it goes on.
pub(super) fn field(text: &str, width: usize, theme: Theme) -> Line<'static> {
    let text = plain(text);
    let shown = folded::end(&text, width.saturating_sub(3));
    let begin = if shown.len() < text.len() { "… " } else { "> " };
    Line::from(vec![
        Span::styled(begin, theme.strong()),
        Span::raw(shown.to_owned()),
        Span::styled(" ", theme.chosen()),
    ])
}

fn help(from: usize, theme: Theme, frame: &mut Frame) {
    let mut lines = Vec::new();
    for (name, bindings) in keys::help() {
        lines.push(Line::styled(name, theme.strong()));
        let told = bindings.into_iter().map(|(key, does)| format!("  {key:<10} {does}"));
        lines.extend(told.map(Line::raw));
    }
    let inside = boxed("Keys", lines.len(), theme, frame);
    let from = from.min(lines.len().saturating_sub(usize::from(inside.height)));
    put(frame, inside, &lines[from..]);
}

/// How wide a box is.
fn wide(frame: &Frame) -> u16 {
    WIDE.min(frame.area().width.saturating_sub(2))
}

/// The same inside.
pub(super) fn inner(frame: &Frame) -> usize {
    usize::from(wide(frame).saturating_sub(4)).max(1)
}

/// A box for so many lines, and what is inside of it.
pub(super) fn boxed(title: &str, lines: usize, theme: Theme, frame: &mut Frame) -> Rect {
    let screen = frame.area();
    // The line at the bottom stays: it has the keys.
    let room = Rect { height: screen.height.saturating_sub(1), ..screen };
    let height = u16::try_from(lines).unwrap_or(u16::MAX).saturating_add(2);
    let area = centred(room, wide(frame), height);
    let block = Block::bordered().title(Span::styled(format!(" {title} "), theme.strong()));
    let inside = block.inner(area);
    Clear.render(area, frame.buffer_mut());
    block.render(area, frame.buffer_mut());
    Rect { x: inside.x + 1, width: inside.width.saturating_sub(2), ..inside }
}
