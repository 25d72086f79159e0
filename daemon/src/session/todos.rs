//! A session's to-do list: in memory, and on disk as `<session>/todos`, a JSON array.
//!
//! The daemon is the file's one writer. A list is written beside the old one and renamed before anybody is told of it, one at
//! a time; where it cannot be, the old one stays. A file that is none, or cannot be read, is an empty list: nothing hangs on it.

use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use brattice_protocol::todo::{Todo, TodoChanged};

use super::session::Session;
use crate::regular;
use crate::workers::Lane;

/// The file's name in a session's folder.
const FILE: &str = "todos";

/// Why a list was not replaced.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TodosError {
    /// It cannot be written down.
    #[error("the to-do list cannot be written down in the session's folder, and stays as it was")]
    Save(#[source] io::Error),
}

/// The list.
#[derive(Debug)]
pub(super) struct Todos {
    list: Mutex<Vec<Todo>>,
    /// Held while one is written.
    writing: tokio::sync::Mutex<()>,
}

impl Todos {
    /// That of a session's folder. Blocks.
    pub(super) fn of(folder: &Path) -> Todos {
        let list = match regular::read(&folder.join(FILE)) {
            Ok(text) => serde_json::from_slice(&text).unwrap_or_else(|error| {
                tracing::warn!(folder = %folder.display(), %error, "a to-do list cannot be read");
                Vec::new()
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => {
                tracing::warn!(folder = %folder.display(), %error, "a to-do list cannot be read");
                Vec::new()
            }
        };
        Todos { list: Mutex::new(list), writing: tokio::sync::Mutex::new(()) }
    }

    fn list(&self) -> std::sync::MutexGuard<'_, Vec<Todo>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// Its to-do list.
    pub(crate) fn todos(&self) -> Vec<Todo> {
        self.todos.list().clone()
    }

    /// Replaces it, and tells the session's client.
    ///
    /// # Errors
    /// It cannot be written down.
    pub(crate) async fn replace_todos(&self, todos: Vec<Todo>) -> Result<(), TodosError> {
        let _one_at_a_time = self.todos.writing.lock().await;
        let path = self.setup.folder.path().join(FILE);
        let text = serde_json::to_vec(&todos).map_err(|error| TodosError::Save(error.into()))?;
        let write = move || regular::replace(&path, &text).map(drop);
        let written = self.shared.workers.run(Lane::State, write).await;
        written.map_err(io::Error::other).and_then(|written| written).map_err(TodosError::Save)?;
        self.todos.list().clone_from(&todos);
        if let Some(client) = self.audience() {
            client.notify("todo.changed", &TodoChanged { session: self.id().clone(), todos });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;

    #[test]
    fn what_is_no_list_is_an_empty_one() {
        let scratch = Scratch::new();
        assert_eq!(*Todos::of(&scratch.path("")).list(), []);
        scratch.file(FILE, "{");
        assert_eq!(*Todos::of(&scratch.path("")).list(), []);
        scratch.file(FILE, r#"[{"content":"a","status":"in_progress"}]"#);
        assert_eq!(Todos::of(&scratch.path("")).list().len(), 1);
    }
}
