//! What questions, plans and to-do lists may be, and how faults in them read.

use brattice_policy::Limits;
use brattice_protocol::session::ToolsetName;
use serde_json::json;

use super::*;
use crate::toolset::Toolset;

type Parse<T> = fn(SessionTools<'_>, &Map<String, Value>) -> Result<T, ArgumentFault>;

fn parse<T>(name: ToolsetName, parse: Parse<T>, arguments: Value) -> Result<T, String> {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    parse(SessionTools::of(Toolset::of(name), &[], &Limits::default()), &arguments)
        .map_err(|fault| fault.to_string())
}

fn questions(name: ToolsetName, asked: Value) -> Result<Vec<Question>, String> {
    parse(name, parse_questions, json!({ "questions": asked }))
}

fn option(label: &str, description: Option<&str>) -> QuestionOption {
    QuestionOption { label: label.to_owned(), description: description.map(str::to_owned) }
}

#[test]
fn questions_are_read_with_all_that_they_may_have() {
    let asked = json!([
        {
            "id": "db", "question": "Which?", "header": "Database", "multi_select": true,
            "options": [{"label": "A", "description": "first"}, {"label": "B"}],
        },
        {"id": "name", "question": "What name?", "header": null, "options": null, "multi_select": null},
    ]);
    let expected = vec![
        Question {
            id: "db".to_owned(),
            question: "Which?".to_owned(),
            header: Some("Database".to_owned()),
            options: vec![option("A", Some("first")), option("B", None)],
            multi_select: true,
        },
        Question {
            id: "name".to_owned(),
            question: "What name?".to_owned(),
            header: None,
            options: Vec::new(),
            multi_select: false,
        },
    ];
    for name in [ToolsetName::Standard, ToolsetName::Dsh] {
        assert_eq!(questions(name, asked.clone()), Ok(expected.clone()));
    }
    let plain = json!([{"question": "Which?", "options": ["A", "B"], "more": 1}]);
    let read = questions(ToolsetName::Glrs, plain).unwrap();
    assert_eq!((read[0].id.as_str(), read[0].options.len()), ("1", 2));
}

#[test]
fn faults_in_questions_name_their_place() {
    let (standard, glrs) = (ToolsetName::Standard, ToolsetName::Glrs);
    let many = |count: usize| -> Vec<Value> {
        (0..count).map(|number| json!({"id": number.to_string(), "question": "?"})).collect()
    };
    let cases = [
        (
            standard,
            json!([]),
            "argument `questions`: expected an array that is not empty, got an array",
        ),
        (standard, json!("db"), "argument `questions`: expected an array, got \"db\""),
        (standard, json!(["db"]), "argument `questions[0]`: expected an object, got \"db\""),
        (
            standard,
            json!([{"id": "db"}]),
            "argument `questions[0].question`: expected text, got nothing",
        ),
        (
            standard,
            json!([{"id": "db", "question": "?", "kind": 1}]),
            "argument `questions[0].kind`: expected no such key, got 1",
        ),
        (
            standard,
            json!([{"id": "db", "question": "?"}, {"id": "db", "question": "!"}]),
            "argument `questions[1].id`: expected another value than that of `questions[0].id`, got \"db\"",
        ),
        (
            standard,
            json!([{"id": "db", "question": "?", "options": [{"label": "A"}, {"label": "A"}]}]),
            "argument `questions[0].options[1].label`: expected another value than that of \
             `questions[0].options[0].label`, got \"A\"",
        ),
        (
            standard,
            json!([{"id": "db", "question": "?", "options": [{"label": " "}]}]),
            "argument `questions[0].options[0].label`: expected text that is not blank, got \" \"",
        ),
        (
            standard,
            json!(many(21)),
            "argument `questions`: expected an array of at most 20 entries, got 21",
        ),
        (
            glrs,
            json!([{"question": "?", "options": []}]),
            "argument `questions[0].options`: expected an array that is not empty, got an array",
        ),
        (
            glrs,
            json!([{"question": "?", "options": vec!["A"; 11]}]),
            "argument `questions[0].options`: expected an array of at most 10 entries, got 11",
        ),
    ];
    for (name, asked, expected) in cases {
        assert_eq!(questions(name, asked.clone()), Err(expected.to_owned()), "{asked}");
    }
}

#[test]
fn a_plan_begins_with_a_heading() {
    let plan = |text: &str| {
        parse(ToolsetName::Dsh, parse_plan, json!({ "plan": text })).map(|read| read.title)
    };
    assert_eq!(plan("# Rename\n\n1. do x"), Ok("Rename".to_owned()));
    assert_eq!(plan("\n### Deep one\n"), Ok("Deep one".to_owned()));
    let refused = |came: &str| {
        Err(format!(
            "argument `plan`: expected Markdown that begins with a heading, such as `# Plan`, got {came}"
        ))
    };
    assert_eq!(plan("no heading"), refused("\"no heading\""));
    for text in ["", "#", "#x", "####### seven", "1. do x\n# Late"] {
        assert!(plan(text).is_err(), "{text:?}");
    }
    let long = format!("# P\n{}", "x".repeat(MOST_PLAN));
    let expected = "argument `plan`: expected text of at most 131072 bytes, got 131076 bytes";
    assert_eq!(plan(&long), Err(expected.to_owned()));
}

#[test]
fn b121_faults_in_a_list_name_the_items_and_the_values_allowed() {
    let todos = |todos: Value| parse(ToolsetName::Standard, parse_todos, json!({ "todos": todos }));
    let item = |content: &str, status: &str| json!({"content": content, "status": status});
    let read =
        todos(json!([item("a", "completed"), item("b", "in_progress"), item("c", "pending")]));
    let expected = |content: &str, status| Todo { content: content.to_owned(), status };
    assert_eq!(
        read,
        Ok(vec![
            expected("a", TodoStatus::Completed),
            expected("b", TodoStatus::InProgress),
            expected("c", TodoStatus::Pending)
        ])
    );
    assert_eq!(todos(json!([])), Ok(Vec::new()));
    let cases = [
        (
            json!([item("a", "in_progress"), item("b", "in_progress")]),
            "argument `todos`: expected at most one item in progress, got \"a\" and \"b\"",
        ),
        (
            json!([item("", "pending")]),
            "argument `todos[0].content`: expected text that is not blank, got \"\"",
        ),
        (
            json!([item("x", "done")]),
            "argument `todos[0].status`: expected one of \"pending\", \"in_progress\", \"completed\", got \"done\"",
        ),
        (
            json!([item("x", "pending"), item(" x", "completed")]),
            "argument `todos[1].content`: expected another value than that of `todos[0].content`, got \" x\"",
        ),
        (
            json!([{"content": "x"}]),
            "argument `todos[0].status`: expected one of \"pending\", \"in_progress\", \"completed\", got nothing",
        ),
        (json!({}), "argument `todos`: expected an array, got an object"),
    ];
    for (list, expected) in cases {
        assert_eq!(todos(list.clone()), Err(expected.to_owned()), "{list}");
    }
}
