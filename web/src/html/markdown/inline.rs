//! Running text: emphasis, code, links, pictures.

use html5ever::ns;

use super::blocks::linked;
use super::line::{Line, is_unseen};
use super::writer::Writer;
use crate::html::element::{is_block, words};
use crate::html::tree::{Node, NodeId};

/// Words of links that lead to the very place where they stand.
const PERMALINKS: [&str; 5] = ["headerlink", "anchor", "permalink", "anchorjs", "anchorlink"];

impl Writer<'_> {
    /// Writes a node and what is below it as running text.
    pub(super) fn inline(&mut self, id: NodeId, line: &mut Line) {
        if self.reading.leaves_out(id) {
            return;
        }
        if self.enter() {
            match self.tree.node(id) {
                Node::Text(text) => self.push(text, line),
                Node::Fragment => self.inside(id, line),
                Node::Element(..) if self.is_too_deep() => self.push(&self.text(id), line),
                Node::Element(..) => self.inline_element(id, line),
            }
        }
        self.leave();
    }

    /// Text of the page.
    fn push(&mut self, text: &str, line: &mut Line) {
        self.count(text.len());
        line.push(text);
    }

    /// Markdown of ours.
    fn push_raw(&mut self, markdown: &str, line: &mut Line) {
        self.count(markdown.len());
        line.push_raw(markdown);
    }

    /// Writes what is in a node as running text.
    pub(super) fn inside(&mut self, id: NodeId, line: &mut Line) {
        for child in self.children(id) {
            self.inline(child, line);
        }
    }

    /// What is in a node, by itself.
    pub(super) fn line_of(&mut self, id: NodeId) -> Line {
        let mut line = Line::default();
        self.inside(id, &mut line);
        line
    }

    fn inline_element(&mut self, id: NodeId, line: &mut Line) {
        if let Some((&ns!(mathml), "math")) = self.tree.name(id) {
            return self.formula(id, line);
        }
        match self.tree.tag(id).unwrap_or_default() {
            "br" => line.break_line(),
            "b" | "strong" => self.marked("**", id, "**", line),
            "i" | "em" | "dfn" | "var" => self.marked("*", id, "*", line),
            "del" | "s" | "strike" => self.marked("~~", id, "~~", line),
            "sub" => self.marked("<sub>", id, "</sub>", line),
            "sup" => self.marked("<sup>", id, "</sup>", line),
            "q" => self.marked("“", id, "”", line),
            "code" | "kbd" | "samp" | "tt" => self.code_span(id, line),
            "a" => self.link(id, line),
            "img" => self.picture(id, line),
            "input" => self.check_box(id, line),
            tag if is_block(tag) => {
                line.blank();
                self.inside(id, line);
                line.blank();
            }
            _ => self.inside(id, line),
        }
    }

    /// What is marked already is not marked again: pages that close nothing mark all that follows as often as they open.
    fn marked(&mut self, open: &'static str, id: NodeId, close: &str, line: &mut Line) {
        if self.marks.contains(&open) {
            return self.inside(id, line);
        }
        self.marks.push(open);
        let inner = self.line_of(id);
        self.marks.pop();
        line.push_marked(open, &inner, close);
    }

    fn code_span(&mut self, id: NodeId, line: &mut Line) {
        let text: String = self.text(id).chars().filter(|sign| !is_unseen(*sign)).collect();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        if text.is_empty() {
            return line.blank();
        }
        let ticks = "`".repeat(longest_run(&text) + 1);
        let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
        self.push_raw(&format!("{ticks}{pad}{text}{pad}{ticks}"), line);
    }

    fn link(&mut self, id: NodeId, line: &mut Line) {
        let class = self.tree.attribute(id, "class").unwrap_or_default();
        if words(class).any(|word| PERMALINKS.contains(&word.as_str())) {
            return;
        }
        let Some(inner) = self.nested(|writer| writer.line_of(id)) else {
            return self.inside(id, line);
        };
        let address = self.tree.attribute(id, "href").and_then(|href| self.address(href));
        match address {
            // The sign of a link to the heading that it stands in.
            None if matches!(inner.text(), "¶" | "#" | "§" | "🔗") && self.tree.has(id, "href") =>
                {}
            None => line.push_marked("", &inner, ""),
            Some(_) if inner.text().is_empty() => line.blank(),
            Some(to) => {
                let mut told = Line::default();
                self.count(to.len());
                told.push_raw(&linked(inner.text(), &to));
                // Blank space at its ends stays outside.
                line.push_marked("", &inner.around(told), "");
            }
        }
    }

    fn picture(&mut self, id: NodeId, line: &mut Line) {
        let attribute = |name| self.tree.attribute(id, name).unwrap_or_default();
        let mut words = Line::default();
        words.push(attribute("alt"));
        if words.is_empty() {
            return;
        }
        let is_real = |source: &&str| !source.is_empty() && !source.starts_with("data:");
        let source = [attribute("src"), attribute("data-src")].into_iter().find(is_real);
        let address = source.and_then(|source| self.address(source)).unwrap_or_default();
        self.push_raw(&format!("![{}]({address})", words.text()), line);
    }

    fn check_box(&self, id: NodeId, line: &mut Line) {
        if self.tree.attribute(id, "type") == Some("checkbox") {
            line.push_raw(if self.tree.has(id, "checked") { "[x]" } else { "[ ]" });
            line.blank();
        }
    }

    /// A formula as its author typed it, where the page has that.
    fn formula(&mut self, id: NodeId, line: &mut Line) {
        let is_source = |id: &NodeId| {
            let encoding = self.tree.attribute(*id, "encoding").unwrap_or_default();
            self.tree.name(*id).is_some_and(|(_, name)| name == "annotation")
                && encoding.contains("tex")
        };
        let source = self.tree.downwards(id).find(is_source).map(|id| self.text(id));
        let source = source.or_else(|| self.tree.attribute(id, "alttext").map(str::to_owned));
        match source.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" ")) {
            Some(text) if !text.is_empty() => self.push_raw(&format!("${text}$"), line),
            Some(_) | None => self.push(&self.text(id), line),
        }
    }
}

/// The longest run of ticks.
pub(super) fn longest_run(text: &str) -> usize {
    text.split(|sign| sign != '`').map(str::len).max().unwrap_or(0)
}
