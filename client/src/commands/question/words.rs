//! Questions and plans in words for people. Whatever a model chose of it is escaped: nothing of it moves the cursor, begins a
//! line, or looks like a field of ours.

use brattice_protocol::plan::PlanRequest;
use brattice_protocol::question::{
    Question, QuestionOption, QuestionOutcome, QuestionRequest, QuestionSettled,
};

use crate::cli::plain::plain;
use crate::cli::terminal::Style;

/// The questions of a call: a line, and below it each with its options.
pub(crate) fn questions(request: &QuestionRequest, style: Style) -> String {
    let QuestionRequest { id, session, questions, .. } = request;
    let mut text = format!("{id}  asks\n  session  {}\n", plain(session.as_str()));
    for one in questions {
        text.push_str(&question(one, style));
    }
    text
}

/// One question: its id, its text, and its options by number.
pub(super) fn question(question: &Question, style: Style) -> String {
    let Question { id, question, header, options, multi_select } = question;
    let header =
        header.as_deref().map_or_else(String::new, |header| format!("{}: ", plain(header)));
    let mut lines = question.trim_end().lines();
    let first = lines.next().unwrap_or_default();
    let mut text = format!("  {}  {header}{}\n", plain(id), style.bold(&plain(first)));
    for line in lines {
        text.push_str(&format!("  │ {}\n", plain(line)));
    }
    for (number, QuestionOption { label, description }) in options.iter().enumerate() {
        let means = description.as_deref();
        let means = means.map_or_else(String::new, |words| format!("  {}", plain(words)));
        text.push_str(&format!("    {}. {}{means}\n", number + 1, plain(label)));
    }
    if *multi_select {
        text.push_str("    (several may be chosen)\n");
    }
    text
}

/// A plan: a line, and below it all of the plan.
pub(crate) fn plan(request: &PlanRequest) -> String {
    let PlanRequest { id, session, plan, .. } = request;
    let mut text = format!("{id}  shows a plan\n  session  {}\n", plain(session.as_str()));
    for line in plan.trim_end().lines() {
        text.push_str(&format!("  │ {}\n", plain(line)));
    }
    text
}

/// How it ended, on a line.
pub(super) fn settled(settled: &QuestionSettled, style: Style) -> String {
    let QuestionSettled { id, outcome, by, .. } = settled;
    let word = outcome.as_str();
    let word = match outcome {
        QuestionOutcome::Answered | QuestionOutcome::Approved => style.green(word),
        QuestionOutcome::KeptPlanning
        | QuestionOutcome::Dismissed
        | QuestionOutcome::NotAnswered
        | QuestionOutcome::Expired
        | QuestionOutcome::Withdrawn => style.yellow(word),
    };
    format!("{id}  {word} by the {}\n", by.as_str())
}

#[cfg(test)]
mod tests {
    use brattice_protocol::{CallId, QuestionId, SessionId};

    use super::*;

    #[test]
    fn nothing_in_a_question_or_a_plan_reaches_the_terminal_as_a_command_or_a_line() {
        let hostile = "x\u{1b}[2J\r\u{202e}";
        let option = QuestionOption {
            label: hostile.to_owned(),
            description: Some("fine\n  session  s-2".to_owned()),
        };
        let request = QuestionRequest {
            id: QuestionId::new("q"),
            session: SessionId::new("s-1"),
            call: CallId::new("c"),
            questions: vec![Question {
                id: "db".to_owned(),
                question: format!("Which?\n  session  s-2 {hostile}"),
                header: Some("Data\nbase".to_owned()),
                options: vec![option],
                multi_select: true,
            }],
        };
        let escaped = "x\\u{1b}[2J\\r\\u{202e}";
        assert_eq!(
            questions(&request, Style::Plain),
            format!(
                "q  asks\n  session  s-1\n  db  Data\\nbase: Which?\n  │   session  s-2 {escaped}\n    \
                 1. {escaped}  fine\\n  session  s-2\n    (several may be chosen)\n"
            )
        );
        let shown = plan(&PlanRequest {
            id: QuestionId::new("p"),
            session: SessionId::new("s-1"),
            call: CallId::new("c"),
            plan: format!("# Plan\n\n1. {hostile}\n"),
        });
        assert_eq!(
            shown,
            format!("p  shows a plan\n  session  s-1\n  │ # Plan\n  │ \n  │ 1. {escaped}\n")
        );
    }
}
