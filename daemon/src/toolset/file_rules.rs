//! How a toolset shows files, changes them and tells of it: the values in which two of them may differ. What is made of them is
//! in `render` and in the tools.

pub(crate) use brattice_files::edit::Order;

/// How files are shown, changed and told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileRules {
    /// Whether a session has the tools.
    pub(crate) declared: Declared,
    /// How the lines of a file are shown.
    pub(crate) shown: Shown,
    /// What is said of a file that is not there.
    pub(crate) missing: MissingWords,
    /// How a change is told.
    pub(crate) told: Told,
    /// Whether a file that exists must have been read before it is changed.
    pub(crate) read_first: ReadFirst,
    /// Against what the edits of one file are made.
    pub(crate) order: Order,
    /// How edits speak of their parts.
    pub(crate) edits: EditWords,
    /// Whether a list of files that was cut tells how many there are.
    pub(crate) list: ListCut,
}

/// Whether a session has the tools for files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Declared {
    /// It has them.
    Always,
    /// With the option `edit_tools`.
    ByOption,
}

/// How the lines of a file are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// `N|text`, and the footer.
    Numbered,
    /// `N: text` and the footer in tags, after the path.
    Tagged,
    /// `N|text`, all of it up to the result's cap.
    Bare,
    /// The text itself, or `N<TAB>text` for a call that asks for it.
    Text,
}

/// What is said of a file that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingWords {
    /// Close names in its folder.
    CloseNames,
    /// Which tool makes it, after the path as the call has it.
    Maker,
}

/// How a change is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// A sentence.
    Plain,
    /// A headline with counts, and the diff of what was there before.
    Full,
    /// `wrote <path>`, as the call has it.
    Wrote,
    /// A headline in words, after the path as the call has it, and the diff.
    Headline,
}

/// Whether a file that exists must have been read before it is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadFirst {
    /// In this session.
    Required,
    /// No.
    NotRequired,
}

/// How edits speak of their parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EditWords {
    /// The argument with the text that is replaced.
    pub(crate) old: &'static str,
    /// What can be done where it is there more than once.
    pub(crate) ways_out: &'static str,
}

impl EditWords {
    /// Of edits that can replace all places.
    pub(super) const WITH_ALL: EditWords =
        EditWords { old: "old_string", ways_out: "add lines around it, or replace all" };
    /// Of edits that cannot.
    pub(super) const ONCE: EditWords = EditWords { old: "old", ways_out: "add lines around it" };
}

/// Whether a list of files that was cut tells how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListCut {
    /// It does.
    Counted,
    /// It does not.
    Bare,
}
