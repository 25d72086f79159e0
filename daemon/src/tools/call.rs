//! One call: admitted, told, run, and kept in the ledger.

use std::path::PathBuf;
use std::sync::Arc;

use brattice_protocol::audit::{self, Event};
use brattice_protocol::editor::{EditorFacts, EditorKind, EditorStatus};
use brattice_protocol::tools::{
    CallFinished, CallMeta, CallParams, CallResult, CallStarted, CallStatus, Content, Location,
};
use brattice_protocol::{CallId, RpcError, TaskId};
use serde::Serialize;
use serde_json::Value;

use crate::server::{Body, Connection, Delivery};
use crate::session::{Admission, CallFacts, RunningCall, Session};
use crate::toolset::render::{Facts, append_loop};
use crate::toolset::{Repetition, ToolKind};

use super::news::News;
use super::{bash, files, people, search, skills, tasks};

/// The connection that a call came by. It may be an operator's, and another than that of the session's client.
pub(super) type Caller = Arc<Connection>;

/// Runs a call, or finds what it gave when it was sent before.
///
/// # Errors
/// `invalid` for an id that stands for another call, `unavailable` where a result is no longer kept. All else is a
/// result.
pub(crate) async fn call(
    session: &Arc<Session>,
    params: CallParams<Value>,
    caller: &Arc<Connection>,
) -> Result<Body, RpcError> {
    match session.calls().admit(&params)? {
        Admission::Known(known) => known.result().await,
        Admission::New(call) => run(session, call, &params, caller).await,
    }
}

async fn run(
    session: &Arc<Session>,
    call: RunningCall,
    params: &CallParams<Value>,
    caller: &Caller,
) -> Result<Body, RpcError> {
    let mut report = Report::new(session, call.id(), &params.name);
    let toolset = session.toolset();
    let asked = Event::Call {
        session: session.id().clone(),
        call: call.id().clone(),
        tool: params.name.clone(),
        arguments: audit::redact(&params.arguments),
    };
    if let Err(error) = session.audit().record_before(&asked) {
        let text = bash::turned_away(RpcError::from(error));
        let answer = Answer::turned_away(toolset.error(&text));
        let facts = report.facts(EditorStatus::Failed);
        let result = Body::of(&answer.into_result(call.id(), facts))?;
        call.withdraw(result.clone());
        return Ok(result);
    }
    let skills = session.skills_seen();
    let found = session.tools().with_skills(&skills).find(&params.name);
    if let Ok(tool) = found {
        report.kind = tool.editor_kind();
    }
    let tool = found.as_ref().ok().copied();
    let mut answer = match (found, &params.arguments) {
        (Err(unknown), _) => Answer::refused(toolset.error(&unknown.to_string())),
        (Ok(tool), Value::Object(arguments)) => {
            let report = &mut report;
            let answer = match tool {
                ToolKind::Bash => Ok(bash::run(session, &call, caller, arguments, report).await),
                ToolKind::Read => Ok(files::read(session, &call, arguments, report).await),
                ToolKind::Write => Ok(files::write(session, &call, arguments, report).await),
                ToolKind::Edit => Ok(files::edit(session, &call, arguments, report).await),
                ToolKind::Grep => Ok(search::grep(session, &call, arguments, report).await),
                ToolKind::Glob => Ok(search::glob(session, &call, arguments, report).await),
                ToolKind::TaskOutput => tasks::output(session, &call, arguments).await,
                ToolKind::TaskKill => tasks::kill(session, arguments, report).await,
                ToolKind::TaskList => tasks::list(session, arguments).await,
                ToolKind::TaskInput => tasks::input(session, &call, arguments, report).await,
                ToolKind::AskUser => {
                    Ok(people::ask(session, &call, caller, arguments, report).await)
                }
                ToolKind::ExitPlanMode => {
                    Ok(people::exit_plan_mode(session, &call, caller, arguments, report).await)
                }
                ToolKind::Skill => Ok(skills::read(session, &call, arguments, report).await),
                ToolKind::TodoWrite => Ok(people::write_todos(session, arguments, report).await),
            };
            answer.unwrap_or_else(|fault| Answer::refused(toolset.error(&fault.to_string())))
        }
        (Ok(_), other) => Answer::refused(toolset.error(&no_object(other))),
    };
    News::take(session).append(&mut answer.text);
    if let Some(number) = repeated(session, tool, params, &answer) {
        append_loop(&mut answer.text, number);
    }
    // From here to the answer nothing waits, so that the notification and the answer are written together.
    let status = if answer.is_error { CallStatus::Failed } else { CallStatus::Completed };
    let outcome = answer.facts.as_ref().and_then(Facts::outcome);
    session.audit().record(&Event::CallFinished {
        session: session.id().clone(),
        call: call.id().clone(),
        status,
        cause: outcome.map(|outcome| outcome.cause),
        exit_code: outcome.and_then(|outcome| outcome.exit_code),
    });
    let facts = report.facts(status.into());
    report.finished(status);
    let kept = answer.kept;
    let result = Body::of(&answer.into_result(call.id(), facts))?;
    match kept {
        Keeping::Kept => call.finish(result.clone()),
        Keeping::MayRunAgain => call.withdraw(result.clone()),
    }
    Ok(result)
}

