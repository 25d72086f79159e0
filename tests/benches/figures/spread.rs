//! Times: how they are taken, and what is told of many.

use std::fmt;
use std::time::{Duration, Instant};

/// How long something takes.
pub(super) fn timed<T>(what: impl FnOnce() -> T) -> Duration {
    let begun = Instant::now();
    what();
    begun.elapsed()
}

/// What a person's next call costs nobody: both sides of a comparison begin from rest.
pub(super) fn pause() {
    std::thread::sleep(Duration::from_micros(1500));
}

/// Median, tenth and ninetieth percentile.
pub(super) struct Spread {
    low: Duration,
    median: Duration,
    high: Duration,
}

impl Spread {
    /// Of at least one time.
    pub(super) fn of(mut times: Vec<Duration>) -> Spread {
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100];
        Spread { low: at(10), median: at(50), high: at(90) }
    }

    /// How many times as long as the other, by the medians.
    pub(super) fn over(&self, other: &Spread) -> f64 {
        self.median.as_secs_f64() / other.median.as_secs_f64()
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, digits, scale) = match self.median < Duration::from_millis(1) {
            true => ("µs", 0, 1e6),
            false => ("ms", 2, 1e3),
        };
        let [low, median, high] =
            [self.low, self.median, self.high].map(|time| time.as_secs_f64() * scale);
        write!(f, "{median:.digits$} {unit} ({low:.digits$} to {high:.digits$})")
    }
}
