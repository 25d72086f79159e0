//! Which characters of others may reach the terminal as they are.

/// Bytes of the marks that one character may carry: more would be drawn over the lines around it.
pub(super) const MOST_MARKS: usize = 16;

/// A character as it is shown: itself, or, where a terminal would act on it, reorder what is around it or show nothing, its
/// number.
pub(crate) fn visible(sign: char) -> String {
    if matches!(sign, ' '..='~') {
        return sign.to_string();
    }
    // A mark is escaped only where it would begin a text.
    let after_a_letter: String = ['a', sign].iter().collect();
    after_a_letter.escape_debug().skip(1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_acts_on_is_shown_by_its_number() {
        let cases = [
            ('a', "a"),
            ('\'', "'"),
            ('\\', "\\"),
            ('~', "~"),
            ('é', "é"),
            ('漢', "漢"),
            ('🛠', "🛠"),
            ('\u{301}', "\u{301}"),
            ('\u{1b}', "\\u{1b}"),
            ('\u{9b}', "\\u{9b}"),
            ('\u{7f}', "\\u{7f}"),
            ('\t', "\\t"),
            ('\u{202e}', "\\u{202e}"),
            ('\u{2066}', "\\u{2066}"),
            ('\u{200b}', "\\u{200b}"),
            ('\u{200d}', "\\u{200d}"),
            ('\u{2028}', "\\u{2028}"),
            ('\u{e0001}', "\\u{e0001}"),
            ('\u{feff}', "\\u{feff}"),
        ];
        for (sign, shown) in cases {
            assert_eq!(visible(sign), shown, "{:x}", sign as u32);
        }
    }
}
