//! The line on a terminal that tells how a task is doing while it is waited for.

use std::convert::Infallible;
use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use brattice_protocol::bytes;
use brattice_protocol::task::TaskSummary;
use brattice_protocol::tools::Stream;

use super::words::{cpu, elapsed, size, state};
use crate::cli::Failure;
use crate::cli::duration::now;
use crate::cli::plain::plain;
use crate::commands::follow::Task;

/// Between two looks, and so between two drawings.
const PAUSE: Duration = Duration::from_millis(250);

/// How much of a stream's end is looked through for its last line.
const TAIL: usize = 4 << 10;

/// How far before the end of the output the first look begins.
const BEFORE: u64 = 64 << 10;

/// Columns of a terminal that does not say how many it has.
const COLUMNS: usize = 80;

/// Shows the line for as long as this is waited for; nothing where standard error is no terminal that can redraw it.
pub(super) async fn show(task: &Task) -> Infallible {
    let is_dumb = std::env::var_os("TERM").is_none_or(|name| name == "dumb");
    if io::stderr().is_terminal() && !is_dumb {
        // Whoever waits for the task's end is told of the same failure.
        drop(draw(task).await);
    }
    std::future::pending().await
}

async fn draw(task: &Task) -> Result<Infallible, Failure> {
    let mut line = Line;
    let mut tails = [Stream::Stdout, Stream::Stderr].map(Tail::of);
    let (mut bytes, mut is_behind, mut last) = (0, true, String::new());
    loop {
        if let Some(summary) = task.summary().await? {
            if is_behind || bytes != summary.bytes {
                (bytes, is_behind) = (summary.bytes, false);
                for tail in &mut tails {
                    if tail.read(task, summary.bytes).await? {
                        is_behind = true;
                        last = last_line(&tail.bytes).unwrap_or(last);
                    }
                }
            }
            line.draw(&cut(&text(&summary, &last, now()), columns()));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn text(summary: &TaskSummary, last: &str, now: u64) -> String {
    let (state, elapsed) = (plain(&state(summary)), elapsed(summary, now));
    let (cpu, size) = (cpu(summary), size(summary.bytes));
    format!("{}: {state} for {elapsed}, CPU {cpu}, output {size}  {last}", summary.task)
}

/// The end of a stream, as far as it was read.
struct Tail {
    stream: Stream,
    offset: Option<u64>,
    bytes: Vec<u8>,
}

impl Tail {
    fn of(stream: Stream) -> Self {
        Tail { stream, offset: None, bytes: Vec::new() }
    }

    /// Reads a piece on. `total` is how much was printed to both streams; which part of it is this one's nobody says, so
    /// that a first look near the end may find nothing, and the next one begins at the beginning.
    async fn read(&mut self, task: &Task, total: u64) -> Result<bool, Failure> {
        let first = total.saturating_sub(BEFORE);
        let mut output = task.output(self.stream, self.offset.unwrap_or(first), 0).await?;
        if output.data.is_empty() && self.offset.is_none() && first > 0 {
            output = task.output(self.stream, 0, 0).await?;
        }
        let piece = bytes::decode(&output.data, output.encoding)
            .map_err(|source| Failure::Garbled { task: task.task.to_string(), source })?;
        if piece.is_empty() {
            return Ok(false);
        }
        self.offset = Some(output.next_offset);
        self.bytes.extend(piece);
        self.bytes.drain(..self.bytes.len().saturating_sub(TAIL));
        Ok(true)
    }
}

/// The last line that is not blank, as a person would read it: its last state where it was redrawn, without escape
/// sequences.
fn last_line(tail: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(tail);
    let lines = text.split(['\n', '\r']).rev().map(without_escapes);
    let mut lines = lines.map(|line| plain(line.replace('\t', " ").trim()));
    lines.find(|line| !line.is_empty())
}

/// Without control sequences, operating system commands and other escapes (ECMA-48, 5.3 to 5.6; ECMA-35, 13.1).
fn without_escapes(line: &str) -> String {
    let mut kept = String::new();
    let mut signs = line.chars();
    while let Some(sign) = signs.next() {
        if sign != '\u{1b}' {
            kept.push(sign);
            continue;
        }
        match signs.next() {
            Some('[') => drop(signs.find(|sign| ('\u{40}'..='\u{7e}').contains(sign))),
            Some(']') => drop(signs.find(|sign| ['\u{7}', '\\'].contains(sign))),
            Some('\u{20}'..='\u{2f}') => drop(signs.find(|sign| *sign >= '\u{30}')),
            Some(_) | None => {}
        }
    }
    kept
}

/// What fits into a line of so many columns, the last one left free so that no terminal wraps.
fn cut(text: &str, columns: usize) -> String {
    let mut left = columns.saturating_sub(1);
    let fits = |sign: &char| {
        // From the Hangul letters on, most signs take two columns.
        let width = if *sign < '\u{1100}' { 1 } else { 2 };
        let fits = width <= left;
        left = left.saturating_sub(width);
        fits
    };
    text.chars().take_while(fits).collect()
}

fn columns() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stderr());
    size.map_or(COLUMNS, |size| match size.ws_col {
        0 => COLUMNS,
        columns => columns.into(),
    })
}

/// The line on the terminal; it is gone when this is.
struct Line;

impl Line {
    fn draw(&mut self, text: &str) {
        // A terminal that is gone shows nothing, and the wait goes on.
        drop(write!(io::stderr(), "\r{text}\u{1b}[K"));
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        self.draw("");
    }
}

#[cfg(test)]
mod tests {
    use brattice_protocol::outcome::Cause;
    use brattice_protocol::task::TaskStatus;

    use super::super::words::tests::summary;
    use super::*;

    #[test]
    fn the_line_tells_the_figures_and_what_was_printed_last() {
        assert_eq!(
            text(&summary(), "Compiling", 1_065_000),
            "bash-1: running for 1m 5s, CPU 1.2s, output 3.4K  Compiling"
        );
        let hostile = TaskSummary {
            status: TaskStatus::Failed,
            cause: Some(Cause::FailedToStart),
            reason: Some("no program \u{1b}[2J".into()),
            ..summary()
        };
        let told = text(&hostile, "", 1_065_000);
        assert!(told.starts_with("bash-1: failed, no program \\u{1b}[2J for "), "{told}");
    }

    #[test]
    fn the_last_line_is_the_last_one_that_says_something() {
        let cases: [(&[u8], Option<&str>); 6] = [
            (b"", None),
            (b"one\ntwo\n\n  \n", Some("two")),
            (b"one\ntw", Some("tw")),
            (b"  5%\r 10%\r", Some("10%")),
            (b"\x1b[1m\x1b[32mok\x1b[0m\tdone\x1b(B\x1b]0;title\x07\x1b7\n", Some("ok done")),
            (b"\xff\n", Some("\u{fffd}")),
        ];
        for (tail, expected) in cases {
            assert_eq!(last_line(tail).as_deref(), expected, "{tail:?}");
        }
    }

    #[test]
    fn a_line_never_wraps() {
        assert_eq!(cut("abcdef", 5), "abcd");
        assert_eq!(cut("ab漢字", 6), "ab漢");
        assert_eq!(cut("ab", 80), "ab");
        assert_eq!(cut("ab", 0), "");
    }
}
