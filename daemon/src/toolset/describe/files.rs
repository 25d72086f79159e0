//! The descriptions of the tools for files and for searches.

use brattice_files::read::{LIMIT, LINE_CHARACTERS, SELECTION_BYTES};
use brattice_policy::Mode;
use brattice_protocol::session::AskRule;

use crate::toolset::arguments::MAX_JUSTIFICATION_BYTES;
use crate::toolset::file_rules::{ListCut, MissingWords, Order, ReadFirst, Shown, Told};
use crate::toolset::parameter::files::{
    EDITS, FILE_PATH, FILES, NEW_STRING, OUTPUT_MODE, REPLACE_ALL,
};
use crate::toolset::parameter::{Parameter, ParameterKind};
use crate::toolset::tool::{EscalationOffer, SessionTools, ToolKind};
use crate::toolset::wording::{CutLine, Rejection, ResultCap};

/// What the tools that change files say where they must be read first.
const READ_FIRST: &str = " A file that exists must have been read in this session before it is changed: any window of `read` counts, \
and so do the session's own writes and edits, but no command.";

/// How a refusal by the sandbox reads.
const DENIED: &str = " What the session's sandbox mode forbids is refused, with the line \
`[sandbox: file access denied under MODE mode]`.";

pub(super) fn read(tools: SessionTools<'_>) -> String {
    let rules = tools.toolset().files;
    let missing = match (rules.missing, tools.name(ToolKind::Write)) {
        (MissingWords::CloseNames, _) => "; a file that does not exist with close names".to_owned(),
        (MissingWords::Maker, Some(write)) => {
            format!("; to make one that does not exist, use {write}")
        }
        (MissingWords::Maker, None) => String::new(),
    };
    let kinds = format!(
        "A binary file is named with its kind and size, and what is no regular file by what it is{missing}. Files outside the \
         workspace can be read."
    );
    let (shown, markers) = match rules.shown {
        Shown::Numbered | Shown::Tagged => return windowed(rules.shown, &kinds),
        Shown::Bare => (
            "Reads a text file. Lines are shown as `N|text`: the line's number, a bar, and the line as it stands, tabs \
             included. The number and the bar are no part of the file.",
            "(The file is empty.)",
        ),
        Shown::Text => (
            "Reads a text file, or its lines from `start` to `end`, as they stand; with `numbered` each after its number and a tab, \
             which are no part of the file. The file's last newline is shown only with its end.",
            "(The file is empty.)` and `(Line N is past the end: the file has M lines.)",
        ),
    };
    format!(
        "\
{shown} Line ends are shown as newlines, and a byte-order mark is not shown.{cap}

`{markers}` stand in place of lines. A line in brackets at the end tells of another encoding, and of bytes that are no text and \
shown as U+FFFD. {kinds}",
        cap = cap(tools),
    )
}

fn windowed(shown: Shown, kinds: &str) -> String {
    let shown = match shown {
        Shown::Tagged => {
            "as `N: text` between `<content>` and `</content>`, after the file's path and type. The number is no part of \
             the file"
        }
        Shown::Numbered | Shown::Bare | Shown::Text => {
            "as `N|text`: the line's number, a bar, and the line as it stands, tabs included. The number and the bar are \
             no part of the file"
        }
    };
    format!(
        "\
Reads a text file, or a window of it by `offset` and `limit`. Lines are shown {shown}. Line ends and a byte-order mark \
are not shown. At most {LIMIT} lines and {SELECTION_BYTES} bytes are shown at a time.

The footer is `(Showing lines A-B of N. Use offset=C to continue.)` or `(End of file - total N lines)`. \
`… [N characters omitted]` ends a line of more than {LINE_CHARACTERS} characters. A line in brackets before the footer tells of \
another encoding, and of bytes that are no text and shown as U+FFFD.

{kinds}"
    )
}

/// How long a result may be.
fn cap(tools: SessionTools<'_>) -> String {
    match tools.cap() {
        ResultCap::None => String::new(),
        ResultCap::Characters(most, CutLine::Truncated) => format!(
            " The first {most} characters of a result are shown, and `[truncated, N chars omitted]` tells of more."
        ),
        ResultCap::Characters(most, CutLine::OutputTruncated) => format!(
            " The first {most} characters of a result are shown, and `[output truncated: N characters omitted]` tells of more."
        ),
    }
}

