//! Listings: their text as it stands, and the language that the page names.

use super::inline::longest_run;
use super::line::is_unseen;
use super::writer::Writer;
use crate::html::tree::{Node, NodeId};

/// How many elements around a listing may name its language.
const AROUND: usize = 4;

/// What stands before a language in the name of a class.
const PREFIXES: [&str; 5] =
    ["language-", "lang-", "highlight-source-", "highlight-text-", "highlight-"];

/// Names with these prefixes that are no languages.
const NO_LANGUAGES: [&str; 6] = ["none", "default", "plaintext", "text", "block", "wrapper"];

impl Writer<'_> {
    /// A listing between fences; none where it has no text.
    pub(super) fn listing(&self, id: NodeId) -> Option<String> {
        let text = self.verbatim(id);
        let text = text.trim_end();
        let text = text.trim_start_matches('\n');
        if text.is_empty() {
            return Some(String::new());
        }
        let fence = "`".repeat(longest_run(text).max(2) + 1);
        let language = self.language(id).unwrap_or_default();
        Some(format!("{fence}{language}\n{text}\n{fence}"))
    }

    /// The text with its blank space. Elements that begin a line do so here, too.
    fn verbatim(&self, id: NodeId) -> String {
        let mut text = String::new();
        let mut ends: Vec<NodeId> = Vec::new();
        let begin = |text: &mut String| {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
        };
        for node in self.tree.downwards_unless(id, |id| self.reading.leaves_out(id)) {
            while let Some(line) = ends.last() {
                if self.tree.upwards(node).take(64).any(|above| above == *line) {
                    break;
                }
                begin(&mut text);
                ends.pop();
            }
            match (self.tree.node(node), self.tree.tag(node)) {
                (Node::Text(own), _) => {
                    let plain = own.chars().filter(|sign| !is_unseen(*sign));
                    text.extend(plain.map(|sign| if sign == '\u{a0}' { ' ' } else { sign }));
                }
                (_, Some("br")) => text.push('\n'),
                (_, Some("div" | "p" | "li" | "tr")) => {
                    begin(&mut text);
                    ends.push(node);
                }
                _ => {}
            }
        }
        text
    }

    fn language(&self, id: NodeId) -> Option<String> {
        let is_code = |id: &NodeId| self.tree.tag(*id) == Some("code");
        let code = self.tree.children(id).find(is_code);
        let around = self.tree.upwards(id).take(AROUND);
        code.into_iter().chain(around).find_map(|id| self.named_language(id))
    }

    fn named_language(&self, id: NodeId) -> Option<String> {
        let attribute = |name| self.tree.attribute(id, name);
        let own = attribute("data-lang").or_else(|| attribute("data-language"));
        let class = attribute("class").unwrap_or_default();
        let by_prefix = class.split_ascii_whitespace().find_map(|name| {
            let rest = PREFIXES.iter().find_map(|prefix| name.strip_prefix(prefix))?;
            (!NO_LANGUAGES.contains(&rest)).then_some(rest)
        });
        let by_brush =
            || class.split_once("brush:").and_then(|(_, rest)| rest.split_whitespace().next());
        let language = own.or(by_prefix).or_else(by_brush)?.trim_end_matches([';', ',']);
        let is_fit = |sign: char| sign.is_ascii_alphanumeric() || "+-#._".contains(sign);
        let language = language.to_ascii_lowercase();
        (!language.is_empty() && language.len() <= 24 && language.chars().all(is_fit))
            .then_some(language)
    }
}
