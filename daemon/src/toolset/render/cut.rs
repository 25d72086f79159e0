//! The cap on what a tool answers: the beginning of its text, and the line that tells what is missing.

use super::characters::StreamLength;
use crate::toolset::wording::{CutLine, ResultCap};

/// How many bytes of a text the cap leaves.
pub(super) fn kept(cap: ResultCap, text: &str) -> usize {
    match cap {
        ResultCap::None => text.len(),
        ResultCap::Characters(most, _) => {
            text.char_indices().nth(most).map_or(text.len(), |(end, _)| end)
        }
    }
}

/// Cuts what a tool answers, less its closing lines, to the cap. `length` is that of the stream whose beginning the text is,
/// where there is more of it. The line tells the cut, where there is one.
pub(super) fn cut(cap: ResultCap, text: &mut String, length: StreamLength) -> Option<String> {
    let ResultCap::Characters(most, line) = cap else {
        return None;
    };
    let read = text.chars().count() as u64;
    let (whole, more) = match length {
        StreamLength::AsRead => (read, ""),
        StreamLength::Characters(whole) => (whole, ""),
        StreamLength::MoreThan(known) => (known, "more than "),
    };
    text.truncate(kept(cap, text));
    let omitted = whole.saturating_sub(read.min(most as u64));
    (omitted > 0 || !more.is_empty()).then(|| match line {
        CutLine::Truncated => format!("[truncated, {more}{omitted} chars omitted]"),
        CutLine::OutputTruncated => {
            format!("[output truncated: {more}{omitted} characters omitted]")
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_to(
        most: usize,
        text: &str,
        line: CutLine,
        length: StreamLength,
    ) -> (String, Option<String>) {
        let mut text = text.to_owned();
        let told = cut(ResultCap::Characters(most, line), &mut text, length);
        (text, told)
    }

    #[test]
    fn characters_are_counted_and_none_is_split() {
        let cases = [
            (3, "aéß", "aéß", None),
            (2, "aéß", "aé", Some("[truncated, 1 chars omitted]")),
            (0, "aéß", "", Some("[truncated, 3 chars omitted]")),
        ];
        for (most, text, left, line) in cases {
            let told = cut_to(most, text, CutLine::Truncated, StreamLength::AsRead);
            assert_eq!(told, (left.to_owned(), line.map(str::to_owned)), "{most}");
        }
        let mut text = "any".to_owned();
        assert_eq!(cut(ResultCap::None, &mut text, StreamLength::AsRead), None);
    }

    #[test]
    fn what_was_not_read_is_counted_as_well() {
        let line = |length| cut_to(2, "aéß", CutLine::OutputTruncated, length).1;
        assert_eq!(
            line(StreamLength::Characters(102)).as_deref(),
            Some("[output truncated: 100 characters omitted]")
        );
        assert_eq!(
            line(StreamLength::MoreThan(102)).as_deref(),
            Some("[output truncated: more than 100 characters omitted]")
        );
    }
}
