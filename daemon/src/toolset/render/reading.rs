//! What was read of a file, in words and as data.
//!
//! Lines of files stand as they are, after their number where they have one; what the tool says stands in lines of its own.

use std::ops::Range;
use std::path::Path;

use brattice_files::read::{Caps, LastLine};
use brattice_files::text::{Encoding, Line, Stop};
use brattice_files::{Reading, Window};
use brattice_protocol::files::{FileRead, TextEncoding};

use super::capped::Capped;
use super::characters::StreamLength;
use super::files::{omission, shown_path};
use super::lines::{count, push_line};
use super::task_words::Said;
use crate::toolset::arguments::LineNumbers;
use crate::toolset::file_rules::Shown;
use crate::toolset::tool::SessionTools;
use crate::toolset::wording::ResultCap;

/// Bytes of a character at most, and as much again: a line that does not fit any more must not leave less than a result may hold.
const BYTES_OF_CHARACTER: usize = 8;

/// How much of a file is read for a result.
pub(crate) fn caps(tools: SessionTools<'_>) -> Caps {
    match (tools.toolset().files.shown, tools.cap()) {
        (Shown::Bare | Shown::Text, ResultCap::Characters(most, _)) => {
            Caps { line_characters: most, bytes: most.saturating_mul(BYTES_OF_CHARACTER) }
        }
        (Shown::Numbered | Shown::Tagged, _) | (_, ResultCap::None) => Caps::default(),
    }
}

/// A window of a file.
pub(crate) fn render_read(
    tools: SessionTools<'_>,
    path: &Path,
    (window, numbers): (Window, LineNumbers),
    reading: &Reading,
) -> Said<FileRead> {
    let shown = tools.toolset().files.shown;
    let (text, extent) = match shown {
        Shown::Numbered => (numbered(window, reading), Extent::whole(reading)),
        Shown::Tagged => (tagged(path, window, reading), Extent::whole(reading)),
        Shown::Bare => {
            let body = Body::of(reading, |number| format!("{number}|"));
            let length = length(window, reading, Numbers::Shown, Ending::Cut);
            body.finish(tools.cap(), notes(shown, window, reading), length)
        }
        Shown::Text => text(tools.cap(), window, numbers, reading),
    };
    Said { text, facts: facts(path, reading, extent) }
}

/// What of the lines that were read is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Extent {
    /// The first and the last line, where there is one.
    lines: Option<[u64; 2]>,
    /// Characters that their ends lack.
    cut: u64,
}

impl Extent {
    /// All of them.
    fn whole(reading: &Reading) -> Self {
        Extent::of(reading.lines.iter().map(|line| (line.number, line.omitted)))
    }

    /// Of lines by their numbers and what each lacks.
    fn of(shown: impl Iterator<Item = (u64, u64)>) -> Self {
        shown.fold(Extent { lines: None, cut: 0 }, |Extent { lines, cut }, (number, omitted)| {
            let first = lines.map_or(number, |[first, _]| first);
            Extent { lines: Some([first, number]), cut: cut + omitted }
        })
    }
}

/// Lines one below the other, of which a cap may leave the beginning.
struct Body<'a> {
    text: String,
    /// Each with the bytes that its own text has in all of it.
    lines: Vec<(&'a Line, Range<usize>)>,
}

impl<'a> Body<'a> {
    /// Each line after what leads to it by its number.
    fn of(reading: &'a Reading, lead: impl Fn(u64) -> String) -> Self {
        let (mut text, mut lines) = (String::new(), Vec::new());
        for line in &reading.lines {
            if !lines.is_empty() {
                text.push('\n');
            }
            text.push_str(&lead(line.number));
            let start = text.len();
            text.push_str(&line.text);
            lines.push((line, start..text.len()));
        }
        Body { text, lines }
    }

    fn finish(
        self,
        cap: ResultCap,
        closing: Vec<String>,
        length: StreamLength,
    ) -> (String, Extent) {
        let capped = Capped { body: self.text, closing };
        let kept = capped.kept(cap);
        let is_whole = kept == capped.body.len();
        // Of a line that is shown at least a character is, or its end.
        let shown = self.lines.iter().take_while(|(_, place)| is_whole || place.start < kept);
        let extent = Extent::of(shown.map(|(line, place)| {
            let rest = line.text.get(kept.saturating_sub(place.start)..).unwrap_or_default();
            (line.number, line.omitted + rest.chars().count() as u64)
        }));
        (capped.finish(cap, length), extent)
    }
}

