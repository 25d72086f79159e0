//! A recorded session of each toolset, as it goes over the socket: the tools, calls with their results, a plan that is sent back
//! and approved, and the tools again. Compared whole with `golden/<toolset>.json`; what no two runs share stands there as a
//! placeholder. `BRATTICE_RECORD=1` writes the files anew: read what changed before it is committed.

use std::fs;
use std::path::{Path, PathBuf};

use brattice_protocol::question::Answer;
use brattice_tests::{Session, World, chosen};
use serde_json::{Map, Value, json};

/// One thing that happens in a session.
enum Step {
    /// A call that nobody is asked about.
    Call(&'static str, Value),
    /// A call that asks, and the answers.
    Ask(&'static str, Value, Vec<Answer>),
    /// A plan, and whether it is approved or sent back with what is said.
    Plan(&'static str, Result<(), &'static str>),
    /// A change of the session.
    Update(Value),
}

use Step::{Ask, Call, Plan, Update};

/// What every session finds in its workspace.
const SETUP: &str = r"printf 'one\ntwo\n' > f.txt; mkdir -p src .agents/skills/deploy
printf 'fn main() {}\n' > src/main.rs
printf -- '---\ndescription: Ships it\nallowed-tools: bash\n---\nRun make ship.\n' > .agents/skills/deploy/SKILL.md";

fn bash(command: &str) -> Step {
    Call("bash", json!({"command": command, "description": "A command"}))
}

fn background(command: &str) -> Step {
    let arguments =
        json!({"command": command, "description": "A command", "run_in_background": true});
    Call("bash", arguments)
}

fn todos() -> Step {
    let todos = json!([
        {"content": "look", "status": "completed"}, {"content": "write", "status": "in_progress"},
    ]);
    Call("todo_write", json!({ "todos": todos }))
}

fn question() -> Step {
    let question = json!({
        "id": "db", "question": "Which database?", "header": "Database",
        "options": [{"label": "SQLite", "description": "A file"}, {"label": "PostgreSQL"}],
    });
    Ask("ask_user_question", json!({"questions": [question]}), vec![chosen("db", &["SQLite"])])
}

/// What both larger toolsets do, in the words that they share.
fn common() -> Vec<Step> {
    let write =
        |content: &str| Call("write", json!({"file_path": "out/new.txt", "content": content}));
    let edit = json!({"file_path": "f.txt", "old_string": "two", "new_string": "three"});
    vec![
        bash("printf out; printf err >&2; exit 3"),
        Call("read", json!({"file_path": "f.txt"})),
        Call("skill", json!({"name": "deploy"})),
        Call("skill", json!({"name": "nope"})),
        question(),
        todos(),
        bash("echo x > denied"),
        write("x\n"),
        Plan("no heading", Ok(())),
        Plan("# Rename\n\n1. do x", Err("use y")),
        Plan("# Rename\n\n1. do y", Ok(())),
        bash("echo x > allowed; cat allowed"),
        write("x\n"),
        Call("edit", edit),
        background("echo from the background"),
        Call("task_output", json!({"task_id": "bash-4", "wait": true})),
        Call("task_kill", json!({"task_id": "bash-4"})),
        Call("task_list", json!({})),
        Call("todo_write", json!({"todos": []})),
        Call("nosuch", json!({})),
        Call("read", json!({"file_path": 7})),
    ]
}

fn standard() -> Vec<Step> {
    let mut steps = common();
    steps.extend([
        Call("grep", json!({"pattern": "main"})),
        Call("glob", json!({"pattern": "**/*.rs"})),
        Call("bash", json!({"command": "cat", "stdin": true, "run_in_background": true})),
        Call("task_input", json!({"task_id": "bash-5", "text": "typed\n", "eof": true})),
        Call("task_output", json!({"task_id": "bash-5", "wait": true})),
    ]);
    steps
}

fn glrs() -> Vec<Step> {
    let asked = json!({"questions": [{"question": "Which database?", "options": ["SQLite", "PostgreSQL"]}]});
    let edit = json!({"files": [
        {"path": "f.txt", "edits": [{"old_string": "two", "new_string": "three"}]},
    ]});
    vec![
        bash("printf out; printf err >&2; exit 3"),
        Call("activate_skill", json!({"name": "deploy"})),
        Call("activate_skill", json!({"name": "nope"})),
        Ask("ask_user", asked, vec![chosen("1", &["SQLite"])]),
        bash("echo x > denied"),
        Update(json!({"plan": false})),
        bash("echo x > allowed; cat allowed"),
        Call("read", json!({"path": "f.txt"})),
        Call("write", json!({"path": "new.txt", "content": "x\n"})),
        Call("edit", edit),
        Call("grep", json!({"pattern": "main"})),
        Call("glob", json!({"pattern": "**/*.rs"})),
        Call("nosuch", json!({})),
    ]
}

fn minimal() -> Vec<Step> {
    vec![
        bash("printf out; printf err >&2; exit 3"),
        Call("read_skill", json!({"name": "deploy"})),
        Call("read_skill", json!({"name": "nope"})),
        bash("echo x > denied"),
        Update(json!({"plan": false})),
        bash("echo x > allowed; cat allowed"),
        Call("nosuch", json!({})),
    ]
}

#[test]
fn a_session_of_standard_is_as_recorded() {
    recorded("standard", standard());
}

#[test]
fn a_session_of_dsh_is_as_recorded() {
    recorded("dsh", common());
}

#[test]
fn a_session_of_glrs_is_as_recorded() {
    recorded("glrs", glrs());
}

#[test]
fn a_session_of_minimal_is_as_recorded() {
    recorded("minimal", minimal());
}

/// Plays a session, and compares it with its record.
fn recorded(toolset: &str, steps: Vec<Step>) {
    let world = World::new();
    world.setup(SETUP);
    let skills = json!({"skills": [".agents/skills"]});
    let opening = world.session("workspace-write").with("toolset", json!(toolset));
    let opening = opening.with("plan", json!(true)).with("options", skills).judging();
    let session = opening.open();
    let tools = listed(&session);
    let steps: Vec<Value> = steps.into_iter().map(|step| play(&session, step)).collect();
    let mut played = json!({
        "toolset": toolset, "tools": tools, "steps": steps, "tools_after": listed(&session),
    });
    let names = Names::of(&world, &session);
    names.hide(&mut played);
    compare(toolset, &played);
    world.finish();
}

fn listed(session: &Session) -> Value {
    session.request("tools.list", json!({})).unwrap()["tools"].clone()
}

/// Does it, and tells what was sent and what came back.
fn play(session: &Session, step: Step) -> Value {
    let begin = |tool: &str, arguments: &Value| {
        session.begin_call(json!({"name": tool, "arguments": arguments}))
    };
    let (tool, arguments, asked, pending) = match step {
        Update(params) => {
            let told = session.request("session.update", params.clone()).unwrap();
            return json!({"update": params, "mode": told["mode"], "plan": told["plan"]});
        }
        Call(tool, arguments) => {
            let pending = begin(tool, &arguments);
            (tool, arguments, Value::Null, pending)
        }
        Ask(tool, arguments, answers) => {
            let pending = begin(tool, &arguments);
            let asked = session.asked();
            let request = json!(asked.request());
            asked.answer(&answers);
            (tool, arguments, json!({"request": request, "answers": answers}), pending)
        }
        Plan(plan, judged) => {
            let arguments = json!({ "plan": plan });
            let pending = begin("exit_plan_mode", &arguments);
            let asked = if plan.starts_with('#') { judge(session, judged) } else { Value::Null };
            ("exit_plan_mode", arguments, asked, pending)
        }
    };
    let result = json!(session.end(pending).result);
    json!({"tool": tool, "arguments": arguments, "asked": asked, "result": result})
}

fn judge(session: &Session, judged: Result<(), &str>) -> Value {
    let asked = session.planned();
    let request = json!(asked.request());
    match judged {
        Ok(()) => asked.approve(),
        Err(feedback) => asked.keep_planning(Some(feedback)),
    }
    json!({"request": request, "feedback": judged.err()})
}

/// What no two runs share.
struct Names(Vec<(String, &'static str)>);

impl Names {
    fn of(world: &World, session: &Session) -> Names {
        let path = |path: PathBuf| path.display().to_string();
        Names(vec![
            (path(world.folder(session.id())), "<SESSION FOLDER>"),
            (path(world.ws()), "<WORKSPACE>"),
            (path(world.home()), "<HOME>"),
            (session.id().to_owned(), "<SESSION>"),
        ])
    }

    /// Puts placeholders in their places.
    fn hide(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                for (name, placeholder) in &self.0 {
                    *text = text.replace(name, placeholder);
                }
                *text = without_ids(text);
            }
            Value::Array(values) => values.iter_mut().for_each(|value| self.hide(value)),
            Value::Object(fields) => {
                hide_fields(fields);
                fields.values_mut().for_each(|value| self.hide(value));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Measures, and what this machine can enforce.
fn hide_fields(fields: &mut Map<String, Value>) {
    for name in ["duration_ms", "user_ms", "sys_ms", "cpu_ms", "max_rss_bytes", "started", "ended"]
    {
        if let Some(measure) = fields.get_mut(name).filter(|measure| measure.is_number()) {
            *measure = json!("<NUMBER>");
        }
    }
    for name in ["layers", "landlock_abi", "dev.brattice/call", "call"] {
        if let Some(own) = fields.get_mut(name) {
            *own = json!("<OWN>");
        }
    }
    // How long each task took, in the words of a list.
    if let Some(Value::String(text)) = fields.get_mut("text")
        && text.contains("[bash] ")
    {
        *text = text.lines().map(without_times).collect::<Vec<_>>().join("\n");
    }
}

/// A line of a list of tasks without the numbers in its last parentheses.
fn without_times(line: &str) -> String {
    match line.rsplit_once(" (") {
        Some((task, times)) if times.ends_with(')') => {
            let times = times.replace(|sign: char| sign.is_ascii_digit() || sign == '.', "");
            format!("{task} ({times}")
        }
        _ => line.to_owned(),
    }
}

/// A text in which each UUID is the same.
fn without_ids(text: &str) -> String {
    const LENGTH: usize = 36;
    let is_id = |piece: &str| {
        piece.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    };
    let (mut shown, mut rest) = (String::new(), text);
    while let Some(sign) = rest.chars().next() {
        match rest.get(..LENGTH).filter(|piece| is_id(piece)) {
            Some(_) => {
                shown.push_str("<ID>");
                rest = &rest[LENGTH..];
            }
            None => {
                shown.push(sign);
                rest = &rest[sign.len_utf8()..];
            }
        }
    }
    shown
}

/// Compares it with the record, or writes that.
fn compare(toolset: &str, played: &Value) {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("toolsets/golden/{toolset}.json"));
    let text = serde_json::to_string_pretty(played).unwrap() + "\n";
    if std::env::var_os("BRATTICE_RECORD").is_some() {
        return fs::write(&path, text).unwrap();
    }
    let known = fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}; BRATTICE_RECORD=1 writes it", path.display()));
    let differs = known.lines().zip(text.lines()).position(|(known, played)| known != played);
    let line = differs.unwrap_or_else(|| known.lines().count().min(text.lines().count()));
    let around = |text: &str| -> Vec<String> {
        text.lines().skip(line.saturating_sub(6)).take(10).map(str::to_owned).collect()
    };
    assert!(
        known == text,
        "{} line {}: recorded {:#?}, played {:#?}",
        path.display(),
        line + 1,
        around(&known),
        around(&text)
    );
}
