//! Putting questions and plans to the person at the terminal who made the call.
//!
//! Only a plain yes approves a plan; any other line keeps planning, and is the feedback. An empty line closes questions, an end
//! of input is no answer at all. What somebody else settles meanwhile is given up.

use std::io;

use brattice_client::{Inquiry, Notice, Notifications, Pending};
use brattice_protocol::QuestionId;
use brattice_protocol::plan::{PlanAnswer, PlanDecision, PlanRequest};
use brattice_protocol::question::{
    Answer, Question, QuestionAnswer, QuestionRequest, QuestionSettled,
};

use super::words;
use crate::cli::Failure;
use crate::cli::context::print;
use crate::cli::terminal::Style;
use crate::commands::approval::{clear_input, read_line};

/// What came of a line that was waited for.
enum Heard {
    /// It, with its end; nothing at the end of input.
    Line(String),
    /// Somebody else was faster.
    Elsewhere(QuestionSettled),
}

/// Puts one to the person.
pub(crate) async fn put(inquiry: Inquiry, notices: &mut Notifications) -> Result<(), Failure> {
    // Before anything is shown: an answer must not be older than what it is to. Dropped, it is declined.
    if let Err(errno) = clear_input(io::stdin()) {
        return print(format!(
            "nobody can be asked here: the terminal's input cannot be cleared: {errno}\n"
        ));
    }
    match inquiry {
        Inquiry::Questions(asked) => put_questions(asked, notices).await,
        Inquiry::Plan(asked) => put_plan(asked, notices).await,
    }
}

async fn put_questions(
    asked: Pending<QuestionRequest, QuestionAnswer>,
    notices: &mut Notifications,
) -> Result<(), Failure> {
    let style = Style::of_stdout();
    let mut answers = Vec::new();
    for question in &asked.request.questions {
        print(format!(
            "{}Answer (a number, or your own words): ",
            words::question(question, style)
        ))?;
        let line = match hear(&asked.request.id, notices).await {
            Heard::Line(line) => line,
            Heard::Elsewhere(told) => return print(format!("\n{}", words::settled(&told, style))),
        };
        match line.trim() {
            // Dropped, they are declined.
            "" if line.is_empty() => return Ok(()),
            "" => {
                asked.answer(&QuestionAnswer::Dismissed).await;
                return Ok(());
            }
            said => answers.push(read(question, said)),
        }
    }
    asked.answer(&QuestionAnswer::Answered(answers)).await;
    Ok(())
}

/// What a line answers: options by their numbers, or else what it says.
fn read(question: &Question, said: &str) -> Answer {
    let number = |word: &str| word.trim().parse::<usize>().ok()?.checked_sub(1);
    let option = |word: &str| Some(question.options.get(number(word)?)?.label.clone());
    let chosen: Option<Vec<String>> = said.split(',').map(option).collect();
    let is_taken = |chosen: &Vec<String>| question.multi_select || chosen.len() == 1;
    let id = question.id.clone();
    match chosen.filter(is_taken) {
        Some(selected) => Answer { id, selected, custom: None },
        None => Answer { id, selected: Vec::new(), custom: Some(said.to_owned()) },
    }
}

async fn put_plan(
    asked: Pending<PlanRequest, PlanAnswer>,
    notices: &mut Notifications,
) -> Result<(), Failure> {
    let shown = words::plan(&asked.request);
    print(format!("{shown}Approve the plan? [y/N, or what is to be different] "))?;
    match hear(&asked.request.id, notices).await {
        Heard::Elsewhere(told) => {
            return print(format!("\n{}", words::settled(&told, Style::of_stdout())));
        }
        // Dropped, it is declined.
        Heard::Line(line) if line.is_empty() => {}
        Heard::Line(line) => asked.answer(&judge(&line)).await,
    }
    Ok(())
}

/// What a line says of a plan.
fn judge(line: &str) -> PlanAnswer {
    let (decision, feedback) = match line.trim() {
        "y" | "Y" | "yes" => (PlanDecision::Approve, None),
        "" | "n" | "N" | "no" => (PlanDecision::KeepPlanning, None),
        said => (PlanDecision::KeepPlanning, Some(said.to_owned())),
    };
    PlanAnswer { decision, feedback }
}

/// Waits for a line, or for somebody else's answer.
async fn hear(id: &QuestionId, notices: &mut Notifications) -> Heard {
    let typed = read_line();
    let elsewhere = async {
        loop {
            match notices.next().await {
                Some(Notice::QuestionSettled(told)) if told.id == *id => return told,
                Some(_) => {}
                None => return std::future::pending().await,
            }
        }
    };
    tokio::select! {
        typed = typed => Heard::Line(typed.unwrap_or_default()),
        told = elsewhere => Heard::Elsewhere(told),
    }
}

#[cfg(test)]
mod tests {
    use brattice_protocol::question::QuestionOption;

    use super::*;

    #[test]
    fn only_a_plain_yes_approves() {
        for line in ["y\n", " Y \n", "yes\n"] {
            assert_eq!(judge(line).decision, PlanDecision::Approve, "{line:?}");
        }
        for line in ["\n", "n\n", "yes please\n", "yep\n", "ok\n", "y y\n"] {
            assert_eq!(judge(line).decision, PlanDecision::KeepPlanning, "{line:?}");
        }
        assert_eq!(judge("yes, but rename y\n").feedback.as_deref(), Some("yes, but rename y"));
        assert_eq!(judge("no\n").feedback, None);
    }

    #[test]
    fn a_number_chooses_and_all_else_is_said() {
        let option = |label: &str| QuestionOption { label: label.to_owned(), description: None };
        let mut question = Question {
            id: "db".to_owned(),
            question: "?".to_owned(),
            header: None,
            options: vec![option("A"), option("B")],
            multi_select: false,
        };
        let said = |question: &Question, line: &str| {
            let Answer { selected, custom, .. } = read(question, line);
            (selected.join("+"), custom)
        };
        let own = |text: &str| (String::new(), Some(text.to_owned()));
        assert_eq!(said(&question, "2"), ("B".to_owned(), None));
        for line in ["0", "3", "1,2", "A", "1 or 2"] {
            assert_eq!(said(&question, line), own(line), "{line}");
        }
        question.multi_select = true;
        assert_eq!(said(&question, "1, 2"), ("A+B".to_owned(), None));
        question.options.clear();
        assert_eq!(said(&question, "1"), own("1"));
    }
}
