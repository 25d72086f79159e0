//! What comes from outside, and what is wanted of it, as data.

use std::sync::Arc;

use brattice_protocol::approval::{ApprovalList, ApprovalSettled, RespondParams};
use brattice_protocol::hello::Peer;
use brattice_protocol::question::{QuestionList, QuestionRespond, QuestionSettled};
use brattice_protocol::session::SessionSummary;
use brattice_protocol::task::{KillParams, TaskSummary};
use brattice_protocol::{SessionId, TaskId};

use super::{Asked, AskedId};
use crate::attach::keys::Input;
use crate::attach::output::{Piece, Read};

/// Something that happened.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// At the terminal.
    Input(Input),
    /// It is so late, in milliseconds since 1970.
    Clock(u64),
    /// The daemon told something, or is gone.
    Told(Told),
}

/// What the daemon tells, and what becomes of requests. Failures are in words, for people.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    /// A daemon answers.
    Up(Peer),
    /// None does, or not any more.
    Gone(String),
    /// All sessions, the oldest first.
    Sessions(Vec<SessionSummary>),
    /// The tasks of one, the oldest first.
    Tasks(SessionId, Arc<[TaskSummary]>),
    /// All approvals that are open, the oldest first.
    Approvals(ApprovalList),
    /// All questions and plans that are, likewise.
    Questions(QuestionList),
    /// One more.
    Pending(Asked),
    /// An approval ended.
    Settled(ApprovalSettled),
    /// Questions or a plan did.
    QuestionSettled(QuestionSettled),
    /// An answer did not count.
    NotSettled(AskedId, String),
    /// Whether a kill was taken.
    Killed(TaskId, Result<(), String>),
    /// Something was read, or could not be.
    Read(Read, Result<Piece, String>),
    /// A daemon that was to be started does not serve.
    NotStarted(String),
}

/// What is to be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// Leave.
    Quit,
    /// Stop this program until its shell has it go on.
    Suspend,
    /// Draw everything anew.
    Redraw,
    /// Show what was just asked before any further key counts: what was typed before is no answer to it.
    ShowFirst,
    /// Answer an approval.
    Respond(RespondParams),
    /// Answer questions, or a plan.
    Reply(QuestionRespond),
    /// Stop a task.
    Kill(KillParams),
    /// Start a daemon.
    Start,
}

/// What is to be known all the time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wants {
    /// Whose tasks.
    pub(crate) session: Option<SessionId>,
    /// What of which output.
    pub(crate) read: Option<Read>,
}
