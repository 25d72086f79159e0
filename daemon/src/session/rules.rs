//! Command rules: what becomes of a command before it starts.
//!
//! A call's command that a rule asks about is asked about by the tools (`tools`), which come back with a person's word; what
//! starts without one is refused here, whoever starts it.

use brattice_policy::Approval;
use brattice_policy::rules::{Decision, Verdict};
use brattice_protocol::CallId;
use brattice_protocol::audit::Event;

use crate::exec::spec::Program;

use super::command::{Authority, StartError};
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

/// What the rules say of a command that they do not forbid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ruling {
    /// It runs.
    Runs,
    /// It runs once a person has allowed it.
    Asks {
        /// Why, in the words of the configuration.
        reason: String,
    },
}

impl Session {
    /// What the rules say of a call's command, before anybody is asked about it.
    ///
    /// # Errors
    /// It is forbidden, or nobody may be asked.
    pub(crate) fn ruling(&self, line: &str, call: &CallId) -> Result<Ruling, StartError> {
        let program = Program::Bash(line.to_owned());
        let found = self.look_up(&program);
        let error = match (found.verdict.decision, self.approval()) {
            (Decision::Allow, _) => return Ok(Ruling::Runs),
            (Decision::Ask, Approval::Ask) => {
                return Ok(Ruling::Asks { reason: found.verdict.reason });
            }
            (Decision::Ask, Approval::Never) => found.unasked(Approval::Never),
            (Decision::Forbid, _) => found.forbidden(),
        };
        Err(self.keep_out(&program, Some(call), found.place, error))
    }

    /// Whether a command may start, by the command rules of its session. The one place where that is decided: what a rule
    /// asks about starts by a person's word only.
    pub(super) fn permit(
        &self,
        program: &Program,
        call: Option<&CallId>,
        authority: &Authority,
    ) -> Result<(), StartError> {
        let found = self.look_up(program);
        let error = match (found.verdict.decision, authority) {
            (Decision::Allow, _) | (Decision::Ask, Authority::Permit { .. }) => return Ok(()),
            (Decision::Ask, Authority::Session) => found.unasked(self.approval()),
            (Decision::Forbid, _) => found.forbidden(),
        };
        Err(self.keep_out(program, call, found.place, error))
    }

    fn look_up(&self, program: &Program) -> Found {
        let rules = &self.grounds.rules;
        let verdict = match program {
            Program::Bash(line) | Program::Login(line) => rules.decide(line),
            Program::Argv(words) => rules.decide_words(words),
        };
        let rule = verdict.rule.and_then(|number| rules.as_slice().get(number));
        Found { place: rule.map(|rule| rule.origin.clone()), verdict }
    }

    /// Writes down that it does not start.
    fn keep_out(
        &self,
        program: &Program,
        call: Option<&CallId>,
        rule: Option<String>,
        error: RuleError,
    ) -> StartError {
        let refused = Event::CommandRefused {
            session: self.id().clone(),
            call: call.cloned(),
            command: told(program, call),
            rule,
            reason: error.to_string(),
        };
        match self.audit().record_before(&refused) {
            Ok(()) => error.into(),
            Err(unrecorded) => unrecorded.into(),
        }
    }
}

/// What the rules say of a command, and where the rule stands.
struct Found {
    verdict: Verdict,
    place: Option<String>,
}

impl Found {
    fn forbidden(&self) -> RuleError {
        let Verdict { reason, words, .. } = &self.verdict;
        let place = self.place.clone().unwrap_or_default();
        RuleError::Forbidden { words: words.join(" "), reason: reason.clone(), place }
    }

    fn unasked(&self, approval: Approval) -> RuleError {
        let why_not = match approval {
            Approval::Never => "approval prompts are disabled",
            Approval::Ask => "only tool calls are asked about",
        };
        RuleError::Unasked { reason: self.verdict.reason.clone(), why_not }
    }
}
