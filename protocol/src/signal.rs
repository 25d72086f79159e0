//! The names of signals, as signal(7) has them on the architectures that Brattice runs on (x86-64 and arm64 agree).
//!
//! On the wire a signal is its name. Which number the kernel knows it by matters at both ends: the daemon reads it
//! from wait(2), and a client turns it into an exit status.

use std::borrow::Cow;

/// The signals from 1 on.
const NAMES: [&str; 31] = [
    "SIGHUP",
    "SIGINT",
    "SIGQUIT",
    "SIGILL",
    "SIGTRAP",
    "SIGABRT",
    "SIGBUS",
    "SIGFPE",
    "SIGKILL",
    "SIGUSR1",
    "SIGSEGV",
    "SIGUSR2",
    "SIGPIPE",
    "SIGALRM",
    "SIGTERM",
    "SIGSTKFLT",
    "SIGCHLD",
    "SIGCONT",
    "SIGSTOP",
    "SIGTSTP",
    "SIGTTIN",
    "SIGTTOU",
    "SIGURG",
    "SIGXCPU",
    "SIGXFSZ",
    "SIGVTALRM",
    "SIGPROF",
    "SIGWINCH",
    "SIGIO",
    "SIGPWR",
    "SIGSYS",
];

/// The first real-time signal that the C library hands out; it keeps 32 and 33 to itself (nptl(7)).
const FIRST_REAL_TIME: i32 = 34;

/// The last signal of all.
const LAST: i32 = 64;

/// The name of a signal: `SIGKILL`, `SIGRTMIN+3`, or `SIG33` for a number that has none.
pub fn signal_name(number: i32) -> Cow<'static, str> {
    let named = usize::try_from(number).ok().and_then(|number| NAMES.get(number.checked_sub(1)?));
    match (named, number) {
        (Some(name), _) => Cow::Borrowed(*name),
        (None, FIRST_REAL_TIME) => Cow::Borrowed("SIGRTMIN"),
        (None, FIRST_REAL_TIME..=LAST) => {
            Cow::Owned(format!("SIGRTMIN+{}", number - FIRST_REAL_TIME))
        }
        (None, _) => Cow::Owned(format!("SIG{number}")),
    }
}

/// The number of a signal by a name that [`signal_name`] gives. None for any other text.
pub fn signal_number(name: &str) -> Option<i32> {
    (1..=LAST).find(|number| signal_name(*number) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_their_names() {
        for (number, name) in [
            (1, "SIGHUP"),
            (9, "SIGKILL"),
            (11, "SIGSEGV"),
            (15, "SIGTERM"),
            (31, "SIGSYS"),
            (32, "SIG32"),
            (33, "SIG33"),
            (34, "SIGRTMIN"),
            (37, "SIGRTMIN+3"),
            (64, "SIGRTMIN+30"),
            (65, "SIG65"),
            (0, "SIG0"),
            (-1, "SIG-1"),
        ] {
            assert_eq!(signal_name(number), name);
        }
    }

    #[test]
    fn every_signal_is_found_by_its_name_and_nothing_else_is_one() {
        for number in 1..=LAST {
            assert_eq!(signal_number(&signal_name(number)), Some(number));
        }
        for name in
            ["", "KILL", "SIG", "SIG0", "SIG9", "SIG65", "SIGRTMIN+", "SIGRTMIN+31", "SIGNOVELTY"]
        {
            assert_eq!(signal_number(name), None, "{name:?}");
        }
    }
}
