//! One `tools/call` from its request to its result.
//!
//! ```text
//!              ┌─ output ──► progress
//!  tools.call ─┼─ approval.request, question.request, plan.request
//!      │       │                   ├──► declined, where the client shows no forms, or not this one
//!      │       │                   ├──► a request to the client, and its answer (to 2025-11-25)
//!      │       │                   └──► the form is the result; the call waits for the next request (2026-07-28)
//!      │       └─ notifications/cancelled ──► tools.cancel
//!      ▼
//!  the result
//! ```
//!
//! A call waits at most [`PATIENCE`] for a person, by the daemon's clock. An approval that is not given by then stays open there,
//! and questions and plans are over. What comes back with a later request is for the call that is then made again.

use std::sync::Arc;
use std::time::Duration;

use brattice_client::ClientError;
use brattice_client::protocol::CallId;
use brattice_client::protocol::tools::{CallParams, CallResult, CancelParams, Content};
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, ElicitRequest, ElicitResult, ElicitationAction,
    InputRequest, InputRequests, InputRequiredResult, InputResponses, JsonObject, MetaObject,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::Value;
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::bridge::Bridge;
use crate::elicit::{self, Forms, NoForm, Way};
use crate::link::Attached;
use crate::progress::Progress;
use crate::question::{Prepared, Question};
use crate::routes::{CallEvent, Route};

/// How long a call waits for a person: below the minute that clients commonly give a request.
const PATIENCE: Duration = Duration::from_secs(45);

/// How long a call that was cancelled is waited for: the grace of a kill, and some.
const CANCELLED: Duration = Duration::from_secs(30);

/// A tool and its arguments.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asked {
    pub(crate) name: String,
    pub(crate) arguments: JsonObject,
}

/// A call that the daemon works at.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) asked: Arc<Asked>,
    attached: Attached,
    route: Route,
    result: JoinHandle<Result<CallResult, ClientError>>,
}

/// Who asks for it, and what they can do.
struct Client<'a> {
    context: &'a RequestContext<RoleServer>,
    forms: Option<Forms>,
}

impl Client<'_> {
    /// A question as it can be shown, and how.
    fn form(&self, question: &Question) -> Result<(Way, ElicitRequest), NoForm> {
        let Forms { way, dialect } = self.forms.ok_or(NoForm::Unshown)?;
        Ok((way, question.form(dialect)?))
    }
}

/// What came of waiting.
enum Came {
    Result(Result<CallResult, ClientError>),
    Question(Box<Question>, ElicitRequest),
    Cancelled,
}

/// The form that came back with a request, if it did.
pub(crate) struct Returned {
    pub(crate) state: Option<String>,
    pub(crate) responses: Option<InputResponses>,
}

/// Makes a call.
pub(crate) async fn call(
    bridge: &Bridge,
    asked: Asked,
    returned: Returned,
    context: &RequestContext<RoleServer>,
) -> CallToolResponse {
    let client = Client { context, forms: Forms::of(context) };
    let mut prepared = None;
    let waiting = returned.state.and_then(|state| bridge.suspended.take(&state, &asked));
    let mut running = match waiting {
        Some(waiting) => {
            let question = waiting.question;
            let response = returned.responses.and_then(|mut forms| forms.remove(question.name()));
            let result = response.and_then(|form| serde_json::from_value(form).ok());
            let result = result.unwrap_or_else(|| ElicitResult::new(ElicitationAction::Cancel));
            // Where the call has not waited so long, the question is over, and the answer is for the next one like it.
            let answer = prepared.insert(Prepared::to(&question, result));
            question.answer(answer.result()).await;
            waiting.running
        }
        None => match begin(bridge, Arc::new(asked)).await {
            Ok(running) => running,
            Err(told) => return failed(told).into(),
        },
    };
    let progress = Progress::of(&context.peer, context.meta.get_progress_token());
    let response = loop {
        match wait(bridge, &mut running, &client, &progress, &mut prepared).await {
            Came::Result(Ok(result)) if prepared.as_mut().is_some_and(|it| it.repeats(&result)) => {
                running = match begin(bridge, running.asked.clone()).await {
                    Ok(running) => running,
                    Err(told) => break failed(told).into(),
                };
            }
            Came::Result(Ok(result)) => break translated(result).into(),
            Came::Result(Err(error)) => break failed(gone(&error)).into(),
            Came::Question(question, form) => break suspend(bridge, running, question, form).await,
            Came::Cancelled => break failed("the call was cancelled".to_owned()).into(),
        }
    };
    progress.stop().await;
    response
}

/// Makes a call whose arguments are no object, which the daemon answers in words.
pub(crate) async fn misshapen(bridge: &Bridge, name: &str, arguments: &Value) -> CallToolResult {
    let attached = match bridge.link.attached().await {
        Ok(attached) => attached,
        Err(down) => return failed(down.to_string()),
    };
    let params = serde_json::json!({
        "session": attached.session, "call": bridge.next_call(), "name": name, "arguments": arguments,
    });
    match attached.client.request("tools.call", &params).await {
        Ok(result) => translated(result),
        Err(error) => failed(gone(&error)),
    }
}

