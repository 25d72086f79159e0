//! Parameters of the tools that have to do with people: questions, plans, the to-do list and skills.

use brattice_protocol::todo::TodoStatus;
use serde_json::{Value, json};

use super::{Parameter, ParameterKind};

/// Questions that one call may ask.
pub(in crate::toolset) const MOST_QUESTIONS: usize = 20;

/// Options that one plain question may offer.
pub(in crate::toolset) const MOST_PLAIN_OPTIONS: usize = 10;

/// The names of how far an item is.
pub(in crate::toolset) const TODO_STATUS: [&str; 3] =
    [TodoStatus::ALL[0].as_str(), TodoStatus::ALL[1].as_str(), TodoStatus::ALL[2].as_str()];

/// Questions with ids, headers and options with descriptions.
pub(in crate::toolset) const QUESTIONS: Parameter = Parameter::optional(
    "questions",
    ParameterKind::Questions,
    "What to ask, at most 20. Each has an `id` of its own, by which it is answered, and the `question`; `options` to choose \
     from, a `header` of a word or two, and `multi_select` where several may be chosen.",
);

/// Questions of a text and options.
pub(in crate::toolset) const PLAIN_QUESTIONS: Parameter = Parameter::optional(
    "questions",
    ParameterKind::PlainQuestions,
    "What to ask: each `question` with its `options` to choose from.",
);

/// A plan.
pub(in crate::toolset) const PLAN: Parameter = Parameter::optional(
    "plan",
    ParameterKind::Text,
    "The whole plan as Markdown, beginning with a heading such as `# Rename the module`.",
);

/// A skill.
pub(in crate::toolset) const SKILL_NAME: Parameter =
    Parameter::optional("name", ParameterKind::Text, "The skill's name, as it is listed.");

/// The to-do list.
pub(in crate::toolset) const TODOS: Parameter = Parameter::optional(
    "todos",
    ParameterKind::Todos,
    "The whole list, in the order in which it is shown. It replaces the one before; an empty one clears it.",
);

/// The schema of questions.
pub(super) fn questions() -> Value {
    let option = json!({
        "type": "object",
        "properties": {"label": {"type": "string"}, "description": {"type": "string"}},
        "required": ["label"],
    });
    let question = json!({
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "question": {"type": "string"},
            "header": {"type": "string"},
            "options": {"type": "array", "items": option},
            "multi_select": {"type": "boolean"},
        },
        "required": ["id", "question"],
    });
    json!({"type": "array", "items": question})
}

/// That of plain ones.
pub(super) fn plain_questions() -> Value {
    let options = json!({
        "type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MOST_PLAIN_OPTIONS,
    });
    let question = json!({
        "type": "object",
        "properties": {"question": {"type": "string"}, "options": options},
        "required": ["question", "options"],
    });
    json!({"type": "array", "items": question, "minItems": 1, "maxItems": MOST_QUESTIONS})
}

/// That of a to-do list.
pub(super) fn todos() -> Value {
    let todo = json!({
        "type": "object",
        "properties": {
            "content": {"type": "string"},
            "status": {"type": "string", "enum": TODO_STATUS},
        },
        "required": ["content", "status"],
    });
    json!({"type": "array", "items": todo})
}
