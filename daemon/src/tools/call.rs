//! One call: admitted, told, run, and kept in the ledger.

use brattice_protocol::outcome::CommandOutcome;
use brattice_protocol::tools::{
    CallFinished, CallParams, CallResult, CallStarted, CallStatus, Content, META_CALL,
};
use brattice_protocol::{CallId, RpcError, TaskId};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::server::Delivery;
use crate::session::{Admission, RunningCall, Session};
use crate::toolset::{self, ToolKind};

use super::bash;

/// Runs a call, or finds what it gave when it was sent before.
///
/// # Errors
/// `invalid` for an id that stands for another call; `busy` or `unavailable` where the session cannot take it. All else
/// is a result.
pub(crate) async fn call(session: &Session, params: CallParams) -> Result<CallResult, RpcError> {
    match session.calls().admit(&params)? {
        Admission::Known(known) => known.result().await,
        Admission::New(call) => run(session, call, &params).await,
    }
}

async fn run(
    session: &Session,
    call: RunningCall,
    params: &CallParams,
) -> Result<CallResult, RpcError> {
    let mut report = Report::new(session, call.id(), &params.name);
    let answered = match toolset::find(session.disabled(), &params.name) {
        Ok(ToolKind::Bash) => bash::run(session, &call, &params.arguments, &mut report).await,
        Err(unknown) => Ok(Answer::refused(session.toolset().error(&unknown.to_string()))),
    };
    match answered {
        Ok(answer) => {
            report.finished(if answer.is_error {
                CallStatus::Failed
            } else {
                CallStatus::Completed
            });
            let result = answer.into_result(call.id());
            call.finish(&result);
            Ok(result)
        }
        Err(error) => {
            call.withdraw(error.clone());
            Err(error)
        }
    }
}

/// What a tool answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    /// What the model reads.
    pub(super) text: String,
    /// Whether the call failed as a call.
    pub(super) is_error: bool,
    /// The same facts as data; none where nothing came to run.
    pub(super) outcome: Option<CommandOutcome>,
}

impl Answer {
    /// A call that came to nothing, and why.
    pub(super) fn refused(text: String) -> Self {
        Answer { text, is_error: true, outcome: None }
    }

    fn into_result(self, call: &CallId) -> CallResult {
        let structured_content = self.outcome.map_or(Value::Null, |outcome| {
            serde_json::to_value(outcome).unwrap_or_else(|error| {
                tracing::error!(%call, %error, "an outcome cannot be written");
                Value::Null
            })
        });
        CallResult {
            content: vec![Content::Text { text: self.text }],
            is_error: self.is_error,
            structured_content,
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
        Report { session, call, tool, title: tool.to_owned(), stage: Told::Nothing }
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
            kind: "execute".to_owned(),
            locations: Vec::new(),
            task,
        };
        self.tell("call.started", &started);
    }

    fn tell(&self, method: &str, params: &impl Serialize) {
        let Some(client) = self.session.audience() else {
            return;
        };
        if super::notify(&client, method, params) == Delivery::Dropped {
            tracing::debug!(session = %self.session.id(), call = %self.call, method, "the client was not told");
        }
    }
}
