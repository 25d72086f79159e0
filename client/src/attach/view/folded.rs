//! Text in rows of a width.

use unicode_width::UnicodeWidthChar as _;

/// A text in rows of at most that many columns, to the letter: nothing is left out between two of them. One row at least.
pub(super) fn exact(text: &str, width: usize) -> Vec<String> {
    let (mut rows, mut row, mut used) = (Vec::new(), String::new(), 0);
    for sign in text.chars() {
        let columns = columns(sign);
        if used + columns > width && used > 0 {
            rows.push(std::mem::take(&mut row));
            used = 0;
        }
        used += columns;
        row.push(sign);
    }
    rows.push(row);
    rows
}

/// The same between words, where they are not too long for that; the blanks between two rows are left out.
pub(super) fn words(text: &str, width: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    let mut used = 0;
    for word in text.split(' ') {
        let long = columns_of(word);
        let blank = usize::from(used > 0);
        if used + blank + long > width && used > 0 {
            rows.push(String::new());
            used = 0;
        }
        for (number, piece) in exact(word, width).into_iter().enumerate() {
            if number > 0 {
                rows.push(String::new());
                used = 0;
            }
            if let Some(row) = rows.last_mut() {
                if used > 0 {
                    row.push(' ');
                    used += 1;
                }
                used += columns_of(&piece);
                row.push_str(&piece);
            }
        }
    }
    rows
}

/// The beginning of a text, in at most that many columns, the last of which says where it goes on.
pub(super) fn begin(text: &str, width: usize) -> String {
    let first = exact(text, width).swap_remove(0);
    if first.len() == text.len() {
        return if columns_of(text) > width { String::new() } else { first };
    }
    let mut first = exact(text, width.saturating_sub(1)).swap_remove(0);
    if columns_of(&first) >= width {
        first.clear();
    }
    if width > 0 {
        first.push('…');
    }
    first
}

/// The end of a text, in at most that many columns.
pub(super) fn end(text: &str, width: usize) -> &str {
    let mut left = width;
    let too_long =
        text.char_indices().rev().find(|(_, sign)| match left.checked_sub(columns(*sign)) {
            Some(rest) => {
                left = rest;
                false
            }
            None => true,
        });
    too_long.map_or(text, |(at, sign)| &text[at + sign.len_utf8()..])
}

fn columns_of(text: &str) -> usize {
    text.chars().map(columns).sum()
}

fn columns(sign: char) -> usize {
    sign.width().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_between_rows() {
        assert_eq!(exact("", 4), [""]);
        assert_eq!(exact("ab cdef", 4), ["ab c", "def"]);
        assert_eq!(exact("a漢字", 3), ["a漢", "字"]);
        for (text, width, shown) in
            [("", 0, ""), ("abc", 3, "abc"), ("abcd", 3, "bcd"), ("漢字", 3, "字")]
        {
            assert_eq!(end(text, width), shown);
        }
        let begins = [
            ("", 0, ""),
            ("abc", 3, "abc"),
            ("abcd", 3, "ab…"),
            ("ab", 1, "…"),
            ("a", 0, ""),
            ("漢字", 3, "漢…"),
            ("漢字", 2, "…"),
        ];
        for (text, width, shown) in begins {
            assert_eq!(begin(text, width), shown, "{text:?} in {width}");
        }
        assert_eq!(words("", 4), [""]);
        assert_eq!(words("ab cd ef", 5), ["ab cd", "ef"]);
        assert_eq!(words("abcdefg hi j", 4), ["abcd", "efg", "hi j"]);
        assert_eq!(words("a abcdefg", 4), ["a", "abcd", "efg"]);
    }
}
