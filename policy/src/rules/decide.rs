//! From a command to what becomes of it.

use super::rule::{Decision, Match, Rule};
use super::shell::{FoundCommand, Script, Unclear};
use super::wrapper;

/// The rules that hold, from every file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rules(Vec<Rule>);

/// What becomes of a command, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// What becomes of it.
    pub decision: Decision,
    /// The rule that decides, by its number; none where no rule is the ground.
    pub rule: Option<usize>,
    /// Why; empty where no rule matches.
    pub reason: String,
    /// The words of the command that the rule is about.
    pub words: Vec<String>,
}

impl Verdict {
    /// No rule says anything.
    fn unmatched() -> Self {
        Verdict { decision: Decision::Allow, rule: None, reason: String::new(), words: Vec::new() }
    }
}

impl Rules {
    /// These rules, in their order.
    pub fn of(rules: Vec<Rule>) -> Self {
        Rules(rules)
    }

    /// The rules.
    pub fn as_slice(&self) -> &[Rule] {
        &self.0
    }

    /// What becomes of a line for bash.
    pub fn decide(&self, line: &str) -> Verdict {
        if self.0.is_empty() {
            return Verdict::unmatched();
        }
        self.judge(&Script::of(line))
    }

    /// What becomes of a program with its arguments, which no shell reads.
    pub fn decide_words(&self, words: &[String]) -> Verdict {
        if self.0.is_empty() {
            return Verdict::unmatched();
        }
        self.judge(&wrapper::script_of_words(words))
    }

    fn judge(&self, script: &Script) -> Verdict {
        let certain = self.strictest(script, Match::Yes);
        let needs_asking = || self.0.iter().any(|rule| rule.decision > Decision::Allow);
        match certain {
            Some(verdict) if verdict.decision > Decision::Allow => verdict,
            certain if !needs_asking() => certain.unwrap_or_else(Verdict::unmatched),
            certain => match (self.strictest(script, Match::Perhaps), script.unclear) {
                (Some(perhaps), _) if perhaps.decision > Decision::Allow => Verdict {
                    decision: Decision::Ask,
                    reason: format!("this may be what a rule is about: {}", perhaps.reason),
                    ..perhaps
                },
                (_, Some(unclear)) => Verdict {
                    decision: Decision::Ask,
                    reason: unclear_reason(unclear),
                    ..Verdict::unmatched()
                },
                (_, None) => certain.unwrap_or_else(Verdict::unmatched),
            },
        }
    }

    /// The strictest rule that a command meets in this way; the first of those.
    fn strictest(&self, script: &Script, wanted: Match) -> Option<Verdict> {
        let mut strictest: Option<(usize, &Rule, &FoundCommand)> = None;
        for (number, rule) in self.0.iter().enumerate() {
            if strictest.is_some_and(|(_, best, _)| best.decision >= rule.decision) {
                continue;
            }
            let met = script.commands.iter().find(|command| rule.matches(command) == wanted);
            if let Some(command) = met {
                strictest = Some((number, rule, command));
            }
        }
        strictest.map(|(number, rule, command)| Verdict {
            decision: rule.decision,
            rule: Some(number),
            reason: rule.reason.clone(),
            words: command.words.iter().take(rule.argv.len()).map(|word| word.told()).collect(),
        })
    }
}

fn unclear_reason(unclear: Unclear) -> String {
    format!("command rules cannot be checked: {unclear}")
}
