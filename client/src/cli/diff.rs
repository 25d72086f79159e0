//! A change as people read it: lines that came and went, with some around them, in colours. Whatever the texts hold, none of it acts
//! on a terminal.

use std::time::{Duration, Instant};

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};

use super::plain::plain;
use super::terminal::Style;

/// Lines around each change.
const AROUND: usize = 3;

/// How long lines may be compared; what is not done by then is shown as gone and come again.
const PATIENCE: Duration = Duration::from_millis(500);

/// The lines of a change, all of them that changed. A last line without an end says so.
pub(crate) fn lines(old: &str, new: &str, style: Style) -> Vec<String> {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let deadline = Some(Instant::now() + PATIENCE);
    let operations = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline);
    let mut lines = Vec::new();
    for (number, group) in group_diff_ops(operations, AROUND).iter().enumerate() {
        if number > 0 {
            lines.push(style.dim("..."));
        }
        for operation in group {
            let (_, gone, come) = operation.as_tag_tuple();
            if let DiffOp::Equal { .. } = operation {
                new[come].iter().for_each(|line| push(&mut lines, " ", line, style));
            } else {
                old[gone].iter().for_each(|line| push(&mut lines, "-", line, style));
                new[come].iter().for_each(|line| push(&mut lines, "+", line, style));
            }
        }
    }
    lines
}

fn push(lines: &mut Vec<String>, sign: &str, text: &str, style: Style) {
    let line = format!("{sign}{}", plain(text.strip_suffix('\n').unwrap_or(text)));
    lines.push(match sign {
        "+" => style.green(&line),
        "-" => style.red(&line),
        _ => style.dim(&line),
    });
    if !text.ends_with('\n') {
        lines.push(style.dim("\\ no newline at the end"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_and_went_is_shown_with_lines_around_it() {
        let old = "1\n2\n3\n4\n5\n6\n7\n8\n9\nend";
        let new = old.replace('1', "one").replace("end", "END\n");
        let shown = lines(old, &new, Style::Plain);
        let expected = [
            "-1",
            "+one",
            " 2",
            " 3",
            " 4",
            "...",
            " 7",
            " 8",
            " 9",
            "-end",
            "\\ no newline at the end",
            "+END",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn nothing_of_a_text_acts_on_a_terminal() {
        let shown = lines("", "\u{1b}[2J\r\u{202e}\n", Style::Coloured);
        assert_eq!(shown, ["\u{1b}[32m+\\u{1b}[2J\\r\\u{202e}\u{1b}[0m"]);
    }
}
