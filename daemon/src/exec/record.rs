//! The record of a background task: one file, by which whoever comes later knows what it was and how it ended.
//!
//! ```text
//! tasks/<id>.running   a line: what was started       ── the supervisor died ──► lost
//!    │ end: a second line, then rename
//! tasks/<id>.ended     two lines                      ── finished
//! ```
//!
//! The rename is the moment at which the end is known; a second line under the first name counts for nothing. No
//! fsync(2): a record outlives processes, and after a crash of the machine no task runs that it could be about. The room
//! for the second line is reserved with the first, so that a full disk refuses a task before it starts and never
//! loses its exit code. Each file has one writer, the supervisor, and is written once: fields that a newer version
//! added are ignored by an older one and stay where they are.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use brattice_protocol::TaskId;
use brattice_protocol::outcome::Cause;
use rustix::fs::{FallocateFlags, OFlags, fallocate};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::denials::LISTED_BYTES;
use super::spec::{StreamEnd, Streams, TaskEnd, TaskFacts, Timestamp};
use crate::regular;

/// The folder of records and spools, below the session's.
pub(crate) const TASKS: &str = "tasks";

/// Bytes reserved for the second line: the longest reason, 16 processes twice, and the denials.
const ROOM: u64 = (12 << 10) + LISTED_BYTES as u64;

const RUNNING: &str = "running";
const ENDED: &str = "ended";

/// A record as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Record {
    /// What was started.
    pub(crate) facts: TaskFacts,
    /// How it ended, and when. `None`: whoever kept it died before it did.
    pub(crate) end: Option<Ended>,
}

/// The second line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ended {
    /// When nothing of it was left.
    pub(crate) at: Timestamp,
    /// How.
    pub(crate) end: TaskEnd,
}

/// The record of a task that runs.
#[derive(Debug)]
pub(crate) struct RecordFile {
    file: File,
    path: PathBuf,
}

impl RecordFile {
    /// Writes down that a task is about to start. `folder` is the session's.
    ///
    /// # Errors
    /// It cannot be written, or the room for its end cannot be had. Nothing is left of it then.
    pub(crate) fn begin(folder: &Path, facts: &TaskFacts) -> io::Result<RecordFile> {
        let path = path(folder, &facts.task, RUNNING);
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL;
        let file = regular::open(&path, flags)?;
        let record = RecordFile { file, path };
        match record.write_first(facts) {
            Ok(()) => Ok(record),
            Err(error) => {
                record.withdraw();
                Err(error)
            }
        }
    }