fn numbered(window: Window, reading: &Reading) -> String {
    let line = |line: &Line| format!("{}|{}{}", line.number, line.text, omission(line.omitted));
    let mut text = lines(reading, line);
    for note in notes(Shown::Numbered, window, reading).iter().chain([&footer(reading)]) {
        push_line(&mut text, note);
    }
    text
}

fn tagged(path: &Path, window: Window, reading: &Reading) -> String {
    let line = |line: &Line| format!("{}: {}{}", line.number, line.text, omission(line.omitted));
    let mut text = format!("<path>{}</path>\n<type>file</type>\n<content>\n", shown_path(path));
    for line in reading.lines.iter().map(line).chain(notes(Shown::Tagged, window, reading)) {
        text.push_str(&format!("{line}\n"));
    }
    text.push_str(&format!("\n{}\n</content>", footer(reading)));
    text
}

/// The text as it is, with the file's last newline where the end is shown.
fn text(
    cap: ResultCap,
    window: Window,
    numbers: LineNumbers,
    reading: &Reading,
) -> (String, Extent) {
    let mut body = Body::of(reading, |number| match numbers {
        LineNumbers::Shown => format!("{number}\t"),
        LineNumbers::Hidden => String::new(),
    });
    let is_whole = reading.stop == Stop::End && reading.lines.iter().all(|line| line.omitted == 0);
    let is_ended = !reading.lines.is_empty() && reading.last_line == LastLine::Ended;
    if is_whole && is_ended {
        body.text.push('\n');
    }
    let ending = match window.last() >= reading.total_lines && is_ended {
        true => Ending::Kept,
        false => Ending::Cut,
    };
    let numbers = match numbers {
        LineNumbers::Shown => Numbers::Shown,
        LineNumbers::Hidden => Numbers::Hidden,
    };
    let closing = notes(Shown::Text, window, reading);
    body.finish(cap, closing, length(window, reading, numbers, ending))
}

fn lines(reading: &Reading, shown: impl Fn(&Line) -> String) -> String {
    reading.lines.iter().map(shown).collect::<Vec<_>>().join("\n")
}

/// Whether each line stands after its number and a sign.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numbers {
    Shown,
    Hidden,
}

/// Whether the last line is shown with its end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Kept,
    Cut,
}

/// Characters that the whole window would have in words, of which only the beginning was read.
fn length(window: Window, reading: &Reading, numbers: Numbers, ending: Ending) -> StreamLength {
    let (first, last) = (window.first(), window.last().min(reading.total_lines));
    let lines = (last + 1).saturating_sub(first);
    let ends = lines.saturating_sub(u64::from(ending == Ending::Cut));
    let numbers = match numbers {
        Numbers::Shown if lines > 0 => lines + digits(last) - digits(first - 1),
        Numbers::Shown | Numbers::Hidden => 0,
    };
    StreamLength::Characters(reading.characters + ends + numbers)
}

/// Digits of all numbers from 1 to this one, as far as they can be counted.
fn digits(last: u64) -> u64 {
    let (mut sum, mut from) = (0_u64, Some(1_u64));
    while let Some(first) = from.filter(|first| *first <= last) {
        // All numbers from here on have one more.
        sum = sum.saturating_add(last - first + 1);
        from = first.checked_mul(10);
    }
    sum
}

fn notes(shown: Shown, window: Window, reading: &Reading) -> Vec<String> {
    let mut notes = Vec::new();
    if reading.total_lines == 0 {
        notes.push("(The file is empty.)".to_owned());
    }
    if reading.lines.is_empty() && window.first() > reading.total_lines.max(1) {
        let lines = count(reading.total_lines, "line", "lines");
        let what = match shown {
            Shown::Numbered | Shown::Tagged => "Offset",
            Shown::Bare | Shown::Text => "Line",
        };
        notes.push(format!("({what} {} is past the end: the file has {lines}.)", window.first()));
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

fn facts(path: &Path, reading: &Reading, Extent { lines, cut }: Extent) -> FileRead {
    FileRead {
        path: path.to_string_lossy().into_owned(),
        lines,
        total: reading.total_lines,
        bytes: reading.total_bytes,
        encoding: match reading.encoding {
            Encoding::Utf8 => TextEncoding::Utf8,
            Encoding::Utf8WithMark => TextEncoding::Utf8WithMark,
            Encoding::Utf16Little => TextEncoding::Utf16Little,
            Encoding::Utf16Big => TextEncoding::Utf16Big,
        },
        cut,
        invalid: reading.invalid,
    }
}

#[cfg(test)]
#[path = "tests/reading.rs"]
mod tests;