/// Has the daemon begin.
async fn begin(bridge: &Bridge, asked: Arc<Asked>) -> Result<Running, String> {
    let attached = bridge.link.attached().await.map_err(|down| down.to_string())?;
    let call = bridge.next_call();
    let route = bridge.routes.add(call.clone());
    let params = CallParams {
        session: attached.session.clone(),
        call: Some(call),
        name: asked.name.clone(),
        arguments: asked.arguments.clone(),
        patience_ms: u64::try_from(PATIENCE.as_millis()).ok(),
    };
    let client = attached.client.clone();
    let result = tokio::spawn(async move { client.tools_call(&params).await });
    Ok(Running { asked, attached, route, result })
}

/// Waits for what the caller must see to.
async fn wait(
    bridge: &Bridge,
    running: &mut Running,
    client: &Client<'_>,
    progress: &Progress,
    prepared: &mut Option<Prepared>,
) -> Came {
    let over = CancellationToken::new();
    let mut asking = JoinSet::new();
    let came = loop {
        tokio::select! {
            biased;
            result = &mut running.result => {
                // The task neither panics nor is aborted.
                break Came::Result(result.unwrap_or(Err(ClientError::Closed)));
            }
            () = cancelled(bridge, client) => {
                over.cancel();
                cancel(running).await;
                break Came::Cancelled;
            }
            event = running.route.next() => match event {
                CallEvent::Output(output) => progress.hear(&output),
                CallEvent::Question(question) => {
                    if let Some(prepared) = prepared.take_if(|it| it.fits(&question)) {
                        question.answer(prepared.result()).await;
                        continue;
                    }
                    match client.form(&question) {
                        Err(none) => question.decline(&none.to_string()).await,
                        Ok((Way::Result, form)) => break Came::Question(question, form),
                        Ok((Way::Request, form)) => {
                            let (peer, over) = (client.context.peer.clone(), over.clone());
                            asking.spawn(put(peer, *question, form, over));
                        }
                    }
                }
            },
            Some(_) = asking.join_next() => {}
        }
    };
    // Forms that are still open are taken back before the result is told.
    over.cancel();
    while asking.join_next().await.is_some() {}
    came
}

/// Puts a question to the client, and its answer to the daemon.
async fn put(
    peer: rmcp::service::Peer<RoleServer>,
    question: Question,
    form: ElicitRequest,
    over: CancellationToken,
) {
    match elicit::ask(peer, form, over).await {
        Some(result) => question.answer(&result).await,
        None => question.decline("the MCP client could not ask").await,
    }
}

/// Resolves when the client wants the call no more, or is gone.
async fn cancelled(bridge: &Bridge, client: &Client<'_>) {
    tokio::select! {
        () = client.context.ct.cancelled() => {}
        () = bridge.over.cancelled() => {}
    }
}

/// Has the daemon stop it, and waits until it has.
async fn cancel(running: &mut Running) {
    let call = running.route.call().clone();
    let (client, session) = (&running.attached.client, running.attached.session.clone());
    let stopping = async {
        // A daemon that is gone runs no call.
        client.tools_cancel(&CancelParams { session, call }).await.ok();
        (&mut running.result).await.ok();
    };
    tokio::time::timeout(CANCELLED, stopping).await.ok();
}

/// Answers the request with the form; the call waits for the next request.
async fn suspend(
    bridge: &Bridge,
    running: Running,
    question: Box<Question>,
    form: ElicitRequest,
) -> CallToolResponse {
    let name = question.name().to_owned();
    let requests = InputRequests::from([(name, InputRequest::Elicitation(form))]);
    let (state, given_up) = bridge.suspended.put(running, question);
    for waiting in given_up {
        waiting.question.decline("the MCP client has not come back").await;
    }
    InputRequiredResult::new(Some(requests), Some(state)).into()
}

/// The daemon's result as MCP has it: the same, but that nothing is no structured content.
fn translated(result: CallResult) -> CallToolResult {
    let CallResult { content, is_error, structured_content, meta } = result;
    let content = content.into_iter().map(|Content::Text { text }| ContentBlock::text(text));
    let mut told = CallToolResult::success(content.collect());
    told.is_error = Some(is_error);
    told.structured_content = Some(structured_content).filter(|facts| !facts.is_null());
    told.meta = Some(MetaObject(meta));
    told
}

/// A call that came to nothing: as every fault of a call it is a result.
fn failed(text: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(text)])
}

/// Why the daemon gave no result.
fn gone(error: &ClientError) -> String {
    match (error.is_lost(), error.hint()) {
        (true, _) => format!(
            "{error}: the call was stopped with it, and what it had done stays done; background tasks go on, and the next call \
             finds them"
        ),
        (false, Some(hint)) => format!("{error}; {hint}"),
        (false, None) => error.to_string(),
    }
}

/// Ids of calls: unique in the session, which this bridge alone calls in.
pub(crate) fn call_id(number: u64) -> CallId {
    CallId::new(format!("mcp-{number}"))
}
