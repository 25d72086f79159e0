//! What people said, in words: answers to questions, and what became of a plan. Nothing is ever said for them.

use std::time::Duration;

use brattice_policy::Mode;
use brattice_protocol::QuestionId;
use brattice_protocol::question::{Answer, Question, QuestionFacts, QuestionOutcome};
use brattice_protocol::todo::TodoCounts;
use serde::Serialize;

use super::capped::capped;
use super::lines::count;
use crate::toolset::tool::SessionTools;
use crate::toolset::wording::AnswerForm;

/// Answers as `ask_user_question` tells them.
#[derive(Serialize)]
struct Answers<'a> {
    answers: Vec<&'a Answer>,
}

/// Answers, each under its question.
pub(crate) fn render_answers(
    tools: SessionTools<'_>,
    questions: &[Question],
    answers: &[Answer],
) -> String {
    match tools.toolset().answers {
        AnswerForm::Json => {
            let answers = Answers { answers: in_order(questions, answers) };
            // Texts alone are in it, so that writing them cannot fail.
            serde_json::to_string(&answers).unwrap_or_default()
        }
        AnswerForm::Lines => {
            let pairs = in_order(questions, answers).into_iter().filter_map(|answer| {
                let question = questions.iter().find(|question| question.id == answer.id)?;
                Some(format!("Q: {}\nA: {}", question.question, answer_line(answer)))
            });
            capped(tools.cap(), pairs.collect::<Vec<_>>().join("\n"))
        }
    }
}

/// Answers in the order of their questions.
fn in_order<'a>(questions: &[Question], answers: &'a [Answer]) -> Vec<&'a Answer> {
    let find = |question: &Question| answers.iter().find(|answer| answer.id == question.id);
    questions.iter().filter_map(find).collect()
}

/// What was chosen, and what was written.
fn answer_line(Answer { selected, custom, .. }: &Answer) -> String {
    let written = custom.iter().filter(|text| !text.trim().is_empty());
    selected.iter().chain(written).map(String::as_str).collect::<Vec<_>>().join(", ")
}

/// Why nobody said anything, where nobody did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unheard<'a> {
    /// Whoever was asked has gone.
    Gone,
    /// Whoever was asked could put it to nobody, for this reason.
    Unasked(&'a str),
    /// The call waits so long and no longer.
    Late(Duration),
}

/// How questions ended that have no answer.
pub(crate) fn unanswered(outcome: QuestionOutcome, unheard: Unheard<'_>) -> String {
    match (outcome, unheard) {
        (QuestionOutcome::Dismissed, _) => {
            "[the user dismissed the questions without an answer]".to_owned()
        }
        (QuestionOutcome::Withdrawn, _) => {
            "the questions were withdrawn before anybody answered".to_owned()
        }
        (_, Unheard::Gone) => {
            "not answered: whoever was asked has gone without an answer".to_owned()
        }
        (_, Unheard::Unasked(reason)) => {
            format!("not answered: nobody could be asked ({reason}), and no operator is attached")
        }
        (_, Unheard::Late(patience)) => format!(
            "not answered within {} s, which is as long as this call waits for a person; a later answer reaches nobody",
            patience.as_secs_f64()
        ),
    }
}

/// A plan that was approved: plan mode is over.
pub(crate) fn approved(mode: Mode, feedback: Option<&str>) -> String {
    let text = format!(
        "the user approved the plan: plan mode is over, and the session's mode is {mode}; carry the plan out"
    );
    match feedback {
        Some(feedback) => format!("{text}\nThe user adds: {feedback}"),
        None => text,
    }
}

/// A plan that was not approved.
pub(crate) fn not_approved(
    outcome: QuestionOutcome,
    unheard: Unheard<'_>,
    feedback: Option<&str>,
) -> String {
    let why = match (outcome, unheard) {
        (QuestionOutcome::KeptPlanning, _) => {
            "the user did not approve the plan and keeps planning".to_owned()
        }
        (QuestionOutcome::Dismissed, _) => "the user closed the plan without a decision".to_owned(),
        (QuestionOutcome::Withdrawn, _) => {
            "the plan was withdrawn before anybody decided".to_owned()
        }
        (_, Unheard::Gone) => {
            "nobody decided: whoever was shown the plan has gone without an answer".to_owned()
        }
        (_, Unheard::Unasked(reason)) => format!(
            "nobody decided: nobody could be shown the plan ({reason}), and no operator is attached"
        ),
        (_, Unheard::Late(patience)) => format!(
            "nobody decided within {} s, which is as long as this call waits for a person",
            patience.as_secs_f64()
        ),
    };
    match feedback {
        Some(feedback) => format!("{why}; plan mode goes on\nThe user says: {feedback}"),
        None => format!("{why}; plan mode goes on"),
    }
}

