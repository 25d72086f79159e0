//! The log's files: their names, and places in them.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A file of the log. Numbers grow by one; a file is named by its number in eight digits, `00000001.jsonl`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct FileNumber(u64);

/// A name that no file of the log has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a file of the audit log is named by its number, such as 00000001.jsonl")]
pub struct BadFileName;

impl FileNumber {
    /// The first file of a log.
    pub const FIRST: FileNumber = FileNumber(1);

    /// The file after it.
    #[must_use]
    pub const fn next(self) -> Self {
        FileNumber(self.0.saturating_add(1))
    }
}

impl fmt::Display for FileNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08}.jsonl", self.0)
    }
}

impl FromStr for FileNumber {
    type Err = BadFileName;

    fn from_str(name: &str) -> Result<Self, BadFileName> {
        let digits = name.strip_suffix(".jsonl").ok_or(BadFileName)?;
        let number = FileNumber(digits.parse().map_err(|_| BadFileName)?);
        // Only the one spelling.
        if number.to_string() == name { Ok(number) } else { Err(BadFileName) }
    }
}

impl From<FileNumber> for String {
    fn from(number: FileNumber) -> Self {
        number.to_string()
    }
}

impl TryFrom<String> for FileNumber {
    type Error = BadFileName;

    fn try_from(name: String) -> Result<Self, BadFileName> {
        name.parse()
    }
}

/// A line's place in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The file.
    pub file: FileNumber,
    /// The line in it, from 1.
    pub line: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_its_number_in_one_spelling() {
        assert_eq!(FileNumber::FIRST.next().to_string(), "00000002.jsonl");
        assert_eq!("123456789.jsonl".parse(), Ok(FileNumber(123_456_789)));
        for name in ["", "1.jsonl", "00000001", "+0000001.jsonl", "000000001.jsonl", "x.jsonl"] {
            assert_eq!(name.parse::<FileNumber>(), Err(BadFileName), "{name}");
        }
    }
}
