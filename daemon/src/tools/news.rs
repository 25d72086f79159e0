//! Background tasks that ended since the session's last result: told once, at the end of the next one.

use std::sync::Arc;

use crate::exec::spec::TaskEnd;
use crate::session::{Session, Task};
use crate::toolset::Toolset;
use crate::toolset::render::{EndedTask, Ending, append_ended};

/// Ends to tell.
pub(super) struct News {
    toolset: &'static Toolset,
    tasks: Vec<(Task, Arc<TaskEnd>)>,
}

impl News {
    /// Those that nobody was told of, which this result tells.
    pub(super) fn take(session: &Session) -> News {
        let ended = |task: Task| task.try_ended().map(|end| (task, end));
        let tasks = session.take_news().into_iter().filter_map(ended).collect();
        News { toolset: session.toolset(), tasks }
    }

    /// The same, but for a task whose end the result tells itself.
    pub(super) fn take_but(session: &Session, task: &Task) -> News {
        if task.try_ended().is_some() {
            session.told(task);
        }
        News::take(session)
    }

    /// As a renderer takes them.
    pub(super) fn ended(&self) -> Vec<EndedTask<'_>> {
        self.tasks
            .iter()
            .map(|(task, end)| EndedTask { task: task.id(), ending: ending(task, end) })
            .collect()
    }

    /// Tells them at the end of a text.
    pub(super) fn append(&self, text: &mut String) {
        append_ended(self.toolset, text, &self.ended());
    }
}

/// How a task ended, with the limit that it had.
pub(super) fn ending<'a>(task: &Task, end: &'a TaskEnd) -> Ending<'a> {
    Ending { end, limit: task.facts().timeout }
}
