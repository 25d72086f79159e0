//! Running text as it is put together: blank space is one space, and what Markdown would take for a sign is escaped, but
//! nothing else, for the text is read as often as it is rendered.

/// A character that nobody sees, and that changes how others are seen: control characters, soft hyphens, spaces of no width.
pub(super) fn is_unseen(sign: char) -> bool {
    sign.is_control() && !matches!(sign, '\n' | '\t')
        || matches!(sign, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}')
}

/// Running text.
#[derive(Debug, Default)]
pub(super) struct Line {
    text: String,
    /// There was blank space before the first character.
    begins_blank: bool,
    /// There was blank space after the last one.
    ends_blank: bool,
}

impl Line {
    /// Whether there is nothing to be seen.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Adds text of the page.
    pub(super) fn push(&mut self, text: &str) {
        let mut signs = text.chars().filter(|sign| !is_unseen(*sign)).peekable();
        while let Some(sign) = signs.next() {
            if sign.is_whitespace() && sign != '\u{a0}' {
                self.blank();
                continue;
            }
            self.settle();
            let before = self.text.chars().next_back();
            if is_sign(before, sign, signs.peek().copied(), || follows_entity(signs.clone())) {
                self.text.push('\\');
            }
            self.text.push(if sign == '\u{a0}' { ' ' } else { sign });
        }
    }

    /// Adds Markdown.
    pub(super) fn push_raw(&mut self, markdown: &str) {
        if !markdown.is_empty() {
            self.settle();
            self.text.push_str(markdown);
        }
    }

    /// Adds running text between two marks, which must touch it.
    pub(super) fn push_marked(&mut self, open: &str, inner: &Line, close: &str) {
        if inner.begins_blank || inner.is_empty() && inner.ends_blank {
            self.blank();
        }
        if !inner.is_empty() {
            self.settle();
            self.text.push_str(open);
            self.text.push_str(inner.text.trim());
            self.text.push_str(close);
            self.ends_blank |= inner.ends_blank;
        }
    }

    /// Adds blank space.
    pub(super) fn blank(&mut self) {
        match self.text.is_empty() {
            true => self.begins_blank = true,
            false => self.ends_blank = true,
        }
    }

    /// Ends a line within a paragraph.
    pub(super) fn break_line(&mut self) {
        self.ends_blank = false;
        if !self.is_empty() {
            self.text.push_str("\\\n");
        }
    }

    /// Another text with the blank space that this one has around it.
    pub(super) fn around(&self, other: Line) -> Line {
        Line { begins_blank: self.begins_blank, ends_blank: self.ends_blank, ..other }
    }

    fn settle(&mut self) {
        if std::mem::take(&mut self.ends_blank) && !self.text.ends_with(['\n', ' ']) {
            self.text.push(' ');
        }
    }

    /// The text by itself.
    pub(super) fn text(&self) -> &str {
        let text = self.text.trim();
        text.strip_suffix('\\').filter(|_| self.text.ends_with("\\\n")).unwrap_or(text).trim_end()
    }

    /// The text as a paragraph: no line of it begins as something else.
    pub(super) fn paragraph(&self) -> String {
        let lines = self.text().lines().map(|line| {
            let line = line.trim_start();
            match sign_at_start(line) {
                Some(place) => format!("{}\\{}", &line[..place], &line[place..]),
                None => line.to_owned(),
            }
        });
        lines.collect::<Vec<_>>().join("\n")
    }
}

/// Whether a character would be taken for a sign where it stands.
fn is_sign(
    before: Option<char>,
    sign: char,
    after: Option<char>,
    follows_entity: impl Fn() -> bool,
) -> bool {
    let is_blank = |sign: Option<char>| sign.is_some_and(char::is_whitespace);
    let is_word = |sign: Option<char>| sign.is_some_and(char::is_alphanumeric);
    match sign {
        '`' => true,
        '*' => !(is_blank(after) && before.is_none_or(char::is_whitespace)),
        '_' => !(is_blank(after) && is_blank(before) || is_word(before) && is_word(after)),
        '\\' => after.is_some_and(|after| after.is_ascii_punctuation()),
        '<' => after.is_some_and(|after| after.is_ascii_alphabetic() || "/!?".contains(after)),
        ']' => after.is_some_and(|after| "([:".contains(after)),
        '~' => after == Some('~'),
        '&' => follows_entity(),
        _ => false,
    }
}

