//! How `bratticed` ends, as exit statuses: what whoever started it can act on without reading its log.
//!
//! Other programs that start the daemon rely on the numbers, so they never change. What each end is in words is
//! the daemon's part, what to do about it its client's.

/// How the daemon ended, or why it did not start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DaemonExit {
    /// 0: it served and ended in order.
    Ended,
    /// 1: it failed for a reason that only its log tells, or somebody could not wait for its end in order.
    Failed,
    /// 2: its command line is faulty, as clap has it.
    Usage,
    /// 3: another daemon holds the sockets or the state folder.
    Taken,
    /// 4: it would run as root, and nobody allowed that.
    Root,
    /// 5: there is no bash to run commands with.
    NoBash,
}

impl DaemonExit {
    /// All of them, in the order of their statuses.
    pub const ALL: [DaemonExit; 6] = [
        DaemonExit::Ended,
        DaemonExit::Failed,
        DaemonExit::Usage,
        DaemonExit::Taken,
        DaemonExit::Root,
        DaemonExit::NoBash,
    ];

    /// The exit status.
    pub const fn status(self) -> u8 {
        match self {
            DaemonExit::Ended => 0,
            DaemonExit::Failed => 1,
            DaemonExit::Usage => 2,
            DaemonExit::Taken => 3,
            DaemonExit::Root => 4,
            DaemonExit::NoBash => 5,
        }
    }

    /// What an exit status means. None for one that this version does not know.
    pub fn of(status: i32) -> Option<DaemonExit> {
        DaemonExit::ALL.into_iter().find(|exit| i32::from(exit.status()) == status)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_are_the_documented_ones_and_are_found_again() {
        assert_eq!(DaemonExit::ALL.map(DaemonExit::status), [0, 1, 2, 3, 4, 5]);
        for exit in DaemonExit::ALL {
            assert_eq!(DaemonExit::of(exit.status().into()), Some(exit));
        }
        assert_eq!((DaemonExit::of(6), DaemonExit::of(-1)), (None, None));
    }
}
