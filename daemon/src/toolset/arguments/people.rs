//! What calls ask of people: questions, a plan's approval; and the to-do list.

use brattice_protocol::question::{Question, QuestionOption};
use brattice_protocol::todo::{Todo, TodoStatus};
use serde_json::{Map, Value};

use super::bash::MAX_PATH_BYTES;
use super::fault::{ArgumentFault, Came, Expected};
use super::given::{Given, bounded, unexpected};
use super::nested::Nested;
use crate::toolset::definition::UnknownArguments;
use crate::toolset::parameter::ParameterKind;
use crate::toolset::parameter::people::{
    MOST_PLAIN_OPTIONS, MOST_QUESTIONS, PLAN, QUESTIONS, SKILL_NAME, TODO_STATUS, TODOS,
};
use crate::toolset::tool::{SessionTools, ToolKind};

/// Options of one question.
const MOST_OPTIONS: usize = 50;

/// Longest question and longest description of an option in bytes.
const MOST_TEXT: usize = 8 << 10;

/// Longest id, header and label in bytes.
const MOST_LABEL: usize = 500;

/// Longest plan in bytes: nobody reads more.
const MOST_PLAN: usize = 128 << 10;

/// Items of a to-do list.
const MOST_TODOS: usize = 200;

/// Longest item in bytes.
const MOST_TODO: usize = 4 << 10;

/// A plan to approve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PlanArguments {
    /// All of it.
    pub(crate) plan: String,
    /// Its heading.
    pub(crate) title: String,
}

/// Parses the arguments of a call that asks questions.
///
/// # Errors
/// The first fault.
pub(crate) fn parse_questions(
    tools: SessionTools<'_>,
    arguments: &Map<String, Value>,
) -> Result<Vec<Question>, ArgumentFault> {
    let given = Given::check(tools, ToolKind::AskUser, arguments)?;
    let form = given.kind(&QUESTIONS);
    let unknown = tools.toolset().unknown;
    let asked = Nested::of(QUESTIONS.name, given.value(&QUESTIONS)).some_entries(MOST_QUESTIONS)?;
    let questions = asked.iter().enumerate().map(|(number, question)| match form {
        Some(ParameterKind::PlainQuestions) => plain(number, question, unknown),
        Some(
            ParameterKind::Questions
            | ParameterKind::Text
            | ParameterKind::Number
            | ParameterKind::Integer
            | ParameterKind::Flag
            | ParameterKind::Bounded { .. }
            | ParameterKind::Position
            | ParameterKind::Switch
            | ParameterKind::Word(_)
            | ParameterKind::FileEdits
            | ParameterKind::Edits
            | ParameterKind::Todos
            | ParameterKind::Texts { .. },
        )
        | None => full(question, unknown),
    });
    let questions = questions.collect::<Result<Vec<_>, _>>()?;
    let ids: Vec<&str> = questions.iter().map(|question| question.id.as_str()).collect();
    let places: Vec<_> = asked.iter().map(|question| question.field("id")).collect();
    unrepeated(&ids, &places)?;
    Ok(questions)
}

fn full(question: &Nested<'_>, unknown: UnknownArguments) -> Result<Question, ArgumentFault> {
    question.object(&["id", "question", "header", "options", "multi_select"], unknown)?;
    let options = match question.field("options") {
        options if options.is_there() => options.entries(MOST_OPTIONS)?,
        _ => Vec::new(),
    };
    let labels: Vec<_> = options.iter().map(|option| option.field("label")).collect();
    let options = options.iter().map(|option| {
        option.object(&["label", "description"], unknown)?;
        let label = option.field("label").text(MOST_LABEL)?.to_owned();
        let description = optional(&option.field("description"), MOST_TEXT)?;
        Ok(QuestionOption { label, description })
    });
    let options = options.collect::<Result<Vec<_>, ArgumentFault>>()?;
    unrepeated(&words(&options), &labels)?;
    Ok(Question {
        id: question.field("id").text(MOST_LABEL)?.to_owned(),
        question: question.field("question").text(MOST_TEXT)?.to_owned(),
        header: optional(&question.field("header"), MOST_LABEL)?,
        options,
        multi_select: match question.field("multi_select") {
            several if several.is_there() => several.flag()?,
            _ => false,
        },
    })
}

