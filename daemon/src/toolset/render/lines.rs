//! Lines that the daemon adds to a text, and words of others within them.

/// Appends a line that begins on a line of its own.
pub(super) fn push_line(text: &mut String, line: &str) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(line);
}

/// A name that a process chose for itself, a command, or a reason that somebody gave must not forge further lines.
pub(super) fn one_line(text: &str) -> String {
    let plain = |character: char| match character {
        '\t' => ' ',
        character if character.is_control() => '?',
        character => character,
    };
    text.chars().map(plain).collect()
}

/// At most so many characters of [`one_line`], and an ellipsis where there are more.
pub(super) fn short_line(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", one_line(&text[..end])),
        None => one_line(text),
    }
}

/// A number of things: `1 process`, `2 processes`.
pub(super) fn count(number: u64, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_begins_on_a_line_of_its_own() {
        let pushed = |before: &str| {
            let mut text = before.to_owned();
            push_line(&mut text, "[x]");
            text
        };
        assert_eq!(["", "a", "a\n", "a\n\n"].map(pushed), ["[x]", "a\n[x]", "a\n[x]", "a\n\n[x]"]);
    }

    #[test]
    fn words_of_others_stay_on_their_line() {
        assert_eq!(one_line("a\tb\nc\u{1b}[0m"), "a b?c?[0m");
        assert_eq!(short_line("éé", 2), "éé");
        assert_eq!(short_line("éé\n", 2), "éé…");
    }

    #[test]
    fn one_is_one() {
        let processes = |number| count(number, "process", "processes");
        assert_eq!([0, 1, 2].map(processes), ["0 processes", "1 process", "2 processes"]);
    }
}