/// Their facts.
pub(crate) fn question_facts(
    question: &QuestionId,
    outcome: QuestionOutcome,
    answers: &[Answer],
    feedback: Option<&str>,
) -> QuestionFacts {
    let (question, feedback) = (question.clone(), feedback.map(str::to_owned));
    QuestionFacts { question, outcome, answers: answers.to_vec(), feedback }
}

/// The counts of a to-do list.
pub(crate) fn render_todos(TodoCounts { pending, in_progress, completed }: TodoCounts) -> String {
    match pending + in_progress + completed {
        0 => "the to-do list is empty".to_owned(),
        all => format!(
            "to-do list: {}, {pending} pending, {in_progress} in progress, {completed} completed",
            count(all as u64, "item", "items")
        ),
    }
}

#[cfg(test)]
mod tests {
    use brattice_policy::Limits;
    use brattice_protocol::session::ToolsetName;

    use super::*;
    use crate::toolset::Toolset;

    fn answer(id: &str, selected: &[&str], custom: Option<&str>) -> Answer {
        let selected = selected.iter().map(|label| (*label).to_owned()).collect();
        Answer { id: id.to_owned(), selected, custom: custom.map(str::to_owned) }
    }

    fn question(id: &str) -> Question {
        Question {
            id: id.to_owned(),
            question: format!("Which {id}?"),
            header: None,
            options: Vec::new(),
            multi_select: true,
        }
    }

    #[test]
    fn answers_stand_under_their_questions_in_their_order() {
        let questions = [question("1"), question("2")];
        let answers = [answer("2", &[], Some("none")), answer("1", &["A", "B"], None)];
        let said = |name| {
            let tools = SessionTools::of(Toolset::of(name), &[], &Limits::default());
            render_answers(tools, &questions, &answers)
        };
        let json = r#"{"answers":[{"id":"1","selected":["A","B"]},{"id":"2","selected":[],"custom":"none"}]}"#;
        assert_eq!(said(ToolsetName::Standard), json);
        assert_eq!(said(ToolsetName::Dsh), json);
        assert_eq!(said(ToolsetName::Glrs), "Q: Which 1?\nA: A, B\nQ: Which 2?\nA: none");
    }

    #[test]
    fn a_plan_that_is_not_approved_says_so_with_what_was_said() {
        let kept = not_approved(QuestionOutcome::KeptPlanning, Unheard::Gone, Some("use y"));
        assert_eq!(
            kept,
            "the user did not approve the plan and keeps planning; plan mode goes on\nThe user says: use y"
        );
        assert_eq!(
            approved(Mode::WorkspaceWrite, None),
            "the user approved the plan: plan mode is over, and the session's mode is workspace-write; carry the plan out"
        );
    }

    #[test]
    fn what_nobody_answered_says_why_nobody_said_anything() {
        let late = Unheard::Late(Duration::from_millis(1_500));
        let (silent, expired) = (QuestionOutcome::NotAnswered, QuestionOutcome::Expired);
        assert_eq!(
            [
                unanswered(silent, Unheard::Unasked("no window")),
                unanswered(expired, late),
                not_approved(silent, Unheard::Unasked("no window"), None),
                not_approved(expired, late, None),
            ],
            [
                "not answered: nobody could be asked (no window), and no operator is attached",
                "not answered within 1.5 s, which is as long as this call waits for a person; a later answer reaches nobody",
                "nobody decided: nobody could be shown the plan (no window), and no operator is attached; plan mode goes on",
                "nobody decided within 1.5 s, which is as long as this call waits for a person; plan mode goes on",
            ]
        );
    }

    #[test]
    fn counts_are_told() {
        let counts = TodoCounts { pending: 1, in_progress: 1, completed: 2 };
        assert_eq!(
            render_todos(counts),
            "to-do list: 4 items, 1 pending, 1 in progress, 2 completed"
        );
        assert_eq!(render_todos(TodoCounts::default()), "the to-do list is empty");
    }
}
