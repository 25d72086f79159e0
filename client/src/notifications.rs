//! What the daemon tells without being asked, as typed notices.
//!
//! Each subscriber reads from one bounded ring. A subscriber that falls behind loses the oldest notices and is told
//! how many; it never holds up the connection, so answers arrive however slow a subscriber is.

use brattice_protocol::Notification;
use brattice_protocol::approval::{ApprovalRequest, ApprovalSettled};
use brattice_protocol::events::{EventNotice, NOTIFICATION};
use brattice_protocol::plan::PlanRequest;
use brattice_protocol::question::{QuestionRequest, QuestionSettled};
use brattice_protocol::session::SessionChanged;
use brattice_protocol::task::{TaskFinished, TaskStarted};
use brattice_protocol::todo::TodoChanged;
use brattice_protocol::tools::{CallFinished, CallOutput, CallStarted, ToolsChanged};
use serde::de::DeserializeOwned;
use tokio::sync::broadcast;

/// Notifications that wait for a slow subscriber; the next one drops the oldest.
pub(crate) const CAPACITY: usize = 256;

/// One thing that the daemon told.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// `call.started`
    CallStarted(CallStarted),
    /// `call.output`, to clients that watch output.
    CallOutput(CallOutput),
    /// `call.finished`
    CallFinished(CallFinished),
    /// `task.started`, to clients that watch tasks.
    TaskStarted(TaskStarted),
    /// `task.finished`, likewise. As large as an outcome is, so it is kept apart.
    TaskFinished(Box<TaskFinished>),
    /// `tools.changed`
    ToolsChanged(ToolsChanged),
    /// `session.changed`
    SessionChanged(SessionChanged),
    /// `approval.pending`, to operators that answer approvals. Kept apart for its size, too.
    ApprovalPending(Box<ApprovalRequest>),
    /// `approval.settled`, to whoever was told of the approval.
    ApprovalSettled(ApprovalSettled),
    /// `question.pending`, to operators that answer questions.
    QuestionPending(Box<QuestionRequest>),
    /// `plan.pending`, to operators that judge plans.
    PlanPending(Box<PlanRequest>),
    /// `question.settled`, to whoever was told of the questions or the plan.
    QuestionSettled(QuestionSettled),
    /// `todo.changed`
    TodoChanged(TodoChanged),
    /// `event`, to operators that watch events.
    Event(EventNotice),
    /// A notification that this version does not know, or whose shape it does not know.
    Other(Notification),
    /// So many notices were dropped here because the subscriber was slow.
    Skipped(u64),
}

impl Notice {
    fn read(notification: Notification) -> Notice {
        fn typed<T: DeserializeOwned>(
            notification: Notification,
            wrap: impl Fn(T) -> Notice,
        ) -> Notice {
            match T::deserialize(&notification.params) {
                Ok(value) => wrap(value),
                Err(_) => Notice::Other(notification),
            }
        }
        match notification.method.as_str() {
            "call.started" => typed(notification, Notice::CallStarted),
            "call.output" => typed(notification, Notice::CallOutput),
            "call.finished" => typed(notification, Notice::CallFinished),
            "task.started" => typed(notification, Notice::TaskStarted),
            "task.finished" => typed(notification, Notice::TaskFinished),
            "tools.changed" => typed(notification, Notice::ToolsChanged),
            "session.changed" => typed(notification, Notice::SessionChanged),
            "approval.pending" => {
                typed(notification, |request| Notice::ApprovalPending(Box::new(request)))
            }
            "approval.settled" => typed(notification, Notice::ApprovalSettled),
            "question.pending" => {
                typed(notification, |request| Notice::QuestionPending(Box::new(request)))
            }
            "plan.pending" => typed(notification, |request| Notice::PlanPending(Box::new(request))),
            "question.settled" => typed(notification, Notice::QuestionSettled),
            "todo.changed" => typed(notification, Notice::TodoChanged),
            NOTIFICATION => typed(notification, Notice::Event),
            _ => Notice::Other(notification),
        }
    }
}

/// A subscription to a connection's notifications, from the moment it was made.
#[derive(Debug)]
pub struct Notifications {
    ring: Option<broadcast::Receiver<Notification>>,
}

impl Notifications {
    pub(crate) fn of(sender: &broadcast::WeakSender<Notification>) -> Self {
        Notifications { ring: sender.upgrade().map(|sender| sender.subscribe()) }
    }

    /// The next notice; `None` once the connection is over and all were read.
    pub async fn next(&mut self) -> Option<Notice> {
        match self.ring.as_mut()?.recv().await {
            Ok(notification) => Some(Notice::read(notification)),
            Err(broadcast::error::RecvError::Lagged(count)) => Some(Notice::Skipped(count)),
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}
