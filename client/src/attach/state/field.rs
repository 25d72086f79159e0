//! A line that somebody types.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// What was typed, and how much may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    text: String,
    most: usize,
}

impl Field {
    /// An empty one of at most so many bytes.
    pub(crate) fn new(most: usize) -> Field {
        Field { text: String::new(), most }
    }

    /// What was typed.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The same without blanks around it; none where that is nothing.
    pub(crate) fn said(&self) -> Option<String> {
        Some(self.text.trim()).filter(|text| !text.is_empty()).map(str::to_owned)
    }

    /// What a key does to it.
    pub(super) fn press(&mut self, key: KeyEvent) {
        let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('u') if is_control => self.clear(),
            KeyCode::Char('w') if is_control => self.pop_word(),
            KeyCode::Backspace => self.pop(),
            KeyCode::Char(sign) if !is_control => self.push(sign),
            _ => {}
        }
    }

    /// Adds a character. What is no text becomes a blank, and what does not fit is left out.
    pub(super) fn push(&mut self, sign: char) {
        let sign = if sign.is_control() { ' ' } else { sign };
        if self.text.len() + sign.len_utf8() <= self.most {
            self.text.push(sign);
        }
    }

    /// Takes the last character away.
    fn pop(&mut self) {
        self.text.pop();
    }

    /// Takes the last word away, and the blanks behind it.
    fn pop_word(&mut self) {
        let kept = self.text.trim_end().trim_end_matches(|sign: char| !sign.is_whitespace()).len();
        self.text.truncate(kept);
    }

    /// Takes all away.
    fn clear(&mut self) {
        self.text.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_typed_and_taken_back() {
        let mut field = Field::new(12);
        "not now\n é, please".chars().for_each(|sign| field.push(sign));
        assert_eq!(field.text(), "not now  é,");
        field.pop_word();
        assert_eq!(field.text(), "not now  ");
        assert_eq!(field.said().as_deref(), Some("not now"));
        field.pop_word();
        assert_eq!(field.text(), "not ");
        field.pop();
        field.pop();
        assert_eq!(field.text(), "no");
        field.clear();
        field.pop();
        field.pop_word();
        assert_eq!(field.said(), None);
    }
}
