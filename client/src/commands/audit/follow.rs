//! Lines as they are written: a place in the log that moves on with it, and the kernel's word that there is something new.
//!
//! The program has nothing else to do meanwhile, so it waits in poll(2), and its one thread with it. A signal ends it.

use std::io::{self, stdout};
use std::os::fd::OwnedFd;

use brattice_protocol::audit::FileNumber;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify;
use rustix::io::Errno;

use super::files::{LogError, LogFiles};
use crate::cli::Failure;

/// Where the lines begin that were not shown yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) file: FileNumber,
    pub(super) offset: u64,
}

impl Cursor {
    /// The beginning of a log.
    pub(super) const START: Cursor = Cursor { file: FileNumber::FIRST, offset: 0 };

    /// Shows what is there by now, over all files. A part of a line waits for the rest of it.
    pub(super) fn advance(
        &mut self,
        files: &LogFiles,
        mut show: impl FnMut(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        loop {
            // Before the file is read: once there is a newer one, nothing more is written to this one.
            let listed = files.list()?;
            match files.lines(self.file, self.offset) {
                Ok(lines) => {
                    for line in lines {
                        let line = line?;
                        if line.ends_with(b"\n") {
                            show(&line)?;
                            self.offset += line.len() as u64;
                        }
                    }
                }
                Err(error) if error.is_gone() => {}
                Err(error) => return Err(error.into()),
            }
            match listed.into_iter().find(|file| *file > self.file) {
                Some(newer) => *self = Cursor { file: newer, offset: 0 },
                None => return Ok(()),
            }
        }
    }
}

/// The kernel's watch on the log's folder.
#[derive(Debug)]
pub(super) struct Watch<'a> {
    files: &'a LogFiles,
    events: OwnedFd,
}

impl<'a> Watch<'a> {
    /// Watches from now on.
    pub(super) fn new(files: &'a LogFiles) -> Result<Self, LogError> {
        let flags = inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK;
        let events = inotify::init(flags).map_err(|errno| fault(files, errno))?;
        let watch = Watch { files, events };
        watch.renew()?;
        Ok(watch)
    }

    /// Waits until something was written. The reader of standard output may go away meanwhile.
    pub(super) fn wait(&self) -> Result<(), Failure> {
        let stdout = stdout();
        let mut fds =
            [PollFd::new(&self.events, PollFlags::IN), PollFd::new(&stdout, PollFlags::empty())];
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(fault(self.files, errno).into()),
        }
        if fds[1].revents().intersects(PollFlags::ERR | PollFlags::HUP) {
            return Err(Failure::output("output")(io::Error::from(io::ErrorKind::BrokenPipe)));
        }
        self.forget()?;
        Ok(self.renew()?)
    }

    /// Takes what was told. What it says in detail is seen in the files.
    fn forget(&self) -> Result<(), LogError> {
        let mut told = [0; 4096];
        loop {
            match rustix::io::read(&self.events, &mut told) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(Errno::WOULDBLOCK) => return Ok(()),
                Err(errno) => return Err(fault(self.files, errno)),
            }
        }
    }

    /// Watches the folder that has the name now; the daemon makes a new one where somebody moved the old one away.
    fn renew(&self) -> Result<(), LogError> {
        use inotify::WatchFlags;
        let flags = WatchFlags::MODIFY
            | WatchFlags::CREATE
            | WatchFlags::MOVED_TO
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR;
        match inotify::add_watch(&self.events, self.files.folder(), flags) {
            Ok(_) => Ok(()),
            Err(Errno::NOENT) => Err(LogError::None { folder: self.files.folder().to_owned() }),
            Err(errno) => Err(fault(self.files, errno)),
        }
    }
}

fn fault(files: &LogFiles, errno: Errno) -> LogError {
    LogError::Watch { folder: files.folder().to_owned(), source: errno.into() }
}