/// One that has no id: its number is.
fn plain(
    number: usize,
    question: &Nested<'_>,
    unknown: UnknownArguments,
) -> Result<Question, ArgumentFault> {
    question.object(&["question", "options"], unknown)?;
    let labels = question.field("options").some_entries(MOST_PLAIN_OPTIONS)?;
    let options = labels.iter().map(|label| {
        let label = label.text(MOST_LABEL)?.to_owned();
        Ok(QuestionOption { label, description: None })
    });
    let options = options.collect::<Result<Vec<_>, ArgumentFault>>()?;
    unrepeated(&words(&options), &labels)?;
    Ok(Question {
        id: (number + 1).to_string(),
        question: question.field("question").text(MOST_TEXT)?.to_owned(),
        header: None,
        options,
        multi_select: false,
    })
}

fn words(options: &[QuestionOption]) -> Vec<&str> {
    options.iter().map(|option| option.label.as_str()).collect()
}

/// Text that need not be there; blank is as good as none.
fn optional(nested: &Nested<'_>, most: usize) -> Result<Option<String>, ArgumentFault> {
    match nested.is_there() {
        true => nested.text(most).map(|text| Some(text.to_owned())),
        false => Ok(None),
    }
}

/// Looks whether the same stands at two places.
fn unrepeated(texts: &[&str], places: &[Nested<'_>]) -> Result<(), ArgumentFault> {
    for (second, text) in texts.iter().enumerate() {
        if let Some(first) = texts[..second].iter().position(|other| other.trim() == text.trim()) {
            return Err(places[second].repeats(&places[first]));
        }
    }
    Ok(())
}

/// Parses the arguments of a call for a plan's approval.
///
/// # Errors
/// The first fault.
pub(crate) fn parse_plan(
    tools: SessionTools<'_>,
    arguments: &Map<String, Value>,
) -> Result<PlanArguments, ArgumentFault> {
    let given = Given::check(tools, ToolKind::ExitPlanMode, arguments)?;
    let plan = bounded(&PLAN, given.required_text(&PLAN)?, MOST_PLAN)?;
    let line = plan.trim_start().lines().next().unwrap_or_default();
    match heading(line) {
        Some(title) => Ok(PlanArguments { plan: plan.to_owned(), title: title.to_owned() }),
        None => {
            let came = Came::value(&Value::from(line));
            Err(unexpected(&PLAN, Expected::Heading, came))
        }
    }
}

/// The text of a line that is a heading: one to six `#`, a space, and something.
fn heading(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let title = text.trim();
    let is_marked = (1..=6).contains(&(line.len() - text.len()));
    (is_marked && text.starts_with([' ', '\t']) && !title.is_empty()).then_some(title)
}

/// Parses the arguments of a call for a skill.
///
/// # Errors
/// The first fault.
pub(crate) fn parse_skill(
    tools: SessionTools<'_>,
    arguments: &Map<String, Value>,
) -> Result<String, ArgumentFault> {
    let given = Given::check(tools, ToolKind::Skill, arguments)?;
    Ok(bounded(&SKILL_NAME, given.required_text(&SKILL_NAME)?, MAX_PATH_BYTES)?.to_owned())
}

/// Parses the arguments of a call that replaces the to-do list.
///
/// # Errors
/// The first fault.
pub(crate) fn parse_todos(
    tools: SessionTools<'_>,
    arguments: &Map<String, Value>,
) -> Result<Vec<Todo>, ArgumentFault> {
    let given = Given::check(tools, ToolKind::TodoWrite, arguments)?;
    let unknown = tools.toolset().unknown;
    let entries = Nested::of(TODOS.name, given.value(&TODOS)).entries(MOST_TODOS)?;
    let todos = entries.iter().map(|entry| {
        entry.object(&["content", "status"], unknown)?;
        let content = entry.field("content").text(MOST_TODO)?.to_owned();
        let status = entry.field("status");
        let named = status.text(MOST_LABEL).ok();
        let found = TodoStatus::ALL.into_iter().find(|known| Some(known.as_str()) == named);
        let status = found.ok_or_else(|| status.fault(Expected::Word(&TODO_STATUS)))?;
        Ok(Todo { content, status })
    });
    let todos = todos.collect::<Result<Vec<_>, ArgumentFault>>()?;
    let contents: Vec<&str> = todos.iter().map(|todo| todo.content.as_str()).collect();
    let places: Vec<_> = entries.iter().map(|entry| entry.field("content")).collect();
    unrepeated(&contents, &places)?;
    let begun: Vec<_> = todos.iter().filter(|todo| todo.status == TodoStatus::InProgress).collect();
    match begun[..] {
        [first, second, ..] => Err(ArgumentFault::TwoInProgress {
            first: Came::value(&Value::from(first.content.as_str())),
            second: Came::value(&Value::from(second.content.as_str())),
        }),
        [] | [_] => Ok(todos),
    }
}

#[cfg(test)]
#[path = "tests/people.rs"]
mod tests;
