//! Parameters of the tools for files and for searches.

use super::{Parameter, ParameterKind};

/// The words of `outputMode`.
pub(in crate::toolset) const OUTPUT_MODES: [&str; 3] = ["content", "files", "count"];

/// A file.
pub(in crate::toolset) const FILE_PATH: Parameter = Parameter::optional(
    "file_path",
    ParameterKind::Text,
    "The file. A relative path starts at the session's working directory.",
);

/// A file, in toolsets that name it so.
pub(in crate::toolset) const PATH: Parameter = Parameter::optional(
    "path",
    ParameterKind::Text,
    "The file. A relative path starts at the session's working directory.",
);

/// The first line of a range.
pub(in crate::toolset) const START: Parameter = Parameter::optional(
    "start",
    ParameterKind::Position,
    "The first line to show, from 1; 0, the default, for the first of the file.",
);

/// Its last line.
pub(in crate::toolset) const END: Parameter = Parameter::optional(
    "end",
    ParameterKind::Position,
    "The last line to show, itself included; 0, the default, for the last of the file.",
);

/// Whether lines bear numbers.
pub(in crate::toolset) const NUMBERED: Parameter = Parameter::optional(
    "numbered",
    ParameterKind::Switch,
    "True: each line after its number and a tab, which are no part of the file.",
);

/// Where a window begins.
pub(in crate::toolset) const FIRST_LINE: Parameter = Parameter::optional(
    "offset",
    ParameterKind::Number,
    "The line to begin with, from 1, which is the default.",
);

/// How long a window is.
pub(in crate::toolset) const LINES: Parameter = Parameter::optional(
    "limit",
    ParameterKind::Number,
    "How many lines to show: 2000 unless given, and at most.",
);

/// A whole content.
pub(in crate::toolset) const CONTENT: Parameter =
    Parameter::optional("content", ParameterKind::Text, "The whole new content of the file.");

/// What is replaced.
pub(in crate::toolset) const OLD_STRING: Parameter = Parameter::optional(
    "old_string",
    ParameterKind::Text,
    "The text to replace, exactly as it stands in the file, without line numbers. It may not be empty.",
);

/// By what it is replaced.
pub(in crate::toolset) const NEW_STRING: Parameter = Parameter::optional(
    "new_string",
    ParameterKind::Text,
    "The text to put in its place, taken literally. It must differ from the old one.",
);

/// How often.
pub(in crate::toolset) const REPLACE_ALL: Parameter = Parameter::optional(
    "replace_all",
    ParameterKind::Flag,
    "True: replace every place. False, the default: the text must occur exactly once.",
);

/// Several files.
pub(in crate::toolset) const FILES: Parameter = Parameter::optional(
    "files",
    ParameterKind::FileEdits,
    "Edits of several places or files, instead of the fields for a single one. All of them are made, or none.",
);

/// Several files, with edits that build on each other.
pub(in crate::toolset) const FILES_IN_TURN: Parameter = Parameter::optional(
    "files",
    ParameterKind::FileEdits,
    "The files, each with its edits in the order in which they are made. All of them are made, or none.",
);

/// Edits of one file.
pub(in crate::toolset) const EDITS: Parameter = Parameter::optional(
    "edits",
    ParameterKind::Edits,
    "The edits, all of which are found in the file's present content: each `old` exactly once, by itself. `new` is taken literally.",
);

/// Whether they are made.
pub(in crate::toolset) const DRY_RUN_OF_ONE: Parameter = Parameter::optional(
    "dry_run",
    ParameterKind::Switch,
    "True: show what would change and write nothing.",
);

/// Whether it is done.
pub(in crate::toolset) const DRY_RUN: Parameter = Parameter::optional(
    "dry_run",
    ParameterKind::Flag,
    "True: show what would change and write nothing. False, the default: make the change.",
);

/// What lines must hold.
pub(in crate::toolset) const PATTERN: Parameter = Parameter::optional(
    "pattern",
    ParameterKind::Text,
    "The regular expression, in Rust's syntax, or with `fixedString` the text.",
);

/// What names must match.
pub(in crate::toolset) const NAMES: Parameter = Parameter::optional(
    "pattern",
    ParameterKind::Text,
    "The glob: `*.rs` at any depth, `src/**/*.rs` from the folder on, `!*.rs` for all others.",
);

/// Where a search begins.
pub(in crate::toolset) const ROOT: Parameter = Parameter::optional(
    "path",
    ParameterKind::Text,
    "The folder or file to search. A relative path starts at the session's working directory, which is also the default.",
);

/// Which files are searched.
pub(in crate::toolset) const GLOB: Parameter = Parameter::optional(
    "glob",
    ParameterKind::Text,
    "Search only files that match this glob, among those that are searched anyway.",
);

/// Whether letters' case counts.
pub(in crate::toolset) const IGNORE_CASE: Parameter = Parameter::optional(
    "ignoreCase",
    ParameterKind::Flag,
    "True: capital and small letters are the same. False, the default: they differ.",
);

/// Whether the pattern is a text.
pub(in crate::toolset) const FIXED_STRING: Parameter = Parameter::optional(
    "fixedString",
    ParameterKind::Flag,
    "True: the pattern is a text and no regular expression. False is the default.",
);

/// Whether rules hold.
pub(in crate::toolset) const INCLUDE_IGNORED: Parameter = Parameter::optional(
    "includeIgnored",
    ParameterKind::Flag,
    "True: also ignored and hidden files, never those in `.git`. False is the default.",
);

/// How many matches are told.
pub(in crate::toolset) const MAX_MATCHES: Parameter = Parameter::optional(
    "maxResults",
    ParameterKind::Bounded { least: 1, most: 500, default: 100 },
    "How many matches to tell at most.",
);

/// How many files are told.
pub(in crate::toolset) const MAX_FILES: Parameter = Parameter::optional(
    "maxResults",
    ParameterKind::Bounded { least: 1, most: 1000, default: 200 },
    "How many files to tell at most.",
);

/// Lines around a match.
pub(in crate::toolset) const AROUND: Parameter = Parameter::optional(
    "context",
    ParameterKind::Integer,
    "How many lines before and after each match to show as well, 0 to 50; 0 is the default.",
);

/// Whether matches go over lines.
pub(in crate::toolset) const MULTILINE: Parameter = Parameter::optional(
    "multiline",
    ParameterKind::Flag,
    "True: a match may go over lines where the pattern says so. False is the default.",
);

/// What is told of files that match.
pub(in crate::toolset) const OUTPUT_MODE: Parameter = Parameter::optional(
    "outputMode",
    ParameterKind::Word(&OUTPUT_MODES),
    "`content`, the default: matching lines. `files`: only the paths. `count`: how many lines match in each file.",
);
