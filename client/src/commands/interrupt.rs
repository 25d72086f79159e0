//! SIGINT, SIGTERM, SIGHUP and SIGQUIT: a person or a supervisor wants the command to end.
//!
//! What is done about it is each command's part: the first asks for the end, a second one insists, and another one after
//! that waits for nothing any more.

use std::future::Future;
use std::io;
use std::time::{Duration, Instant};

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::cli::Failure;

/// What comes within this time of a signal is that one again: timeout(1) signals its child and then its group, which the
/// child is in, and a terminal signals programs to which their parents pass the signal on, too. Nobody who insists is as fast.
const ECHO: Duration = Duration::from_millis(200);

/// One of the signals that ask for the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interrupt {
    /// Ctrl-C.
    Int,
    /// `kill`.
    Term,
    /// The terminal is gone.
    Hup,
    /// Ctrl-\.
    Quit,
}

impl Interrupt {
    const ALL: [Interrupt; 4] = [Interrupt::Int, Interrupt::Term, Interrupt::Hup, Interrupt::Quit];

    /// Its name, as signal(7) has it.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Interrupt::Int => "SIGINT",
            Interrupt::Term => "SIGTERM",
            Interrupt::Hup => "SIGHUP",
            Interrupt::Quit => "SIGQUIT",
        }
    }

    /// The exit status of a program that it ended: 128 and its number.
    pub(crate) fn exit_status(self) -> u8 {
        // The numbers are 2, 15, 1 and 3.
        u8::try_from(128 + self.kind().as_raw_value()).unwrap_or(u8::MAX)
    }

    const fn kind(self) -> SignalKind {
        match self {
            Interrupt::Int => SignalKind::interrupt(),
            Interrupt::Term => SignalKind::terminate(),
            Interrupt::Hup => SignalKind::hangup(),
            Interrupt::Quit => SignalKind::quit(),
        }
    }
}

/// The signals, from the moment this was made. Those that were ignored when this program began, as under nohup(1),
/// stay ignored.
#[derive(Debug)]
pub(crate) struct Interrupts {
    signals: [Option<Signal>; 4],
    wishes: Wishes,
}

/// Tells another wish from an echo of the one before.
#[derive(Debug, Default)]
struct Wishes {
    last: Option<Instant>,
}

impl Wishes {
    /// Whether what came now is another wish.
    fn is_another(&mut self, now: Instant) -> bool {
        let is_echo = self.last.is_some_and(|last| now.saturating_duration_since(last) < ECHO);
        if !is_echo {
            self.last = Some(now);
        }
        !is_echo
    }
}

impl Interrupts {
    /// Listens from now on.
    pub(crate) fn listen() -> Result<Self, Failure> {
        let ignored = ignored_signals().map_err(Failure::Signals)?;
        let mut signals = [const { None }; 4];
        for (slot, interrupt) in signals.iter_mut().zip(Interrupt::ALL) {
            if ignored >> (interrupt.kind().as_raw_value() - 1) & 1 == 0 {
                *slot = Some(signal(interrupt.kind()).map_err(Failure::Signals)?);
            }
        }
        Ok(Interrupts { signals, wishes: Wishes::default() })
    }

    /// The next signal that is no echo of the one before. Never ready if all are ignored.
    pub(crate) async fn next(&mut self) -> Interrupt {
        loop {
            let interrupt = self.any().await;
            if self.wishes.is_another(Instant::now()) {
                return interrupt;
            }
        }
    }

    async fn any(&mut self) -> Interrupt {
        async fn one(signal: &mut Option<Signal>, interrupt: Interrupt) -> Interrupt {
            if let Some(signal) = signal
                && signal.recv().await.is_some()
            {
                return interrupt;
            }
            std::future::pending().await
        }
        let [int, term, hup, quit] = &mut self.signals;
        tokio::select! {
            interrupt = one(int, Interrupt::Int) => interrupt,
            interrupt = one(term, Interrupt::Term) => interrupt,
            interrupt = one(hup, Interrupt::Hup) => interrupt,
            interrupt = one(quit, Interrupt::Quit) => interrupt,
        }
    }

    /// Waits for `work`, unless a signal comes first.
    pub(crate) async fn guard<T, E>(
        &mut self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, Failure>
    where
        Failure: From<E>,
    {
        tokio::select! {
            outcome = work => Ok(outcome?),
            interrupt = self.next() => Err(Failure::Interrupted(interrupt)),
        }
    }
}

/// The mask of ignored signals (`SigIgn` in proc_pid_status(5)).
fn ignored_signals() -> io::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).ok_or_else(|| {
        io::Error::new(io::ErrorKind::InvalidData, "/proc/self/status tells no ignored signals")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_statuses_are_those_of_a_shell() {
        assert_eq!(Interrupt::ALL.map(Interrupt::exit_status), [130, 143, 129, 131]);
    }

    #[test]
    fn an_echo_is_no_second_wish() {
        let (mut wishes, begun) = (Wishes::default(), Instant::now());
        let told = [0, 1, 199, 200, 210, 399, 400].map(Duration::from_millis);
        let others = told.map(|after| wishes.is_another(begun + after));
        assert_eq!(others, [true, false, false, true, false, false, true]);
    }

    #[test]
    fn rusts_own_ignored_signal_is_seen() {
        // The standard library ignores SIGPIPE, 13, before main.
        assert_eq!(ignored_signals().unwrap() >> 12 & 1, 1);
    }
}
