//! What was not allowed, in words: a rejection as the toolset tells it, and why files were not changed.

use super::escalate::NotEscalated;
use crate::approval::NotAllowed;
use crate::fault::chain;
use crate::toolset::render::{Escalation, Refusal, hint};
use crate::toolset::{Rejection, Toolset};

/// What a person said no to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rejected {
    /// A command.
    Command,
    /// A file's whole content.
    Write,
    /// Edits.
    Edit,
}

impl Rejected {
    const fn as_str(self) -> &'static str {
        match self {
            Rejected::Command => "command",
            Rejected::Write => "write",
            Rejected::Edit => "edit",
        }
    }
}

/// A rejection where the toolset has a line of its own for it.
pub(super) fn rejection_words(
    toolset: &Toolset,
    what: Rejected,
    why: &NotAllowed,
) -> Option<String> {
    let (NotAllowed::Rejected(reason) | NotAllowed::RejectedBefore(reason)) = why else {
        return None;
    };
    match toolset.rejection {
        Rejection::Sentence => None,
        Rejection::Bracketed => {
            let reason = reason.as_ref().map_or_else(String::new, |reason| format!("\n{reason}"));
            Some(format!("[{} rejected by the user]{reason}", what.as_str()))
        }
    }
}

/// Why a change was not made.
pub(super) fn change_words(toolset: &Toolset, what: Rejected, fault: &NotEscalated) -> String {
    let (NotEscalated::NotAllowed(why) | NotEscalated::NotAllowedByRule { why, .. }) = fault else {
        return refusal(fault);
    };
    rejection_words(toolset, what, why).unwrap_or_else(|| not_allowed(why))
}

fn refusal(fault: &NotEscalated) -> String {
    match fault {
        NotEscalated::BeyondCeiling { to, ceiling } => format!(
            "{to} is beyond this machine's ceiling, {ceiling}, and nobody is asked for it; nothing was written"
        ),
        NotEscalated::Planning { to } => format!(
            "plan mode is on: nothing is written in {to} before the plan is approved, and nobody is asked for it; nothing was \
             written\n{}",
            hint(Escalation::Final(Refusal::PlanMode))
        ),
        NotEscalated::Ungrounded { to } => format!(
            "the sandbox has refused nothing at this path that {to} would allow: make the change first, without \
             `sandbox_permissions`, and ask once it was denied; nothing was written"
        ),
        NotEscalated::NotShown(_) => {
            format!("{fault}: make it in smaller parts, or with bash; nothing was written")
        }
        NotEscalated::Arguments(_)
        | NotEscalated::NoFolder { .. }
        | NotEscalated::NotAllowed(_)
        | NotEscalated::NotAllowedByRule { .. }
        | NotEscalated::NotStarted(_) => chain(fault),
    }
}

fn not_allowed(why: &NotAllowed) -> String {
    let because =
        |reason: &Option<String>| reason.as_ref().map_or_else(String::new, |it| format!(" ({it})"));
    let why = match why {
        NotAllowed::Unattended => {
            "this needs an approval and nobody is there to ask: the session's client answers no approvals, and no operator \
             is attached"
                .to_owned()
        }
        NotAllowed::Required(required, left) => format!(
            "approval_required: nobody has allowed this change yet, and approval {} stays open for {} s; to allow it, a person \
             runs `{}`; then send this very call again, with the same arguments",
            required.id,
            left.as_secs(),
            required.command
        ),
        NotAllowed::Taken => {
            "what was allowed was used by an equal call already, or could not be written down: send the call again to ask anew"
                .to_owned()
        }
        NotAllowed::Full { open, whose } => format!(
            "{open} approvals of {whose} wait for an answer already, and more are not asked"
        ),
        NotAllowed::TooLong { bytes } => format!(
            "this needs an approval, and a change with a diff of {bytes} bytes is too long for a person to be shown: make it \
             in smaller parts"
        ),
        NotAllowed::Unrecorded(error) => return chain(error),
        NotAllowed::Rejected(reason) => format!("the user rejected this change{}", because(reason)),
        NotAllowed::RejectedBefore(reason) => format!(
            "the user rejected this very change before{}, and is not asked again",
            because(reason)
        ),
        NotAllowed::Dismissed => {
            "the user dismissed the approval of this change without an answer".to_owned()
        }
        NotAllowed::Deserted => {
            "whoever was asked to approve this change has gone without an answer".to_owned()
        }
        NotAllowed::Expired(after) => {
            format!("nobody answered the approval of this change within {} s", after.as_secs_f64())
        }
        NotAllowed::Withdrawn => {
            "the call was cancelled before its approval was answered".to_owned()
        }
        NotAllowed::Planning => "plan mode began before the approval was answered".to_owned(),
        NotAllowed::Closed => {
            "the session or the daemon ended before the approval was answered".to_owned()
        }
        NotAllowed::Silenced => {
            "approval prompts were disabled before the approval was answered".to_owned()
        }
    };
    format!("{why}; nothing was written")
}

#[cfg(test)]
mod tests {
    use brattice_policy::Mode;
    use brattice_protocol::session::ToolsetName;

    use super::*;

    #[test]
    fn a_rejection_is_told_as_the_toolset_has_it() {
        let told =
            |name, what, why| change_words(Toolset::of(name), what, &NotEscalated::NotAllowed(why));
        let reason = || Some("not there".to_owned());
        assert_eq!(
            told(ToolsetName::Standard, Rejected::Write, NotAllowed::Rejected(reason())),
            "the user rejected this change (not there); nothing was written"
        );
        let minimal = [
            (Rejected::Write, NotAllowed::Rejected(None), "[write rejected by the user]"),
            (Rejected::Edit, NotAllowed::RejectedBefore(None), "[edit rejected by the user]"),
            (
                Rejected::Edit,
                NotAllowed::Rejected(reason()),
                "[edit rejected by the user]\nnot there",
            ),
        ];
        for (what, why, words) in minimal {
            assert_eq!(told(ToolsetName::Minimal, what, why), words);
        }
    }

    #[test]
    fn no_refusal_of_a_change_speaks_of_a_command() {
        let to = Mode::DangerFullAccess;
        let faults = [
            NotEscalated::BeyondCeiling { to, ceiling: Mode::WorkspaceWrite },
            NotEscalated::Ungrounded { to },
            NotEscalated::NotShown("/f".to_owned()),
            NotEscalated::NotAllowed(NotAllowed::Unattended),
            NotEscalated::NotAllowed(NotAllowed::Full { open: 8, whose: "this session" }),
            NotEscalated::NotAllowed(NotAllowed::TooLong { bytes: 9 }),
            NotEscalated::NotAllowed(NotAllowed::Dismissed),
            NotEscalated::NotAllowed(NotAllowed::Deserted),
            NotEscalated::NotAllowed(NotAllowed::Expired(std::time::Duration::from_secs(1))),
            NotEscalated::NotAllowed(NotAllowed::Withdrawn),
            NotEscalated::NotAllowed(NotAllowed::Closed),
            NotEscalated::NotAllowed(NotAllowed::Silenced),
        ];
        for fault in faults {
            let words = change_words(Toolset::of(ToolsetName::Standard), Rejected::Write, &fault);
            assert!(words.ends_with("; nothing was written"), "{words}");
            assert!(!words.contains("command") && !words.contains("ran"), "{words}");
        }
    }
}
