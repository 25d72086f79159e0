//! Points in time as people read them, in UTC: what two logs say can be compared, whoever looks at them where.

/// A time in milliseconds since 1970: `2026-11-30 17:41:47.123Z`.
pub(super) fn utc(milliseconds: u64) -> String {
    let (seconds, rest) = (milliseconds / 1_000, milliseconds % 1_000);
    let (day, second) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(day);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02}.{rest:03}Z")
}

/// The Gregorian date of a day after 1970-01-01. Years are counted from March, so that a leap day is the last of its year, in
/// cycles of 400 years, which have 146,097 days.
fn date(day: u64) -> (u64, u64, u64) {
    // From 0000-03-01.
    let day = day + 719_468;
    let (cycle, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    // Months from March on have 153 days in five.
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let is_next_year = u64::from(month >= 10);
    let month = if month < 10 { month + 3 } else { month - 9 };
    (cycle * 400 + year + is_next_year, month, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_told_in_utc() {
        // As `date -u -d @N` has them.
        let cases = [
            (0, "1970-01-01 00:00:00.000Z"),
            (951_782_400_000, "2000-02-29 00:00:00.000Z"),
            (951_868_799_999, "2000-02-29 23:59:59.999Z"),
            (1_704_067_199_000, "2023-12-31 23:59:59.000Z"),
            (1_796_060_507_123, "2026-11-30 17:41:47.123Z"),
            (4_107_542_400_000, "2100-03-01 00:00:00.000Z"),
            (253_402_300_799_000, "9999-12-31 23:59:59.000Z"),
        ];
        for (milliseconds, expected) in cases {
            assert_eq!(utc(milliseconds), expected);
        }
    }
}
