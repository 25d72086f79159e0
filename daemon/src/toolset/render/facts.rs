//! `structuredContent` of any tool: the same facts as in its text, as data.

use brattice_protocol::files::{FileRead, FilesChanged, FilesRefused, Matches};
use brattice_protocol::outcome::CommandOutcome;
use brattice_protocol::question::QuestionFacts;
use brattice_protocol::skill::SkillRead;
use brattice_protocol::task::{TaskFed, TaskListing, TaskRead, TaskState};
use brattice_protocol::todo::TodoCounts;
use serde::Serialize;

/// What a result tells as data. Each has the form that `brattice_protocol` gives it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Facts {
    /// Of a command that ran, or never did.
    Command(Box<CommandOutcome>),
    /// Of a command in the background, and of `task_kill`.
    State(TaskState),
    /// Of `task_output`.
    Read(Box<TaskRead>),
    /// Of `task_list`.
    List(TaskListing),
    /// Of `task_input`.
    Fed(TaskFed),
    /// Of `read`.
    File(FileRead),
    /// Of `write` and `edit`.
    Changed(FilesChanged),
    /// Of a file tool that the sandbox refused something.
    Refused(Box<FilesRefused>),
    /// Of `grep` and `glob`.
    Matches(Matches),
    /// Of questions and of a plan.
    Question(QuestionFacts),
    /// Of `todo_write`.
    Todos(TodoCounts),
    /// Of a tool for skills.
    Skill(SkillRead),
}

impl Facts {
    /// How a command ended that was waited for.
    pub(crate) fn outcome(&self) -> Option<&CommandOutcome> {
        match self {
            Facts::Command(outcome) => Some(outcome),
            Facts::State(_) | Facts::Read(_) | Facts::List(_) | Facts::Fed(_) => None,
            Facts::File(_) | Facts::Changed(_) | Facts::Refused(_) | Facts::Matches(_) => None,
            Facts::Question(_) | Facts::Todos(_) | Facts::Skill(_) => None,
        }
    }
}
