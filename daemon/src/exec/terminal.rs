//! Pseudo-terminals (pty(7)): the supervisor keeps the master, a command gets the slave.
//!
//! What a command prints is read from the master, and what is typed into it is written there. Reading answers `EIO`
//! while no process holds the slave: nothing will come, unless a process of the session opens `/dev/tty` again. The
//! master is **not** to be closed for that: its closing is a hang-up, which ends the session's leader by SIGHUP. So a
//! reader stops to look, and closes it when the task is over.
//!
//! The command's process makes the slave its controlling terminal itself (`sys::spawn`). Nobody else may acquire it on
//! the way: a supervisor leads a session without a terminal, and would do so by opening one. Neither side is found by
//! a path, for below Landlock the paths of terminals are closed: the user's others stand beside this one.

use std::os::fd::{AsFd, OwnedFd};

use brattice_policy::sys::Errno;
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};
use rustix::termios::{
    InputModes, LocalModes, OptionalActions, SpecialCodeIndex, Winsize, tcgetattr, tcsetattr,
    tcsetwinsize,
};
use serde::{Deserialize, Serialize};

/// A terminal's size in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Size {
    /// Lines.
    pub(crate) rows: u16,
    /// Characters of a line.
    pub(crate) cols: u16,
}

impl Default for Size {
    /// What a terminal has had since there were terminals.
    fn default() -> Self {
        Size { rows: 24, cols: 80 }
    }
}

/// Both ends of a terminal.
#[derive(Debug)]
pub(crate) struct Pair {
    /// The supervisor's; reading and writing it do not wait.
    pub(crate) master: OwnedFd,
    /// The command's standard input, output and error. To be closed once the command has it.
    pub(crate) slave: OwnedFd,
}

/// Why there is no terminal, or it does not do as it was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TerminalError {
    /// `ENOSPC` and `EAGAIN` when there are too many (`kernel.pty.max`), `ENOENT` without devpts.
    #[error("cannot open a terminal: /dev/ptmx")]
    Open(#[source] Errno),
    /// Its other end.
    #[error("cannot open a terminal's other end")]
    Peer(#[source] Errno),
    /// Its size or its modes.
    #[error("cannot set a terminal's {what}")]
    Settings {
        /// What was to be set.
        what: &'static str,
        /// The kernel's answer.
        #[source]
        source: Errno,
    },
}

/// Opens a terminal of this size, in the modes that the kernel gives to a new one, and with erasing by whole UTF-8
/// characters.
///
/// # Errors
/// See [`TerminalError`].
pub(crate) fn open(size: Size) -> Result<Pair, TerminalError> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let master = openpt(flags).map_err(TerminalError::Open)?;
    unlockpt(&master).map_err(TerminalError::Peer)?;
    let slave = ioctl_tiocgptpeer(&master, flags).map_err(TerminalError::Peer)?;
    let settings = |what| move |source| TerminalError::Settings { what, source };
    rustix::io::ioctl_fionbio(&master, true).map_err(settings("waiting"))?;
    let mut modes = tcgetattr(&slave).map_err(settings("modes"))?;
    modes.input_modes |= InputModes::IUTF8;
    tcsetattr(&slave, OptionalActions::Now, &modes).map_err(settings("modes"))?;
    resize(&master, size)?;
    Ok(Pair { master, slave })
}

/// Sets the size. The kernel tells the foreground processes by SIGWINCH, where it is another one than before.
///
/// # Errors
/// [`TerminalError::Settings`].
pub(crate) fn resize(master: impl AsFd, size: Size) -> Result<(), TerminalError> {
    let winsize = Winsize { ws_row: size.rows, ws_col: size.cols, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(master, winsize).map_err(|source| TerminalError::Settings { what: "size", source })
}

/// Where in a line what was typed has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Line {
    /// At its beginning.
    #[default]
    Start,
    /// Somewhere behind that.
    Within,
}

impl Line {
    /// Where these bytes lead to.
    pub(crate) fn after(self, typed: &[u8]) -> Line {
        match typed.last() {
            None => self,
            Some(b'\n' | b'\r') => Line::Start,
            Some(_) => Line::Within,
        }
    }
}

/// What is to be typed so that whoever reads the terminal sees the end of its input.
///
/// A terminal has no end of input: the character `VEOF` (Ctrl-D) hands over what has been typed of a line, and a
/// reader takes nothing at all for the end. At a line's beginning it is typed once, within a line twice. Who reads
/// on gets what is typed later, and a program that takes single keys gets the character itself.
///
/// # Errors
/// The terminal's modes cannot be read.
pub(crate) fn end_of_input(master: impl AsFd, line: Line) -> Result<Vec<u8>, TerminalError> {
    let modes =
        tcgetattr(master).map_err(|source| TerminalError::Settings { what: "modes", source })?;
    let character = modes.special_codes[SpecialCodeIndex::VEOF];
    let by_lines = modes.local_modes.contains(LocalModes::ICANON);
    let times = if by_lines && line == Line::Within { 2 } else { 1 };
    Ok(vec![character; times])
}

#[cfg(test)]
mod tests;
