//! A call for people: the line before it, its result below that, and what the turn came to.
//!
//! Into a pipe the result goes as the model has it, and nothing else. On a terminal it stands behind the title, indented, the first
//! lines of it, what a change did whole and in colours, and without signs that a terminal acts on: some toolsets pass on what
//! commands print as it is.

use std::io::IsTerminal as _;

use brattice_protocol::editor::{EditorFacts, EditorKind};
use brattice_protocol::session::Counters;
use brattice_protocol::tools::CallResult;
use serde_json::{Map, Value};

use crate::cli::plain::{plain, plain_lines};
use crate::cli::terminal::Style;

/// What stands before each line of a result.
const INDENT: &str = "  ";

/// Arguments that say what a call is about, the first that is there.
const SUBJECTS: [&str; 6] = ["command", "file_path", "pattern", "path", "task_id", "name"];

/// The tools for skills. What they answer is for the model: people chose or wrote it.
const SKILLS: [&str; 3] = ["skill", "activate_skill", "read_skill"];

/// Where a result goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// To a person, of whose terminal it takes so many lines at most.
    Terminal {
        /// How many.
        preview: usize,
    },
    /// To a program.
    Elsewhere,
}

impl Place {
    /// Where standard output goes.
    pub(super) fn of_stdout(preview: u64) -> Place {
        match std::io::stdout().is_terminal() {
            true => Place::Terminal { preview: usize::try_from(preview).unwrap_or(usize::MAX) },
            false => Place::Elsewhere,
        }
    }
}

/// The line that goes before a call: the tool and, where it has one, its subject.
pub(super) fn title(tool: &str, arguments: &Map<String, Value>) -> String {
    let sign = if SKILLS.contains(&tool) { "📖" } else { "🛠️" };
    let subject = SUBJECTS.iter().find_map(|name| arguments.get(*name).and_then(Value::as_str));
    match subject.map(str::to_owned).or_else(|| paths(arguments)) {
        Some(subject) => format!("{sign} {tool}: {subject}"),
        None => format!("{sign} {tool}"),
    }
}

/// The files of a call that names several.
fn paths(arguments: &Map<String, Value>) -> Option<String> {
    let files = arguments.get("files")?.as_array()?.iter();
    let paths: Vec<&str> = files.filter_map(|file| file.get("path")?.as_str()).collect();
    Some(paths.join(", "))
}

/// The text of a result.
pub(super) fn whole(place: Place, style: Style, tool: &str, result: &CallResult) -> String {
    let text = result.text();
    let text = if text.is_empty() { "(no output)" } else { &text };
    let Place::Terminal { preview } = place else {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        return format!("{text}{end}");
    };
    if SKILLS.contains(&tool) && !result.is_error {
        return String::new();
    }
    let shown = plain_lines(text);
    let lines: Vec<&str> = shown.lines().collect();
    let is_change = kind(result) == Some(EditorKind::Edit);
    let most = if is_change || result.is_error { lines.len() } else { preview };
    let mut shown: String = lines
        .iter()
        .take(most)
        .map(|line| format!("{INDENT}{}\n", shade(style, is_change, line)))
        .collect();
    if lines.len() > most {
        let more = style.dim(&format!("… {} more lines", lines.len() - most));
        shown.push_str(&format!("{INDENT}{more}\n"));
    }
    shown
}

/// What a call does, as editors are told.
fn kind(result: &CallResult) -> Option<EditorKind> {
    let facts = result.meta.get("dev.brattice/acp")?.clone();
    serde_json::from_value::<EditorFacts>(facts).ok().map(|facts| facts.kind)
}

/// A line in its colour: of a change what came and what went, all else behind the title.
fn shade(style: Style, is_change: bool, line: &str) -> String {
    match numbered(line).filter(|_| is_change) {
        Some('+') => style.green(line),
        Some(_) => style.red(line),
        None => style.dim(line),
    }
}

/// The sign of a diff's line: `+12|text`.
fn numbered(line: &str) -> Option<char> {
    let (head, _) = line.split_once('|')?;
    let sign = head.chars().next().filter(|sign| "+-".contains(*sign))?;
    let number = &head[1..];
    (!number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())).then_some(sign)
}

