//! Durations as people write and read them.

use std::time::{Duration, SystemTime};

/// A text that is no duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum DurationError {
    #[error("expected a whole number with ms, s, m or h, such as 90s")]
    Malformed,
    #[error("a duration must be longer than nothing")]
    Zero,
    #[error("a duration must fit in milliseconds of 64 bits")]
    TooLong,
}

/// Reads `90s`, `500ms`, `2m`, `1h`, or plain seconds.
pub(crate) fn parse(text: &str) -> Result<Duration, DurationError> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        return Err(DurationError::Malformed);
    }
    let scale = match unit {
        "ms" => 1,
        "" | "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(DurationError::Malformed),
    };
    // Digits alone: only their number can be at fault.
    let number: u64 = number.parse().map_err(|_| DurationError::TooLong)?;
    match number.checked_mul(scale) {
        None => Err(DurationError::TooLong),
        Some(0) => Err(DurationError::Zero),
        Some(milliseconds) => Ok(Duration::from_millis(milliseconds)),
    }
}

/// A duration as the wire has it.
pub(crate) fn milliseconds(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}

/// The time, in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    milliseconds(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default())
}

/// The two largest units of a span of time: `3d 4h`, `2m 5s`, `7s`.
pub(crate) fn words(span: Duration) -> String {
    let seconds = span.as_secs();
    let (days, hours) = (seconds / 86_400, seconds / 3_600 % 24);
    let (minutes, rest) = (seconds / 60 % 60, seconds % 60);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{rest}s"),
        (0, 0, _) => format!("{minutes}m {rest}s"),
        (0, ..) => format!("{hours}h {minutes}m"),
        _ => format!("{days}d {hours}h"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_by_their_unit() {
        let milliseconds = |text| parse(text).map(|duration| duration.as_millis());
        let cases =
            [("500ms", 500), ("90s", 90_000), ("90", 90_000), ("2m", 120_000), ("1h", 3_600_000)];
        for (text, expected) in cases {
            assert_eq!(milliseconds(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_duration_is_refused() {
        for text in ["", "s", "-1", "1.5s", "2 m", "1d", "+3s"] {
            assert_eq!(parse(text), Err(DurationError::Malformed), "{text}");
        }
        assert_eq!(parse("0ms"), Err(DurationError::Zero));
        assert_eq!(parse("99999999999999999999"), Err(DurationError::TooLong));
        assert_eq!(parse("9999999999999999999h"), Err(DurationError::TooLong));
    }

    #[test]
    fn spans_are_told_by_their_two_largest_units() {
        let cases = [(7, "7s"), (125, "2m 5s"), (3_720, "1h 2m"), (273_600, "3d 4h")];
        for (seconds, expected) in cases {
            assert_eq!(words(Duration::from_secs(seconds)), expected);
        }
    }
}
