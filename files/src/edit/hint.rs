//! What looks like a text that was not found: the same with other quotes, dashes or blanks, or the line that is most like it.
//! A bounded look; a hint is never an answer.

use serde::{Deserialize, Serialize};
use std::fmt;

use memchr::memmem;
use unicode_normalization::UnicodeNormalization as _;

use crate::cancel::{Cancel, Cancelled};

/// How much of a file is looked at.
const BYTES: usize = 4 << 20;
const LINES: usize = 100_000;
/// Lines that are compared for likeness, and how much of each.
const LIKENED: usize = 20_000;
const CHARACTERS: usize = 200;
/// Characters of the line that are told.
const TOLD: usize = 200;
/// Lines between two looks at the flag.
const STRIDE: usize = 1024;

/// A place that looks like the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hint {
    /// What is different.
    pub difference: Difference,
    /// The line where it begins, from 1.
    pub line: u64,
    /// That line, at most 200 characters.
    pub text: String,
}

/// In what a place differs from the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Difference {
    /// The text has the line numbers of a listing in front of its lines; the file has not.
    LineNumbers,
    /// Blanks and tabs.
    Whitespace,
    /// Typographic quotes.
    Quotes,
    /// Dashes and hyphens.
    Dashes,
    /// No-break and other wide or narrow blanks.
    Blanks,
    /// Characters without width.
    Invisible,
    /// Another Unicode form of the same characters.
    Form,
    /// Upper and lower case.
    Case,
    /// Several of these.
    Several,
    /// Nothing of the kind: the line that has the most in common with it.
    Near,
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.difference {
            Difference::LineNumbers => {
                return write!(
                    f,
                    "without the line numbers, which are display only, it stands in line {}",
                    self.line
                );
            }
            Difference::Near => {
                return write!(f, "the nearest is line {}: {}", self.line, self.text);
            }
            Difference::Whitespace => "in whitespace (tabs, blanks)",
            Difference::Quotes => "in its quotes",
            Difference::Dashes => "in its dashes",
            Difference::Blanks => "in its kind of blanks",
            Difference::Invisible => "in invisible characters",
            Difference::Form => "in its Unicode form",
            Difference::Case => "in upper and lower case",
            Difference::Several => "in whitespace and signs",
        };
        write!(f, "line {} differs {what}: {}", self.line, self.text)
    }
}

/// Differences that are looked through.
const FOLDS: [Difference; 7] = [
    Difference::Whitespace,
    Difference::Quotes,
    Difference::Dashes,
    Difference::Blanks,
    Difference::Invisible,
    Difference::Form,
    Difference::Case,
];

/// The best hint for a text that `text` does not hold; both with LF alone.
pub(super) fn hint(text: &str, old: &str, cancel: &Cancel) -> Result<Option<Hint>, Cancelled> {
    if let Some(hint) = numbered(text, old) {
        return Ok(Some(hint));
    }
    let text = &text[..boundary(text, BYTES)];
    let lines: Vec<&str> = text.split('\n').take(LINES).collect();
    let wanted: Vec<&str> = old[..boundary(old, BYTES)].split('\n').collect();
    let Some(first) = wanted.iter().position(|line| !line.trim().is_empty()) else {
        return Ok(None);
    };
    let Some(index) = alike(&lines, &wanted, first, cancel)? else {
        return near(&lines, wanted[first], cancel);
    };
    let window = &lines[index..];
    let single = FOLDS.into_iter().find(|fold| matches(window, &wanted, &[*fold]));
    Ok(Some(told(&lines, index, single.unwrap_or(Difference::Several))))
}

fn told(lines: &[&str], index: usize, difference: Difference) -> Hint {
    let text = lines.get(index).map_or(String::new(), |line| line.chars().take(TOLD).collect());
    Hint { difference, line: index as u64 + 1, text }
}

/// A text that was copied from a listing, numbers included.
fn numbered(text: &str, old: &str) -> Option<Hint> {
    let bare = |line: &str| -> Option<String> {
        let rest = line.trim_start_matches(' ');
        let digits = rest.len() - rest.trim_start_matches(|sign: char| sign.is_ascii_digit()).len();
        let rest = &rest[digits..];
        let after = ["|", "\t", ": "].into_iter().find_map(|sign| rest.strip_prefix(sign))?;
        (digits > 0).then(|| after.to_owned())
    };
    let lines: Vec<String> =
        old.trim_end_matches('\n').split('\n').map(bare).collect::<Option<_>>()?;
    let bare = lines.join("\n");
    if bare.trim().is_empty() {
        return None;
    }
    let place = memmem::find(text.as_bytes(), bare.as_bytes())?;
    let line = memchr::memchr_iter(b'\n', &text.as_bytes()[..place]).count();
    let start = memchr::memrchr(b'\n', &text.as_bytes()[..place]).map_or(0, |end| end + 1);
    let shown = text[start..].split('\n').next().unwrap_or_default();
    Some(told(&[shown], 0, Difference::LineNumbers))
        .map(|hint| Hint { line: line as u64 + 1, ..hint })
}

/// The first line from which the wanted lines stand, when all differences are looked through.
fn alike(
    lines: &[&str],
    wanted: &[&str],
    first: usize,
    cancel: &Cancel,
) -> Result<Option<usize>, Cancelled> {
    let key = folded(wanted[first], &FOLDS);
    for index in 0..lines.len() {
        if index % STRIDE == 0 {
            cancel.check()?;
        }
        let Some(line) = lines.get(index + first) else {
            break;
        };
        if folded(line, &FOLDS).contains(&key) && matches(&lines[index..], wanted, &FOLDS) {
            return Ok(Some(index));
        }
    }
    Ok(None)
}

