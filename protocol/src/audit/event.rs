//! What the log tells of.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use brattice_policy::{Approval, Denial, Mode, Network};

use super::detail::{Actor, Change, CommandText, DaemonEnd, DenialCounts, TornTail};
use super::{Digest, FileNumber};
use crate::approval::ApprovalOutcome;
use crate::hello::Role;
use crate::outcome::Cause;
use crate::question::{Answer, QuestionOutcome};
use crate::session::ToolsetName;
use crate::tools::CallStatus;
use crate::{ApprovalId, CallId, QuestionId, SessionId, TaskId};

/// An event, told by its name in `event` and its own fields beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A daemon serves.
    DaemonStarted {
        /// Its version.
        version: String,
        /// Its process.
        pid: u32,
        /// Its user.
        uid: u32,
    },
    /// The daemon ends. One that started and of which this is missing was killed, or its last lines were lost.
    DaemonStopped {
        /// How.
        end: DaemonEnd,
    },
    /// A configuration was read.
    ConfigurationLoaded {
        /// Its file.
        path: String,
        /// Of the file's bytes.
        sha256: Digest,
    },
    /// A configuration was to be read again and is faulty: the one before it holds on.
    ConfigurationRefused {
        /// By whom it was asked for.
        by: Actor,
        /// What is wrong, with its file and place.
        reason: String,
    },
    /// Somebody connected and was not let in.
    PeerRefused {
        /// To whose socket.
        socket: Role,
        /// The process, where the kernel says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pid: Option<u32>,
        /// Its user, likewise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uid: Option<u32>,
        /// Why.
        reason: String,
    },
    /// A session was opened.
    SessionOpened {
        /// The session.
        session: SessionId,
        /// By whom.
        by: Actor,
        /// The name for people, if it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        label: Option<String>,
        /// The canonical workspace.
        workspace: String,
        /// Its other writable roots.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        writable: Vec<String>,
        /// Its mode.
        mode: Mode,
        /// Whether its calls may ask a person.
        #[serde(default)]
        approval: Approval,
        /// Whether it only plans at first.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        plan: bool,
        /// Its network setting.
        network: Network,
        /// Its toolset.
        toolset: ToolsetName,
    },
    /// A session whose client had gone was taken over.
    SessionResumed {
        /// The session.
        session: SessionId,
        /// By whom.
        by: Actor,
    },
    /// Commands that start from now on have another mode.
    SessionUpdated {
        /// The session.
        session: SessionId,
        /// By whom.
        by: Actor,
        /// The mode.
        mode: Mode,
        /// Whether its calls may ask a person, where that changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approval: Option<Approval>,
        /// Whether it only plans, where that changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan: Option<bool>,
    },
    /// A session is no more.
    SessionClosed {
        /// The session.
        session: SessionId,
        /// By whom; the daemon itself closes those that nobody resumes in time.
        by: Actor,
        /// Why, in words, where that is not plain.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A session's supervisor died, and how its tasks ended cannot be known.
    SessionLost {
        /// The session.
        session: SessionId,
        /// What is known of it, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A daemon took over a session of the daemon before it.
    SessionRestored {
        /// The session.
        session: SessionId,
        /// Its tasks that run.
        running: Vec<TaskId>,
    },
    /// A tool is called.
    Call {
        /// The session.
        session: SessionId,
        /// The call.
        call: CallId,
        /// The tool.
        tool: String,
        /// Its arguments, through [`redact`](super::redact()).
        arguments: Value,
    },
    /// A call has its result.
    CallFinished {
        /// The session.
        session: SessionId,
        /// The call.
        call: CallId,
        /// ACP's status.
        status: CallStatus,
        /// Why its command ended, where it had one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<Cause>,
        /// The command's exit code, where there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
    },
    /// A call needed an approval, for a wider mode or by a rule, and was refused before anybody was asked.
    EscalationRefused {
        /// The session.
        session: SessionId,
        /// The call, which has the command and the justification.
        call: CallId,
        /// The session's mode.
        from: Mode,
        /// The mode that was asked for; the same where a rule asks.
        to: Mode,
        /// Why it was refused, in words.
        reason: String,
    },
    /// A person is asked about a call, whose line has the command and the justification.
    ApprovalAsked {
        /// The session.
        session: SessionId,
        /// The call.
        call: CallId,
        /// The question.
        approval: ApprovalId,
        /// Where the command would run.
        workdir: String,
        /// The mode without the approval.
        from: Mode,
        /// The mode with it.
        to: Mode,
        /// How many recorded denials it stands on.
        denials: usize,
    },
    /// It was answered, or ended without an answer.
    ApprovalSettled {
        /// The session.
        session: SessionId,
        /// The call.
        call: CallId,
        /// The question.
        approval: ApprovalId,
        /// How.
        outcome: ApprovalOutcome,
        /// By whom.
        by: Actor,
        /// Why, in words, where it was said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A call may do what was allowed for its session before.
    ApprovalReused {
        /// The session.
        session: SessionId,
        /// The call.
        call: CallId,
        /// The question that was answered so.
        approval: ApprovalId,
        /// The session's mode.
        from: Mode,
        /// The mode of this one command.
        to: Mode,
    },
    /// A person is asked the questions of a call, whose line has them.
    QuestionAsked {
        /// The session.
        session: SessionId,
        /// The call.
        call: CallId,
        /// What an answer names.
        question: QuestionId,
        /// How many there are.
        questions: usize,
    },
    /// A person is asked about the plan of a call, whose line has it.
    PlanAsked {
        /// The session.
        session: SessionId,
        /// The call.
        call: CallId,
        /// What a decision names.
        question: QuestionId,
    },
    /// Questions were answered or a plan was judged, or it ended without either.
    QuestionSettled {
        /// The session.
        session: SessionId,
        /// The call.
        call: CallId,
        /// The question, or the plan.
        question: QuestionId,
        /// How.
        outcome: QuestionOutcome,
        /// By whom.
        by: Actor,
        /// The answers, as they were given.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        answers: Vec<Answer>,
        /// What the person said about a plan.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        feedback: Option<String>,
    },
    /// A command runs.
    TaskStarted {
        /// The session.
        session: SessionId,
        /// The task.
        task: TaskId,
        /// The call that started it; none where `task.start` did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
        /// What it runs. Whole where there is no call; else it may be cut, for the call's line has it whole.
        command: CommandText,
        /// Where.
        cwd: String,
        /// The mode that really applies.
        mode: Mode,
        /// Whether it outlives its call and the daemon.
        background: bool,
    },
    /// A command rule kept a command from starting.
    CommandRefused {
        /// The session.
        session: SessionId,
        /// The call that asked for it; none where `task.start` did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<CallId>,
        /// What was to run.
        command: CommandText,
        /// Where the rule stands, as `file:line`; none where the command cannot be checked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
        /// Why, in words.
        reason: String,
    },
    /// Nothing of a command is left.
    TaskFinished {
        /// The session.
        session: SessionId,
        /// The task.
        task: TaskId,
        /// Why it ended.
        cause: Cause,
        /// Its exit code, where there was one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// The name of the signal that ended it, where one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<String>,
        /// Why, in words, where the cause alone does not say it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
        /// What it was denied, in numbers; absent where nobody counted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        denials: Option<DenialCounts>,
        /// What git runs by itself and was changed meanwhile.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        git_changes: Vec<String>,
    },
    /// The sandbox refused something to a command. Told when it first happens; how often it did is told with the task's end.
    Denial {
        /// The session.
        session: SessionId,
        /// The task.
        task: TaskId,
        /// The record's number in its session. One that a daemon had no time to say that it told is told once more.
        number: u64,
        /// What was refused.
        #[serde(flatten)]
        denial: Denial,
    },
    /// The sandbox refused something to a call that works on files.
    CallDenial {
        /// The session.
        session: SessionId,
        /// The call.
        call: CallId,
        /// What was refused.
        #[serde(flatten)]
        denial: Denial,
    },
    /// Somebody asked for a command's end.
    Kill {
        /// The session.
        session: SessionId,
        /// The task.
        task: TaskId,
        /// Who.
        by: Actor,
        /// Why, in words, where it was said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// The log could not be written for a while. What happened then, and could not be refused, is missing in it.
    Gap {
        /// How many events are missing.
        lost: u64,
        /// When the first of them happened, in milliseconds since 1970.
        since: u64,
        /// Why it could not be written.
        reason: String,
    },
    /// Files before this line's own end in a part of a line: a crash, or a machine without power. The bytes stay where they
    /// are, outside of the chain, and this line accounts for them.
    Recovered {
        /// What there is, in the order of the files.
        tails: Vec<TornTail>,
    },
    /// The oldest files were removed for their age.
    Pruned {
        /// Which.
        files: Vec<FileNumber>,
        /// The number of the last line in them.
        through: u64,
        /// The SHA-256 of that line, which the first line that is left has for its `prev`.
        sha256: Digest,
    },
    /// Somebody else changed the file that the daemon was writing to, or was about to go on with. It left that file as
    /// it is.
    LogChanged {
        /// The file.
        file: FileNumber,
        /// What was found.
        found: Change,
    },
}

impl Event {
    /// Whether a line tells of the log itself.
    pub const fn is_about_the_log(&self) -> bool {
        matches!(
            self,
            Event::Gap { .. }
                | Event::Recovered { .. }
                | Event::Pruned { .. }
                | Event::LogChanged { .. }
        )
    }
}
