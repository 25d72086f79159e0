//! How a toolset runs a call's command and words its result: the values in which two of them may differ. What is made of
//! them is in `render`; that of tasks in the background is in `definition`.

pub(crate) use crate::exec::spec::Shell;

/// How a call's command is run and its result worded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CommandRules {
    /// The kind of shell.
    pub(crate) shell: Shell,
    /// Where it runs, where the call names no folder.
    pub(crate) folder: Folder,
    /// Which part of an output that is too long is shown.
    pub(crate) kept: Kept,
    /// How the two streams stand together.
    pub(crate) layout: Layout,
    /// What is said where nothing was printed.
    pub(crate) silence: Silence,
    /// How a passed time limit is told.
    pub(crate) limit: LimitLine,
    /// How the shell's end is told.
    pub(crate) status: StatusLine,
    /// Whether a denial comes with what there is to be done about it.
    pub(crate) hint: DenialHint,
}

/// Where a command runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folder {
    /// In the session's working directory.
    Cwd,
    /// In the workspace.
    Workspace,
}

/// Which part of an output that is too long is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// The end of each stream, as many bytes as the toolset's output rules say.
    Tail,
    /// The beginning of each stream, so many characters.
    Heads {
        /// Of standard output.
        stdout: usize,
        /// Of standard error.
        stderr: usize,
    },
    /// The beginning, as much as a result may hold. A line of its own tells the cut, and none the stream's.
    Result,
}

/// How the two streams stand together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Standard error stands under a line `[stderr]`. Both stand as they were printed.
    Headed,
    /// Standard error follows on the next line. Both stand without the blank space at their end.
    Trimmed,
}

/// What is said where nothing was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Silence {
    /// `(no output)`.
    Words,
    /// The exit line, of a code 0 as well.
    ExitLine,
}

/// How a passed time limit is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitLine {
    /// `[timed out after 1500ms]`, and how the shell ended after it.
    Milliseconds,
    /// `[timed out after 1.5s]` in place of how the shell ended, and the call counts as failed.
    SecondsFailed,
    /// `[error: 30s timeout exceeded]` in place of how the shell ended.
    Exceeded,
}

impl LimitLine {
    /// Whether the line stands in place of the one about the shell.
    pub(crate) const fn replaces_status(self) -> bool {
        match self {
            LimitLine::Milliseconds => false,
            LimitLine::SecondsFailed | LimitLine::Exceeded => true,
        }
    }

    /// Whether a call whose command timed out counts as failed.
    pub(crate) const fn fails_call(self) -> bool {
        match self {
            LimitLine::SecondsFailed => true,
            LimitLine::Milliseconds | LimitLine::Exceeded => false,
        }
    }
}

/// How the shell's end is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StatusLine {
    /// `[exit code: 3]`, `[killed by signal: SIGKILL]`.
    CodeOrSignal,
    /// `[exit 3]`, `[exit 137]`: a signal is 128 and its number, as shells count.
    Number,
    /// `[exit code: exit status 3]`, `[exit code: signal: killed]`.
    Status,
}

/// Whether a denial comes with what there is to be done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DenialHint {
    /// It does.
    Told,
    /// It does not: a call cannot ask for more.
    Withheld,
}

/// How the answers to questions are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AnswerForm {
    /// As JSON, each under its question's id.
    Json,
    /// As lines, each below its question.
    Lines,
}

/// The cap on what any tool of a toolset answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResultCap {
    /// There is none.
    None,
    /// So many characters, and what tells a cut.
    Characters(usize, CutLine),
}

/// What tells that a result was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutLine {
    /// `[truncated, 7 chars omitted]`.
    Truncated,
    /// `[output truncated: 7 characters omitted]`.
    OutputTruncated,
}

/// Whether repeated calls are told where a session does not say so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoopDetector {
    /// They are.
    On,
    /// They are not.
    Off,
}