fn read_first(tools: SessionTools<'_>) -> &'static str {
    match tools.toolset().files.read_first {
        ReadFirst::Required => READ_FIRST,
        ReadFirst::NotRequired => "",
    }
}

/// Who is asked before a change, and how it is asked for a wider mode.
fn asked(tools: SessionTools<'_>, kind: ToolKind) -> String {
    let mut text = String::new();
    let rejected = match (tools.asks(), tools.toolset().rejection, kind) {
        (AskRule::Never, _, _) | (_, Rejection::Sentence, _) => None,
        (AskRule::Auto | AskRule::Always, Rejection::Bracketed, ToolKind::Write) => Some("write"),
        (AskRule::Auto | AskRule::Always, Rejection::Bracketed, _) => Some("edit"),
    };
    if let Some(what) = rejected {
        text.push_str(&format!(
            "\n\nA person may be shown the change and asked first; `[{what} rejected by the user]` says that they did not want it."
        ));
    }
    if !tools.takes_wishes(kind) {
        return text;
    }
    let ceiling = match tools.escalation() {
        EscalationOffer::Withheld => {
            text.push_str(
                "\n\nEscalation: approval prompts are disabled in this session, so that no call runs beyond the session's sandbox \
                 mode.",
            );
            return text;
        }
        EscalationOffer::Offered { ceiling: Mode::DangerFullAccess } => String::new(),
        EscalationOffer::Offered { ceiling } => {
            format!(" Nothing beyond {ceiling} can be asked for on this machine.")
        }
    };
    text.push_str(&format!(
        "\n\nEscalation: when the sandbox has refused a change, repeat the same call once with `sandbox_permissions`, a mode wider than \
         the session's, and `justification` (at most {MAX_JUSTIFICATION_BYTES} bytes). A person is shown the diff and decides; the \
         call waits for that. Allowed, the change is made once, to exactly the files that were shown and while they hold what was \
         shown. A change that was rejected is not asked about again before the user has spoken.{ceiling}"
    ));
    text
}

pub(super) fn write(tools: SessionTools<'_>) -> String {
    let rules = tools.toolset().files;
    let result = match rules.told {
        Told::Plain => "The result says whether the file was created or updated.",
        Told::Full => {
            "The result says whether the file was created or updated, or has this content already, and shows a diff of an \
             update: `+N|` a new line, `-N|` one that is gone, ` N|` one that stayed."
        }
        Told::Wrote => "The result is `wrote PATH`.",
        Told::Headline => {
            "A content that is there already is not written, and the result says so; else it is a headline and a diff: \
             `+N|` a new line, `-N|` one that is gone, ` N|` one that stayed."
        }
    };
    let changed = match rules.read_first {
        ReadFirst::Required => " A file that has another content since is not overwritten.",
        ReadFirst::NotRequired => "",
    };
    format!(
        "\
Writes a whole file; missing folders on the way are made.{first}{changed}

The file is replaced at once or not at all. Its mode and owner, a byte-order mark and the other names of a hard link stay; a link \
is written through. {result}{cap}{DENIED}{asked}",
        first = read_first(tools),
        cap = cap(tools),
        asked = asked(tools, ToolKind::Write),
    )
}

pub(super) fn edit(tools: SessionTools<'_>) -> String {
    let rules = tools.toolset().files;
    let has = |name: &str| tools.parameters(ToolKind::Edit).iter().any(|known| known.name == name);
    let form = match (has(FILES.name), has(FILE_PATH.name), rules.order) {
        (true, true, _) => {
            "\
Replaces text in files: `file_path`, `old_string` and `new_string` for one place, or `files` for several edits in one or more \
files, of which all are made or none. Edits of one file are all found in its present content and may not overlap; \
every edit that cannot be made is told."
        }
        (true, false, _) => {
            "\
Replaces text in one or more files. The edits of a file are made in their order, each on the result of the one before. \
Everything is worked out before anything is written: one edit that cannot be made changes nothing anywhere, and every one is told."
        }
        (false, true, _) | (false, false, Order::Sequence) => "Replaces text in a file.",
        (false, false, Order::Original) => {
            "\
Replaces text in a file. All edits are found in its present content, and none may overlap another, stand inside it or have the same \
`old`. All of them are made, or none and every one that cannot be made is told."
        }
    };
    let old = rules.edits.old;
    let once = match tools.parameters(ToolKind::Edit).iter().any(|known| replaces_all(known)) {
        true => ", unless `replace_all` is true",
        false => "",
    };
    let new = if has(EDITS.name) { "new" } else { NEW_STRING.name };
    let result = match rules.told {
        Told::Plain | Told::Wrote => "The result says how many places were replaced.",
        Told::Full => {
            "The result has a headline for each file and a diff: `+N|` a new line, `-N|` one that is gone, ` N|` one that \
             stayed, `...` where lines that stayed are left out. With `dry_run` that is all, and nothing is written."
        }
        Told::Headline => {
            "The result is a headline (edits, lines added and deleted, the first changed line) and a diff: `+N|` a new line, `-N|` \
             one that is gone, ` N|` one that stayed, `...` where lines that stayed are left out. With `dry_run` that is all, and \
             nothing is written."
        }
    };
    format!(
        "\
{form}{first}

`{old}` must stand in the file exactly once{once}; whitespace counts, only LF and CRLF are the same. \
Line ends follow those of the file. `{new}` is taken literally. A text that is not found is told with what looks like it, one \
that is found more often with its lines. Files that are not UTF-8 are not edited. {result}{cap}{DENIED}{asked}",
        first = read_first(tools),
        cap = cap(tools),
        asked = asked(tools, ToolKind::Edit),
    )
}

/// Whether an edit can replace every place by this, itself or inside.
fn replaces_all(parameter: &Parameter) -> bool {
    match parameter.kind {
        ParameterKind::FileEdits => true,
        ParameterKind::Flag => parameter.name == REPLACE_ALL.name,
        ParameterKind::Text
        | ParameterKind::Number
        | ParameterKind::Integer
        | ParameterKind::Bounded { .. }
        | ParameterKind::Position
        | ParameterKind::Switch
        | ParameterKind::Word(_)
        | ParameterKind::Edits
        | ParameterKind::Questions
        | ParameterKind::PlainQuestions
        | ParameterKind::Todos
        | ParameterKind::Texts { .. } => false,
    }
}

pub(super) fn grep(tools: SessionTools<'_>) -> String {
    let output = if tools
        .parameters(ToolKind::Grep)
        .iter()
        .any(|known| known.name == OUTPUT_MODE.name)
    {
        ", with `context` also `path-line-text` and `--` between places; with `outputMode` `path`, or `path:count`"
    } else {
        ""
    };
    format!("\
Searches files for a regular expression (Rust's syntax, without look-around and backreferences). Result lines are \
`path:line:text`{output}. \
Paths are relative to the workspace where they are inside it; a newline in a name is shown as `\\n`.

Files that `.gitignore` or `.ignore` name, hidden files and `.git` are not searched; `includeIgnored` adds all of them but `.git`. \
`glob` narrows that down further, and a component of it that begins with a dot reaches hidden names. Links are not \
followed. Files with NUL bytes are skipped and counted.

`no matches` is no error. `[truncated at N matches]` says that there are more, `… [N characters omitted]` that a line was cut, and \
`[cannot read PATH: REASON]` what could not be searched.{cap}",
        cap = cap(tools),
    )
}

pub(super) fn glob(tools: SessionTools<'_>) -> String {
    let cut = match tools.toolset().files.list {
        ListCut::Counted => "`[truncated at N files of M]` says that M match",
        ListCut::Bare => "`[truncated at N files]` says that there are more",
    };
    format!("\
Finds files by their names: a path a line, the newest first. Paths are relative to the workspace where they are inside it; a \
newline in a name is shown as `\\n`. Folders and links are not listed.

Files that `.gitignore` or `.ignore` name, hidden files and `.git` are left out; `includeIgnored` adds all of them but `.git`, and a \
component of the pattern that begins with a dot reaches hidden names.

`no files` is no error. {cut}, and `[cannot read PATH: REASON]` what could not be listed.{cap}",
        cap = cap(tools),
    )
}
