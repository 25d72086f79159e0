//! One approval as a pure state machine.
//!
//! ```text
//!                 a person answers
//!          ┌───────────────────────────► allowed once ──────────┐ claim, of the very subject
//!          │                           ► allowed for session ───┴──────────────────────────► used
//!  asked ──┤                           ► rejected
//!          │ a person does not choose, or nobody is left who could ► cancelled
//!          │ its time is over                                      ► expired
//!          └ the call is withdrawn, or its session ends            ► withdrawn
//! ```
//!
//! Nothing leads back, so the first answer settles it and every later one is refused with what it was. What was allowed is
//! claimed once, by the call that asked, for exactly what was asked. Who is asked and told is `desk`'s, waiting is `ask`'s.

use std::time::Instant;

use brattice_protocol::approval::{ApprovalChoice, ApprovalOutcome};
use brattice_protocol::audit::Actor;
use brattice_protocol::{CallId, SessionId};

use super::subject::Subject;

/// Why an approval ended without a person's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// A person was asked and did not choose.
    Dismissed,
    /// Whoever was asked has gone, or could not ask.
    Deserted,
    /// Its time is over.
    Expired,
    /// The call was withdrawn.
    Withdrawn,
    /// The session takes no more commands.
    Closed,
    /// Nobody is to be asked any more.
    Silenced,
    /// The session only plans from now on.
    Planning,
}

impl Ending {
    const fn outcome(self) -> ApprovalOutcome {
        match self {
            Ending::Dismissed | Ending::Deserted => ApprovalOutcome::Cancelled,
            Ending::Expired => ApprovalOutcome::Expired,
            Ending::Withdrawn | Ending::Closed | Ending::Silenced | Ending::Planning => {
                ApprovalOutcome::Withdrawn
            }
        }
    }
}

/// How an approval was settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settlement {
    /// How.
    pub(crate) outcome: ApprovalOutcome,
    /// By whom.
    pub(crate) by: Actor,
    /// Why there was no choice, where there was none.
    pub(crate) ending: Option<Ending>,
    /// What the person said about it.
    pub(crate) reason: Option<String>,
}

/// Where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    Asked,
    Settled(Settlement),
    Used(Settlement),
}

/// Which answers a person may give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choices {
    /// Once or not.
    OnceOrNot,
    /// Also for the session.
    ForSessionToo,
}

impl Choices {
    /// The choices, in the order in which they are offered.
    pub(crate) const fn all(self) -> &'static [ApprovalChoice] {
        use ApprovalChoice::{AllowAlways, AllowOnce, RejectOnce};
        match self {
            Choices::OnceOrNot => &[AllowOnce, RejectOnce],
            Choices::ForSessionToo => &[AllowOnce, AllowAlways, RejectOnce],
        }
    }
}

/// Why an answer does not count.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AnswerRefused {
    /// Somebody was faster, or it ended.
    #[error("it was {} already", .0.outcome.as_str())]
    Settled(Settlement),
    /// It is not one of the offered ones.
    #[error("it does not offer that answer")]
    NotOffered,
    /// Its time is over.
    #[error("its time is over")]
    Late,
}

/// Why what was allowed cannot be claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ClaimRefused {
    /// It was not allowed, or not yet.
    #[error("nobody allowed it")]
    NotAllowed,
    /// It was claimed before.
    #[error("it was used already")]
    Used,
    /// The claim is for something else.
    #[error("it was allowed for something else")]
    Other,
}

/// An approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Approval {
    /// The session and its call that asks.
    asker: (SessionId, CallId),
    subject: Subject,
    choices: Choices,
    expires: Instant,
    state: State,
}

impl Approval {
    /// A question that is about to be asked.
    pub(crate) fn asked(
        asker: (SessionId, CallId),
        subject: Subject,
        choices: Choices,
        expires: Instant,
    ) -> Approval {
        Approval { asker, subject, choices, expires, state: State::Asked }
    }

    /// One that was allowed for the session before, when another call asked the same.
    pub(crate) fn repeated(asker: (SessionId, CallId), subject: Subject, by: Actor) -> Approval {
        let outcome = ApprovalOutcome::AllowedForSession;
        let settlement = Settlement { outcome, by, ending: None, reason: None };
        let (choices, expires) = (Choices::OnceOrNot, Instant::now());
        Approval { asker, subject, choices, expires, state: State::Settled(settlement) }
    }

    /// A person's choice. The first one settles it.
    ///
    /// # Errors
    /// It counts no longer, or never did.
    pub(crate) fn answer(
        &mut self,
        choice: ApprovalChoice,
        by: Actor,
        reason: Option<String>,
        now: Instant,
    ) -> Result<Settlement, AnswerRefused> {
        if let Some(settlement) = self.settlement() {
            return Err(AnswerRefused::Settled(settlement.clone()));
        }
        if !self.choices.all().contains(&choice) {
            return Err(AnswerRefused::NotOffered);
        }
        if now >= self.expires {
            return Err(AnswerRefused::Late);
        }
        let outcome = match choice {
            ApprovalChoice::AllowOnce => ApprovalOutcome::AllowedOnce,
            ApprovalChoice::AllowAlways => ApprovalOutcome::AllowedForSession,
            ApprovalChoice::RejectOnce => ApprovalOutcome::Rejected,
        };
        Ok(self.settle(Settlement { outcome, by, ending: None, reason }))
    }

    /// It ends without a choice. Tells how, unless it was settled before.
    pub(crate) fn end(&mut self, ending: Ending, by: Actor) -> Option<Settlement> {
        if self.settlement().is_some() {
            return None;
        }
        let outcome = ending.outcome();
        Some(self.settle(Settlement { outcome, by, ending: Some(ending), reason: None }))
    }

    /// Uses what was allowed, once, for the very thing that was asked about.
    ///
    /// # Errors
    /// It was not allowed, it was for something else, or it was used before. One that is refused uses nothing.
    pub(crate) fn claim(
        &mut self,
        asker: &(SessionId, CallId),
        subject: &Subject,
    ) -> Result<(), ClaimRefused> {
        let settlement = match &self.state {
            State::Asked => return Err(ClaimRefused::NotAllowed),
            State::Used(_) => return Err(ClaimRefused::Used),
            State::Settled(settlement) if !settlement.outcome.is_allowed() => {
                return Err(ClaimRefused::NotAllowed);
            }
            State::Settled(settlement) => settlement,
        };
        if *asker != self.asker || *subject != self.subject {
            return Err(ClaimRefused::Other);
        }
        self.state = State::Used(settlement.clone());
        Ok(())
    }

    /// How it was settled, if it was.
    pub(crate) fn settlement(&self) -> Option<&Settlement> {
        match &self.state {
            State::Asked => None,
            State::Settled(settlement) | State::Used(settlement) => Some(settlement),
        }
    }

    fn settle(&mut self, settlement: Settlement) -> Settlement {
        self.state = State::Settled(settlement.clone());
        settlement
    }
}

#[cfg(test)]
#[path = "state_tests.rs"]
mod tests;
