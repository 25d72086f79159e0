//! `structuredContent` of the tools that read, change and search files.

use serde::{Deserialize, Serialize};

use brattice_policy::Mode;

use crate::approval::ApprovalRequired;
use crate::outcome::{Denial, SandboxFacts};

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRead {
    /// Its absolute path, as it was asked for.
    pub path: String,
    /// The first and the last line that are shown, from 1; null where none is.
    pub lines: Option<[u64; 2]>,
    /// Lines of the whole file.
    pub total: u64,
    /// Bytes of the whole file.
    pub bytes: u64,
    /// How it is encoded.
    pub encoding: TextEncoding,
    /// Characters that were cut from the ends of lines that are shown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cut: u64,
    /// Places of the whole file that are no character.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub invalid: u64,
}

/// How a text file is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TextEncoding {
    /// UTF-8.
    #[serde(rename = "utf-8")]
    Utf8,
    /// UTF-8 with a byte-order mark, which is not shown.
    #[serde(rename = "utf-8-bom")]
    Utf8WithMark,
    /// UTF-16, least significant byte first.
    #[serde(rename = "utf-16le")]
    Utf16Little,
    /// UTF-16, most significant byte first.
    #[serde(rename = "utf-16be")]
    Utf16Big,
}

/// What a call of `write` or `edit` did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesChanged {
    /// The files, in the order of the call.
    pub files: Vec<FileChanged>,
    /// Whether this is what would be done.
    pub dry_run: bool,
    /// The session's mode, where a person allowed a wider one for the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub escalated_from: Option<Mode>,
}

/// What became of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChanged {
    /// Its absolute path without links.
    pub path: String,
    /// What was done to it.
    pub outcome: FileOutcome,
    /// Places that were replaced; null of a file that was written whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<u64>,
    /// Lines that the new text has and the old one has not; null where they could not be compared.
    pub added: Option<u64>,
    /// Lines that the old text has and the new one has not; null where they could not be compared.
    pub deleted: Option<u64>,
    /// The first line of the new text that differs; null where none does.
    pub first_line: Option<u64>,
}

/// What was done to a file, or would be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileOutcome {
    /// It was made.
    Created,
    /// It has another content.
    Updated,
    /// It had this content already.
    Unchanged,
    /// A dry run: it would have another content.
    Planned,
}

/// A call that the sandbox refused: nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilesRefused {
    /// What was refused.
    pub denials: Vec<Denial>,
    /// How many refusals there were.
    pub denials_total: u64,
    /// How the call was confined.
    pub sandbox: SandboxFacts,
}

/// A change that was not made because a person has not allowed it yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeNotAllowed {
    /// The approval that is missing.
    pub approval_required: ApprovalRequired,
}

/// What `grep` or `glob` found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Matches {
    /// Each line of the result: of `grep` in the order of paths and lines, of `glob` the newest file first.
    pub matches: Vec<Match>,
    /// Whether there is more.
    pub truncated: bool,
    /// How many files match on the whole, where they were counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Files with NUL bytes, which were not searched beyond the first of those.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub binary: u64,
    /// Files and folders that could not be looked into, the first of them.
    pub unreadable: Vec<Unreadable>,
    /// How many more of those there were.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unreadable_more: u64,
}

/// A line, or a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Match {
    /// The path: relative to the workspace where it is inside that.
    pub path: String,
    /// The line's number, from 1, where lines are told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The line as it is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether the line stands near a match and holds none.
    #[serde(default, skip_serializing_if = "is_false")]
    pub context: bool,
    /// How many lines match, where they are only counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u64>,
}

/// A file or folder that could not be looked into.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unreadable {
    /// The path, as of a [`Match`].
    pub path: String,
    /// Why.
    pub reason: String,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

fn is_false(flag: &bool) -> bool {
    !flag
}
