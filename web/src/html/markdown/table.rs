//! Tables of data. One that only arranges a page, or that holds what no cell can, is read as what it holds.

use super::blocks::{Blocks, Spacing};
use super::writer::Writer;
use crate::html::element::heading_level;
use crate::html::tree::NodeId;

/// Columns of a table.
const MOST_COLUMNS: usize = 64;

/// Rows that a cell may reach over.
const MOST_SPAN: usize = 1000;

/// Bytes of a text that is repeated in each of them.
const MOST_REPEATED: usize = 200;

/// A cell that reaches into rows below it.
#[derive(Clone, Debug)]
struct Reaching {
    rows: usize,
    text: String,
}

impl Writer<'_> {
    /// A table; none where it is none of data.
    pub(super) fn table(&mut self, id: NodeId) -> Option<String> {
        let rows = self.rows(id);
        if !self.is_data(id, &rows) {
            return None;
        }
        let cells = self.nested(|writer| writer.cells(&rows))?;
        let width = cells.iter().map(Vec::len).max().unwrap_or(0).min(MOST_COLUMNS);
        let has_head = rows.first().is_some_and(|row| self.is_head(*row));
        let mut lines = Vec::with_capacity(cells.len() + 2);
        let row = |cells: &[String]| {
            let padded = cells.iter().map(String::as_str).chain(std::iter::repeat("")).take(width);
            let cells: String = padded.map(|cell| format!(" {cell} |")).collect();
            format!("|{cells}")
        };
        let (head, body) = match cells.split_first().filter(|_| has_head) {
            Some((head, body)) => (head.clone(), body),
            None => (Vec::new(), cells.as_slice()),
        };
        lines.extend([row(&head), format!("|{}", " --- |".repeat(width))]);
        lines.extend(body.iter().map(|cells| row(cells)));
        let caption =
            self.children(id).into_iter().find(|id| self.tree.tag(*id) == Some("caption"));
        let caption =
            caption.map(|id| self.line_of(id).paragraph()).filter(|text| !text.is_empty());
        let caption = caption.map(|text| format!("{text}\n\n")).unwrap_or_default();
        Some(format!("{caption}{}", lines.join("\n")))
    }

    /// The rows of this very table.
    fn rows(&self, id: NodeId) -> Vec<NodeId> {
        let is_group =
            |id: &NodeId| matches!(self.tree.tag(*id), Some("thead" | "tbody" | "tfoot"));
        let parts = self.children(id).into_iter().flat_map(|part| match is_group(&part) {
            true => self.children(part),
            false => vec![part],
        });
        parts.filter(|id| self.tree.tag(*id) == Some("tr")).collect()
    }

    fn row_cells(&self, row: NodeId) -> Vec<NodeId> {
        let mut cells = self.children(row);
        cells.retain(|id| matches!(self.tree.tag(*id), Some("td" | "th")));
        cells
    }

    fn is_head(&self, row: NodeId) -> bool {
        let in_head = self.tree.parent(row).is_some_and(|id| self.tree.tag(id) == Some("thead"));
        in_head || self.row_cells(row).iter().all(|id| self.tree.tag(*id) == Some("th"))
    }

    fn is_data(&self, id: NodeId, rows: &[NodeId]) -> bool {
        if matches!(self.tree.attribute(id, "role"), Some("presentation" | "none")) {
            return false;
        }
        let cells: Vec<Vec<NodeId>> = rows.iter().map(|row| self.row_cells(*row)).collect();
        let is_wide = cells.iter().any(|cells| cells.len() > 1);
        let is_headed = cells.iter().flatten().any(|id| self.tree.tag(*id) == Some("th"));
        let holds = |is_one: &dyn Fn(&str) -> bool| {
            let below = self.tree.downwards_unless(id, |id| self.reading.leaves_out(id)).skip(1);
            below.filter_map(|id| self.tree.tag(id)).any(is_one)
        };
        let is_large = |tag: &str| tag == "pre" || tag == "article" || heading_level(tag).is_some();
        let arranges =
            || holds(&|tag| tag == "table") || cells.iter().flatten().any(|id| self.is_rich(*id));
        is_wide && !holds(&is_large) && (is_headed || !arranges())
    }

    /// Whether a cell holds more than one paragraph, list or rule, which no datum does.
    fn is_rich(&self, cell: NodeId) -> bool {
        let is_part = |id: &NodeId| {
            matches!(
                self.tree.tag(*id),
                Some("p" | "ul" | "ol" | "dl" | "blockquote" | "center" | "form" | "hr")
            )
        };
        let below = self.tree.downwards_unless(cell, |id| self.reading.leaves_out(id));
        below.filter(is_part).nth(1).is_some()
    }

    fn cells(&mut self, rows: &[NodeId]) -> Vec<Vec<String>> {
        let mut table = Vec::with_capacity(rows.len());
        let mut reaching: Vec<Option<Reaching>> = Vec::new();
        for row in rows {
            if self.is_over() {
                break;
            }
            let mut line: Vec<String> = Vec::new();
            for cell in self.row_cells(*row) {
                take_reaching(&mut line, &mut reaching);
                if line.len() >= MOST_COLUMNS {
                    break;
                }
                let text = self.cell(cell);
                let span = |name| {
                    let span =
                        self.tree.attribute(cell, name).and_then(|text| text.trim().parse().ok());
                    span.unwrap_or(1_usize)
                };
                let wide = span("colspan").clamp(1, MOST_COLUMNS - line.len());
                let high = span("rowspan").clamp(1, MOST_SPAN);
                let columns = line.len()..line.len() + wide;
                line.push(text);
                line.resize(columns.end, String::new());
                if high > 1 {
                    reaching.resize(reaching.len().max(columns.end), None);
                    for column in columns {
                        let is_short = line[column].len() <= MOST_REPEATED;
                        let text = if is_short { line[column].clone() } else { String::new() };
                        reaching[column] = Some(Reaching { rows: high - 1, text });
                    }
                }
            }
            take_reaching(&mut line, &mut reaching);
            self.count(line.iter().map(String::len).sum());
            table.push(line);
        }
        table
    }

    /// A cell in one line.
    fn cell(&mut self, id: NodeId) -> String {
        let holds_table = |id: &NodeId| self.tree.tag(*id) == Some("table");
        let text = if self.tree.downwards(id).any(|id| holds_table(&id)) {
            self.line_of(id).text().to_owned()
        } else {
            let mut blocks = Blocks::new(Spacing::Close);
            self.blocks(id, &mut blocks);
            blocks.finish()
        };
        let text = text.replace("\\\n", "\n");
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        let text =
            lines.map(|line| line.replace('|', "\\|").trim_end().to_owned()).collect::<Vec<_>>();
        text.join("<br>")
    }
}

/// Repeats, from where a row is, the cells that reach into it.
fn take_reaching(line: &mut Vec<String>, reaching: &mut [Option<Reaching>]) {
    while let Some(slot) = reaching.get_mut(line.len()) {
        let Some(cell) = slot else { return };
        line.push(cell.text.clone());
        cell.rows -= 1;
        if cell.rows == 0 {
            *slot = None;
        }
    }
}
