//! Which call ids of a session were taken, over restarts of the daemon: a call that is sent again never runs twice.
//!
//! Each id that a client chose is a line that is appended to `<session>/calls` before its call runs, with a digest of what
//! was asked. Results are not kept here: after a restart it is only known that the call was taken. A line that cannot be
//! written (a full disk) costs that knowledge after the next restart and nothing before it. It is written on the runtime's
//! threads: it is short, goes to the page cache of the state folder's file system, and the file is open.

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use brattice_protocol::CallId;
use serde::{Deserialize, Serialize};

use crate::regular;

/// The file's name in a session's folder.
const FILE: &str = "calls";

/// Ids that are remembered over a restart.
const KEPT: usize = 1_000;

/// What was asked: equal for equal tools and arguments.
pub(crate) type Digest = [u64; 2];

#[derive(Serialize, Deserialize)]
struct Line {
    call: CallId,
    /// `None`: the id is free again.
    digest: Option<Digest>,
}

/// The file, and what makes it short again.
#[derive(Debug)]
pub(super) struct Taken {
    path: PathBuf,
    file: Option<File>,
    /// Those in the file, oldest first, and how many lines it has beyond them.
    calls: VecDeque<(CallId, Digest)>,
    spent: usize,
}

impl Taken {
    /// Those of a session's folder, as an earlier daemon left them. The file is made with the first id.
    pub(super) fn of(folder: &Path) -> Taken {
        let path = folder.join(FILE);
        let text = regular::read(&path).unwrap_or_default();
        let mut taken = Taken { path, file: None, calls: VecDeque::new(), spent: 0 };
        let mut known: HashMap<CallId, usize> = HashMap::new();
        // A torn line is one that was not written.
        for line in text.split(|byte| *byte == b'\n') {
            let Ok(Line { call, digest }) = serde_json::from_slice(line) else { continue };
            match digest {
                Some(digest) => {
                    known.insert(call.clone(), taken.calls.len());
                    taken.calls.push_back((call, digest));
                }
                None => {
                    known.remove(&call);
                }
            }
        }
        let mut index = 0;
        taken.calls.retain(|(call, _)| {
            index += 1;
            known.get(call) == Some(&(index - 1))
        });
        while taken.calls.len() > KEPT {
            taken.calls.pop_front();
        }
        taken
    }

    /// Those that are remembered, oldest first.
    pub(super) fn all(&self) -> impl Iterator<Item = &(CallId, Digest)> {
        self.calls.iter()
    }

    /// An id is taken.
    pub(super) fn take(&mut self, call: &CallId, digest: Digest) {
        self.calls.push_back((call.clone(), digest));
        if self.calls.len() > KEPT {
            self.calls.pop_front();
            self.spent += 1;
        }
        self.note(&Line { call: call.clone(), digest: Some(digest) });
    }

    /// It is free again.
    pub(super) fn free(&mut self, call: &CallId) {
        let before = self.calls.len();
        self.calls.retain(|(known, _)| known != call);
        if self.calls.len() < before {
            self.spent += 2;
            self.note(&Line { call: call.clone(), digest: None });
        }
    }

    fn note(&mut self, line: &Line) {
        if let Err(error) = self.append(line) {
            // Half a line may stand there: the next one makes the file anew.
            self.file = None;
            tracing::warn!(path = %self.path.display(), %error, "that a call was taken is not on record");
        }
    }

    fn append(&mut self, line: &Line) -> io::Result<()> {
        if self.spent > KEPT {
            self.file = None;
        }
        match &mut self.file {
            Some(file) => file.write_all(&text(line)?),
            None => {
                let mut all = Vec::new();
                // The line is among them already, or no longer.
                for (call, digest) in &self.calls {
                    all.extend(text(&Line { call: call.clone(), digest: Some(*digest) })?);
                }
                self.file = Some(regular::replace(&self.path, &all)?);
                self.spent = 0;
                Ok(())
            }
        }
    }
}

fn text(line: &Line) -> io::Result<Vec<u8>> {
    let mut text = serde_json::to_vec(line)?;
    text.push(b'\n');
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::testing::Scratch;

    fn names(taken: &Taken) -> Vec<&str> {
        taken.all().map(|(call, _)| call.as_str()).collect()
    }

    #[test]
    fn the_next_daemon_knows_what_was_taken_and_not_freed() {
        let scratch = Scratch::new();
        let mut taken = Taken::of(&scratch.path(""));
        for name in ["a", "b", "c"] {
            taken.take(&CallId::new(name), [1, 2]);
        }
        taken.free(&CallId::new("b"));
        taken.free(&CallId::new("never"));
        let mut next = Taken::of(&scratch.path(""));
        assert_eq!(names(&next), ["a", "c"]);
        next.take(&CallId::new("b"), [3, 4]);
        assert_eq!(names(&Taken::of(&scratch.path(""))), ["a", "c", "b"]);
    }

    #[test]
    fn the_file_stays_short() {
        let scratch = Scratch::new();
        let mut taken = Taken::of(&scratch.path(""));
        for number in 0..3 * KEPT {
            taken.take(&CallId::new(number.to_string()), [0, 0]);
        }
        let lines = std::fs::read_to_string(scratch.path(FILE)).unwrap().lines().count();
        assert!(lines <= 2 * KEPT + 2, "{lines}");
        let next = Taken::of(&scratch.path(""));
        assert_eq!(names(&next).len(), KEPT);
        assert_eq!(names(&next)[0], (2 * KEPT).to_string());
    }
}
