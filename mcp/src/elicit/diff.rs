//! A change as lines that came and went, with some around them. Pure but for its deadline.

use std::time::Instant;

use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};

use super::plain;

/// Lines around each change.
const AROUND: usize = 3;

/// The lines of a change, all of them that changed, escaped. A last line without an end says so. What is not compared by the
/// deadline is shown as gone and come again.
pub(super) fn lines(old: &str, new: &str, deadline: Instant) -> Vec<String> {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let operations = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(deadline));
    let mut lines = Vec::new();
    for (number, group) in group_diff_ops(operations, AROUND).iter().enumerate() {
        if number > 0 {
            lines.push("...".to_owned());
        }
        for operation in group {
            let (_, gone, come) = operation.as_tag_tuple();
            match operation {
                DiffOp::Equal { .. } => push(&mut lines, ' ', &new[come]),
                _ => {
                    push(&mut lines, '-', &old[gone]);
                    push(&mut lines, '+', &new[come]);
                }
            }
        }
    }
    lines
}

fn push(lines: &mut Vec<String>, sign: char, texts: &[&str]) {
    for text in texts {
        lines.push(format!("{sign}{}", plain(text.strip_suffix('\n').unwrap_or(text))));
        if !text.ends_with('\n') {
            lines.push("\\ no newline at the end".to_owned());
        }
    }
}
