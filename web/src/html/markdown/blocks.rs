//! Blocks of Markdown as they follow one another: paragraphs, and what stands between them.

use super::line::Line;

/// How blocks stand below one another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spacing {
    /// With a blank line between any two.
    Apart,
    /// A list right below the text before it, as in an item of another list.
    Close,
}

/// What a block is, as far as that decides about blank lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    List,
    Other,
}

/// Blocks, the last of which may still grow.
#[derive(Debug)]
pub(super) struct Blocks {
    text: String,
    /// The paragraph that grows.
    pub(super) line: Line,
    /// Where everything in here leads, when it stands in a link.
    pub(super) link: Option<String>,
    spacing: Spacing,
}

impl Blocks {
    pub(super) fn new(spacing: Spacing) -> Self {
        Blocks { text: String::new(), line: Line::default(), link: None, spacing }
    }

    /// Ends the paragraph that grows.
    pub(super) fn end_paragraph(&mut self) {
        let line = std::mem::take(&mut self.line);
        if line.text().is_empty() {
            return;
        }
        let text = match &self.link {
            Some(link) => linked(line.text(), link),
            None => line.paragraph(),
        };
        self.push(&text, Kind::Other);
    }

    /// Adds a block.
    pub(super) fn push(&mut self, block: &str, kind: Kind) {
        self.end_paragraph();
        if block.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            let is_close = self.spacing == Spacing::Close && kind == Kind::List;
            self.text.push_str(if is_close { "\n" } else { "\n\n" });
        }
        self.text.push_str(block);
    }

    /// All of it.
    pub(super) fn finish(mut self) -> String {
        self.end_paragraph();
        self.text
    }
}

/// A link; one whose words are its address is shorter.
pub(super) fn linked(text: &str, to: &str) -> String {
    let text = text.replace("\\\n", " ");
    match text == to || to.strip_prefix("mailto:") == Some(text.as_str()) {
        true => format!("<{text}>"),
        false => format!("[{text}]({to})"),
    }
}

/// Lines below the first one moved to the right, and a mark before the first.
pub(super) fn hung(mark: &str, text: &str) -> String {
    let indent = " ".repeat(mark.len());
    let mut hung = String::with_capacity(text.len() + mark.len());
    for (number, line) in text.split('\n').enumerate() {
        if number > 0 {
            hung.push('\n');
        }
        match (number, line) {
            (0, _) => hung.push_str(mark),
            (_, "") => {}
            _ => hung.push_str(&indent),
        }
        hung.push_str(line);
    }
    hung
}

/// A mark before every line.
pub(super) fn prefixed(mark: &str, text: &str) -> String {
    let lines = text.split('\n').map(|line| format!("{mark}{line}").trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}
