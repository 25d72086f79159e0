//! One rule.

use crate::named::named;

use super::shell::{FoundCommand, Word};

named! {
    /// What becomes of a command. The order is that of strictness, and the strictest rule that matches wins.
    pub enum Decision {
        /// It runs, as it would without the rule; what a stricter rule says still holds.
        Allow = "allow",
        /// Somebody is asked first.
        Ask = "ask",
        /// It is refused.
        Forbid = "forbid",
    }
}

/// A rule: the beginning of a command's words, and what becomes of such a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The words; never empty. The first one is compared by its base name.
    pub argv: Vec<String>,
    /// What becomes of the command.
    pub decision: Decision,
    /// Why, for whoever is asked or refused.
    pub reason: String,
    /// Where the rule stands, as `file:line`.
    pub origin: String,
}

/// How a command meets a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Match {
    /// It begins with the rule's words.
    Yes,
    /// It may: a word is not known before it runs.
    Perhaps,
    /// It does not.
    No,
}

impl Rule {
    /// How this command meets the rule.
    pub(super) fn matches(&self, command: &FoundCommand) -> Match {
        let mut found = Match::Yes;
        for (place, wanted) in self.argv.iter().enumerate() {
            let word = command.words.get(place);
            found = match (place, word) {
                (0, Some(word)) if word.base_name() == Some(base_name(wanted)) => found,
                // One whose name is not known is looked at as a whole.
                (0, _) => return Match::No,
                (_, None) if command.is_open => return Match::Perhaps,
                (_, None) => return Match::No,
                (_, Some(Word { splits: true, .. })) => return Match::Perhaps,
                (_, Some(word)) => match word.literal() {
                    Some(text) if text == wanted => found,
                    Some(_) => return Match::No,
                    None => Match::Perhaps,
                },
            };
        }
        found
    }
}

fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}
