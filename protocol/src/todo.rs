//! A session's to-do list: `todo.list` reads it, and `todo.changed` tells the session's client that it was replaced.

use serde::{Deserialize, Serialize};

use crate::SessionId;

/// An item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
}

/// How far an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Begun; at most one is.
    InProgress,
    /// Done.
    Completed,
}

impl TodoStatus {
    /// All of them, in the order in which an item goes through them.
    pub const ALL: [TodoStatus; 3] =
        [TodoStatus::Pending, TodoStatus::InProgress, TodoStatus::Completed];

    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            TodoStatus::Pending => "pending",
            TodoStatus::InProgress => "in_progress",
            TodoStatus::Completed => "completed",
        }
    }
}

/// The result of `todo.list`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoList {
    /// The items, in the model's order.
    pub todos: Vec<Todo>,
}

/// Notification `todo.changed`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoChanged {
    /// The session.
    pub session: SessionId,
    /// The whole list, as it is now.
    pub todos: Vec<Todo>,
}

/// The facts of `todo_write`: how many items there are of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TodoCounts {
    /// Not begun.
    pub pending: usize,
    /// Begun.
    pub in_progress: usize,
    /// Done.
    pub completed: usize,
}

impl TodoCounts {
    /// Those of a list.
    pub fn of(todos: &[Todo]) -> TodoCounts {
        let of = |status| todos.iter().filter(|todo| todo.status == status).count();
        TodoCounts {
            pending: of(TodoStatus::Pending),
            in_progress: of(TodoStatus::InProgress),
            completed: of(TodoStatus::Completed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_has_its_name_on_the_wire() {
        for status in TodoStatus::ALL {
            assert_eq!(serde_json::to_value(status).unwrap(), status.as_str());
        }
    }
}
