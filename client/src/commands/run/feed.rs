//! Standard input, passed on to the task when it is a pipe or a file.

use std::cell::Cell;
use std::io::{self, IsTerminal as _};

use rustix::fs::{FileType, fstat, major, minor};

use crate::cli::Failure;
use crate::commands::follow::{InputEnd, Passed, Task, read_stdin};

/// The device number of `/dev/null` (Documentation/admin-guide/devices.txt in the kernel's source).
const NULL: (u32, u32) = (1, 3);

/// Where the task's standard input comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// Nowhere: the task reads `/dev/null`.
    Nothing,
    /// Ours, which is a pipe, a socket or a file.
    Stdin,
}

impl Source {
    /// A person at a terminal is not piping anything, and `/dev/null` needs no passing on.
    pub(super) fn of_stdin() -> io::Result<Self> {
        let stdin = io::stdin();
        let stat = fstat(&stdin)?;
        let is_null = FileType::from_raw_mode(stat.st_mode) == FileType::CharacterDevice
            && (major(stat.st_rdev), minor(stat.st_rdev)) == NULL;
        Ok(if stdin.is_terminal() || is_null { Source::Nothing } else { Source::Stdin })
    }
}

/// Passes standard input on until it ends or the command takes no more. `so_far` says whether
/// a piece may have come twice.
pub(super) async fn feed(
    task: &Task,
    source: Source,
    so_far: &Cell<Passed>,
) -> Result<(), Failure> {
    if source == Source::Nothing {
        return Ok(());
    }
    let mut pieces = read_stdin();
    loop {
        let piece = pieces.recv().await.transpose().map_err(Failure::Input)?;
        let end = if piece.is_some() { InputEnd::More } else { InputEnd::Eof };
        match task.input(&piece.unwrap_or_default(), end).await {
            Ok(passed) => so_far.set(so_far.get().and(passed)),
            // An answer that is an error means that the command closed its input or is over; neither is a fault.
            Err(failure) if failure.is_answer() => return Ok(()),
            Err(failure) => return Err(failure),
        }
        if end == InputEnd::Eof {
            return Ok(());
        }
    }
}
