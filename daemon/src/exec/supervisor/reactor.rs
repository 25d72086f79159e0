//! epoll(7), and what each watched descriptor is.

use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use brattice_policy::sys::Errno;
use rustix::event::Timespec;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};

/// What a descriptor that became ready is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// The daemon's channel.
    Daemon,
    /// The socket to which the next daemon comes.
    Listener,
    /// A child changed state.
    Children,
    /// A mode's launcher.
    Launcher(u32),
    /// A mode's zygote.
    Zygote(u32),
    /// A task's keeper.
    Keeper(u32),
    /// A task's standard output.
    Stdout(u32),
    /// A task's standard error.
    Stderr(u32),
}

impl Source {
    fn encode(self) -> u64 {
        let (kind, index) = match self {
            Source::Daemon => (0, 0),
            Source::Children => (1, 0),
            Source::Launcher(index) => (2, index),
            Source::Zygote(index) => (3, index),
            Source::Keeper(index) => (4, index),
            Source::Stdout(index) => (5, index),
            Source::Stderr(index) => (6, index),
            Source::Listener => (7, 0),
        };
        (kind << 32) | u64::from(index)
    }

    fn decode(data: u64) -> Option<Source> {
        let index = u32::try_from(data & u64::from(u32::MAX)).ok()?;
        Some(match data >> 32 {
            0 => Source::Daemon,
            1 => Source::Children,
            2 => Source::Launcher(index),
            3 => Source::Zygote(index),
            4 => Source::Keeper(index),
            5 => Source::Stdout(index),
            6 => Source::Stderr(index),
            7 => Source::Listener,
            _ => return None,
        })
    }
}

/// What a watch waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Interest {
    /// Something to read, or the other end's closing.
    Read,
    /// That, or room to write.
    ReadWrite,
}

/// The loop's epoll instance.
pub(super) struct Reactor {
    epoll: OwnedFd,
    events: Vec<Event>,
}

impl Reactor {
    pub(super) fn new() -> Result<Self, Errno> {
        Ok(Reactor { epoll: epoll::create(CreateFlags::CLOEXEC)?, events: Vec::with_capacity(64) })
    }

    /// Watches a descriptor for something to read. Closing the descriptor ends the watch, for the reactor's processes
    /// hold no second copy of what they watch.
    pub(super) fn watch(&self, fd: impl AsFd, source: Source) -> Result<(), Errno> {
        epoll::add(&self.epoll, fd, EventData::new_u64(source.encode()), EventFlags::IN)
    }

    /// Changes what a watch waits for.
    pub(super) fn rewatch(
        &self,
        fd: impl AsFd,
        source: Source,
        interest: Interest,
    ) -> Result<(), Errno> {
        let flags = match interest {
            Interest::Read => EventFlags::IN,
            Interest::ReadWrite => EventFlags::IN | EventFlags::OUT,
        };
        epoll::modify(&self.epoll, fd, EventData::new_u64(source.encode()), flags)
    }

    /// Ends a watch.
    pub(super) fn forget(&self, fd: impl AsFd) -> Result<(), Errno> {
        epoll::delete(&self.epoll, fd)
    }

    /// Waits until something is ready or the time has come, and tells what is.
    pub(super) fn wait(&mut self, until: Option<Instant>) -> Result<Vec<Source>, Errno> {
        let timeout = until.map(|until| timespec(until.saturating_duration_since(Instant::now())));
        self.events.clear();
        match epoll::wait(
            &self.epoll,
            rustix::buffer::spare_capacity(&mut self.events),
            timeout.as_ref(),
        ) {
            Ok(_) => Ok(self
                .events
                .iter()
                .filter_map(|event| Source::decode(event.data.u64()))
                .collect()),
            Err(Errno::INTR) => Ok(Vec::new()),
            Err(errno) => Err(errno),
        }
    }
}

/// epoll's timeout has whole milliseconds: rounded up, so that a wait never ends just before its time.
fn timespec(duration: Duration) -> Timespec {
    let rounded = duration + Duration::from_micros(999);
    Timespec::try_from(rounded).unwrap_or(Timespec { tv_sec: 3600, tv_nsec: 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_survive_their_encoding() {
        let sources = [
            Source::Daemon,
            Source::Children,
            Source::Launcher(0),
            Source::Zygote(7),
            Source::Keeper(u32::MAX),
            Source::Stdout(1),
            Source::Stderr(2),
            Source::Listener,
        ];
        for source in sources {
            assert_eq!(Source::decode(source.encode()), Some(source));
        }
    }
}
