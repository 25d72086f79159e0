//! What was done to files, in words and as data. Paths are escaped, so that none of them begins a line.

use std::path::Path;

use brattice_files::diff::{Changes, DiffLine, Precision, Sign};
use brattice_files::{Apply, Edited, Outcome, Replacement, Written};
use brattice_protocol::files::{FileChanged, FileOutcome, FilesChanged};

use super::capped::Capped;
use super::characters::StreamLength;
use super::lines::{count, one_line, push_line};
use super::task_words::Said;
use crate::toolset::file_rules::Told;
use crate::toolset::tool::SessionTools;

/// Bytes of all diffs of a result; with the rest it stays below what a result may have.
const DIFF_BYTES: usize = 192 * 1024;

/// What ends a line that was cut.
pub(super) fn omission(characters: u64) -> String {
    match characters {
        0 => String::new(),
        more => format!("… [{} omitted]", count(more, "character", "characters")),
    }
}

/// A path on one line, and without signs that reorder it; all others stay, so that it can be used again.
pub(crate) fn shown_path(path: &Path) -> String {
    shown_name(&path.to_string_lossy())
}

/// The same for a path as a call has it.
pub(super) fn shown_name(path: &str) -> String {
    let mut shown = String::new();
    for sign in path.chars() {
        match sign {
            '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => shown.extend(sign.escape_debug()),
            sign if sign.is_control() => shown.extend(sign.escape_debug()),
            sign => shown.push(sign),
        }
    }
    shown
}

/// A file that was written. `named` is its path as the call has it.
pub(crate) fn render_written(
    tools: SessionTools<'_>,
    named: &str,
    written: &Written,
) -> Said<FilesChanged> {
    let (told, changes) = (tools.toolset().files.told, written.changes.as_ref());
    let mut text = Capped { body: written_words(told, named, written), ..Capped::default() };
    let with_diff = match (told, &written.outcome) {
        (Told::Full, Outcome::Updated { .. }) => true,
        (Told::Headline, Outcome::Created | Outcome::Updated { .. }) => true,
        (Told::Plain | Told::Full | Told::Wrote | Told::Headline, _) => false,
    };
    if let (true, Some(changes)) = (with_diff, changes) {
        push_diff(&mut text.body, changes, &mut { DIFF_BYTES });
    }
    text.closing = remarks(&written.outcome, &written.lost_attributes);
    let files = vec![FileChanged {
        path: written.path.to_string_lossy().into_owned(),
        outcome: outcome(&written.outcome),
        replaced: None,
        added: changes.map(|changes| changes.added),
        deleted: changes.map(|changes| changes.deleted),
        first_line: changes.and_then(|changes| changes.first_line),
    }];
    let text = text.finish(tools.cap(), StreamLength::AsRead);
    Said { text, facts: FilesChanged { files, dry_run: false, escalated_from: None } }
}

fn written_words(told: Told, named: &str, written: &Written) -> String {
    let path = shown_path(&written.path);
    let changes = written.changes.as_ref();
    match (&written.outcome, told) {
        (_, Told::Wrote) => format!("wrote {}", shown_name(named)),
        (Outcome::Created, Told::Plain | Told::Full) => format!("created {path}"),
        (Outcome::Unchanged, Told::Plain | Told::Full) => {
            format!("unchanged {path}: it has this content already, and nothing was written")
        }
        (Outcome::Updated { .. } | Outcome::Planned, Told::Plain) => format!("updated {path}"),
        (Outcome::Updated { .. } | Outcome::Planned, Told::Full) => {
            format!("updated {path}{}", amount(changes))
        }
        (Outcome::Unchanged, Told::Headline) => {
            format!("{} has this content already; nothing was written", shown_name(named))
        }
        (Outcome::Created, Told::Headline) => {
            format!("created {}{}", shown_name(named), in_words(": ", changes))
        }
        (Outcome::Updated { .. } | Outcome::Planned, Told::Headline) => {
            format!("updated {}{}", shown_name(named), in_words(": ", changes))
        }
    }
}

