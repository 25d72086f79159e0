//! `tools.list`, `tools.call`, `tools.cancel`, and the notifications about a call. Shapes follow MCP.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::approval::ApprovalRequired;
use crate::bytes::Encoding;
use crate::editor::{EditorContent, EditorFacts, EditorKind, EditorStatus};
use crate::{CallId, SessionId, TaskId};

/// Whose shape declarations have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolFormat {
    /// MCP's.
    #[default]
    Mcp,
    /// OpenAI's function tools.
    Openai,
    /// Anthropic's tools.
    Anthropic,
}

/// Parameters of `tools.list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListParams {
    /// The session.
    pub session: SessionId,
    /// The declarations' shape; MCP's unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<ToolFormat>,
    /// Also what the session's state withholds at the moment: `exit_plan_mode` outside of plan mode, questions where nobody
    /// can answer. It can be called in any state, and then says what is missing.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub withheld: bool,
}

/// The result of `tools.list`. Each entry has the shape that was asked for; in MCP's it is a [`Tool`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolList {
    /// The declarations, in the toolset's order.
    pub tools: Vec<Value>,
}

/// A tool's declaration in MCP's shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tool {
    /// The name that `tools.call` takes.
    pub name: String,
    /// A title for people.
    pub title: String,
    /// What it does, its limits, and what its markers mean.
    pub description: String,
    /// A JSON schema of the arguments.
    pub input_schema: Value,
    /// Hints on risk.
    pub annotations: Annotations,
}

/// MCP's hints on what a tool may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Annotations {
    /// It changes nothing.
    pub read_only_hint: bool,
    /// It may destroy something.
    pub destructive_hint: bool,
    /// Calling it twice is calling it once.
    pub idempotent_hint: bool,
    /// It may reach beyond this machine.
    pub open_world_hint: bool,
}

/// Parameters of `tools.call`. Who calls sends an object of arguments; who is called reads any `Value` as `A`, because
/// faults in arguments are results, not errors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(bound(deserialize = "A: Deserialize<'de> + From<Map<String, Value>>"))]
pub struct CallParams<A = Map<String, Value>> {
    /// The session.
    pub session: SessionId,
    /// Unique in the session; sent again with equal arguments it never runs twice. Absent: the daemon makes one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<CallId>,
    /// The tool.
    pub name: String,
    /// Its arguments; none unless given.
    #[serde(default = "no_arguments")]
    pub arguments: A,
    /// How long the call waits for a person, in milliseconds; as long as its question is open unless given. An approval
    /// that is not given by then, or that nobody is there for, stays open, the result is [`CallMeta::approval_required`], and the
    /// same arguments sent again find it. Questions of the model and plans end with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience_ms: Option<u64>,
}

fn no_arguments<A: From<Map<String, Value>>>() -> A {
    Map::new().into()
}

/// The result of `tools.call`. Who is called may write its facts as any types `S` and `M` that have this form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallResult<S = Value, M = Map<String, Value>> {
    /// What the model reads.
    pub content: Vec<Content>,
    /// Whether the call failed as a call; an exit code is no failure.
    pub is_error: bool,
    /// The same facts as data: a [`crate::outcome::CommandOutcome`] for `bash`; null where nothing ran.
    pub structured_content: S,
    /// Facts for clients: a [`CallMeta`].
    #[serde(rename = "_meta")]
    pub meta: M,
}

/// `_meta` of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallMeta {
    /// The call's id.
    #[serde(rename = "dev.brattice/call")]
    pub call: CallId,
    /// What an editor shows of it; results of earlier daemons have none.
    #[serde(rename = "dev.brattice/acp", default, skip_serializing_if = "Option::is_none")]
    pub editor: Option<EditorFacts>,
    /// The approval that is missing, where the call has not waited for it.
    #[serde(
        rename = "dev.brattice/approval_required",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub approval_required: Option<ApprovalRequired>,
}

/// One block of a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum Content {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
}

impl<S, M> CallResult<S, M> {
    /// All text blocks, joined.
    pub fn text(&self) -> String {
        self.content.iter().map(|Content::Text { text }| text.as_str()).collect()
    }
}

/// Parameters of `tools.cancel`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CancelParams {
    /// The session.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
}

/// Notification `call.started`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallStarted {
    /// The session.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// The tool.
    pub tool: String,
    /// One line for people.
    pub title: String,
    /// What it does.
    pub kind: EditorKind,
    /// How it stands: it runs.
    #[serde(default)]
    pub status: EditorStatus,
    /// Files that it concerns.
    pub locations: Vec<Location>,
    /// What it is about to change.
    #[serde(default)]
    pub content: Vec<EditorContent>,
    /// The task, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskId>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Location {
    /// The absolute path.
    pub path: String,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// Which stream of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Standard output; both streams where they are merged.
    #[default]
    Stdout,
    /// Standard error.
    Stderr,
}

/// Notification `call.output`, to clients that watch output; at most 20 a second for a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallOutput {
    /// The session.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// Which stream.
    pub stream: Stream,
    /// Where `data` begins in the stream. A gap to the end of the one before is what this watcher skipped.
    pub offset: u64,
    /// The bytes.
    pub data: String,
    /// How `data` holds them.
    pub encoding: Encoding,
}

/// Notification `call.finished`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallFinished {
    /// The session.
    pub session: SessionId,
    /// The call.
    pub call: CallId,
    /// ACP's status.
    pub status: CallStatus,
}

/// Notification `tools.changed`: what `tools.list` answers for the session has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolsChanged {
    /// The session.
    pub session: SessionId,
}

/// ACP's status of a finished tool call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CallStatus {
    /// It ran, whatever its exit code.
    Completed,
    /// `isError`.
    Failed,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn arguments_of_any_shape_are_read_and_absent_ones_are_none() {
        let read = |params: Value| {
            serde_json::from_value::<CallParams<Value>>(params).map(|params| params.arguments)
        };
        let call =
            |arguments: Value| json!({"session": "s", "name": "bash", "arguments": arguments});
        for arguments in [json!({"command": "ls"}), json!(["ls"]), json!("ls"), json!(null)] {
            assert_eq!(read(call(arguments.clone())).unwrap(), arguments);
        }
        assert_eq!(read(json!({"session": "s", "name": "bash"})).unwrap(), json!({}));
        let sent = CallParams::<Map<String, Value>>::deserialize(call(json!("ls")));
        assert!(sent.is_err(), "who calls sends an object");
    }
}
