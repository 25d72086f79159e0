//! Command rules: what becomes of a command before it starts.

use brattice_policy::Approval;
use brattice_policy::rules::{Decision, Verdict};
use brattice_protocol::CallId;
use brattice_protocol::audit::Event;

use crate::exec::spec::Program;

use super::command::StartError;
use super::session::Session;
use super::start::told;

/// Why a command rule kept a command from starting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RuleError {
    /// It is forbidden.
    #[error("command refused by a rule: {reason} (the rule for {words:?}, {place})")]
    Forbidden { words: String, reason: String, place: String },
    /// Somebody would have to be asked, and nobody is.
    #[error("command refused: {reason}, which needs an approval, and {why_not}")]
    Unasked { reason: String, why_not: &'static str },
}

impl Session {
    /// Whether a command may start, by the command rules of its session. The one place where that is decided.
    pub(super) fn permit(
        &self,
        program: &Program,
        call: Option<&CallId>,
    ) -> Result<(), StartError> {
        let rules = &self.grounds.rules;
        let verdict = match program {
            Program::Bash(line) => rules.decide(line),
            Program::Argv(words) => rules.decide_words(words),
        };
        let rule = verdict.rule.and_then(|number| rules.as_slice().get(number));
        let place = rule.map(|rule| rule.origin.clone());
        let Some(error) = self.refusal(verdict, place.clone()) else { return Ok(()) };
        self.audit().record_before(&Event::CommandRefused {
            session: self.id().clone(),
            call: call.cloned(),
            command: told(program, call),
            rule: place,
            reason: error.to_string(),
        })?;
        Err(error.into())
    }

    /// What a verdict comes to: only what needs no approval runs.
    fn refusal(&self, verdict: Verdict, place: Option<String>) -> Option<RuleError> {
        let Verdict { decision, reason, words, .. } = verdict;
        match decision {
            Decision::Allow => None,
            Decision::Ask => Some(RuleError::Unasked { reason, why_not: why_not(self.approval()) }),
            Decision::Forbid => Some(RuleError::Forbidden {
                words: words.join(" "),
                reason,
                place: place.unwrap_or_default(),
            }),
        }
    }
}

/// Why nobody is asked.
fn why_not(approval: Approval) -> &'static str {
    match approval {
        Approval::Never => "approval prompts are disabled",
        Approval::Ask => "nobody can be asked",
    }
}
