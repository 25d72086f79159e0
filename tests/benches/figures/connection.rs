//! A bare connection with a session of its own: no runtime of a client library stands in the times.

use brattice_tests::{Wire, World, eventually};
use serde_json::{Value, json};

/// A connection and its session.
pub(super) struct Connection {
    wire: Wire,
    session: String,
}

impl Connection {
    /// Opens a session.
    pub(super) fn open(world: &World, mode: &str) -> Connection {
        Connection::by(world, "session.open", json!({"workspace": world.ws(), "mode": mode}))
    }

    /// Takes one up that an earlier daemon had.
    pub(super) fn resume(world: &World, session: &str) -> Connection {
        Connection::by(world, "session.resume", json!({"session": session}))
    }

    fn by(world: &World, method: &str, params: Value) -> Connection {
        let mut wire = Wire::open(&world.socket());
        let opened = wire.request(method, params).expect("a session");
        let session = opened["session"].as_str().expect("a session has an id").to_owned();
        Connection { wire, session }
    }

    /// The session's id.
    pub(super) fn id(&self) -> &str {
        &self.session
    }

    /// Closes the session.
    pub(super) fn close(mut self) {
        self.request("session.close", json!({}));
    }

    /// Sends a request about the session and waits for its answer.
    pub(super) fn request(&mut self, method: &str, mut params: Value) -> Value {
        params["session"] = json!(self.session);
        self.wire.request(method, params).expect("an answer")
    }

    /// Runs a command to its end.
    pub(super) fn bash(&mut self, command: &str) -> Value {
        let arguments = json!({"command": command, "timeoutMs": 600_000});
        let result = self.request("tools.call", json!({"name": "bash", "arguments": arguments}));
        assert_eq!(result["structuredContent"]["cause"], "exited", "{command}: {result}");
        result
    }

    /// Calls a tool that must do what it is asked.
    pub(super) fn tool(&mut self, name: &str, arguments: Value) -> Value {
        let result = self.request("tools.call", json!({"name": name, "arguments": arguments}));
        assert_eq!(result["isError"], false, "{name}: {result}");
        result
    }

    /// Starts a command in the background, with these arguments beside it.
    pub(super) fn start(&mut self, mut arguments: Value) -> String {
        arguments["run_in_background"] = json!(true);
        let result = self.request("tools.call", json!({"name": "bash", "arguments": arguments}));
        assert_eq!(result["isError"], false, "{result}");
        result["structuredContent"]["task"].as_str().expect("a task has an id").to_owned()
    }

    /// Waits for the ends of tasks.
    pub(super) fn wait_for(&mut self, tasks: &[String]) {
        for task in tasks {
            let waited = self.request("task.wait", json!({"tasks": [task], "timeout_ms": 600_000}));
            assert_eq!(waited["task"], json!(task), "{waited}");
        }
    }

    /// Waits until a task has printed this many bytes.
    pub(super) fn has_printed(&mut self, task: &str, bytes: u64) {
        eventually("the task has printed", || {
            let offset = bytes - 1;
            let piece = self
                .request("task.output", json!({"task": task, "offset": offset, "wait_ms": 100}));
            (piece["next_offset"] == json!(bytes)).then_some(())
        });
    }
}