/// Files that were edited, or would be. `named` are their paths as the call has them.
pub(crate) fn render_edited(
    tools: SessionTools<'_>,
    apply: Apply,
    named: &[String],
    edited: &[Edited],
) -> Said<FilesChanged> {
    let told = tools.toolset().files.told;
    let mut text = Capped::default();
    let mut room = DIFF_BYTES;
    for (file, named) in edited.iter().zip(named) {
        push_line(&mut text.body, &headline(told, apply, named, file));
        let with_diff = matches!(told, Told::Full | Told::Headline);
        if with_diff && file.outcome != Outcome::Unchanged {
            push_diff(&mut text.body, &file.changes, &mut room);
        }
        let remarks = remarks(&file.outcome, &file.lost_attributes);
        text.closing.extend(remarks.into_iter().map(|remark| match edited.len() {
            1 => remark,
            _ => format!("{}: {remark}", shown_path(&file.path)),
        }));
    }
    if apply == Apply::DryRun {
        text.closing.push("(dry run: nothing was written)".to_owned());
    }
    let files = edited.iter().map(|file| FileChanged {
        path: file.path.to_string_lossy().into_owned(),
        outcome: outcome(&file.outcome),
        replaced: Some(file.replaced as u64),
        added: Some(file.changes.added),
        deleted: Some(file.changes.deleted),
        first_line: file.changes.first_line,
    });
    let dry_run = apply == Apply::DryRun;
    let facts = FilesChanged { files: files.collect(), dry_run, escalated_from: None };
    Said { text: text.finish(tools.cap(), StreamLength::AsRead), facts }
}

fn headline(told: Told, apply: Apply, named: &str, file: &Edited) -> String {
    let path = match told {
        Told::Plain | Told::Full => shown_path(&file.path),
        Told::Wrote | Told::Headline => shown_name(named),
    };
    let replacements = count(file.replaced as u64, "replacement", "replacements");
    if file.outcome == Outcome::Unchanged {
        return format!("unchanged {path}: {replacements}, and nothing to write");
    }
    let verb = match apply {
        Apply::Write => "edited",
        Apply::DryRun => "would edit",
    };
    match told {
        Told::Plain | Told::Wrote => format!("{verb} {path} ({replacements})"),
        Told::Full => format!("{verb} {path}: {replacements}{}", amount(Some(&file.changes))),
        Told::Headline => {
            let edits = count(file.replaced as u64, "edit", "edits");
            let words = in_words(", ", Some(&file.changes));
            format!("{verb} {path}: {edits}{words}")
        }
    }
}

fn amount(changes: Option<&Changes>) -> String {
    let Some(changes) = changes else {
        return String::new();
    };
    let from = changes.first_line.map_or_else(String::new, |line| format!(", from line {line} on"));
    format!(" (+{} -{} lines{from})", changes.added, changes.deleted)
}

/// The same in words, after what leads to them: `2 lines added, 1 deleted, first changed line 3`.
fn in_words(lead: &str, changes: Option<&Changes>) -> String {
    let Some(changes) = changes else {
        return String::new();
    };
    let added = count(changes.added, "line", "lines");
    let first = changes.first_line;
    let first = first.map_or_else(String::new, |line| format!(", first changed line {line}"));
    format!("{lead}{added} added, {} deleted{first}", changes.deleted)
}

fn push_diff(text: &mut String, changes: &Changes, room: &mut usize) {
    let mut left_out = changes.omitted;
    for line in &changes.lines {
        let shown = diff_line(line);
        match room.checked_sub(shown.len() + 1) {
            Some(rest) => {
                *room = rest;
                push_line(text, &shown);
            }
            None => {
                *room = 0;
                left_out += 1;
            }
        }
    }
    if left_out > 0 {
        let lines = count(left_out, "line", "lines");
        push_line(text, &format!("[diff truncated: {lines} omitted]"));
    }
    if changes.precision == Precision::Coarse {
        push_line(text, "[coarse diff: lines that stayed may be shown as deleted and added]");
    }
}

fn diff_line(DiffLine { sign, number, text, end: _, omitted }: &DiffLine) -> String {
    let sign = match sign {
        Sign::Kept => ' ',
        Sign::Added => '+',
        Sign::Deleted => '-',
        Sign::Gap => return "...".to_owned(),
    };
    format!("{sign}{number}|{text}{}", omission(*omitted))
}

fn remarks(outcome: &Outcome, lost: &[String]) -> Vec<String> {
    let mut remarks = Vec::new();
    if *outcome == (Outcome::Updated { method: Replacement::InPlace }) {
        remarks.push("[written in place: its other names and its owner stay]".to_owned());
    }
    if !lost.is_empty() {
        let names: Vec<String> = lost.iter().map(|name| one_line(name)).collect();
        remarks.push(format!("[attributes that could not be kept: {}]", names.join(", ")));
    }
    remarks
}

const fn outcome(outcome: &Outcome) -> FileOutcome {
    match outcome {
        Outcome::Created => FileOutcome::Created,
        Outcome::Updated { .. } => FileOutcome::Updated,
        Outcome::Unchanged => FileOutcome::Unchanged,
        Outcome::Planned => FileOutcome::Planned,
    }
}

#[cfg(test)]
#[path = "tests/files.rs"]
mod tests;
