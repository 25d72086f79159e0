//! A typed method for each method on the wire, in the contract's order.

use brattice_protocol::SessionId;
use brattice_protocol::approval::{ApprovalList, ApprovalSettled, RespondParams};
use brattice_protocol::audit::{Tail, TailParams};
use brattice_protocol::events::{WatchParams, Watching};
use brattice_protocol::policy::{ExplainParams, Explanation, Policy, ShowParams};
use brattice_protocol::question::{QuestionList, QuestionRespond, QuestionSettled};
use brattice_protocol::session::{
    OpenParams, Session, SessionParams, SessionSummary, Turn, UpdateParams,
};
use brattice_protocol::status::{DaemonStatus, Reloaded, ShutdownParams};
use brattice_protocol::task::{
    Empty, InputParams, KillParams, Output, OutputParams, ResizeParams, StartParams, Started,
    TaskListParams, TaskSummary, WaitParams, Waited,
};
use brattice_protocol::todo::TodoList;
use brattice_protocol::tools::{CallParams, CallResult, CancelParams, ListParams, ToolList};

use crate::{Client, ClientError};

/// Declares `Client::<name>` for methods whose parameters are one struct.
macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident: $wire:literal, $params:ty => $result:ty;)*) => {
        impl Client {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// As [`Client::request`].
                pub async fn $name(&self, params: &$params) -> Result<$result, ClientError> {
                    self.request($wire, params).await
                }
            )*
        }
    };
}

methods! {
    /// `session.open`: a workspace and a sandbox mode to run commands in.
    session_open: "session.open", OpenParams => Session;
    /// `session.update`: another mode for commands that start from now on.
    session_update: "session.update", UpdateParams => Session;
    /// `tools.list`: the declarations of a session's tools.
    tools_list: "tools.list", ListParams => ToolList;
    /// `tools.call`: one tool call, answered when it is over.
    tools_call: "tools.call", CallParams => CallResult;
    /// `tools.cancel`: stops a call's command; without effect on a call that is over or unknown.
    tools_cancel: "tools.cancel", CancelParams => Empty;
    /// `task.start`: starts a command as a background task.
    task_start: "task.start", StartParams => Started;
    /// `task.resize`: the size of a task's terminal.
    task_resize: "task.resize", ResizeParams => Empty;
    /// `task.list`: a session's tasks, running and finished, oldest first.
    task_list: "task.list", TaskListParams => Vec<TaskSummary>;
    /// `task.output`: bytes of a task's stream, by offset.
    task_output: "task.output", OutputParams => Output;
    /// `task.wait`: the first task that ended, or nothing when the time was over.
    task_wait: "task.wait", WaitParams => Waited;
    /// `task.kill`: asks for a task's end; [`Client::task_wait`] tells when nothing of it is left.
    task_kill: "task.kill", KillParams => Empty;
    /// `task.input`: feeds a task's standard input; answers once its pipe has taken all of it.
    task_input: "task.input", InputParams => Empty;
    /// `policy.explain`: whether a session's commands may do something to a path, and why.
    policy_explain: "policy.explain", ExplainParams => Explanation;
    /// `policy.show`: the rules that hold a session's commands.
    policy_show: "policy.show", ShowParams => Policy;
    /// `approval.respond`, on the control socket: the answer, unless somebody was faster.
    approval_respond: "approval.respond", RespondParams => ApprovalSettled;
    /// `question.respond`, on the control socket: the answer to questions or a plan, unless somebody was faster.
    question_respond: "question.respond", QuestionRespond => QuestionSettled;
    /// `audit.tail`, on the control socket: lines of the audit log.
    audit_tail: "audit.tail", TailParams => Tail;
    /// `events.watch`, on the control socket: has events told as [`Notice::Event`](crate::Notice::Event) from now on.
    events_watch: "events.watch", WatchParams => Watching;
    /// `daemon.shutdown`, on the control socket.
    daemon_shutdown: "daemon.shutdown", ShutdownParams => Empty;
}

impl Client {
    /// `session.resume`: takes over a session whose client has gone.
    ///
    /// # Errors
    /// As [`Client::request`].
    pub async fn session_resume(&self, session: &SessionId) -> Result<Session, ClientError> {
        self.request("session.resume", &SessionParams { session: session.clone() }).await
    }

    /// `session.turn`: ends a turn and tells what it did.
    ///
    /// # Errors
    /// As [`Client::request`].
    pub async fn session_turn(&self, session: &SessionId) -> Result<Turn, ClientError> {
        self.request("session.turn", &SessionParams { session: session.clone() }).await
    }

    /// `session.close`: stops a session's tasks and removes its temporary folder.
    ///
    /// # Errors
    /// As [`Client::request`].
    pub async fn session_close(&self, session: &SessionId) -> Result<Empty, ClientError> {
        self.request("session.close", &SessionParams { session: session.clone() }).await
    }

    /// `session.list`: this client's sessions; on the control socket all of them.
    ///
    /// # Errors
    /// As [`Client::request`].
    pub async fn session_list(&self) -> Result<Vec<SessionSummary>, ClientError> {
        self.request("session.list", &Empty {}).await
    }

    /// `approval.list`, on the control socket: the questions that are open, the oldest first.
    ///
    /// # Errors
    /// As [`Client::request`].
    pub async fn approval_list(&self) -> Result<ApprovalList, ClientError> {
        self.request("approval.list", &Empty {}).await
    }

    /// `question.list`, on the control socket: the questions and plans that are open, the oldest first.
    ///
    /// # Errors
    /// As [`Client::request`].
    pub async fn question_list(&self) -> Result<QuestionList, ClientError> {
        self.request("question.list", &Empty {}).await
    }

    /// `todo.list`: a session's to-do list.
    ///
    /// # Errors
    /// As [`Client::request`].
    pub async fn todo_list(&self, session: &SessionId) -> Result<TodoList, ClientError> {
        self.request("todo.list", &SessionParams { session: session.clone() }).await
    }

    /// `daemon.status`, on the control socket.
    ///
    /// # Errors
    /// As [`Client::request`].
    pub async fn daemon_status(&self) -> Result<DaemonStatus, ClientError> {
        self.request("daemon.status", &Empty {}).await
    }

    /// `daemon.reload`, on the control socket: the configuration is read again.
    ///
    /// # Errors
    /// As [`Client::request`]; the daemon's answer names what is wrong with which file.
    pub async fn daemon_reload(&self) -> Result<Reloaded, ClientError> {
        self.request("daemon.reload", &Empty {}).await
    }
}
