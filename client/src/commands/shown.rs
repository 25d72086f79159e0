//! A call for people: the line before it, and its result below that.
//!
//! Into a pipe the result goes as the model has it. On a terminal it stands behind the title, indented, what a change did in
//! colours, and without signs that a terminal acts on: some toolsets pass on what commands print as it is.

use std::io::IsTerminal as _;

use brattice_protocol::tools::CallResult;
use serde_json::{Map, Value};

use crate::cli::plain::plain_lines;
use crate::cli::terminal::Style;

/// What stands before each line of a result.
const INDENT: &str = "  ";

/// Arguments that say what a call is about, the first that is there.
const SUBJECTS: [&str; 4] = ["command", "file_path", "pattern", "task_id"];

/// The tools for skills. What they answer is for the model: people chose or wrote it.
const SKILLS: [&str; 3] = ["skill", "activate_skill", "read_skill"];

/// Where a result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Terminal,
    Elsewhere,
}

/// The line that goes before a call: the tool and, where it has one, its subject.
pub(super) fn title(tool: &str, arguments: &Map<String, Value>) -> String {
    if SKILLS.contains(&tool) {
        let name = arguments.get("name").and_then(Value::as_str).unwrap_or_default();
        return format!("📖 {tool}: {name}");
    }
    let subject = SUBJECTS.iter().find_map(|name| arguments.get(*name).and_then(Value::as_str));
    match subject.map(str::to_owned).or_else(|| paths(arguments)) {
        Some(subject) => format!("🛠️ {tool}: {subject}"),
        None => format!("🛠️ {tool}"),
    }
}

/// The files of a call that names several.
fn paths(arguments: &Map<String, Value>) -> Option<String> {
    let files = arguments.get("files")?.as_array()?.iter();
    let paths: Vec<&str> = files.filter_map(|file| file.get("path")?.as_str()).collect();
    Some(paths.join(", "))
}

/// The text of a result.
pub(super) fn whole(style: Style, tool: &str, result: &CallResult) -> String {
    let place = match std::io::stdout().is_terminal() {
        true => Place::Terminal,
        false => Place::Elsewhere,
    };
    match place {
        Place::Terminal if SKILLS.contains(&tool) && !result.is_error => String::new(),
        Place::Terminal | Place::Elsewhere => put(place, style, tool, &result.text()),
    }
}

fn put(place: Place, style: Style, tool: &str, text: &str) -> String {
    let text = if text.is_empty() { "(no output)" } else { text };
    let end = if text.ends_with('\n') { "" } else { "\n" };
    match place {
        Place::Elsewhere => format!("{text}{end}"),
        Place::Terminal => plain_lines(text)
            .lines()
            .map(|line| format!("{INDENT}{}\n", shade(style, tool, line)))
            .collect(),
    }
}

/// A line in its colour: of a change what came and what went, all else behind the title.
fn shade(style: Style, tool: &str, line: &str) -> String {
    match (tool, numbered(line)) {
        ("edit" | "write", Some('+')) => style.green(line),
        ("edit" | "write", Some('-')) => style.red(line),
        _ => style.dim(line),
    }
}

/// The sign of a diff's line: `+12|text`.
fn numbered(line: &str) -> Option<char> {
    let (head, _) = line.split_once('|')?;
    let sign = head.chars().next().filter(|sign| "+-".contains(*sign))?;
    let number = &head[1..];
    (!number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())).then_some(sign)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_title_shows_what_the_call_is_about() {
        let title_of = |tool: &str, arguments: Value| title(tool, arguments.as_object().unwrap());
        assert_eq!(title_of("bash", json!({"command": "ls -l", "timeoutMs": 5})), "🛠️ bash: ls -l");
        assert_eq!(title_of("read", json!({"file_path": "a", "offset": 2})), "🛠️ read: a");
        assert_eq!(title_of("grep", json!({"pattern": "x", "path": "y"})), "🛠️ grep: x");
        assert_eq!(
            title_of("edit", json!({"files": [{"path": "a"}, {"path": "b"}]})),
            "🛠️ edit: a, b"
        );
        assert_eq!(title_of("bash", json!({})), "🛠️ bash");
        assert_eq!(title_of("read_skill", json!({"name": "deploy"})), "📖 read_skill: deploy");
    }

    #[test]
    fn a_result_stands_behind_its_title_on_a_terminal_and_as_it_is_elsewhere() {
        let terminal = |style, tool, text| put(Place::Terminal, style, tool, text);
        assert_eq!(
            terminal(Style::Plain, "read", "1|a\u{1b}[2J\n(End)"),
            "  1|a\\u{1b}[2J\n  (End)\n"
        );
        assert_eq!(terminal(Style::Coloured, "bash", "+1|x"), "  \u{1b}[2m+1|x\u{1b}[0m\n");
        assert_eq!(
            terminal(Style::Coloured, "edit", "edited f\n-1|x\n+1|y\n 2|z\n"),
            "  \u{1b}[2medited f\u{1b}[0m\n  \u{1b}[31m-1|x\u{1b}[0m\n  \u{1b}[32m+1|y\u{1b}[0m\n  \u{1b}[2m 2|z\u{1b}[0m\n"
        );
        assert_eq!(terminal(Style::Plain, "bash", ""), "  (no output)\n");
        for (text, shown) in [("a\u{1b}[2J", "a\u{1b}[2J\n"), ("a\n", "a\n"), ("", "(no output)\n")]
        {
            assert_eq!(put(Place::Elsewhere, Style::Plain, "bash", text), shown);
        }
    }
}
