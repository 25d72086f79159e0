//! The descriptions of the tools for files and for searches.

use brattice_files::read::{LIMIT, LINE_CHARACTERS, SELECTION_BYTES};

use crate::toolset::definition::{Detail, Shown};
use crate::toolset::parameter::files::FILES;
use crate::toolset::tool::{SessionTools, ToolKind};

/// What both tools that change files say of it.
const READ_FIRST: &str = "A file that exists must have been read in this session before it is changed: any window of `read` counts, and \
so do the session's own writes and edits, but no command.";

/// How a refusal by the sandbox reads.
const DENIED: &str = "What the session's sandbox mode forbids is refused, with the line \
`[sandbox: file access denied under MODE mode]`.";

pub(super) fn read(tools: SessionTools<'_>) -> String {
    let shown = match tools.toolset().files.shown {
        Shown::Numbered => {
            "as `N|text`: the line's number, a bar, and the line as it stands, tabs included. The number and the bar are \
             no part of the file"
        }
        Shown::Tagged => {
            "as `N: text` between `<content>` and `</content>`, after the file's path and type. The number is no part of \
             the file"
        }
    };
    format!(
        "\
Reads a text file, or a window of it by `offset` and `limit`. Lines are shown {shown}. Line ends and a byte-order mark \
are not shown. At most {LIMIT} lines and {SELECTION_BYTES} bytes are shown at a time.

The footer is `(Showing lines A-B of N. Use offset=C to continue.)` or `(End of file - total N lines)`. \
`… [N characters omitted]` ends a line of more than {LINE_CHARACTERS} characters. A line in brackets before the footer tells of \
another encoding, and of bytes that are no text and shown as U+FFFD.

A binary file is named with its kind and size, and what is no regular file by what it is; a file that does not exist \
with close names. Files outside the workspace can be read."
    )
}

pub(super) fn write(tools: SessionTools<'_>) -> String {
    let result = match tools.toolset().files.detail {
        Detail::Plain => "The result says whether the file was created or updated.",
        Detail::Full => {
            "The result says whether the file was created or updated, or has this content already, and shows a diff of an \
             update: `+N|` a new line, `-N|` one that is gone, ` N|` one that stayed."
        }
    };
    format!(
        "\
Writes a whole file; missing folders on the way are made. {READ_FIRST} A file that has another content since is not overwritten.

The file is replaced at once or not at all. Its mode and owner, a byte-order mark and the other names of a hard link stay; a link \
is written through. {result} {DENIED}"
    )
}

pub(super) fn edit(tools: SessionTools<'_>) -> String {
    let takes_files = tools.parameters(ToolKind::Edit).iter().any(|known| known.name == FILES.name);
    let form = match takes_files {
        true => {
            "\
Replaces text in files: `file_path`, `old_string` and `new_string` for one place, or `files` for several edits in one or more \
files, of which all are made or none. Edits of one file are all found in its present content and may not overlap; \
every edit that cannot be made is told."
        }
        false => "Replaces text in a file.",
    };
    let result = match tools.toolset().files.detail {
        Detail::Plain => "The result says how many places were replaced.",
        Detail::Full => {
            "The result has a headline for each file and a diff: `+N|` a new line, `-N|` one that is gone, ` N|` one that \
             stayed, `...` where lines that stayed are left out. With `dry_run` that is all, and nothing is written."
        }
    };
    format!(
        "\
{form} {READ_FIRST}

`old_string` must stand in the file exactly once, unless `replace_all` is true; whitespace counts, only LF and CRLF are the same. \
Line ends follow those of the file. `new_string` is taken literally. A text that is not found is told with what looks like it, one \
that is found more often with its lines. Files that are not UTF-8 are not edited. {result} {DENIED}"
    )
}

pub(super) fn grep() -> String {
    "\
Searches files for a regular expression (Rust's syntax, without look-around and backreferences). Result lines are \
`path:line:text`, with `context` also `path-line-text` and `--` between places; with `outputMode` `path`, or `path:count`. \
Paths are relative to the workspace where they are inside it; a newline in a name is shown as `\\n`.

Files that `.gitignore` or `.ignore` name, hidden files and `.git` are not searched; `includeIgnored` adds all of them but `.git`. \
`glob` narrows that down further, and a component of it that begins with a dot reaches hidden names. Links are not \
followed. Files with NUL bytes are skipped and counted.

`no matches` is no error. `[truncated at N matches]` says that there are more, `… [N characters omitted]` that a line was cut, and \
`[cannot read PATH: REASON]` what could not be searched."
        .to_owned()
}

pub(super) fn glob() -> String {
    "\
Finds files by their names: a path a line, the newest first. Paths are relative to the workspace where they are inside it; a \
newline in a name is shown as `\\n`. Folders and links are not listed.

Files that `.gitignore` or `.ignore` name, hidden files and `.git` are left out; `includeIgnored` adds all of them but `.git`, and a \
component of the pattern that begins with a dot reaches hidden names.

`no files` is no error. `[truncated at N files of M]` says that M match, and `[cannot read PATH: REASON]` what could not be \
listed."
        .to_owned()
}
