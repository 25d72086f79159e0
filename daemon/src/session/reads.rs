//! What of a session's background tasks its client has been told: how far each was read, and whether its end was told.
//!
//! "What is new since the last read" must hold over a restart of the daemon, so each change is a line that is appended to
//! `<session>/reads`; the last line of a task counts. A line that cannot be written (a full disk) costs a repetition after
//! the next restart and nothing before it. Such a line is written where it comes up, on the runtime's threads as well: it is
//! short, goes to the page cache of the state folder's file system, and the file is open.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::regular;

/// The file's name in a session's folder.
const FILE: &str = "reads";

/// Tasks whose cursors are kept: more than a session remembers tasks.
const MOST: usize = 20_000;

/// How far a task was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Cursor {
    /// Bytes of standard output.
    pub(crate) stdout: u64,
    /// Bytes of standard error.
    pub(crate) stderr: u64,
    /// Whether its end was told.
    pub(crate) told: bool,
    /// Whether its end is in the audit log.
    #[serde(default)]
    pub(crate) recorded: bool,
    /// The number of the newest denial that was told.
    #[serde(default)]
    pub(crate) denied: u64,
    /// The number of the newest denial that is in the audit log.
    #[serde(default)]
    pub(crate) noted: u64,
}

#[derive(Serialize, Deserialize)]
struct Line {
    task: u64,
    #[serde(flatten)]
    cursor: Cursor,
}

/// All cursors of a session.
#[derive(Debug)]
pub(super) struct Reads {
    path: PathBuf,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    cursors: BTreeMap<u64, Cursor>,
    file: Option<File>,
    /// In the file.
    lines: usize,
}

impl Reads {
    /// Those of a session's folder, as an earlier daemon left them. The file is made with the first change.
    pub(super) fn of(folder: &Path) -> Reads {
        let path = folder.join(FILE);
        let text = regular::read(&path).unwrap_or_default();
        // A torn line is one that was not written.
        let lines = text.split(|byte| *byte == b'\n');
        let cursors = lines
            .filter_map(|line| serde_json::from_slice::<Line>(line).ok())
            .map(|line| (line.task, line.cursor))
            .collect();
        Reads { path, kept: Mutex::new(Kept { cursors, file: None, lines: 0 }) }
    }

    /// How far the task of this number was read.
    pub(super) fn get(&self, task: u64) -> Cursor {
        self.kept().cursors.get(&task).copied().unwrap_or_default()
    }

    /// Changes it, and writes that down.
    pub(super) fn change(&self, task: u64, change: impl FnOnce(&mut Cursor)) {
        let mut kept = self.kept();
        while kept.cursors.len() >= MOST {
            kept.cursors.pop_first();
        }
        let cursor = kept.cursors.entry(task).or_default();
        let before = *cursor;
        change(cursor);
        let after = *cursor;
        if after != before
            && let Err(error) = kept.append(&self.path, &Line { task, cursor: after })
        {
            // Half a line may stand there: the next one makes the file anew.
            kept.file = None;
            tracing::warn!(path = %self.path.display(), %error, "what was read is not on record");
        }
    }

    /// Moves a cursor on, unless another read has moved it meanwhile. Tells whether it did.
    pub(super) fn advance(&self, task: u64, from: Cursor, to: Cursor) -> bool {
        let mut moved = false;
        self.change(task, |cursor| {
            let place = |cursor: &Cursor| (cursor.stdout, cursor.stderr, cursor.denied);
            moved = place(cursor) == place(&from);
            if moved {
                let told = cursor.told || to.told;
                *cursor = Cursor { told, recorded: cursor.recorded, noted: cursor.noted, ..to };
            }
        });
        moved
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn append(&mut self, path: &Path, line: &Line) -> io::Result<()> {
        if self.file.is_none() || self.lines > 2 * MOST {
            self.file = Some(self.rewrite(path)?);
            self.lines = self.cursors.len();
        }
        self.lines += 1;
        let mut text = serde_json::to_vec(line)?;
        text.push(b'\n');
        self.file.as_mut().map_or(Ok(()), |file| file.write_all(&text))
    }

    /// A file with a line a task, in place of what earlier daemons appended.
    fn rewrite(&self, path: &Path) -> io::Result<File> {
        let mut text = Vec::new();
        for (task, cursor) in &self.cursors {
            serde_json::to_writer(&mut text, &Line { task: *task, cursor: *cursor })?;
            text.push(b'\n');
        }
        regular::replace(path, &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;

    #[test]
    fn the_next_daemon_goes_on_where_the_last_one_stopped() {
        let scratch = Scratch::new();
        let reads = Reads::of(&scratch.path(""));
        reads.change(1, |cursor| cursor.stdout = 7);
        reads.change(2, |cursor| cursor.told = true);
        reads.change(1, |cursor| cursor.stderr = 3);
        let next = Reads::of(&scratch.path(""));
        assert_eq!(next.get(1), Cursor { stdout: 7, stderr: 3, ..Cursor::default() });
        assert_eq!(next.get(2), Cursor { told: true, ..Cursor::default() });
        assert_eq!(next.get(3), Cursor::default());
        next.change(3, |cursor| cursor.stdout = 1);
        let text = std::fs::read_to_string(scratch.path(FILE)).unwrap();
        assert_eq!(text.lines().count(), 4, "{text}");
    }

    #[test]
    fn of_two_reads_at_once_one_moves_the_cursor() {
        let scratch = Scratch::new();
        let reads = Reads::of(&scratch.path(""));
        let to = |stdout| Cursor { stdout, ..Cursor::default() };
        assert!(reads.advance(1, Cursor::default(), to(5)));
        assert!(!reads.advance(1, Cursor::default(), to(7)));
        assert_eq!(reads.get(1), to(5));
        // What was denied is new once, too; what the log has is no read's business.
        reads.change(1, |cursor| cursor.noted = 3);
        let told = Cursor { denied: 2, ..to(5) };
        assert!(reads.advance(1, to(5), told));
        assert!(!reads.advance(1, to(5), told));
        assert_eq!(reads.get(1), Cursor { noted: 3, ..told });
    }

    #[test]
    fn a_torn_line_and_a_missing_folder_cost_a_repetition_only() {
        let scratch = Scratch::new();
        scratch
            .file(FILE, "{\"task\":1,\"stdout\":5,\"stderr\":0,\"told\":false}\n{\"task\":1,\"st");
        let reads = Reads::of(&scratch.path(""));
        assert_eq!(reads.get(1).stdout, 5);
        let nowhere = Reads::of(&scratch.path("gone"));
        nowhere.change(1, |cursor| cursor.stdout = 2);
        assert_eq!(nowhere.get(1).stdout, 2);
    }
}
