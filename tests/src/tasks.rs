//! A session's tasks, as the wire's `task.*` methods tell of them.

use brattice_protocol::RpcError;
use brattice_protocol::bytes::decode;
use brattice_protocol::outcome::CommandOutcome;
use brattice_protocol::task::{Output, Started, TaskStatus, TaskSummary, Waited};
use serde_json::{Value, json};

use crate::session::Session;
use crate::until::PATIENCE;

impl Session {
    /// Starts a command in the background and tells its id.
    ///
    /// # Panics
    /// When it is refused.
    #[track_caller]
    pub fn start(&self, command: &str) -> String {
        self.start_with(json!({"command": command}))
    }

    /// The same, with these parameters.
    ///
    /// # Panics
    /// When it is refused.
    #[track_caller]
    pub fn start_with(&self, params: Value) -> String {
        self.try_start(params).unwrap_or_else(|error| panic!("task.start: {error:?}"))
    }

    /// The same, where a refusal is an answer.
    ///
    /// # Errors
    /// The refusal.
    pub fn try_start(&self, params: Value) -> Result<String, RpcError> {
        let started: Started = shape(self.request("task.start", params)?);
        Ok(started.task.as_str().to_owned())
    }

    /// Its tasks.
    ///
    /// # Panics
    /// When they are not told.
    #[track_caller]
    pub fn tasks(&self) -> Vec<TaskSummary> {
        let list = self.request("task.list", json!({}));
        shape(list.unwrap_or_else(|error| panic!("task.list: {error:?}")))
    }

    /// One of them.
    ///
    /// # Panics
    /// When there is none of that id.
    #[track_caller]
    pub fn task(&self, task: &str) -> TaskSummary {
        let tasks = self.tasks();
        let found = tasks.iter().find(|summary| summary.task.as_str() == task);
        found.unwrap_or_else(|| panic!("no {task} in {tasks:#?}")).clone()
    }

    /// Waits for the first of these that ends.
    ///
    /// # Panics
    /// When none ends.
    #[track_caller]
    pub fn wait_for_one(&self, tasks: &[&str]) -> (String, CommandOutcome) {
        let params = json!({"tasks": tasks, "timeout_ms": PATIENCE.as_millis() as u64});
        let waited = self.request("task.wait", params);
        let waited: Waited = shape(waited.unwrap_or_else(|error| panic!("task.wait: {error:?}")));
        match (waited.task, waited.outcome) {
            (Some(task), Some(outcome)) => (task.as_str().to_owned(), outcome),
            _ => panic!("none of {tasks:?} has ended: {:#?}", self.tasks()),
        }
    }

    /// Waits for the end of a task.
    ///
    /// # Panics
    /// When it does not end.
    #[track_caller]
    pub fn wait_for(&self, task: &str) -> CommandOutcome {
        self.wait_for_one(&[task]).1
    }

    /// Sends `task.output` with these parameters, the task added.
    ///
    /// # Panics
    /// When it is answered with an error.
    #[track_caller]
    pub fn read(&self, task: &str, mut params: Value) -> Output {
        params["task"] = json!(task);
        let output = self.request("task.output", params);
        shape(output.unwrap_or_else(|error| panic!("task.output: {error:?}")))
    }

    /// All that a task printed on standard output; it has ended.
    ///
    /// # Panics
    /// When it has not, or a byte of it was not kept.
    #[track_caller]
    pub fn output(&self, task: &str) -> Vec<u8> {
        let mut all = Vec::new();
        loop {
            let piece = self.read(task, json!({"offset": all.len()}));
            assert_ne!(piece.status, TaskStatus::Running, "{task} has not ended");
            assert_eq!((piece.offset, piece.skipped), (all.len() as u64, 0), "{task}");
            let bytes = bytes(&piece);
            if bytes.is_empty() {
                return all;
            }
            all.extend(bytes);
            assert_eq!(piece.next_offset, all.len() as u64, "{task}");
        }
    }

    /// The same as text.
    ///
    /// # Panics
    /// When it has not ended, a byte of it was not kept, or it is none.
    #[track_caller]
    pub fn printed(&self, task: &str) -> String {
        String::from_utf8(self.output(task)).expect("it is text")
    }

    /// Feeds a task's standard input.
    ///
    /// # Panics
    /// When it is refused.
    #[track_caller]
    pub fn input(&self, task: &str, data: &str) {
        let fed = self.request("task.input", json!({"task": task, "data": data}));
        fed.unwrap_or_else(|error| panic!("task.input: {error:?}"));
    }

    /// Asks for a task's end.
    ///
    /// # Panics
    /// When it is refused.
    #[track_caller]
    pub fn kill(&self, task: &str) {
        let killed = self.request("task.kill", json!({"task": task}));
        killed.unwrap_or_else(|error| panic!("task.kill: {error:?}"));
    }
}

/// The bytes of a piece of output.
///
/// # Panics
/// When they are not what the piece says.
pub fn bytes(piece: &Output) -> Vec<u8> {
    decode(&piece.data, piece.encoding).expect("the piece says how it is encoded")
}

fn shape<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("the answer has its shape")
}
