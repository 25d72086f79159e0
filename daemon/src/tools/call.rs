//! One call: admitted, told, run, and kept in the ledger.

use std::sync::Arc;

use brattice_protocol::audit::{self, Event};
use brattice_protocol::tools::{
    CallFinished, CallParams, CallResult, CallStarted, CallStatus, Content, META_CALL,
};
use brattice_protocol::{CallId, RpcError, TaskId};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::server::{Body, Delivery};
use crate::session::{Admission, RunningCall, Session};
use crate::toolset::ToolKind;
use crate::toolset::render::Facts;

use super::news::News;
use super::{bash, tasks};

/// Runs a call, or finds what it gave when it was sent before.
///
/// # Errors
/// `invalid` for an id that stands for another call, `unavailable` where a result is no longer kept. All else is a
/// result.
pub(crate) async fn call(
    session: &Arc<Session>,
    params: CallParams<Value>,
) -> Result<Body, RpcError> {
    match session.calls().admit(&params)? {
        Admission::Known(known) => known.result().await,
        Admission::New(call) => run(session, call, &params).await,
    }
}

async fn run(
    session: &Arc<Session>,
    call: RunningCall,
    params: &CallParams<Value>,
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
        let result = Body::of(&Answer::turned_away(toolset.error(&text)).into_result(call.id()))?;
        call.withdraw(result.clone());
        return Ok(result);
    }
    let mut answer = match (session.tools().find(&params.name), &params.arguments) {
        (Err(unknown), _) => Answer::refused(toolset.error(&unknown.to_string())),
        (Ok(tool), Value::Object(arguments)) => {
            let report = &mut report;
            let answer = match tool {
                ToolKind::Bash => Ok(bash::run(session, &call, arguments, report).await),
                ToolKind::TaskOutput => tasks::output(session, &call, arguments, report).await,
                ToolKind::TaskKill => tasks::kill(session, arguments, report).await,
                ToolKind::TaskList => tasks::list(session, arguments, report).await,
                ToolKind::TaskInput => tasks::input(session, &call, arguments, report).await,
            };
            answer.unwrap_or_else(|fault| Answer::refused(toolset.error(&fault.to_string())))
        }
        (Ok(_), other) => Answer::refused(toolset.error(&no_object(other))),
    };
    News::take(session).append(&mut answer.text);
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
    report.finished(status);
    let kept = answer.kept;
    let result = Body::of(&answer.into_result(call.id()))?;
    match kept {
        Keeping::Kept => call.finish(result.clone()),
        Keeping::MayRunAgain => call.withdraw(result.clone()),
    }
    Ok(result)
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
        Answer { text, is_error: false, facts: Some(facts), kept: Keeping::Kept }
    }

    /// A call that came to nothing, and why.
    pub(super) fn refused(text: String) -> Self {
        Answer { text, is_error: true, facts: None, kept: Keeping::Kept }
    }

    /// A call that the session could not take, and why.
    pub(super) fn turned_away(text: String) -> Self {
        Answer { kept: Keeping::MayRunAgain, ..Answer::refused(text) }
    }

    fn into_result(self, call: &CallId) -> CallResult<Option<Facts>> {
        CallResult {
            content: vec![Content::Text { text: self.text }],
            is_error: self.is_error,
            structured_content: self.facts,
            meta: Map::from_iter([(META_CALL.to_owned(), call.as_str().into())]),
        }
    }
}

/// Tells the session's client that a call runs and that it has ended: each once, in this order.
pub(super) struct Report<'a> {
    session: &'a Session,
    call: &'a CallId,
    tool: &'a str,
    title: String,
    kind: &'static str,
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
        let (title, kind, stage) = (tool.to_owned(), "execute", Told::Nothing);
        Report { session, call, tool, title, kind, stage }
    }

    /// It only looks at something (tools, "Editor shape").
    pub(super) fn set_read(&mut self) {
        self.kind = "read";
    }

    /// What the call is, in a line for people.
    pub(super) fn set_title(&mut self, title: String) {
        self.title = title;
    }

    /// Its command runs, as this task.
    pub(super) fn started(&mut self, task: &TaskId) {
        self.tell_start(Some(task.clone()));
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
        let started = CallStarted {
            session: self.session.id().clone(),
            call: self.call.clone(),
            tool: self.tool.to_owned(),
            title: self.title.clone(),
            kind: self.kind.to_owned(),
            locations: Vec::new(),
            task,
        };
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
        let result = Answer::refused("no".to_owned()).into_result(&CallId::new("call-1"));
        assert_eq!(
            serde_json::to_value(result).unwrap(),
            json!({
                "content": [{"type": "text", "text": "no"}],
                "isError": true,
                "structuredContent": null,
                "_meta": {"dev.brattice/call": "call-1"},
            })
        );
    }
}