/// Whether the lines begin with the wanted ones: the first may have more before, the last more behind.
fn matches(lines: &[&str], wanted: &[&str], folds: &[Difference]) -> bool {
    let last = wanted.len() - 1;
    lines.len() > last
        && lines.iter().zip(wanted).enumerate().all(|(index, (line, wanted))| {
            let (line, wanted) = (folded(line, folds), folded(wanted, folds));
            match index {
                _ if last == 0 => line.contains(&wanted),
                0 => line.ends_with(&wanted),
                _ if index == last => line.starts_with(&wanted),
                _ => line == wanted,
            }
        })
}

/// A line in which these differences are gone.
fn folded(line: &str, folds: &[Difference]) -> String {
    let has = |fold| folds.contains(&fold);
    let mut text: String = if has(Difference::Form) && !line.is_ascii() {
        line.nfc().collect()
    } else {
        line.to_owned()
    };
    if !text.is_ascii() {
        text = text
            .chars()
            .filter_map(|sign| match sign {
                '‘' | '’' | '‚' | '‛' | '′' | 'ʼ' if has(Difference::Quotes) => {
                    Some('\'')
                }
                '“' | '”' | '„' | '‟' | '″' if has(Difference::Quotes) => Some('"'),
                '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' if has(Difference::Dashes) => {
                    Some('-')
                }
                '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
                    if has(Difference::Blanks) =>
                {
                    Some(' ')
                }
                '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}'
                    if has(Difference::Invisible) =>
                {
                    None
                }
                sign => Some(sign),
            })
            .collect();
    }
    if has(Difference::Case) {
        text = text.to_lowercase();
    }
    if has(Difference::Whitespace) {
        let words = text.split([' ', '\t', '\r']).filter(|word| !word.is_empty());
        text = words.collect::<Vec<_>>().join(" ");
    }
    text
}

/// The line that has the most pairs of characters in common with the wanted one, if it has more than half.
fn near(lines: &[&str], wanted: &str, cancel: &Cancel) -> Result<Option<Hint>, Cancelled> {
    let pairs = |line: &str| {
        let signs: Vec<char> = line.trim().chars().take(CHARACTERS).collect();
        let mut pairs: Vec<(char, char)> =
            signs.windows(2).map(|pair| (pair[0], pair[1])).collect();
        pairs.sort_unstable();
        pairs
    };
    let wanted = pairs(wanted);
    let mut best = (0.55, None);
    for (index, line) in lines.iter().take(LIKENED).enumerate() {
        if index % STRIDE == 0 {
            cancel.check()?;
        }
        let pairs = pairs(line);
        let likeness =
            2.0 * shared(&wanted, &pairs) as f64 / (wanted.len() + pairs.len()).max(1) as f64;
        if likeness > best.0 {
            best = (likeness, Some(index));
        }
    }
    Ok(best.1.map(|index| told(lines, index, Difference::Near)))
}

/// How many elements two sorted lists share.
fn shared(one: &[(char, char)], other: &[(char, char)]) -> usize {
    let (mut left, mut right, mut count) = (0, 0, 0);
    while let (Some(one), Some(other)) = (one.get(left), other.get(right)) {
        match one.cmp(other) {
            std::cmp::Ordering::Less => left += 1,
            std::cmp::Ordering::Greater => right += 1,
            std::cmp::Ordering::Equal => (left, right, count) = (left + 1, right + 1, count + 1),
        }
    }
    count
}

/// The last border between characters at or before a byte.
fn boundary(text: &str, place: usize) -> usize {
    (0..=place.min(text.len())).rev().find(|place| text.is_char_boundary(*place)).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, old: &str) -> Option<(Difference, u64, String)> {
        let hint = hint(text, old, &Cancel::default()).unwrap();
        hint.map(|hint| (hint.difference, hint.line, hint.text))
    }

    #[test]
    fn each_difference_is_named_with_its_line() {
        let cases = [
            ("a\nsay “hi”\n", "say \"hi\"", Difference::Quotes, 2),
            ("a – b\n", "a - b", Difference::Dashes, 1),
            ("x\ny\na\u{a0}b\n", "a b", Difference::Blanks, 3),
            ("caf\u{e9}\n", "cafe\u{301}", Difference::Form, 1),
            ("zero\u{200b}width\n", "zerowidth", Difference::Invisible, 1),
            ("\tgcc -O2\n", "    gcc -O2", Difference::Whitespace, 1),
            ("if a:\n\tb()\n\tc()\n", "if a:\n    b()\n    c()", Difference::Whitespace, 1),
            ("fn Main()\n", "fn main()", Difference::Case, 1),
            ("“a” – b\n", "\"a\" - b", Difference::Several, 1),
            ("all:\n\tgcc -c a.c\n", "     2|\tgcc", Difference::LineNumbers, 2),
            ("one\ntwo\n", "1\tone\n2\ttwo\n", Difference::LineNumbers, 1),
        ];
        for (text, old, difference, line) in cases {
            let found = found(text, old).map(|(difference, line, _)| (difference, line));
            assert_eq!(found, Some((difference, line)), "{old:?} in {text:?}");
        }
    }

    #[test]
    fn otherwise_the_nearest_line_is_told_or_none() {
        let text = "fn start() {}\nfn compute(total: u32) -> u32 {\n}\n";
        assert_eq!(
            found(text, "fn compute(sum: u32) -> u32 {"),
            Some((Difference::Near, 2, "fn compute(total: u32) -> u32 {".to_owned()))
        );
        assert_eq!(found(text, "import os"), None);
        assert_eq!(found(text, "\n\n\n\n"), None);
    }
}
