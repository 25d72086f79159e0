//! How things are shown: as text or data, with colours on a terminal only, in columns.

use std::io::{self, IsTerminal as _};

use super::arguments::Global;
use super::plain::plain;

/// Whom the output is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// People.
    Text,
    /// Programs (`--json`).
    Json,
}

impl Format {
    /// The format that the flags ask for.
    pub(crate) fn of(global: &Global) -> Self {
        if global.json { Format::Json } else { Format::Text }
    }
}

/// Whether text is coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// Never: a pipe, a file, `NO_COLOR` or a dumb terminal.
    Plain,
    /// With escape sequences.
    Coloured,
}

impl Style {
    /// The style of what goes to standard output.
    pub(crate) fn of_stdout() -> Self {
        Style::when(io::stdout().is_terminal())
    }

    /// The style of what goes to standard error.
    pub(crate) fn of_stderr() -> Self {
        Style::when(io::stderr().is_terminal())
    }

    fn when(terminal: bool) -> Self {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        if terminal && !refused { Style::Coloured } else { Style::Plain }
    }

    /// What matters most.
    pub(crate) fn bold(self, text: &str) -> String {
        self.wrap("1", text)
    }

    /// What stands behind the rest.
    pub(crate) fn dim(self, text: &str) -> String {
        self.wrap("2", text)
    }

    /// What failed or is missing.
    pub(crate) fn red(self, text: &str) -> String {
        self.wrap("31", text)
    }

    /// What is in order.
    pub(crate) fn green(self, text: &str) -> String {
        self.wrap("32", text)
    }

    /// What is not wholly in order.
    pub(crate) fn yellow(self, text: &str) -> String {
        self.wrap("33", text)
    }

    fn wrap(self, code: &str, text: &str) -> String {
        match self {
            Style::Plain => text.to_owned(),
            Style::Coloured => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }
}

/// Rows in columns, two spaces apart; the last column is not padded. Cells may hold any text.
pub(crate) fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let rows: Vec<[String; N]> =
        rows.iter().map(|row| std::array::from_fn(|column| plain(&row[column]))).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: [usize; N] = std::array::from_fn(|column| width(column).unwrap_or(0));
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            line.push_str(&format!("{cell:width$}  "));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cell() {
        let rows = [["a", "bbb", "c"], ["aaaa", "b", ""]].map(|row| row.map(str::to_owned));
        assert_eq!(columns(&rows), "a     bbb  c\naaaa  b\n");
        let hostile = [["\u{1b}[2J", "x"]].map(|row| row.map(str::to_owned));
        assert_eq!(columns(&hostile), "\\u{1b}[2J  x\n");
    }

    #[test]
    fn plain_text_has_no_escape_sequences() {
        assert_eq!((Style::Plain.red("x"), Style::Coloured.red("x").len()), ("x".to_owned(), 10));
    }
}
