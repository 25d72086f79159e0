//! What was read of a file, and what was done to files, in words and as data.
//!
//! Lines of files stand as they are, after their number; what the tool says stands in lines of its own. Paths are escaped, so that none
//! of them begins a line.

use std::path::Path;

use brattice_files::diff::{Changes, DiffLine, Precision, Sign};
use brattice_files::text::{Encoding, Stop};
use brattice_files::{Apply, Edited, Outcome, Reading, Replacement, Window, Written};
use brattice_protocol::files::{FileChanged, FileOutcome, FileRead, FilesChanged, TextEncoding};

use super::lines::{count, one_line, push_line};
use super::task_words::Said;
use crate::toolset::definition::{Detail, Shown, Toolset};

/// Bytes of all diffs of a result; with the rest it stays below what a result may have.
const DIFF_BYTES: usize = 192 * 1024;

/// A window of a file.
pub(crate) fn render_read(
    toolset: &Toolset,
    path: &Path,
    window: Window,
    reading: &Reading,
) -> Said<FileRead> {
    let shown = toolset.files.shown;
    let mut text = match shown {
        Shown::Numbered => String::new(),
        Shown::Tagged => {
            format!("<path>{}</path>\n<type>file</type>\n<content>\n", shown_path(path))
        }
    };
    for line in &reading.lines {
        text.push_str(&numbered(shown, line.number, &line.text, line.omitted));
        text.push('\n');
    }
    for note in notes(window, reading) {
        push_line(&mut text, &note);
        text.push('\n');
    }
    match shown {
        Shown::Numbered => text.push_str(&footer(reading)),
        Shown::Tagged => text.push_str(&format!("\n{}\n</content>", footer(reading))),
    }
    Said { text, facts: read_facts(path, reading) }
}

fn numbered(shown: Shown, number: u64, text: &str, omitted: u64) -> String {
    let mark = match shown {
        Shown::Numbered => "|",
        Shown::Tagged => ": ",
    };
    format!("{number}{mark}{text}{}", omission(omitted))
}

/// What ends a line that was cut.
pub(super) fn omission(characters: u64) -> String {
    match characters {
        0 => String::new(),
        more => format!("… [{} omitted]", count(more, "character", "characters")),
    }
}

fn notes(window: Window, reading: &Reading) -> Vec<String> {
    let mut notes = Vec::new();
    if reading.total_lines == 0 {
        notes.push("(The file is empty.)".to_owned());
    }
    if reading.lines.is_empty() && window.first() > reading.total_lines.max(1) {
        let lines = count(reading.total_lines, "line", "lines");
        notes.push(format!("(Offset {} is past the end: the file has {lines}.)", window.first()));
    }
    match reading.encoding {
        Encoding::Utf8 | Encoding::Utf8WithMark => {}
        Encoding::Utf16Little | Encoding::Utf16Big => {
            notes.push("[UTF-16 text: it can be read and not edited]".to_owned());
        }
    }
    if reading.invalid > 0 {
        let places = count(reading.invalid, "place", "places");
        notes.push(format!(
            "[no text at {places} of the file, shown as U+FFFD: it cannot be edited]"
        ));
    }
    notes
}

fn footer(reading: &Reading) -> String {
    let total = reading.total_lines;
    match (reading.stop, reading.lines.first(), reading.lines.last()) {
        (Stop::Window | Stop::Bytes, Some(first), Some(last)) if last.number < total => format!(
            "(Showing lines {}-{} of {total}. Use offset={} to continue.)",
            first.number,
            last.number,
            last.number + 1
        ),
        _ => format!("(End of file - total {total} {})", if total == 1 { "line" } else { "lines" }),
    }
}

fn read_facts(path: &Path, reading: &Reading) -> FileRead {
    let (first, last) = (reading.lines.first(), reading.lines.last());
    FileRead {
        path: path.to_string_lossy().into_owned(),
        lines: first.zip(last).map(|(first, last)| [first.number, last.number]),
        total: reading.total_lines,
        bytes: reading.total_bytes,
        encoding: match reading.encoding {
            Encoding::Utf8 => TextEncoding::Utf8,
            Encoding::Utf8WithMark => TextEncoding::Utf8WithMark,
            Encoding::Utf16Little => TextEncoding::Utf16Little,
            Encoding::Utf16Big => TextEncoding::Utf16Big,
        },
        cut: reading.lines.iter().map(|line| line.omitted).sum(),
        invalid: reading.invalid,
    }
}