/// What a turn came to; none where that is nothing.
pub(super) fn counted(counters: Counters, style: Style) -> Option<String> {
    let Counters { commands, file_ops, skills } = counters;
    let told =
        [(commands, "⚙", "command(s)"), (file_ops, "📝", "file op(s)"), (skills, "📖", "skill(s)")];
    let told: Vec<String> = told
        .iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, sign, what)| format!("{sign} {number} {what}"))
        .collect();
    (!told.is_empty()).then(|| format!("{}\n", style.dim(&plain(&told.join("  ")))))
}

#[cfg(test)]
mod tests {
    use brattice_protocol::tools::Content;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_title_shows_what_the_call_is_about() {
        let title_of = |tool: &str, arguments: Value| title(tool, arguments.as_object().unwrap());
        let cases = [
            ("bash", json!({"command": "ls -l", "timeoutMs": 5}), "🛠️ bash: ls -l"),
            ("read", json!({"file_path": "a", "offset": 2}), "🛠️ read: a"),
            ("read_file", json!({"path": "a"}), "🛠️ read_file: a"),
            ("grep", json!({"pattern": "x", "path": "y"}), "🛠️ grep: x"),
            ("edit", json!({"files": [{"path": "a"}, {"path": "b"}]}), "🛠️ edit: a, b"),
            ("read_skill", json!({"name": "review"}), "📖 read_skill: review"),
            ("bash", json!({}), "🛠️ bash"),
        ];
        for (tool, arguments, expected) in cases {
            assert_eq!(title_of(tool, arguments), expected);
        }
    }

    fn result(kind: &str, text: &str) -> CallResult {
        let facts = json!({
            "kind": kind, "title": "t", "status": "completed", "locations": [], "content": [],
        });
        let mut meta = Map::new();
        meta.insert("dev.brattice/acp".to_owned(), facts);
        let content = vec![Content::Text { text: text.to_owned() }];
        CallResult { content, is_error: false, structured_content: Value::Null, meta }
    }

    const TERMINAL: Place = Place::Terminal { preview: 2 };

    #[test]
    fn a_result_stands_behind_its_title_on_a_terminal_and_as_it_is_elsewhere() {
        let terminal = |style, kind, text| whole(TERMINAL, style, "t", &result(kind, text));
        assert_eq!(
            terminal(Style::Plain, "read", "1|a\u{1b}[2J\n(End)"),
            "  1|a\\u{1b}[2J\n  (End)\n"
        );
        assert_eq!(terminal(Style::Coloured, "execute", "+1|x"), "  \u{1b}[2m+1|x\u{1b}[0m\n");
        assert_eq!(
            terminal(Style::Coloured, "edit", "edited f\n-1|x\n+1|y\n 2|z\n"),
            "  \u{1b}[2medited f\u{1b}[0m\n  \u{1b}[31m-1|x\u{1b}[0m\n  \u{1b}[32m+1|y\u{1b}[0m\n  \u{1b}[2m 2|z\u{1b}[0m\n"
        );
        assert_eq!(terminal(Style::Plain, "execute", ""), "  (no output)\n");
        for (text, shown) in [("a\u{1b}[2J", "a\u{1b}[2J\n"), ("a\n", "a\n"), ("", "(no output)\n")]
        {
            assert_eq!(whole(Place::Elsewhere, Style::Plain, "t", &result("execute", text)), shown);
        }
    }

    #[test]
    fn a_preview_is_short_and_what_is_wrong_is_whole() {
        let long = "1\n2\n3\n4\n";
        let mut shown = result("execute", long);
        assert_eq!(whole(TERMINAL, Style::Plain, "t", &shown), "  1\n  2\n  … 2 more lines\n");
        assert_eq!(whole(Place::Elsewhere, Style::Plain, "t", &shown), long);
        shown.is_error = true;
        assert_eq!(whole(TERMINAL, Style::Plain, "t", &shown), "  1\n  2\n  3\n  4\n");
        assert_eq!(whole(TERMINAL, Style::Plain, "skill", &result("read", long)), "");
    }

    #[test]
    fn a_turn_is_counted_by_what_there_was() {
        let counters = Counters { commands: 1, file_ops: 2, skills: 0 };
        let told = counted(counters, Style::Plain);
        assert_eq!(told.as_deref(), Some("⚙ 1 command(s)  📝 2 file op(s)\n"));
        assert_eq!(counted(Counters::default(), Style::Plain), None);
    }
}
