//! The part of a text that a command printed: both streams, decoded, the one after the other.
//!
//! It stands first and unchanged; a newline is added only where a line has to follow and the output does not end with
//! one. Without anything to follow, the text ends as the output does.

use super::decode::Excerpt;
use super::lines::push_line;
use super::terminal::clean;
use crate::toolset::definition::{OutputRules, Terminal};

/// Standard output, then, if there is any, standard error under a line of its own.
pub(super) fn printed(rules: &OutputRules, stdout: &Excerpt, stderr: &Excerpt) -> String {
    let mut text = shown(rules, stdout);
    let errors = shown(rules, stderr);
    if !errors.is_empty() {
        push_line(&mut text, "[stderr]");
        text.push('\n');
        text.push_str(&errors);
    }
    text
}

/// What is shown of a stream, as the toolset shows it.
pub(super) fn shown(rules: &OutputRules, excerpt: &Excerpt) -> String {
    match rules.terminal {
        Terminal::Cleaned => clean(excerpt.context(), excerpt.shown()),
        Terminal::Verbatim => excerpt.shown().to_owned(),
    }
}