fn follows_entity(signs: impl Iterator<Item = char>) -> bool {
    for (place, sign) in signs.take(10).enumerate() {
        match sign {
            ';' => return place > 0,
            '#' if place == 0 => {}
            _ if sign.is_ascii_alphanumeric() => {}
            _ => return false,
        }
    }
    false
}

/// Where a backslash must stand so that a line is none of a heading, a list, a quotation or a rule.
fn sign_at_start(line: &str) -> Option<usize> {
    let ends_word = |rest: &str| rest.is_empty() || rest.starts_with(' ');
    let hashes = line.len() - line.trim_start_matches('#').len();
    let digits = line.len() - line.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
    match line.chars().next()? {
        '#' if hashes <= 6 && ends_word(&line[hashes..]) => Some(0),
        '>' => Some(0),
        '-' | '+' if ends_word(&line[1..]) => Some(0),
        '-' | '=' if line.chars().all(|sign| sign == '-' || sign == '=') => Some(0),
        '~' if line.starts_with("~~~") => Some(0),
        '0'..='9' if digits <= 9 && line[digits..].starts_with(['.', ')']) => {
            ends_word(&line[digits + 1..]).then_some(digits)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paragraph(pieces: &[&str]) -> String {
        let mut line = Line::default();
        for piece in pieces {
            line.push(piece);
        }
        line.paragraph()
    }

    #[test]
    fn blank_space_is_one_space_and_unseen_characters_are_gone() {
        assert_eq!(paragraph(&["  a \n\t b", " ", "c\u{1b}[31m\u{ad}d\u{200b}e  "]), "a b c[31mde");
        assert_eq!(paragraph(&["a\u{a0}\u{a0}b"]), "a  b");
    }

    #[test]
    fn only_what_would_be_a_sign_is_escaped() {
        let cases = [
            ("5 < 6 & 7, a*b", "5 < 6 & 7, a\\*b"),
            ("snake_case and _it_", "snake_case and \\_it\\_"),
            ("<b> &lt; &x", "\\<b> \\&lt; &x"),
            ("[1] [x](y)", "[1] [x\\](y)"),
            ("C:\\dir \\* `a`", "C:\\dir \\\\\\* \\`a\\`"),
            ("3 * 4 ~~x~~", "3 * 4 \\~~x\\~~"),
        ];
        for (text, markdown) in cases {
            assert_eq!(paragraph(&[text]), markdown, "{text}");
        }
    }

    #[test]
    fn a_paragraph_begins_as_nothing_else() {
        let cases = [
            ("# x", "\\# x"),
            ("#x", "#x"),
            ("12. x", "12\\. x"),
            ("1.5 x", "1.5 x"),
            ("- x", "\\- x"),
            ("-x", "-x"),
            ("---", "\\---"),
            ("> x", "\\> x"),
        ];
        for (text, markdown) in cases {
            assert_eq!(paragraph(&[text]), markdown, "{text}");
        }
    }

    #[test]
    fn marks_touch_what_they_mark() {
        let (mut line, mut bold, blank) = (Line::default(), Line::default(), Line::default());
        bold.push(" b ");
        line.push("a");
        line.push_marked("**", &bold, "**");
        line.push("c");
        line.push_marked("**", &blank, "**");
        assert_eq!(line.text(), "a **b** c");
    }

    #[test]
    fn a_break_at_the_end_is_none() {
        let mut line = Line::default();
        line.push("a");
        line.break_line();
        line.push(" b");
        line.break_line();
        assert_eq!(line.paragraph(), "a\\\nb");
    }
}
