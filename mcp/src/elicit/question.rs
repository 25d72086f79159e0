//! Questions of the model as a form, and their answers. Pure.
//!
//! Each question has a field to choose in, where there is something to choose, and one for own words. To let a client demand an
//! answer to each, a choice has one entry more than the question: that the answer is another one, which is then written. Where a
//! field takes one value only, each option of a question that takes several is a field of its own, to be ticked.

use brattice_client::protocol::question::{Answer, Question, QuestionAnswer, QuestionRequest};
use rmcp::model::{ElicitRequest, ElicitResult, ElicitationAction};
use serde_json::{Value, json};

use super::{Dialect, Form, MOST_WORDS, NoForm, plain, quoted, words};

/// The entry for an answer that is not among the options.
const OTHER: &str = "Something else, in my own words";

/// The questions as a form.
pub(crate) fn form(request: &QuestionRequest, dialect: Dialect) -> Result<ElicitRequest, NoForm> {
    let questions = &request.questions;
    let mut message = match questions.len() {
        1 => "The model asks you:".to_owned(),
        more => format!("The model asks you {more} questions:"),
    };
    for (number, question) in questions.iter().enumerate() {
        if questions.len() > 1 || question.header.is_some() {
            message.push_str(&format!("\n{}", heading(number, question)));
        }
        message.push_str(&quoted(&question.question));
    }
    let mut form = Form::saying(message);
    for (number, question) in questions.iter().enumerate() {
        add(&mut form, number, question, dialect);
    }
    form.request()
}

/// The fields of a question.
fn add(form: &mut Form, number: usize, question: &Question, dialect: Dialect) {
    let (title, text) = (heading(number, question), plain(&question.question));
    if question.options.is_empty() {
        let field = json!({
            "type": "string", "title": title, "description": text, "minLength": 1, "maxLength": MOST_WORDS,
        });
        return form.required(field_of(number), field);
    }
    let (values, titles) = (values(question), titles(question));
    match (dialect, question.multi_select) {
        (Dialect::Titles, false) => {
            let field = json!({
                "type": "string", "title": title, "description": text, "oneOf": titled(&values, &titles),
            });
            form.required(field_of(number), field);
        }
        (Dialect::Titles, true) => {
            let field = json!({
                "type": "array", "title": title, "description": text, "minItems": 1,
                "items": {"anyOf": titled(&values, &titles)},
            });
            form.required(field_of(number), field);
        }
        (Dialect::Names, false) => {
            let field = json!({
                "type": "string", "title": title, "description": text, "enum": values, "enumNames": titles,
            });
            form.required(field_of(number), field);
        }
        (Dialect::Names, true) => {
            for (option, name) in titles.iter().take(question.options.len()).enumerate() {
                let field = json!({"type": "boolean", "title": name, "description": text});
                form.field(tick_of(number, option), field);
            }
        }
    }
    let own = json!({
        "type": "string", "title": format!("{title}, in your own words"), "maxLength": MOST_WORDS,
        "description": "Another answer, or something to add",
    });
    form.field(own_of(number), own);
}

fn titled(values: &[String], titles: &[String]) -> Vec<Value> {
    let pairs = values.iter().zip(titles);
    pairs.map(|(value, title)| json!({"const": value, "title": title})).collect()
}

/// What a question is called.
fn heading(number: usize, question: &Question) -> String {
    match &question.header {
        Some(header) => plain(header),
        None => format!("Question {}", number + 1),
    }
}

/// The names of fields: numbers, as ids are the model's words.
fn field_of(number: usize) -> String {
    format!("question_{:02}", number + 1)
}

fn tick_of(number: usize, option: usize) -> String {
    format!("question_{:02}_option_{:02}", number + 1, option + 1)
}

fn own_of(number: usize) -> String {
    format!("question_{:02}_own_words", number + 1)
}

/// What each option is on the form, and last what stands for another answer. Clients that know no titles show it, so that it is
/// escaped; no two are the same.
fn values(question: &Question) -> Vec<String> {
    let labels = question.options.iter().map(|option| plain(&option.label));
    let mut values: Vec<String> = Vec::new();
    for mut value in labels.chain([OTHER.to_owned()]) {
        while values.contains(&value) {
            value.push('*');
        }
        values.push(value);
    }
    values
}

fn titles(question: &Question) -> Vec<String> {
    let options = question.options.iter().map(|option| match &option.description {
        Some(description) => format!("{}: {}", plain(&option.label), plain(description)),
        None => plain(&option.label),
    });
    options.chain([OTHER.to_owned()]).collect()
}

/// What a person answered. A form that was sent off without an answer to each question is none.
pub(crate) fn answer(request: &QuestionRequest, result: &ElicitResult) -> QuestionAnswer {
    let given = match result.action {
        ElicitationAction::Accept => answers(request, result),
        _ => None,
    };
    given.map_or(QuestionAnswer::Dismissed, QuestionAnswer::Answered)
}

fn answers(request: &QuestionRequest, result: &ElicitResult) -> Option<Vec<Answer>> {
    let numbered = request.questions.iter().enumerate();
    let answers = numbered.map(|(number, question)| {
        let (selected, custom) = match question.options.is_empty() {
            true => (Vec::new(), words(result, &field_of(number))),
            false => (selected(number, question, result)?, words(result, &own_of(number))),
        };
        Some(Answer { id: question.id.clone(), selected, custom })
    });
    let answers: Vec<Answer> = answers.collect::<Option<_>>()?;
    request.check(&answers).is_ok().then_some(answers)
}

/// The labels that were chosen. None where something is chosen that is not offered.
fn selected(number: usize, question: &Question, result: &ElicitResult) -> Option<Vec<String>> {
    let content = result.content.as_ref()?;
    let values = values(question);
    let mut chosen: Vec<usize> = match content.get(field_of(number)) {
        Some(Value::String(value)) => vec![find(&values, value)?],
        Some(Value::Array(several)) => {
            several.iter().map(|value| find(&values, value.as_str()?)).collect::<Option<_>>()?
        }
        Some(Value::Null) | None => Vec::new(),
        Some(_) => return None,
    };
    let is_ticked =
        |option: &usize| content.get(tick_of(number, *option)) == Some(&Value::Bool(true));
    if question.multi_select {
        chosen.extend((0..question.options.len()).filter(is_ticked));
    }
    // The last entry is no option.
    let labels = chosen.into_iter().filter_map(|option| question.options.get(option));
    Some(labels.map(|option| option.label.clone()).collect())
}

fn find(values: &[String], value: &str) -> Option<usize> {
    values.iter().position(|known| known == value)
}
