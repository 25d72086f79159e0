//! `read`: a window of a file's lines. The file is streamed, so that its size costs time and no memory.

mod near;
mod window;

use serde::{Deserialize, Serialize};
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{self, Mode, OFlags};
use rustix::io::Errno;

pub(crate) use near::missing;
pub use window::{Caps, LIMIT, LINE_CHARACTERS, SELECTION_BYTES, Window, WindowFault};

use crate::cancel::Cancel;
use crate::fault::{At as _, Fault, FaultKind, FileType, On as _, Operation};
use crate::fingerprint::{Fingerprint, Fingerprinting};
use crate::text::{self, Binary, Decoder, Encoding, Line, LineEnds, Lines, Stop};

/// Bytes that are read at once, and what a read holds of the file.
const PIECE: usize = 256 * 1024;

/// What a window shows, and what is known of the whole file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    /// The lines of the window. None if the file is empty or over before the window begins: compare `total_lines`.
    pub lines: Vec<Line>,
    /// Why there are no more.
    pub stop: Stop,
    /// Lines of the whole file.
    pub total_lines: u64,
    /// Bytes of the whole file.
    pub total_bytes: u64,
    /// Characters of the window's lines, also of those and those parts that are not in `lines`, without line ends.
    pub characters: u64,
    /// How it is encoded.
    pub encoding: Encoding,
    /// Its line ends.
    pub line_ends: LineEnds,
    /// Whether the whole file's last line has one.
    pub last_line: LastLine,
    /// Places of the whole file that are no character. Above 0 in a file that claims to be UTF-8, it cannot be edited.
    pub invalid: u64,
    /// U+FFFD in `lines` that stand for such a place, or for a NUL.
    pub replaced: u64,
    /// The content that was read.
    pub fingerprint: Fingerprint,
}

/// Whether a line end is the last of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LastLine {
    /// It ends with a line end.
    Ended,
    /// It does not, or there is no line.
    Open,
}

/// Reads a window of the file that `path`, absolute, leads to; links are followed.
///
/// # Errors
/// No such file, no regular file, a binary file, an answer of the kernel's, or cancelled.
pub fn read(path: &Path, window: Window, caps: Caps, cancel: &Cancel) -> Result<Reading, Fault> {
    let (file, size) = open(path)?;
    let mut buffer = vec![0; usize::try_from(size).unwrap_or(PIECE).clamp(text::PROBE, PIECE)];
    let head = fill(&file, path, &mut buffer)?;
    let encoding = text::probe(&buffer[..head])
        .map_err(|kind| Fault::new(path, FaultKind::Binary(Binary { kind: kind.into(), size })))?;
    let mut decoder = Decoder::new(encoding);
    let mut lines = Lines::new(window.selection(caps));
    let mut print = Fingerprinting::default();
    let mut total_bytes = 0;
    let mut length = head;
    let mut skipped = encoding.mark();
    while length > 0 {
        cancel.check().on(path)?;
        let piece = &buffer[..length];
        print.add(piece);
        decoder.piece(&piece[skipped..], &mut lines);
        total_bytes += length as u64;
        skipped = 0;
        length = fill(&file, path, &mut buffer)?;
    }
    decoder.finish(&mut lines);
    let found = lines.finish();
    Ok(Reading {
        lines: found.lines,
        stop: found.stop,
        total_lines: found.total,
        total_bytes,
        characters: found.characters,
        encoding,
        line_ends: found.ends,
        last_line: if found.is_ended { LastLine::Ended } else { LastLine::Open },
        invalid: found.invalid,
        replaced: found.replaced,
        fingerprint: print.finish(),
    })
}

/// Opens a regular file. Anything else is told by its status and never opened: opening a device can have effects, and a
/// FIFO's would wait. The flags are for what takes the file's place in between.
fn open(path: &Path) -> Result<(OwnedFd, u64), Fault> {
    if !path.is_absolute() {
        return Err(Fault::new(path, FaultKind::NoPath));
    }
    let regular = |status: &fs::Stat| {
        FileType::of(status.st_mode).map_err(|kind| Fault::new(path, FaultKind::NotRegular(kind)))
    };
    let failed = |operation| move |errno| missing_or(path, operation, errno);
    regular(&fs::stat(path).map_err(failed(Operation::Find))?)?;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = fs::open(path, flags, Mode::empty()).map_err(failed(Operation::Read))?;
    let status = fs::fstat(&file).at(path, Operation::Read)?;
    regular(&status)?;
    Ok((file, u64::try_from(status.st_size).unwrap_or(0)))
}

/// The fault for an errno of a look-up.
pub(crate) fn missing_or(path: &Path, operation: Operation, errno: Errno) -> Fault {
    match errno {
        Errno::NOENT | Errno::NOTDIR => missing(path),
        Errno::INVAL if path.as_os_str().as_encoded_bytes().contains(&0) => {
            Fault::new(path, FaultKind::NoPath)
        }
        errno => Fault::kernel(path, operation, errno),
    }
}

/// Fills the buffer as far as the file goes, so that the probe sees what there is.
fn fill(file: &OwnedFd, path: &Path, buffer: &mut [u8]) -> Result<usize, Fault> {
    let mut length = 0;
    while length < buffer.len() {
        match rustix::io::read(file, &mut buffer[length..]) {
            Ok(0) => break,
            Ok(count) => length += count,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Fault::kernel(path, Operation::Read, errno)),
        }
    }
    Ok(length)
}
