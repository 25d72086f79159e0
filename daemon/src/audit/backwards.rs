//! The lines of a file from its end: what a daemon goes on from, and what somebody wants to see first.
//!
//! Memory is bounded by the longest line that a daemon writes; whatever else a file ends in is measured and hashed piece by
//! piece.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use brattice_protocol::audit::{Digest, Hasher};

/// Read at once while a newline is looked for: a few lines.
const PIECE: usize = 4 << 10;

/// Longer than any line that a daemon writes: a message has at most 4 MiB, and numbers can grow when they are written again.
const MAX_LINE: u64 = 16 << 20;

/// A file, read from its end.
#[derive(Debug)]
pub(super) struct Backwards {
    file: File,
    /// Where the lines that were not given yet end.
    end: u64,
}

/// A line, or what cannot be one.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Its bytes with the newline.
    Line(Vec<u8>),
    /// It is too long for a line of ours.
    TooLong,
}

/// Bytes after the last newline of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rest {
    pub(super) bytes: u64,
    pub(super) sha256: Digest,
}

impl Backwards {
    /// The whole lines of a file, and what it ends in after them.
    pub(super) fn new(file: File) -> io::Result<(Self, Option<Rest>)> {
        let length = file.metadata()?.len();
        let end = after_newline(&file, length)?;
        let rest = if end < length { Some(measure(&file, end, length)?) } else { None };
        Ok((Backwards { file, end }, rest))
    }

    /// The line before those that were given; none at the beginning of the file.
    pub(super) fn previous(&mut self) -> io::Result<Option<Found>> {
        let Some(newline) = self.end.checked_sub(1) else {
            return Ok(None);
        };
        let begin = after_newline(&self.file, newline)?;
        let length = self.end - begin;
        self.end = begin;
        if length > MAX_LINE {
            return Ok(Some(Found::TooLong));
        }
        let mut line = vec![0; usize::try_from(length).unwrap_or(usize::MAX)];
        self.file.read_exact_at(&mut line, begin)?;
        Ok(Some(Found::Line(line)))
    }
}

/// Where the text after the last newline before `end` begins.
fn after_newline(file: &File, mut end: u64) -> io::Result<u64> {
    let mut piece = [0; PIECE];
    while end > 0 {
        let begin = end.saturating_sub(PIECE as u64);
        let piece = &mut piece[..usize::try_from(end - begin).unwrap_or(PIECE)];
        file.read_exact_at(piece, begin)?;
        if let Some(at) = piece.iter().rposition(|byte| *byte == b'\n') {
            return Ok(begin + at as u64 + 1);
        }
        end = begin;
    }
    Ok(0)
}

fn measure(file: &File, begin: u64, end: u64) -> io::Result<Rest> {
    let mut hasher = Hasher::default();
    let mut piece = vec![0; 64 << 10];
    let mut at = begin;
    while at < end {
        let length = usize::try_from(end - at).unwrap_or(usize::MAX).min(piece.len());
        file.read_exact_at(&mut piece[..length], at)?;
        hasher.update(&piece[..length]);
        at += length as u64;
    }
    Ok(Rest { bytes: end - begin, sha256: hasher.finish() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;

    fn lines(text: &str) -> (Vec<String>, Option<Rest>) {
        let scratch = Scratch::new();
        let file = File::open(scratch.file("f", text)).unwrap();
        let (mut backwards, rest) = Backwards::new(file).unwrap();
        let mut lines = Vec::new();
        while let Some(found) = backwards.previous().unwrap() {
            let Found::Line(line) = found else { panic!("{found:?}") };
            lines.push(String::from_utf8(line).unwrap());
        }
        (lines, rest)
    }

    #[test]
    fn lines_come_from_the_last_to_the_first_whatever_their_length() {
        let long = format!("{}\n", "x".repeat(3 * PIECE));
        let edge = format!("{}\n", "y".repeat(PIECE - 1));
        for texts in [vec![], vec!["a\n"], vec!["\n", "b\n"], vec![&long, "c\n", &edge, &long]] {
            let (mut found, rest) = lines(&texts.concat());
            found.reverse();
            assert_eq!(
                (found, rest),
                (texts.iter().map(|text| (*text).to_owned()).collect(), None)
            );
        }
    }

    #[test]
    fn what_comes_after_the_last_newline_is_measured() {
        let part = "z".repeat(100_000);
        let rest = Rest { bytes: 100_000, sha256: Digest::of(part.as_bytes()) };
        assert_eq!(lines(&format!("a\n{part}")), (vec!["a\n".to_owned()], Some(rest)));
        assert_eq!(lines(&part), (Vec::new(), Some(rest)));
    }

    #[test]
    fn what_is_longer_than_any_line_is_passed_over() {
        let scratch = Scratch::new();
        let path = scratch.file("f", "a\n");
        let file = File::options().read(true).write(true).open(path).unwrap();
        file.write_all_at(b"\nb\n", 2 + MAX_LINE).unwrap();
        let (mut backwards, _) = Backwards::new(file).unwrap();
        let mut found = Vec::new();
        while let Some(next) = backwards.previous().unwrap() {
            found.push(next);
        }
        let line = |text: &str| Found::Line(text.as_bytes().to_vec());
        assert_eq!(found, [line("b\n"), Found::TooLong, line("a\n")]);
    }
}
