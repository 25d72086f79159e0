//! Sizes and durations as people write them: a whole number and its unit.

use std::time::Duration;

const SIZES: [(&str, u64); 5] =
    [("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("TiB", 1 << 40)];

const DURATIONS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

/// Reads `64MiB`: bytes. None where the text is no size or needs more than 64 bits.
pub(super) fn size(text: &str) -> Option<u64> {
    scaled(text, &SIZES)
}

/// Reads `90s`, `500ms`, `2m`, `1h`. None where the text is no duration or needs more than 64 bits of milliseconds.
pub(super) fn duration(text: &str) -> Option<Duration> {
    scaled(text, &DURATIONS).map(Duration::from_millis)
}

/// Writes a size by the largest unit that divides it.
pub(super) fn size_in_words(bytes: u64) -> String {
    let fits = |(_, scale): &&(&str, u64)| bytes.is_multiple_of(*scale);
    match SIZES.iter().rev().find(fits) {
        Some((unit, scale)) if bytes > 0 => format!("{}{unit}", bytes / scale),
        _ => format!("{bytes}B"),
    }
}

/// Writes a duration by the largest unit that divides it.
pub(super) fn duration_in_words(span: Duration) -> String {
    let milliseconds = span.as_millis();
    let fits = |(_, scale): &&(&str, u64)| milliseconds.is_multiple_of(u128::from(*scale));
    match DURATIONS.iter().rev().find(fits) {
        Some((unit, scale)) if milliseconds > 0 => {
            format!("{}{unit}", milliseconds / u128::from(*scale))
        }
        _ => format!("{milliseconds}ms"),
    }
}

fn scaled(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let (_, scale) = units.iter().find(|(name, _)| *name == unit)?;
    number.parse::<u64>().ok()?.checked_mul(*scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_durations_are_read_by_their_unit() {
        let sizes = [("0B", 0), ("1KiB", 1024), ("64MiB", 64 << 20), ("4GiB", 4 << 30)];
        for (text, bytes) in sizes {
            assert_eq!(size(text), Some(bytes), "{text}");
        }
        let durations = [("500ms", 500), ("120s", 120_000), ("2m", 120_000), ("1h", 3_600_000)];
        for (text, milliseconds) in durations {
            assert_eq!(duration(text), Some(Duration::from_millis(milliseconds)), "{text}");
        }
    }

    #[test]
    fn what_is_neither_is_none() {
        for text in ["", "MiB", "64", "64MB", "64 MiB", "-1B", "1.5GiB", "99999999TiB", "é"] {
            assert_eq!(size(text), None, "{text}");
        }
        for text in ["", "s", "90", "1d", "1 h", "+1s", "18446744073709551615h"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }

    #[test]
    fn sizes_and_durations_are_written_by_their_largest_unit() {
        let written = [0, 1, 1536, 16 << 20, 4 << 30].map(size_in_words);
        assert_eq!(written, ["0B", "1B", "1536B", "16MiB", "4GiB"]);
        let written = [0, 1, 1500, 90_000, 120_000, 3_600_000]
            .map(|milliseconds| duration_in_words(Duration::from_millis(milliseconds)));
        assert_eq!(written, ["0ms", "1ms", "1500ms", "90s", "2m", "1h"]);
    }
}