/// How many calls in a row were the same as this one, where that is to be told.
fn repeated(
    session: &Session,
    tool: Option<ToolKind>,
    params: &CallParams<Value>,
    answer: &Answer,
) -> Option<u64> {
    if tool.map(ToolKind::repetition) == Some(Repetition::Expected) {
        return None;
    }
    let outcome = answer.facts.as_ref().and_then(Facts::outcome);
    let stderr = outcome.and_then(|outcome| outcome.stderr.as_ref());
    session.repeated(CallFacts {
        tool: &params.name,
        arguments: &params.arguments,
        output: answer.output(),
        lengths: [
            outcome.map_or(0, |outcome| outcome.stdout.bytes),
            stderr.map_or(0, |stream| stream.bytes),
        ],
    })
}

/// Why arguments of this shape are none.
fn no_object(came: &Value) -> String {
    let came = match came {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    format!("`arguments`: expected an object that holds the tool's arguments, got {came}")
}

/// What a tool answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// What the model reads.
    pub(super) text: String,
    /// How many bytes of it come before the closing lines.
    pub(super) output_bytes: usize,
    /// Whether the call failed as a call.
    pub(super) is_error: bool,
    /// The same facts as data; none where nothing came of the call.
    pub(super) facts: Option<Facts>,
    /// Whether the call's id is used up.
    pub(super) kept: Keeping,
}

/// What becomes of a call's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Keeping {
    /// Sent again it is answered the same.
    Kept,
    /// Sent again it may run: it did not for a reason that passes.
    MayRunAgain,
}

impl Answer {
    /// A call that did what it was asked to.
    pub(super) fn told(text: String, facts: Facts) -> Self {
        Answer {
            output_bytes: text.len(),
            text,
            is_error: false,
            facts: Some(facts),
            kept: Keeping::Kept,
        }
    }

    /// A call that came to nothing, and why.
    pub(super) fn refused(text: String) -> Self {
        Answer { output_bytes: text.len(), text, is_error: true, facts: None, kept: Keeping::Kept }
    }

    /// A call that the session could not take, and why.
    pub(super) fn turned_away(text: String) -> Self {
        Answer { kept: Keeping::MayRunAgain, ..Answer::refused(text) }
    }

    /// The text less the closing lines.
    fn output(&self) -> &str {
        self.text.get(..self.output_bytes).unwrap_or(&self.text)
    }

    fn into_result(
        self,
        call: &CallId,
        editor: EditorFacts,
    ) -> CallResult<Option<Facts>, CallMeta> {
        CallResult {
            content: vec![Content::Text { text: self.text }],
            is_error: self.is_error,
            structured_content: self.facts,
            meta: CallMeta { call: call.clone(), editor: Some(editor) },
        }
    }
}

