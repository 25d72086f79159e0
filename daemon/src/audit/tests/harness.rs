//! A state folder with a log, looked at as `brattice audit` does.

use std::convert::Infallible;
use std::fs;
use std::path::PathBuf;

use brattice_protocol::audit::{self, Break, Event, FileNumber, Line, Verified, verify};
use brattice_protocol::{CallId, SessionId};
use serde_json::json;

use crate::audit::writer::Bounds;
use crate::audit::{Audit, FOLDER};
use crate::session::testing::Scratch;
use crate::state::StateFolder;

/// A state folder.
pub(super) struct Place(Scratch);

impl Place {
    pub(super) fn new() -> Self {
        let scratch = Scratch::new();
        scratch.folder("state");
        Place(scratch)
    }

    /// The log of a daemon that begins here.
    pub(super) fn open(&self) -> Audit {
        self.open_with(Bounds::DEFAULT)
    }

    pub(super) fn open_with(&self, bounds: Bounds) -> Audit {
        // The lock goes with the value: the tests keep to one daemon at a time by themselves.
        Audit::with_bounds(&StateFolder::take(&self.state()).unwrap(), bounds)
    }

    pub(super) fn state(&self) -> PathBuf {
        self.0.path("state")
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.state().join(FOLDER)
    }

    pub(super) fn path(&self, number: u64) -> PathBuf {
        self.folder().join(format!("{number:08}.jsonl"))
    }

    pub(super) fn text(&self, number: u64) -> String {
        fs::read_to_string(self.path(number)).unwrap()
    }

    /// The numbers of the files that are there.
    pub(super) fn files(&self) -> Vec<u64> {
        let is_file = |number: &u64| self.path(*number).exists();
        (1..100).filter(is_file).collect()
    }

    /// The events of all whole lines.
    pub(super) fn events(&self) -> Vec<Event> {
        self.files().into_iter().flat_map(|number| self.events_of(number)).collect()
    }

    /// The same of one file.
    pub(super) fn events_of(&self, number: u64) -> Vec<Event> {
        let text = self.text(number);
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        whole.map(|line| serde_json::from_str::<Line>(line).unwrap().event).collect()
    }

    pub(super) fn verify(&self) -> Result<Verified, Break> {
        let mut lines = Vec::new();
        for number in self.files() {
            let file: FileNumber = format!("{number:08}.jsonl").parse().unwrap();
            let bytes = fs::read(self.path(number)).unwrap();
            for (line, text) in (1..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
                lines.push(Ok::<_, Infallible>((audit::Place { file, line }, text.to_vec())));
            }
        }
        let Ok(verdict) = verify(lines, None);
        verdict
    }

    #[track_caller]
    pub(super) fn verified(&self) -> Verified {
        self.verify().unwrap_or_else(|fault| panic!("{fault}"))
    }

    /// The place and the words of what is wrong.
    #[track_caller]
    pub(super) fn fault(&self) -> String {
        self.verify().unwrap_err().to_string()
    }

    /// Takes bytes from a file's end.
    pub(super) fn cut(&self, number: u64, bytes: u64) {
        let file = fs::File::options().write(true).open(self.path(number)).unwrap();
        file.set_len(file.metadata().unwrap().len() - bytes).unwrap();
    }
}

/// An event like any other.
pub(super) fn call(number: u64) -> Event {
    Event::Call {
        session: SessionId::new("s"),
        call: CallId::new(format!("call-{number}")),
        tool: "bash".to_owned(),
        arguments: json!({"command": "make"}),
    }
}
