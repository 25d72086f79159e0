//! Why a question was not asked or not allowed, in words for the model: each way in its own.

use std::time::Duration;

use super::ask::MOST_SHOWN;
use super::desk::NotOpened;
use crate::audit::AuditError;

/// Why a call may not do what it asked for. Its words are the result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotAllowed {
    /// Nobody could be asked.
    #[error(
        "this needs an approval and nobody is there to ask: the session's client answers no approvals, and no operator \
         is attached; nothing ran"
    )]
    Unattended,
    /// Too many questions are open.
    #[error(
        "{open} approvals of {whose} wait for an answer already, and more are not asked; nothing ran"
    )]
    Full {
        /// How many.
        open: usize,
        /// Of whom.
        whose: &'static str,
    },
    /// It could not be shown whole.
    #[error(
        "this needs an approval, and a command of {bytes} bytes is too long for a person to be shown ({MOST_SHOWN} at \
         most): put the long part into a file; nothing ran"
    )]
    TooLong {
        /// Its length.
        bytes: usize,
    },
    /// The question or its answer cannot be written down.
    #[error(transparent)]
    Unrecorded(#[from] AuditError),
    /// A person said no.
    #[error("the user rejected this command{}; nothing ran", because(.0))]
    Rejected(Option<String>),
    /// A person said no to the same before.
    #[error(
        "the user rejected this very command before{}, and is not asked again; nothing ran",
        because(.0)
    )]
    RejectedBefore(Option<String>),
    /// A person closed the question.
    #[error("the user dismissed the approval of this command without an answer; nothing ran")]
    Dismissed,
    /// Who was asked is gone.
    #[error("whoever was asked to approve this command has gone without an answer; nothing ran")]
    Deserted,
    /// Nobody answered in time.
    #[error("nobody answered the approval of this command within {} s; nothing ran", .0.as_secs_f64())]
    Expired(Duration),
    /// The call was withdrawn.
    #[error("the call was cancelled before its approval was answered; nothing ran")]
    Withdrawn,
    /// The session takes no more commands.
    #[error("the session or the daemon ended before the approval was answered; nothing ran")]
    Closed,
    /// Approvals were switched off meanwhile.
    #[error("approval prompts were disabled before the approval was answered; nothing ran")]
    Silenced,
    /// Plan mode came on meanwhile.
    #[error("plan mode began before the approval was answered; nothing ran")]
    Planning,
}

impl NotAllowed {
    /// Whether the reason may pass by itself.
    pub(crate) const fn passes(&self) -> bool {
        match self {
            NotAllowed::Unattended
            | NotAllowed::Full { .. }
            | NotAllowed::Unrecorded(_)
            | NotAllowed::Closed => true,
            NotAllowed::TooLong { .. }
            | NotAllowed::Rejected(_)
            | NotAllowed::RejectedBefore(_)
            | NotAllowed::Dismissed
            | NotAllowed::Deserted
            | NotAllowed::Expired(_)
            | NotAllowed::Withdrawn
            | NotAllowed::Silenced
            | NotAllowed::Planning => false,
        }
    }
}

/// What a person said, after the fact that they said no.
fn because(reason: &Option<String>) -> String {
    reason.as_ref().map_or_else(String::new, |reason| format!(" ({reason})"))
}

impl From<NotOpened> for NotAllowed {
    fn from(fault: NotOpened) -> Self {
        match fault {
            NotOpened::Unattended => NotAllowed::Unattended,
            NotOpened::SessionFull(open) => NotAllowed::Full { open, whose: "this session" },
            NotOpened::Full(open) => NotAllowed::Full { open, whose: "all sessions" },
        }
    }
}
