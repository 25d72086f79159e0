//! The tools that there are, and what each is to editors and to the loop detector.

use brattice_protocol::editor::EditorKind;

/// A tool that a session can call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ToolKind {
    /// Runs a command.
    Bash,
    /// Reads a file.
    Read,
    /// Writes a whole file.
    Write,
    /// Replaces text in files.
    Edit,
    /// Searches in files.
    Grep,
    /// Finds files by their names.
    Glob,
    /// Fetches pages.
    WebFetch,
    /// Reads a task's output and waits for its end.
    TaskOutput,
    /// Ends a task.
    TaskKill,
    /// Lists the session's tasks.
    TaskList,
    /// Writes to a task's standard input.
    TaskInput,
    /// Asks a person questions.
    AskUser,
    /// Shows a person a plan, for plan mode to end.
    ExitPlanMode,
    /// Reads a skill.
    Skill,
    /// Replaces the to-do list.
    TodoWrite,
}

impl ToolKind {
    /// What it does, as editors show it.
    pub(crate) const fn editor_kind(self) -> EditorKind {
        match self {
            ToolKind::Bash | ToolKind::TaskKill | ToolKind::TaskInput => EditorKind::Execute,
            ToolKind::Read | ToolKind::Skill | ToolKind::TaskOutput | ToolKind::TaskList => {
                EditorKind::Read
            }
            ToolKind::Write | ToolKind::Edit => EditorKind::Edit,
            ToolKind::Grep | ToolKind::Glob => EditorKind::Search,
            ToolKind::ExitPlanMode | ToolKind::TodoWrite => EditorKind::Think,
            ToolKind::AskUser => EditorKind::Other,
            ToolKind::WebFetch => EditorKind::Fetch,
        }
    }

    /// Whether calling it again and again is going in circles. To look at what runs is to wait.
    pub(crate) const fn repetition(self) -> Repetition {
        match self {
            ToolKind::Bash
            | ToolKind::Read
            | ToolKind::Write
            | ToolKind::Edit
            | ToolKind::Grep
            | ToolKind::Glob
            | ToolKind::WebFetch
            | ToolKind::TaskKill
            | ToolKind::TaskInput
            | ToolKind::AskUser
            | ToolKind::ExitPlanMode
            | ToolKind::Skill
            | ToolKind::TodoWrite => Repetition::Loop,
            ToolKind::TaskOutput | ToolKind::TaskList => Repetition::Expected,
        }
    }
}

/// What it means that a tool is called again and finds the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Repetition {
    /// A loop, perhaps.
    Loop,
    /// Nothing.
    Expected,
}
