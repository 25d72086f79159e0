//! The watchdog (sd_watchdog_enabled(3)): systemd restarts a daemon whose runtime got stuck.
//!
//! The sign of life is a task like any other, so it comes only while a thread of the runtime is free to run one. It says
//! nothing of supervisors and commands, which neither slow it down nor keep it up.

use std::ffi::OsString;
use std::time::Duration;

use tokio::time::MissedTickBehavior;

use super::notifier::{News, Notifier};

/// Gives signs of life from now on, where systemd asks this process for them. Called inside the runtime.
pub(crate) fn watch(notifier: &Notifier, environment: impl Fn(&str) -> Option<OsString>) {
    let Some(every) = interval(environment).filter(|_| notifier.is_asked()) else { return };
    let notifier = notifier.clone();
    tokio::spawn(async move {
        let mut ticks = tokio::time::interval(every);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            notifier.tell(News::Alive);
        }
    });
}

/// Half of what systemd waits for. Variables meant for another process were inherited from it.
fn interval(environment: impl Fn(&str) -> Option<OsString>) -> Option<Duration> {
    let own = std::process::id().to_string();
    if environment("WATCHDOG_PID").is_some_and(|pid| pid != own.as_str()) {
        return None;
    }
    let microseconds: u64 = environment("WATCHDOG_USEC")?.to_str()?.parse().ok()?;
    Some(Duration::from_micros(microseconds / 2)).filter(|half| !half.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(variables: &[(&str, &str)]) -> Option<Duration> {
        let value =
            |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, v)| v.into());
        interval(value)
    }

    #[test]
    fn signs_come_twice_as_often_as_they_must() {
        let own = std::process::id().to_string();
        let half = Some(Duration::from_secs(15));
        assert_eq!(asked(&[("WATCHDOG_USEC", "30000000"), ("WATCHDOG_PID", &own)]), half);
        assert_eq!(asked(&[("WATCHDOG_USEC", "30000000")]), half);
    }

    #[test]
    fn nobody_who_does_not_ask_this_process_gets_any() {
        assert_eq!(asked(&[]), None);
        assert_eq!(asked(&[("WATCHDOG_USEC", "30000000"), ("WATCHDOG_PID", "1")]), None);
        for value in ["", "0", "1", "-5", "soon"] {
            assert_eq!(asked(&[("WATCHDOG_USEC", value)]), None, "{value}");
        }
    }
}