/// Tells the session's client that a call runs and that it has ended: each once, in this order.
pub(super) struct Report<'a> {
    session: &'a Session,
    call: &'a CallId,
    tool: &'a str,
    title: String,
    kind: EditorKind,
    locations: Vec<Location>,
    stage: Told,
}

/// What the client was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Nothing,
    Started,
}

impl<'a> Report<'a> {
    fn new(session: &'a Session, call: &'a CallId, tool: &'a str) -> Self {
        let (title, kind, stage) = (tool.to_owned(), EditorKind::Other, Told::Nothing);
        Report { session, call, tool, title, kind, locations: Vec::new(), stage }
    }

    /// The name by which the tool was called.
    pub(super) fn tool(&self) -> &'a str {
        self.tool
    }

    /// It begins to work on these files, the first of them at that line.
    pub(super) fn begins(&mut self, paths: &[PathBuf], line: Option<u64>) {
        let location = |(number, path): (usize, &PathBuf)| Location {
            path: path.to_string_lossy().into_owned(),
            line: line.filter(|_| number == 0),
        };
        self.locations = paths.iter().enumerate().map(location).collect();
        self.tell_start(None);
    }

    /// What the call is, in a line for people.
    pub(super) fn set_title(&mut self, title: String) {
        self.title = title;
    }

    /// Its command runs, as this task.
    pub(super) fn started(&mut self, task: &TaskId) {
        self.tell_start(Some(task.clone()));
    }

    /// What an editor shows of it (tools, "Editor shape").
    fn facts(&self, status: EditorStatus) -> EditorFacts {
        let (kind, title) = (self.kind, self.title.clone());
        EditorFacts { kind, title, status, locations: self.locations.clone(), content: Vec::new() }
    }

    fn finished(mut self, status: CallStatus) {
        if self.stage == Told::Nothing {
            self.tell_start(None);
        }
        let (session, call) = (self.session.id().clone(), self.call.clone());
        self.tell("call.finished", &CallFinished { session, call, status });
    }

    fn tell_start(&mut self, task: Option<TaskId>) {
        self.stage = Told::Started;
        let EditorFacts { kind, title, status, locations, content } =
            self.facts(EditorStatus::InProgress);
        let (session, call) = (self.session.id().clone(), self.call.clone());
        let tool = self.tool.to_owned();
        let started =
            CallStarted { session, call, tool, title, kind, status, locations, content, task };
        self.tell("call.started", &started);
    }

    fn tell(&self, method: &str, params: &impl Serialize) {
        let Some(client) = self.session.audience() else {
            return;
        };
        if client.notify(method, params) == Delivery::Dropped {
            tracing::debug!(session = %self.session.id(), call = %self.call, method, "the client was not told");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_that_are_no_object_are_named_with_what_came() {
        let cases = [(json!(null), "null"), (json!("ls"), "text"), (json!(["ls"]), "an array")];
        for (came, word) in cases {
            let expected = format!(
                "`arguments`: expected an object that holds the tool's arguments, got {word}"
            );
            assert_eq!(no_object(&came), expected);
        }
    }

    #[test]
    fn what_came_to_nothing_has_null_for_its_facts() {
        let facts = EditorFacts {
            kind: EditorKind::Execute,
            title: "make".to_owned(),
            status: EditorStatus::Failed,
            locations: Vec::new(),
            content: Vec::new(),
        };
        let answer = Answer::refused("no".to_owned());
        let result = answer.into_result(&CallId::new("call-1"), facts);
        assert_eq!(
            serde_json::to_value(result).unwrap(),
            json!({
                "content": [{"type": "text", "text": "no"}],
                "isError": true,
                "structuredContent": null,
                "_meta": {
                    "dev.brattice/call": "call-1",
                    "dev.brattice/acp": {
                        "kind": "execute", "title": "make", "status": "failed",
                        "locations": [], "content": [],
                    },
                },
            })
        );
    }
}
