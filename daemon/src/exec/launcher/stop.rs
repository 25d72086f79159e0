//! Ending a tree: SIGTERM, a grace, SIGKILL until nothing is left, and a deadline after which what is left is named.
//!
//! ```text
//! gentle: SIGTERM, SIGCONT ──grace──▶ SIGKILL, again and again ──10 s──▶ given up
//! orphaned: ────────────────────────▶ SIGKILL, again and again ──────▶ given up
//! ```
//!
//! A pure schedule but for the signals: [`Stop::act`] does what is due and says when to come back. One broadcast is
//! enough, for the kernel walks the task list under the lock that fork takes; it is repeated because a process of
//! another user, or one below no domain, is reached by nothing else. Where there is no domain the command's control
//! group does the same; where there is one, the group is what comes next. SIGCONT lets stopped processes act on SIGTERM.

use std::time::{Duration, Instant};

use brattice_policy::sys::signal::{Broadcast, TreeSignal};
use rustix::process::Signal;

use super::group::Group;
use crate::exec::process;

/// How long SIGKILL is repeated before the rest is called unkillable.
const KILL_DEADLINE: Duration = Duration::from_secs(10);

/// Between two SIGKILLs: short first, since a tree killed process by process is chased; longer when it does not help.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(500);

/// How a keeper reaches the processes of its task.
#[derive(Debug)]
pub(super) struct Reach {
    /// By signals.
    pub(super) way: Way,
    /// By their control group.
    pub(super) group: Group,
}

/// Whom a keeper's signals reach.
#[derive(Clone, Copy, Debug)]
pub(super) enum Way {
    /// They are the only ones in its domain: one call reaches them all.
    Domain(Broadcast),
    /// They are the descendants of this process, found in `/proc` and signalled one by one.
    Descendants(u32),
}

/// Which SIGKILL it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Attempt {
    First,
    Again,
}

impl Reach {
    /// Asks to end.
    fn terminate(&self) {
        self.way.send(TreeSignal::Terminate);
        self.way.send(TreeSignal::Continue);
    }

    fn kill(&self, attempt: Attempt) {
        if attempt == Attempt::Again || matches!(self.way, Way::Descendants(_)) {
            self.group.kill();
        }
        self.way.send(TreeSignal::Kill);
    }
}

impl Way {
    fn send(self, signal: TreeSignal) {
        match self {
            // ESRCH is "nobody is left", which reaping tells.
            Way::Domain(broadcast) => {
                broadcast.send(signal).ok();
            }
            Way::Descendants(root) => {
                let signal = match signal {
                    TreeSignal::Terminate => Signal::TERM,
                    TreeSignal::Continue => Signal::CONT,
                    TreeSignal::Kill => Signal::KILL,
                };
                for process in process::descendants(root) {
                    // Gone meanwhile, or of another user and named as unkillable in the end.
                    process.signal(signal).ok();
                }
            }
        }
    }
}

/// Where a stop stands.
#[derive(Debug)]
pub(super) struct Stop {
    phase: Phase,
    is_orphaned: bool,
}

#[derive(Debug)]
enum Phase {
    Asked { grace: Duration },
    Waiting { until: Instant },
    Killing { since: Instant, next: Instant, pause: Duration },
}

impl Stop {
    /// SIGTERM first.
    pub(super) fn gentle(grace: Duration) -> Self {
        Stop { phase: Phase::Asked { grace }, is_orphaned: false }
    }

    /// SIGKILL at once: nobody is there to be told of anything.
    pub(super) fn orphaned() -> Self {
        let now = Instant::now();
        Stop { phase: Phase::Waiting { until: now }, is_orphaned: true }
    }

    /// Another grace, from now on; the one that ends first counts.
    pub(super) fn hasten(&mut self, another: Duration) {
        match &mut self.phase {
            Phase::Asked { grace } => *grace = another.min(*grace),
            Phase::Waiting { until } => *until = (Instant::now() + another).min(*until),
            Phase::Killing { .. } => {}
        }
    }

    /// Whether the supervisor is gone.
    pub(super) fn is_orphaned(&self) -> bool {
        self.is_orphaned
    }

    /// Does what is due and says when to come back; `None` when it gives up.
    pub(super) fn act(&mut self, reach: &Reach, now: Instant) -> Option<Instant> {
        if let Phase::Asked { grace } = self.phase {
            reach.terminate();
            self.phase = Phase::Waiting { until: now + grace };
        }
        if let Phase::Waiting { until } = self.phase {
            if now < until {
                return Some(until);
            }
            self.phase = Phase::Killing { since: now, next: now, pause: FIRST_PAUSE };
        }
        let Phase::Killing { since, next, pause } = &mut self.phase else { return Some(now) };
        if now >= *next {
            if now.duration_since(*since) > KILL_DEADLINE {
                return None;
            }
            reach.kill(if next == since { Attempt::First } else { Attempt::Again });
            *next = now + *pause;
            // A tree that is killed process by process grows again while nobody looks.
            if !matches!(reach, Reach { way: Way::Descendants(_), group: Group::None }) {
                *pause = (*pause * 2).min(LONGEST_PAUSE);
            }
        }
        Some(*next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The schedule alone: no process has this number, so there is nobody to signal.
    #[test]
    fn a_grace_that_has_begun_can_be_shortened_and_not_lengthened() {
        let begun = Instant::now();
        let reach = Reach { way: Way::Descendants(u32::MAX), group: Group::None };
        let mut stop = Stop::gentle(Duration::from_secs(600));
        assert_eq!(stop.act(&reach, begun), Some(begun + Duration::from_secs(600)));
        stop.hasten(Duration::from_secs(900));
        assert_eq!(stop.act(&reach, begun), Some(begun + Duration::from_secs(600)));
        stop.hasten(Duration::ZERO);
        let killed_at = Instant::now();
        assert_eq!(stop.act(&reach, killed_at), Some(killed_at + FIRST_PAUSE));
    }

    #[test]
    fn terms_waits_the_grace_then_kills_until_it_gives_up() {
        let begun = Instant::now();
        let at = |millis| begun + Duration::from_millis(millis);
        let reach = Reach { way: Way::Descendants(u32::MAX), group: Group::None };
        let mut stop = Stop::gentle(Duration::from_secs(5));
        assert_eq!(stop.act(&reach, at(0)), Some(at(5000)));
        assert_eq!(stop.act(&reach, at(100)), Some(at(5000)));
        assert_eq!(stop.act(&reach, at(5000)), Some(at(5002)));
        assert_eq!(stop.act(&reach, at(5001)), Some(at(5002)));
        assert_eq!(stop.act(&reach, at(5002)), Some(at(5004)));
        assert_eq!(stop.act(&reach, at(15_001)), None);
    }
}
