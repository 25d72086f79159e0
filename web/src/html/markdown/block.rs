//! Blocks: headings, paragraphs, lists, quotations, terms with what they mean.

use super::blocks::{Blocks, Kind, Spacing, hung, prefixed};
use super::writer::Writer;
use crate::html::element::{heading_level, is_block};
use crate::html::tree::{Node, NodeId};

impl Writer<'_> {
    /// Writes a node and what is below it.
    pub(super) fn block(&mut self, id: NodeId, out: &mut Blocks) {
        if self.reading.leaves_out(id) {
            return;
        }
        let tag = self.tree.tag(id).unwrap_or_default();
        let is_inline = match self.tree.node(id) {
            Node::Text(_) => true,
            Node::Fragment => false,
            Node::Element(..) => !is_block(tag) && !self.reading.holds_block(id),
        };
        if is_inline || self.is_too_deep() {
            return self.inline(id, &mut out.line);
        }
        // A link is written for each paragraph in it.
        self.count(out.link.as_ref().map_or(0, String::len));
        if self.enter() {
            out.end_paragraph();
            self.block_element(tag, id, out);
            out.end_paragraph();
        }
        self.leave();
    }

    /// Writes what is in a node.
    pub(super) fn blocks(&mut self, id: NodeId, out: &mut Blocks) {
        for child in self.children(id) {
            self.block(child, out);
        }
    }

    fn block_element(&mut self, tag: &str, id: NodeId, out: &mut Blocks) {
        let block = match tag {
            "pre" => self.listing(id).map(|text| (text, Kind::Other)),
            "hr" => Some(("---".to_owned(), Kind::Other)),
            "table" => self.table(id).map(|text| (text, Kind::Other)),
            "blockquote" => self.quotation(id).map(|text| (text, Kind::Other)),
            "ul" | "ol" | "menu" | "dir" => self.list(tag, id).map(|text| (text, Kind::List)),
            "dl" => self.terms(id).map(|text| (text, Kind::Other)),
            "a" => return self.linked_blocks(id, out),
            "summary" => Some((self.heading("**", id, "**", out), Kind::Other)),
            _ => heading_level(tag).map(|level| {
                let marks = format!("{} ", "#".repeat(level));
                (self.heading(&marks, id, "", out), Kind::Other)
            }),
        };
        match block {
            Some((text, kind)) => {
                self.count(text.len());
                out.push(&text, kind);
            }
            // Also what a list or a table is that stands in too many others, or that is none.
            None => self.blocks(id, out),
        }
    }

    fn heading(&mut self, open: &str, id: NodeId, close: &str, out: &Blocks) -> String {
        let line = self.line_of(id);
        let text = line.text().replace("\\\n", " ");
        let text = match &out.link {
            _ if text.is_empty() => return String::new(),
            Some(link) => super::blocks::linked(&text, link),
            None => text,
        };
        format!("{open}{text}{close}")
    }

    /// Headings and paragraphs in a link are links.
    fn linked_blocks(&mut self, id: NodeId, out: &mut Blocks) {
        let address = self.tree.attribute(id, "href").and_then(|href| self.address(href));
        let before = std::mem::replace(&mut out.link, address);
        self.blocks(id, out);
        out.end_paragraph();
        out.link = before;
    }

    fn quotation(&mut self, id: NodeId) -> Option<String> {
        let text = self.nested_blocks(id, Spacing::Apart)?;
        Some(if text.is_empty() { text } else { prefixed("> ", &text) })
    }

    fn nested_blocks(&mut self, id: NodeId, spacing: Spacing) -> Option<String> {
        self.nested(|writer| {
            let mut inner = Blocks::new(spacing);
            writer.blocks(id, &mut inner);
            inner.finish()
        })
    }

    fn list(&mut self, tag: &str, id: NodeId) -> Option<String> {
        let start = self.tree.attribute(id, "start").and_then(|start| start.trim().parse().ok());
        let mut number: i64 = start.unwrap_or(1);
        let mut items: Vec<String> = Vec::new();
        for child in self.children(id) {
            // Lists that stand beside the items of another belong to the one before.
            let is_item = self.tree.tag(child) == Some("li");
            let text = self.nested(|writer| {
                let mut inner = Blocks::new(Spacing::Close);
                match is_item {
                    true => writer.blocks(child, &mut inner),
                    false => writer.block(child, &mut inner),
                }
                inner.finish()
            })?;
            let mark = match tag {
                "ol" => format!("{number}. "),
                _ => "- ".to_owned(),
            };
            match (is_item, text.as_str()) {
                (_, "") => {}
                (true, text) => items.push(hung(&mark, text)),
                (false, text) => match items.last_mut() {
                    Some(last) => last.push_str(&format!("\n{}", prefixed("  ", text))),
                    None => items.push(text.to_owned()),
                },
            }
            number = number.saturating_add(i64::from(is_item));
        }
        let mut text = String::new();
        for (place, item) in items.iter().enumerate() {
            if place > 0 {
                let is_long = item.contains("\n\n") || items[place - 1].contains("\n\n");
                text.push_str(if is_long { "\n\n" } else { "\n" });
            }
            text.push_str(item);
        }
        Some(text)
    }

    /// Terms, each above what it means. Both may stand in groups.
    fn terms(&mut self, id: NodeId) -> Option<String> {
        let mut text = String::new();
        let mut was_term = false;
        let mut rest: Vec<NodeId> = self.children(id);
        rest.reverse();
        while let Some(child) = rest.pop() {
            match self.tree.tag(child) {
                Some("dt") => {
                    let line = self.line_of(child);
                    if !line.text().is_empty() {
                        let gap = if was_term { "\n" } else { "\n\n" };
                        text.push_str(if text.is_empty() { "" } else { gap });
                        text.push_str(&line.paragraph());
                        was_term = true;
                    }
                }
                Some("div") => rest.extend(self.children(child).into_iter().rev()),
                _ => {
                    let inner = self.nested_blocks(child, Spacing::Apart)?;
                    if !inner.is_empty() {
                        text.push_str(if text.is_empty() { "" } else { "\n" });
                        text.push_str(&hung(": ", &inner));
                        was_term = false;
                    }
                }
            }
        }
        Some(text)
    }
}
