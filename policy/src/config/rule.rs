//! `[[rule]]`: a command rule, with examples that are checked when it is read.

use crate::rules::{Rule, Rules};

use super::fault::FaultKind;
use super::file::Source;
use super::reader::{Item, Section};
use super::value::{list, text, word};

/// Reads a rule.
pub(super) fn read(mut section: Section<'_, '_>, source: Source<'_>) -> Option<Rule> {
    let argv =
        section.need("argv", "the first words of commands, such as [\"git\", \"push\"]", argv);
    let decision = section.need("decision", "\"allow\", \"ask\" or \"forbid\"", word);
    let reason = section.need("reason", "a text for whoever is asked or refused", text);
    let examples = section.item("examples");
    let not_examples = section.item("not_examples");
    let origin = format!("{}:{}", source.path, section.line());
    section.end();
    let rule = Rule { argv: argv?, decision: decision?, reason: reason?, origin };
    if let Some(examples) = examples {
        check(&rule, &examples, Example::Meant);
    }
    if let Some(examples) = not_examples {
        check(&rule, &examples, Example::NotMeant);
    }
    Some(rule)
}

fn argv(item: &Item<'_, '_>) -> Option<Vec<String>> {
    const EXPECTED: &str = "a list of at least one word";
    let words = list(text)(item)?;
    if words.is_empty() { item.refuse(EXPECTED) } else { Some(words) }
}

/// What a line is an example of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Example {
    /// The rule matches it.
    Meant,
    /// The rule does not, and is not even near.
    NotMeant,
}

fn check(rule: &Rule, examples: &Item<'_, '_>, wanted: Example) {
    let Some(items) = examples.items("a list of command lines") else { return };
    let alone = Rules::of(vec![rule.clone()]);
    for item in items {
        let Some(line) = text(&item) else { continue };
        let is_matched = alone.decide(&line).rule.is_some();
        let (list, finding) = match (wanted, is_matched) {
            (Example::Meant, true) | (Example::NotMeant, false) => continue,
            (Example::Meant, false) => ("examples", "is not matched by the rule for"),
            (Example::NotMeant, true) => ("not_examples", "is matched by the rule for"),
        };
        let argv = rule.argv.join(" ");
        item.text.fault(item.at(), FaultKind::Example { list, example: line, finding, argv });
    }
}
