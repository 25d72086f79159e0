//! Searching one file: opened so that nothing can hold it, read within bounds, and searched by ripgrep's searcher.

use std::fs::File;
use std::io::{self, Read};

use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, Searcher, SearcherBuilder};
use memchr::memchr;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;

use super::hits::{Hits, Limits};
use super::{GrepQuery, Output, Span};
use crate::query::Cause;
use crate::walk::{Gone, Stop, gone};

/// Files up to this size are read at once, which saves system calls and copies; larger ones through a small window.
const AT_ONCE: usize = 256 * 1024;
/// The longest line, or where matches may span lines the largest file, that is held in memory. It is searched in one
/// step, which no cancel ends: most patterns take some 20 ms for so much.
const MOST_HELD: usize = 8 * 1024 * 1024;
/// Files that say they are empty and are not (in `/proc`) may have no end.
const MOST_UNSIZED: u64 = 16 * 1024 * 1024;
/// A NUL byte in so many first bytes makes a file binary, as a whole.
const BINARY_HEAD: u64 = 64 * 1024;

/// Searches files, one after the other.
pub(crate) struct Reader {
    matcher: RegexMatcher,
    buffers: Buffers,
}

/// What is kept from file to file.
struct Buffers {
    /// For bytes in memory that were looked through for NUL already.
    text: Searcher,
    /// For anything else.
    stream: Searcher,
    bytes: Vec<u8>,
}

/// What came of a file.
#[derive(Debug, Default)]
pub(super) struct Searched {
    pub(super) matches: u64,
    pub(super) lines: Vec<super::Line>,
    pub(super) content: Content,
    pub(super) failure: Option<Cause>,
}

/// What a file turned out to hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Content {
    #[default]
    Text,
    Binary,
}

impl Reader {
    pub(super) fn new(matcher: RegexMatcher, query: &GrepQuery) -> Self {
        let mut builder = SearcherBuilder::new();
        builder.heap_limit(Some(MOST_HELD)).multi_line(query.span == Span::Lines);
        match query.output {
            Output::Content { before, after } => {
                builder.line_number(true).before_context(before).after_context(after)
            }
            Output::Files | Output::Count => builder.line_number(false),
        };
        let text = builder.build();
        let stream = builder.binary_detection(BinaryDetection::quit(b'\0')).build();
        Reader { matcher, buffers: Buffers { text, stream, bytes: vec![0; AT_ONCE] } }
    }

    /// Searches a file. One that is gone, or is no regular file any more, holds nothing.
    pub(super) fn search(&mut self, path: &[u8], limits: Limits, stop: &Stop<'_>) -> Searched {
        let (file, size) = match open(path) {
            Ok(Some(opened)) => opened,
            Ok(None) => return Searched::default(),
            Err(errno) if gone(errno) == Gone::Yes => return Searched::default(),
            Err(errno) => return Searched::failed(Cause::Errno(errno.raw_os_error())),
        };
        let mut hits = Hits::new(limits, &self.matcher, stop);
        let result = self.buffers.search(file, size, &self.matcher, &mut hits);
        let failure = result.err().and_then(|error| cause(&error));
        if hits.nul.is_some_and(|offset| offset < BINARY_HEAD) {
            return Searched { content: Content::Binary, failure, ..Searched::default() };
        }
        let content = if hits.nul.is_some() { Content::Binary } else { Content::Text };
        Searched { matches: hits.matches, lines: hits.lines, content, failure }
    }
}

impl Searched {
    fn failed(cause: Cause) -> Self {
        Searched { failure: Some(cause), ..Searched::default() }
    }
}

impl Buffers {
    fn search(
        &mut self,
        mut file: File,
        size: u64,
        matcher: &RegexMatcher,
        hits: &mut Hits<'_>,
    ) -> io::Result<()> {
        let stop = hits.stop();
        if size > self.bytes.len() as u64 {
            let rest = Rest { file, left: size, stop };
            return self.stream.search_reader(matcher, rest, hits);
        }
        let filled = fill(&mut file, &mut self.bytes, size)?;
        let bytes = &self.bytes[..filled];
        if size == 0 && filled == self.bytes.len() {
            let rest = Rest { file, left: MOST_UNSIZED, stop };
            return self.stream.search_reader(matcher, bytes.chain(rest), hits);
        }
        if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
            return self.stream.search_reader(matcher, bytes, hits);
        }
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let nul = memchr(b'\0', text);
        let head = nul.map_or(text, |nul| &text[..nul]);
        if nul.is_none_or(|nul| nul as u64 >= BINARY_HEAD) {
            self.text.search_slice(matcher, head, &mut *hits)?;
        }
        hits.nul = nul.map(|nul| nul as u64);
        Ok(())
    }
}

/// Opens a regular file, and tells its size. Nothing else is kept open: it may have become something else since it was
/// listed, which then neither blocks nor is read.
fn open(path: &[u8]) -> Result<Option<(File, u64)>, Errno> {
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&file)?;
    let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    Ok(regular.then(|| (File::from(file), u64::try_from(stat.st_size).unwrap_or(0))))
}

/// Reads a file to its end, to the size that it had, or to the end of the buffer.
fn fill(file: &mut File, buffer: &mut [u8], size: u64) -> io::Result<usize> {
    let most = match usize::try_from(size) {
        Ok(0) | Err(_) => buffer.len(),
        Ok(size) => size.min(buffer.len()),
    };
    let mut filled = 0;
    while filled < most {
        match file.read(&mut buffer[filled..most]) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// What is left of a file, of one that grows only what it held when it was opened. It seems to end where the search is
/// to stop.
struct Rest<'a> {
    file: File,
    left: u64,
    stop: Stop<'a>,
}

impl Read for Rest<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_wanted() {
            return Ok(0);
        }
        let most = usize::try_from(self.left).unwrap_or(usize::MAX).min(buffer.len());
        let read = self.file.read(&mut buffer[..most])?;
        self.left -= read as u64;
        Ok(read)
    }
}

/// Why a file was not searched to its end; nothing where it went away meanwhile.
fn cause(error: &io::Error) -> Option<Cause> {
    match error.raw_os_error() {
        Some(errno) if gone(Errno::from_raw_os_error(errno)) == Gone::Yes => None,
        Some(errno) => Some(Cause::Errno(errno)),
        // The searcher's own: it would have to hold more than it may.
        None => Some(Cause::TooLong),
    }
}
