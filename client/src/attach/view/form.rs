//! Answers to a model's questions, while they are made.

use brattice_protocol::question::{Question, QuestionOption};
use ratatui::Frame;
use ratatui::text::{Line, Span};

use super::overlay::{boxed, field, inner};
use super::{Theme, folded, put};
use crate::attach::state::{Draft, Form, Place};
use crate::cli::plain::{plain, plain_lines};

/// Draws the question that is answered, or all answers before they are sent.
pub(super) fn draw(form: &Form, theme: Theme, frame: &mut Frame) {
    match form.place() {
        Place::Question(number, question, draft) => {
            let width = inner(frame);
            let mut lines = asked(question, width, theme);
            let first = lines.len();
            lines.extend(options(question, draft, width, theme));
            let title = format!("Question {number} of {}", form.count());
            let inside = boxed(&title, lines.len(), theme, frame);
            // The line that keys are for is there, whatever else has no room.
            let here = first + position(question, draft, width);
            let from = (here + 1).saturating_sub(usize::from(inside.height));
            put(frame, inside, &lines[from..]);
        }
        Place::Review(pairs) => {
            let width = inner(frame);
            let mut lines = Vec::new();
            for (question, answer) in pairs {
                lines.extend(asked(question, width, theme));
                let rows = folded::words(&plain(&answer), width.saturating_sub(2).max(1));
                lines.extend(rows.into_iter().map(|row| Line::raw(format!("  {row}"))));
            }
            let inside = boxed("Answer so?", lines.len(), theme, frame);
            let from = lines.len().saturating_sub(usize::from(inside.height));
            put(frame, inside, &lines[from..]);
        }
    }
}

fn asked(question: &Question, width: usize, theme: Theme) -> Vec<Line<'static>> {
    let header = question.header.as_deref().map(|header| format!("{}: ", plain(header)));
    let text = header.unwrap_or_default() + &plain_lines(question.question.trim_end());
    let rows = text.lines().flat_map(|line| folded::words(line, width)).collect::<Vec<_>>();
    rows.into_iter().map(|row| Line::styled(row, theme.strong())).collect()
}

/// The options, each with its number and whether it is chosen, and below them a line for one's own words.
fn options(question: &Question, draft: &Draft, width: usize, theme: Theme) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    for (number, option) in question.options.iter().enumerate() {
        let is_chosen = draft.chosen.get(number) == Some(&true);
        let mark = match (question.multi_select, is_chosen) {
            (true, true) => "[x]",
            (true, false) => "[ ]",
            (false, true) => "(x)",
            (false, false) => "( )",
        };
        let rows = option_rows(option, width);
        for (row, text) in rows.into_iter().enumerate() {
            let before =
                if row == 0 { format!("{mark} {}. ", number + 1) } else { " ".repeat(BEFORE) };
            let line = Line::raw(before + &text);
            lines.push(if number == draft.line { line.style(theme.chosen()) } else { line });
        }
    }
    let own = match draft.line == draft.chosen.len() {
        true => field(draft.own.text(), width, theme),
        false => {
            let text = plain(draft.own.text());
            let text = if text.is_empty() { "in your own words".to_owned() } else { text };
            Line::from(vec![Span::styled(format!("> {text}"), theme.faint())])
        }
    };
    lines.push(own);
    lines
}

/// Columns before an option's label.
const BEFORE: usize = 7;

fn option_rows(
    QuestionOption { label, description }: &QuestionOption,
    width: usize,
) -> Vec<String> {
    let means = description.as_deref().map(|text| format!(": {}", plain(text)));
    let text = plain(label) + &means.unwrap_or_default();
    folded::words(&text, width.saturating_sub(BEFORE).max(1))
}

/// The row of the line that keys are for.
fn position(question: &Question, draft: &Draft, width: usize) -> usize {
    let above = question.options.iter().take(draft.line);
    above.map(|option| option_rows(option, width).len()).sum()
}