    fn write_first(&self, facts: &TaskFacts) -> io::Result<()> {
        let line = line(facts)?;
        match fallocate(&self.file, FallocateFlags::KEEP_SIZE, 0, line.len() as u64 + ROOM) {
            // A file system that cannot reserve takes the risk of a lost code, which is told as `lost`.
            Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => (&self.file).write_all(&line),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Writes down how the task ended.
    ///
    /// # Errors
    /// It cannot be written, or the folder is gone.
    pub(crate) fn end(&self, ended: &Ended) -> io::Result<()> {
        (&self.file).write_all(&line(ended)?)?;
        // What was reserved and not needed is given back.
        self.file.set_len(self.file.metadata()?.len())?;
        std::fs::rename(&self.path, self.path.with_extension(ENDED))
    }

    /// The task did not start. That the file stays is no harm: it tells of a task that is `lost`.
    pub(crate) fn withdraw(&self) {
        if let Err(error) = std::fs::remove_file(&self.path) {
            tracing::debug!(path = %self.path.display(), %error, "a record is left");
        }
    }
}

/// All records below a session's folder, in no order. A file that is no record is reported and left.
///
/// # Errors
/// The folder cannot be listed.
pub(crate) fn read_all(folder: &Path) -> io::Result<Vec<Record>> {
    let mut records = Vec::new();
    for entry in std::fs::read_dir(folder.join(TASKS))? {
        let path = entry?.path();
        let kind = path.extension().map(OsString::from);
        let read = match kind.as_deref().and_then(|kind| kind.to_str()) {
            Some(RUNNING) => first(&path).map(|facts| Record { facts, end: None }),
            Some(ENDED) => both(&path),
            _ => continue,
        };
        match read {
            Ok(record) => records.push(record),
            Err(error) => {
                tracing::error!(path = %path.display(), %error, "a task's record cannot be read");
            }
        }
    }
    Ok(records)
}

/// The end of one task, where it is on record.
pub(crate) fn ended(folder: &Path, task: &TaskId) -> Option<Ended> {
    both(&path(folder, task, ENDED)).ok()?.end
}

/// The end of a task whose supervisor died before it: nobody knows it. What had outgrown memory can still be read.
pub(crate) fn lost(folder: &Path, facts: &TaskFacts) -> Ended {
    let stream = |name: &str| {
        let path = path(folder, &facts.task, name);
        match path.metadata() {
            Ok(file) => StreamEnd { bytes: file.len(), file: Some(path), ..StreamEnd::default() },
            Err(_) => StreamEnd::default(),
        }
    };
    let end = TaskEnd {
        cause: Cause::Lost,
        exit_code: None,
        signal: None,
        reason: Some("the session's supervisor died".to_owned()),
        duration: facts.started.elapsed(),
        user: Duration::ZERO,
        sys: Duration::ZERO,
        max_rss: 0,
        stdout: stream("stdout"),
        stderr: (facts.streams == Streams::Separate).then(|| stream("stderr")),
        leftovers: None,
        unkillable: Vec::new(),
        denials: None,
        git_changes: Vec::new(),
        mode: facts.mode,
        layers: facts.layers.clone(),
    };
    Ended { at: Timestamp::now(), end }
}

/// Writes down the end of a task whose supervisor died before it could.
///
/// # Errors
/// It cannot be written; then it is found without an end again.
pub(crate) fn end_of_lost(folder: &Path, task: &TaskId, ended: &Ended) -> io::Result<()> {
    let path = path(folder, task, RUNNING);
    let text = regular::read(&path)?;
    let first = text.iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| at + 1);
    let file = regular::open(&path, OFlags::WRONLY)?;
    if text.len() > first {
        // A second line that its writer could not name as the end counts for nothing.
        file.set_len(first as u64)?;
    }
    // Into the room that was reserved for it.
    file.write_all_at(&line(ended)?, first as u64)?;
    std::fs::rename(&path, path.with_extension(ENDED))
}

/// Removes the record of a task that has ended, or that is lost.
pub(crate) fn remove(folder: &Path, task: &TaskId) -> io::Result<()> {
    for kind in [ENDED, RUNNING] {
        match std::fs::remove_file(path(folder, task, kind)) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Where a task's record, or one of its streams, is.
pub(crate) fn path(folder: &Path, task: &TaskId, kind: &str) -> PathBuf {
    folder.join(TASKS).join(format!("{task}.{kind}"))
}

fn line(what: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    Ok(line)
}

fn first(path: &Path) -> io::Result<TaskFacts> {
    let text = regular::read(path)?;
    Ok(serde_json::from_slice(text.split(|byte| *byte == b'\n').next().unwrap_or_default())?)
}

fn both(path: &Path) -> io::Result<Record> {
    let text = regular::read(path)?;
    let mut lines = text.split(|byte| *byte == b'\n');
    let facts: TaskFacts = serde_json::from_slice(lines.next().unwrap_or_default())?;
    let mut ended: Ended = serde_json::from_slice(lines.next().unwrap_or_default())?;
    (ended.end.mode, ended.end.layers) = (facts.mode, facts.layers.clone());
    Ok(Record { facts, end: Some(ended) })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use brattice_policy::Mode;
    use brattice_policy::layer::LayerReport;
    use brattice_protocol::task::TaskKind;

    use super::*;
    use crate::exec::denials::tests::{denials, record as denied};
    use crate::exec::spec::Stdin;
    use crate::session::testing::Scratch;

    fn facts(task: &str) -> TaskFacts {
        TaskFacts {
            task: TaskId::new(task),
            kind: TaskKind::Bash,
            title: "make\n-j".to_owned(),
            digest: None,
            cwd: Some("/ws".into()),
            stdin: Stdin::Null,
            streams: Streams::Separate,
            mode: Mode::ReadOnly,
            layers: Arc::new(LayerReport::default()),
            started: Timestamp(7),
            timeout: None,
            idle_timeout: None,
        }
    }

    fn ended() -> Ended {
        let end = TaskEnd {
            cause: Cause::Exited,
            exit_code: Some(3),
            signal: None,
            reason: None,
            duration: Duration::from_millis(5),
            user: Duration::ZERO,
            sys: Duration::ZERO,
            max_rss: 0,
            stdout: StreamEnd::default(),
            stderr: Some(StreamEnd::default()),
            leftovers: None,
            unkillable: Vec::new(),
            denials: None,
            git_changes: Vec::new(),
            mode: Mode::ReadOnly,
            layers: Arc::new(LayerReport::default()),
        };
        Ended { at: Timestamp(12), end }
    }

    #[test]
    fn a_record_without_an_end_is_of_a_task_that_nobody_saw_end() {
        let scratch = Scratch::new();
        scratch.folder(TASKS);
        let record = RecordFile::begin(&scratch.path(""), &facts("bash-1")).unwrap();
        let found = read_all(&scratch.path("")).unwrap();
        assert_eq!(found, [Record { facts: facts("bash-1"), end: None }]);
        record.end(&ended()).unwrap();
        let found = read_all(&scratch.path("")).unwrap();
        assert_eq!(found, [Record { facts: facts("bash-1"), end: Some(ended()) }]);
        remove(&scratch.path(""), &TaskId::new("bash-1")).unwrap();
        assert_eq!(read_all(&scratch.path("")).unwrap(), []);
    }

    #[test]
    fn an_end_that_was_not_named_so_counts_for_nothing() {
        let scratch = Scratch::new();
        scratch.folder(TASKS);
        let record = RecordFile::begin(&scratch.path(""), &facts("bash-1")).unwrap();
        (&record.file).write_all(&line(&ended()).unwrap()).unwrap();
        let found = read_all(&scratch.path("")).unwrap();
        assert_eq!(found, [Record { facts: facts("bash-1"), end: None }]);
    }

    #[test]
    fn t103_what_a_newer_version_wrote_is_read_and_left() {
        let scratch = Scratch::new();
        scratch.folder(TASKS);
        let with_more = |what: &dyn Fn() -> io::Result<Vec<u8>>| {
            let text = String::from_utf8(what().unwrap()).unwrap();
            text.replacen('{', "{\"newer\":[1],", 1)
        };
        let text = with_more(&|| line(&facts("bash-2"))) + &with_more(&|| line(&ended()));
        let path = scratch.file("tasks/bash-2.ended", &text);
        let found = read_all(&scratch.path("")).unwrap();
        assert_eq!(found, [Record { facts: facts("bash-2"), end: Some(ended()) }]);
        assert_eq!(std::fs::read_to_string(path).unwrap(), text);
    }

    #[test]
    fn a_record_from_before_there_were_denials_is_one_of_which_nobody_knows_any() {
        let scratch = Scratch::new();
        scratch.folder(TASKS);
        let first = r#"{"task":"bash-1","kind":"bash","title":"make","stdin":"Null","streams":"Separate","mode":"read-only","layers":{"landlock_abi":0,"layers":[]},"started":7}"#;
        let second = r#"{"at":12,"end":{"cause":"exited","exit_code":3,"signal":null,"reason":null,"duration":{"secs":0,"nanos":5000000},"user":{"secs":0,"nanos":0},"sys":{"secs":0,"nanos":0},"max_rss":0,"stdout":{"bytes":0,"dropped":[0,0],"file":null,"lost":null},"stderr":{"bytes":0,"dropped":[0,0],"file":null,"lost":null},"leftovers":null,"unkillable":[]}}"#;
        scratch.file("tasks/bash-1.ended", &format!("{first}\n{second}\n"));
        let facts = TaskFacts { title: "make".to_owned(), cwd: None, ..facts("bash-1") };
        let found = read_all(&scratch.path("")).unwrap();
        assert_eq!(found, [Record { facts, end: Some(ended()) }]);
    }

    #[test]
    fn what_a_task_was_denied_is_on_record() {
        let scratch = Scratch::new();
        scratch.folder(TASKS);
        let mut ended = ended();
        ended.end.denials = Some(denials(&[denied(3, "/etc/hosts", 2)]));
        RecordFile::begin(&scratch.path(""), &facts("bash-1")).unwrap().end(&ended).unwrap();
        let found = super::ended(&scratch.path(""), &TaskId::new("bash-1"));
        assert_eq!(found, Some(ended));
    }

    #[test]
    fn what_is_no_record_is_passed_over() {
        let scratch = Scratch::new();
        scratch.folder(TASKS);
        for (name, text) in [("bash-1.ended", "{}"), ("bash-2.stdout", "x"), ("bash-3.running", "")]
        {
            scratch.file(&format!("{TASKS}/{name}"), text);
        }
        assert_eq!(read_all(&scratch.path("")).unwrap(), []);
    }

    #[test]
    fn a_number_is_given_once() {
        let scratch = Scratch::new();
        scratch.folder(TASKS);
        let begin = || RecordFile::begin(&scratch.path(""), &facts("bash-1"));
        let first = begin().unwrap();
        assert_eq!(begin().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        first.withdraw();
        begin().unwrap();
    }
}
