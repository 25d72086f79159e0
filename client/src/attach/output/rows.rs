//! Lines as rows of a pane: what does not fit into its width goes on below.

use unicode_width::UnicodeWidthChar as _;

use super::line::{Line, Run};

/// The rows of a line; at least one, and each no wider than `width`, which is 1 at least.
pub(crate) fn wrap(line: &Line, width: usize) -> Vec<Vec<Run>> {
    let (mut rows, mut row, mut used) = (Vec::new(), Vec::<Run>::new(), 0);
    for run in &line.runs {
        let mut text = String::new();
        for sign in run.text.chars() {
            let columns = sign.width().unwrap_or(0);
            if used + columns > width && used > 0 {
                if !text.is_empty() {
                    row.push(Run { text: std::mem::take(&mut text), style: run.style });
                }
                rows.push(std::mem::take(&mut row));
                used = 0;
            }
            used += columns;
            text.push(sign);
        }
        if !text.is_empty() {
            row.push(Run { text, style: run.style });
        }
    }
    rows.push(row);
    rows
}

/// How many rows that are.
pub(super) fn height(line: &Line, width: usize) -> usize {
    let (mut rows, mut used) = (1, 0);
    for sign in line.runs.iter().flat_map(|run| run.text.chars()) {
        let columns = sign.width().unwrap_or(0);
        if used + columns > width && used > 0 {
            (rows, used) = (rows + 1, 0);
        }
        used += columns;
    }
    rows
}

#[cfg(test)]
mod tests {
    use ratatui::style::Style;

    use super::*;

    fn rows(text: &str, width: usize) -> Vec<String> {
        let (line, _) = Line::read(0, text.as_bytes(), Style::new());
        let rows = wrap(&line, width);
        assert_eq!(rows.len(), height(&line, width), "{text:?}");
        rows.iter().map(|row| row.iter().map(|run| run.text.as_str()).collect()).collect()
    }

    #[test]
    fn what_does_not_fit_goes_on_below() {
        let cases: [(&str, usize, &[&str]); 7] = [
            ("", 4, &[""]),
            ("abcd", 4, &["abcd"]),
            ("abcdef", 4, &["abcd", "ef"]),
            ("ab\u{1b}[31mcd\u{1b}[0mef", 3, &["abc", "def"]),
            ("a漢字", 3, &["a漢", "字"]),
            ("ab漢", 3, &["ab", "漢"]),
            ("漢字", 1, &["漢", "字"]),
        ];
        for (text, width, shown) in cases {
            assert_eq!(rows(text, width), shown, "{text:?}");
        }
    }
}
