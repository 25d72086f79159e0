//! The part of a text that a command printed: both streams, decoded, the one after the other.
//!
//! It stands first and unchanged; a newline is added only where a line has to follow and the output does not end with
//! one. Without anything to follow, the text ends as the output does.

use super::decode::Excerpt;
use super::lines::push_line;
use super::terminal::clean;
use crate::toolset::definition::{OutputRules, Terminal, Toolset};
use crate::toolset::wording::Layout;

/// Both streams of a command, as the toolset lays them out.
pub(super) fn laid_out(toolset: &Toolset, stdout: &Excerpt, stderr: &Excerpt) -> String {
    match toolset.command.layout {
        Layout::Headed => printed(&toolset.output, stdout, stderr),
        Layout::Trimmed => {
            let mut text = shown(&toolset.output, stdout).trim_end().to_owned();
            let errors = shown(&toolset.output, stderr);
            if !errors.trim_end().is_empty() {
                push_line(&mut text, errors.trim_end());
            }
            text
        }
    }
}

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