/// A path on one line, and without signs that reorder it; all others stay, so that it can be used again.
pub(super) fn shown_path(path: &Path) -> String {
    let mut shown = String::new();
    for sign in path.to_string_lossy().chars() {
        match sign {
            '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => shown.extend(sign.escape_debug()),
            sign if sign.is_control() => shown.extend(sign.escape_debug()),
            sign => shown.push(sign),
        }
    }
    shown
}

/// A file that was written.
pub(crate) fn render_written(toolset: &Toolset, written: &Written) -> Said<FilesChanged> {
    let path = shown_path(&written.path);
    let words = match (&written.outcome, toolset.files.detail) {
        (Outcome::Created, _) => format!("created {path}"),
        (Outcome::Unchanged, _) => {
            format!("unchanged {path}: it has this content already, and nothing was written")
        }
        (Outcome::Updated { .. } | Outcome::Planned, Detail::Plain) => format!("updated {path}"),
        (Outcome::Updated { .. } | Outcome::Planned, Detail::Full) => {
            format!("updated {path}{}", amount(written.changes.as_ref()))
        }
    };
    let mut text = words;
    let is_update = matches!(written.outcome, Outcome::Updated { .. });
    if let (true, Detail::Full, Some(changes)) = (is_update, toolset.files.detail, &written.changes)
    {
        push_diff(&mut text, changes, &mut { DIFF_BYTES });
    }
    push_remarks(&mut text, &written.outcome, &written.lost_attributes);
    let files = vec![FileChanged {
        path: written.path.to_string_lossy().into_owned(),
        outcome: outcome(&written.outcome),
        replaced: None,
        added: written.changes.as_ref().map(|changes| changes.added),
        deleted: written.changes.as_ref().map(|changes| changes.deleted),
        first_line: written.changes.as_ref().and_then(|changes| changes.first_line),
    }];
    Said { text, facts: FilesChanged { files, dry_run: false } }
}

/// Files that were edited, or would be.
pub(crate) fn render_edited(
    toolset: &Toolset,
    apply: Apply,
    edited: &[Edited],
) -> Said<FilesChanged> {
    let mut text = String::new();
    let mut room = DIFF_BYTES;
    for file in edited {
        push_line(&mut text, &headline(toolset, apply, file));
        if toolset.files.detail == Detail::Full && file.outcome != Outcome::Unchanged {
            push_diff(&mut text, &file.changes, &mut room);
        }
        push_remarks(&mut text, &file.outcome, &file.lost_attributes);
    }
    if apply == Apply::DryRun {
        push_line(&mut text, "(dry run: nothing was written)");
    }
    let files = edited.iter().map(|file| FileChanged {
        path: file.path.to_string_lossy().into_owned(),
        outcome: outcome(&file.outcome),
        replaced: Some(file.replaced as u64),
        added: Some(file.changes.added),
        deleted: Some(file.changes.deleted),
        first_line: file.changes.first_line,
    });
    Said { text, facts: FilesChanged { files: files.collect(), dry_run: apply == Apply::DryRun } }
}

fn headline(toolset: &Toolset, apply: Apply, file: &Edited) -> String {
    let path = shown_path(&file.path);
    let places = count(file.replaced as u64, "replacement", "replacements");
    if file.outcome == Outcome::Unchanged {
        return format!("unchanged {path}: {places}, and nothing to write");
    }
    let verb = match apply {
        Apply::Write => "edited",
        Apply::DryRun => "would edit",
    };
    match toolset.files.detail {
        Detail::Plain => format!("{verb} {path} ({places})"),
        Detail::Full => format!("{verb} {path}: {places}{}", amount(Some(&file.changes))),
    }
}

fn amount(changes: Option<&Changes>) -> String {
    let Some(changes) = changes else {
        return String::new();
    };
    let from = changes.first_line.map_or_else(String::new, |line| format!(", from line {line} on"));
    format!(" (+{} -{} lines{from})", changes.added, changes.deleted)
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

fn diff_line(DiffLine { sign, number, text, omitted }: &DiffLine) -> String {
    let sign = match sign {
        Sign::Kept => ' ',
        Sign::Added => '+',
        Sign::Deleted => '-',
        Sign::Gap => return "...".to_owned(),
    };
    format!("{sign}{number}|{text}{}", omission(*omitted))
}

fn push_remarks(text: &mut String, outcome: &Outcome, lost: &[String]) {
    if *outcome == (Outcome::Updated { method: Replacement::InPlace }) {
        push_line(text, "[written in place: its other names and its owner stay]");
    }
    if !lost.is_empty() {
        let names: Vec<String> = lost.iter().map(|name| one_line(name)).collect();
        push_line(text, &format!("[attributes that could not be kept: {}]", names.join(", ")));
    }
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
