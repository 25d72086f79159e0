//! Approvals: a question to a person about one call, who is asked it, and how it is settled.
//!
//! `approval.request` goes to the session's own client, `approval.pending` to operators, and `approval.list` shows what is
//! open; `approval.respond` answers on the control socket. Whoever answers first settles it, and all others are told by
//! `approval.settled`.

use serde::{Deserialize, Serialize};

use brattice_policy::Mode;

use crate::audit::Actor;
use crate::editor::EditorContent;
use crate::outcome::Denial;
use crate::{ApprovalId, CallId, SessionId};

/// Longest reason of an answer, in bytes.
pub const MAX_REASON: usize = 1024;

/// The question: the parameters of `approval.request` and `approval.pending`, and an entry of `approval.list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// Its id, never used again.
    pub id: ApprovalId,
    /// The session.
    pub session: SessionId,
    /// The call that waits for the answer.
    pub call: CallId,
    /// The tool.
    pub tool: String,
    /// One line for people.
    pub title: String,
    /// ACP's kind of tool call: `execute` for `bash`, `edit` for a change of files.
    pub kind: String,
    /// The exact command, where it is one. What the files hold that it runs or reads is not part of the question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What a change does to its files, all of it; to one file in several parts where it is long. It is made to exactly these
    /// files while they are as they are shown, or not at all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub diff: Vec<EditorContent>,
    /// Where it would run, without links.
    pub workdir: String,
    /// The mode without the approval.
    pub from: Mode,
    /// The mode with it; the same where a rule asks, or the session asks before whatever it does.
    pub to: Mode,
    /// Why, in the model's words; null where the mode stays.
    pub justification: Option<String>,
    /// Why a command rule asks about the command, in the words of the configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What the sandbox refused before, which the wider mode would allow.
    pub denials: Vec<Denial>,
    /// The answers to choose from.
    pub options: Vec<ApprovalOption>,
    /// When it ends unanswered, in milliseconds since 1970.
    pub expires: u64,
}

impl ApprovalRequest {
    /// What it is about, in as few words as there are: the command, else the title.
    pub fn subject(&self) -> &str {
        self.command.as_deref().unwrap_or(&self.title)
    }

    /// Whether this answer may be chosen.
    pub fn offers(&self, choice: ApprovalChoice) -> bool {
        self.options.iter().any(|option| option.id == choice)
    }
}

/// An answer to choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalOption {
    /// What an answer names.
    pub id: ApprovalChoice,
    /// What people read.
    pub name: String,
    /// ACP's kind of option.
    pub kind: ApprovalChoice,
}

impl From<ApprovalChoice> for ApprovalOption {
    fn from(choice: ApprovalChoice) -> Self {
        let name = match choice {
            ApprovalChoice::AllowOnce => "Allow once",
            ApprovalChoice::AllowAlways => {
                "Allow this exact command in this folder for the session"
            }
            ApprovalChoice::RejectOnce => "Reject",
        };
        ApprovalOption { id: choice, name: name.to_owned(), kind: choice }
    }
}

impl ApprovalOption {
    /// The option for a change of files.
    pub fn of_change(choice: ApprovalChoice) -> Self {
        let option = ApprovalOption::from(choice);
        match choice {
            ApprovalChoice::AllowAlways => ApprovalOption {
                name: "Allow this exact change for the session".to_owned(),
                ..option
            },
            ApprovalChoice::AllowOnce | ApprovalChoice::RejectOnce => option,
        }
    }
}

/// A person's choice. Options bear ACP's names of their kinds as their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalChoice {
    /// This call may.
    AllowOnce,
    /// So may every later one of this session with the same command or change, folder and mode.
    AllowAlways,
    /// It may not.
    RejectOnce,
}

/// The answer to `approval.request`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
pub enum ApprovalAnswer {
    /// A person chose.
    Selected {
        /// What.
        option: ApprovalChoice,
        /// Why, for the model; with a rejection.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A person was asked and did not choose.
    Cancelled,
}

/// A call that was not waited for needs this approval: once it was given, the same call runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRequired {
    /// The question, which stays open.
    pub id: ApprovalId,
    /// What a person runs to allow it.
    pub command: String,
    /// When it ends unanswered, in milliseconds since 1970.
    pub expires: u64,
}

impl From<&ApprovalRequest> for ApprovalRequired {
    fn from(request: &ApprovalRequest) -> Self {
        let command = format!("brattice approve {}", request.id);
        ApprovalRequired { id: request.id.clone(), command, expires: request.expires }
    }
}

/// Parameters of `approval.respond`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RespondParams {
    /// The approval.
    pub id: ApprovalId,
    /// The answer.
    pub option: ApprovalChoice,
    /// Why, for the model; with a rejection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The result of `approval.list`, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalList {
    /// Those that wait for an answer.
    pub approvals: Vec<ApprovalRequest>,
    /// How many more there are that did not fit into the answer.
    #[serde(default)]
    pub omitted: usize,
}

/// Notification `approval.settled`, and the result of `approval.respond`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalSettled {
    /// The approval.
    pub id: ApprovalId,
    /// Its session.
    pub session: SessionId,
    /// The call that waited.
    pub call: CallId,
    /// How.
    pub outcome: ApprovalOutcome,
    /// By whom.
    pub by: Actor,
}

/// How an approval ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalOutcome {
    /// The one call may run.
    AllowedOnce,
    /// It may, and so may later ones like it.
    AllowedForSession,
    /// A person said no.
    Rejected,
    /// A person was asked and did not choose, or nobody is left who could.
    Cancelled,
    /// Nobody answered in time.
    Expired,
    /// The call was withdrawn, or its session ends.
    Withdrawn,
}

impl ApprovalOutcome {
    /// In words.
    pub const fn as_str(self) -> &'static str {
        match self {
            ApprovalOutcome::AllowedOnce => "allowed once",
            ApprovalOutcome::AllowedForSession => "allowed for the session",
            ApprovalOutcome::Rejected => "rejected",
            ApprovalOutcome::Cancelled => "cancelled",
            ApprovalOutcome::Expired => "expired",
            ApprovalOutcome::Withdrawn => "withdrawn",
        }
    }

    /// Whether the call may run.
    pub const fn is_allowed(self) -> bool {
        matches!(self, ApprovalOutcome::AllowedOnce | ApprovalOutcome::AllowedForSession)
    }
}
