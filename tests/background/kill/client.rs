//! A client that goes on whenever its daemon dies: it connects again, resumes its session and asks again.

use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use brattice_protocol::task::{Output, TaskSummary};
use brattice_protocol::tools::Stream;
use brattice_protocol::{ErrorCode, RpcError};
use brattice_tests::{PATIENCE, Wire, bytes};
use serde_json::{Value, json};

use super::hits::Hits;
use super::job::Job;

/// Between two attempts to reach a daemon.
const PAUSE: Duration = Duration::from_millis(5);

/// A client and its session, if it has one.
pub(crate) struct Client {
    socket: PathBuf,
    workspace: PathBuf,
    hits: Hits,
    wire: Option<Wire>,
    session: Option<String>,
}

/// The session's supervisor was killed: nothing more starts in it.
#[derive(Debug)]
pub(crate) struct Lost;

/// What became of a job that was to start.
pub(crate) enum Start {
    /// It runs, as this task.
    Started(String),
    /// It was refused.
    Refused(RpcError),
}

impl Client {
    pub(crate) fn new(socket: PathBuf, workspace: PathBuf, hits: Hits) -> Client {
        Client { socket, workspace, hits, wire: None, session: None }
    }

    /// Its session.
    pub(crate) fn session(&self) -> &str {
        self.session.as_deref().expect("a session is open")
    }

    /// Opens a session. One whose opening was not answered is nobody's from then on.
    pub(crate) fn open(&mut self) {
        let params = json!({"workspace": self.workspace, "mode": "workspace-write"});
        let begun = Instant::now();
        loop {
            self.session = None;
            let answer = self.ask("session.open", params.clone());
            if let Some(Ok(opened)) = &answer {
                self.session = opened["session"].as_str().map(str::to_owned);
                return;
            }
            // Its supervisor may have been hit before it had a session that could be named.
            assert!(begun.elapsed() < PATIENCE, "no session can be opened: {answer:?}");
            thread::sleep(PAUSE);
        }
    }

    /// Sends a request once. `None`: the daemon died, or there is no session of that id any more.
    fn ask(&mut self, method: &str, mut params: Value) -> Option<Result<Value, RpcError>> {
        if let Err(gone) = self.attach() {
            return Some(Err(gone));
        }
        if let Some(session) = &self.session {
            params["session"] = json!(session);
        }
        let answer = self.wire.as_mut()?.ask(method, params);
        if answer.is_none() {
            self.wire = None;
        }
        answer
    }

    /// Connects and resumes the session, if need be.
    fn attach(&mut self) -> Result<(), RpcError> {
        let begun = Instant::now();
        while self.wire.is_none() {
            assert!(begun.elapsed() < PATIENCE, "no daemon takes {:?}", self.session);
            let Some(mut wire) = Wire::try_open(&self.socket) else {
                thread::sleep(PAUSE);
                continue;
            };
            let resumed = match &self.session {
                Some(session) => wire.ask("session.resume", json!({"session": session})),
                None => Some(Ok(Value::Null)),
            };
            match resumed {
                Some(Ok(_)) => self.wire = Some(wire),
                Some(Err(error)) if error.data.code == Some(ErrorCode::UnknownSession) => {
                    return Err(error);
                }
                // The daemon has not noticed the end of the last connection, or has died.
                Some(Err(_)) | None => thread::sleep(PAUSE),
            }
        }
        Ok(())
    }

    /// Sends a request until it is answered.
    fn insist(&mut self, method: &str, params: &Value) -> Result<Value, RpcError> {
        loop {
            if let Some(answer) = self.ask(method, params.clone()) {
                return answer;
            }
        }
    }

    /// Starts a job once, whatever becomes of the answer.
    pub(crate) fn start(&mut self, job: &Job) -> Result<Start, Lost> {
        loop {
            match self.ask("task.start", job.params()) {
                Some(Ok(started)) => {
                    let task = started["task"].as_str().expect("it has an id");
                    return Ok(Start::Started(task.to_owned()));
                }
                Some(Err(error)) if self.is_lost(&error) => return Err(Lost),
                Some(Err(error)) if error.data.code == Some(ErrorCode::Busy) => {
                    thread::sleep(PAUSE);
                }
                Some(Err(refusal)) => return Ok(Start::Refused(refusal)),
                None => {
                    let tasks = self.tasks()?;
                    if let Some(task) = tasks.iter().find(|task| job.is(&task.command)) {
                        return Ok(Start::Started(task.task.as_str().to_owned()));
                    }
                }
            }
        }
    }

    /// Whether a refusal means that the session's supervisor is gone, which must be because somebody killed it.
    fn is_lost(&self, refusal: &RpcError) -> bool {
        let is_gone = refusal.data.code == Some(ErrorCode::UnknownSession)
            || refusal.message.contains("supervisor");
        assert!(
            !is_gone || self.hits.contains(self.session()),
            "{} is lost, and nobody killed its supervisor: {refusal:?}",
            self.session()
        );
        is_gone
    }

    /// The session's tasks.
    pub(crate) fn tasks(&mut self) -> Result<Vec<TaskSummary>, Lost> {
        match self.insist("task.list", &json!({})) {
            Ok(list) => Ok(serde_json::from_value(list).expect("it is a list of tasks")),
            Err(error) if self.is_lost(&error) => Err(Lost),
            Err(error) => panic!("task.list: {error:?}"),
        }
    }

    /// Waits a moment for the end of one of these tasks.
    pub(crate) fn wait(&mut self, tasks: &[&str]) -> Result<Option<String>, Lost> {
        match self.ask("task.wait", json!({"tasks": tasks, "timeout_ms": 1000})) {
            Some(Ok(waited)) => Ok(waited["task"].as_str().map(str::to_owned)),
            // One that was starting when its daemon died, and did not start.
            Some(Err(error)) if error.data.code == Some(ErrorCode::UnknownTask) => Ok(None),
            Some(Err(error)) if self.is_lost(&error) => Err(Lost),
            Some(Err(error)) => panic!("task.wait: {error:?}"),
            None => Ok(None),
        }
    }

    /// Asks for a task's end; it may be over already.
    pub(crate) fn kill(&mut self, task: &str) {
        match self.insist("task.kill", &json!({"task": task})) {
            Ok(_) => {}
            Err(error) if self.is_lost(&error) => {}
            Err(error) => panic!("task.kill: {error:?}"),
        }
    }

    /// All of a stream of a task that is over: the bytes, and how many in front of them were not kept.
    pub(crate) fn read(&mut self, task: &str, stream: Stream) -> Vec<u8> {
        let mut all = Vec::new();
        loop {
            let params = json!({"task": task, "stream": stream, "offset": all.len()});
            let piece = self.insist("task.output", &params);
            let piece = piece.unwrap_or_else(|error| panic!("{task} cannot be read: {error:?}"));
            let piece: Output = serde_json::from_value(piece).expect("it is a piece of output");
            let bytes = bytes(&piece);
            if bytes.is_empty() {
                return all;
            }
            assert_eq!((piece.offset, piece.skipped), (all.len() as u64, 0), "{task} {stream:?}");
            all.extend(bytes);
        }
    }

    /// Closes the session, however often that takes.
    pub(crate) fn close(&mut self) {
        loop {
            match self.ask("session.close", json!({})) {
                Some(Ok(_)) => break,
                Some(Err(error)) if error.data.code == Some(ErrorCode::UnknownSession) => break,
                Some(Err(error)) => panic!("session.close: {error:?}"),
                None => {}
            }
        }
        self.session = None;
    }
}
