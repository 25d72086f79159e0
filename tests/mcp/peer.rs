//! A bare MCP client: `brattice mcp` as its child, lines in, lines out.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use brattice_tests::{PATIENCE, World, brattice, eventually, mcp_bridge};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Map, Value, json};

/// The revision without a handshake.
pub(crate) const STATELESS: &str = "2026-07-28";

/// The last one with a handshake.
pub(crate) const STATEFUL: &str = "2025-11-25";

/// What a client does with the lines that the bridge writes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reading {
    Lines,
    Nothing,
}

/// A client.
pub(crate) struct Peer {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    next: i64,
    /// What each request says of its client; nothing after a handshake.
    meta: Map<String, Value>,
    /// Messages that came while another one was waited for.
    kept: Vec<Value>,
}

/// How a bridge ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stderr: String,
}

/// The command line of a bridge in a world.
pub(crate) fn command(world: &World, arguments: &[&str]) -> Command {
    mcp_bridge();
    let mut command = world.command(brattice().to_str().unwrap());
    command
        .arg("mcp")
        .args(arguments)
        .env("BRATTICE_SOCKET", world.socket())
        .env("BRATTICE_CONTROL_SOCKET", world.control())
        .env("BRATTICE_STATE", world.state());
    command
}

impl Peer {
    /// A client that has said nothing yet.
    pub(crate) fn silent(world: &World) -> Peer {
        Peer::over(command(world, &[]), Reading::Lines)
    }

    /// The same, of a bridge with these arguments.
    pub(crate) fn with(world: &World, arguments: &[&str]) -> Peer {
        Peer::over(command(world, arguments), Reading::Lines)
    }

    /// One that never reads.
    pub(crate) fn deaf(world: &World) -> Peer {
        Peer::over(command(world, &[]), Reading::Nothing)
    }

    /// One that shook hands in this revision, with these capabilities.
    pub(crate) fn stateful(world: &World, version: &str, capabilities: Value) -> Peer {
        let mut peer = Peer::silent(world);
        let hello = peer.handshake(version, capabilities);
        assert_eq!(hello["protocolVersion"], version);
        peer
    }

    /// One of the revision without a handshake, with these capabilities.
    pub(crate) fn stateless(world: &World, capabilities: Value) -> Peer {
        let mut peer = Peer::silent(world);
        peer.declares(capabilities);
        peer
    }

    fn over(mut command: Command, reading: Reading) -> Peer {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the bridge starts");
        let stdin = child.stdin.take();
        let (told, lines) = channel();
        if reading == Reading::Lines {
            let stdout = child.stdout.take().unwrap();
            thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                    if told.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        Peer { child, stdin, lines, next: 0, meta: Map::new(), kept: Vec::new() }
    }

    /// The bridge's process.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// From now on each request says this of the client.
    pub(crate) fn declares(&mut self, capabilities: Value) {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientCapabilities": capabilities,
            "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
        });
        self.meta = meta.as_object().unwrap().clone();
    }

    /// Shakes hands, and gives what the bridge says of itself.
    pub(crate) fn handshake(&mut self, version: &str, capabilities: Value) -> Value {
        let params = json!({
            "protocolVersion": version, "capabilities": capabilities,
            "clientInfo": {"name": "tests", "version": "1"},
        });
        let hello = self.request("initialize", params).unwrap();
        self.notify("notifications/initialized", json!({}));
        hello
    }

    /// Sends bytes as they are; false where nobody reads them any more.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) -> bool {
        self.stdin.as_mut().expect("its end is open").write_all(bytes).is_ok()
    }

    /// Sends a message.
    #[track_caller]
    pub(crate) fn send(&mut self, message: &Value) {
        assert!(self.send_bytes(format!("{message}\n").as_bytes()), "the bridge reads");
    }

    /// Sends a notification.
    #[track_caller]
    pub(crate) fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request, and gives its id.
    #[track_caller]
    pub(crate) fn begin(&mut self, method: &str, mut params: Value) -> i64 {
        self.next += 1;
        let mut meta = self.meta.clone();
        if let Some(more) = params.get("_meta").and_then(Value::as_object) {
            meta.extend(more.clone());
        }
        if !meta.is_empty() {
            params["_meta"] = Value::Object(meta);
        }
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// The result of a request, or its error.
    #[track_caller]
    pub(crate) fn end(&mut self, id: i64) -> Result<Value, Value> {
        let message = self.wait(&format!("the answer to {id}"), |message| {
            message["id"] == id && message.get("method").is_none()
        });
        match message.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(message["result"].clone()),
        }
    }

    /// Sends a request and waits for its result, or its error.
    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: Value) -> Result<Value, Value> {
        let id = self.begin(method, params);
        self.end(id)
    }

    /// Calls a tool.
    #[track_caller]
    pub(crate) fn call(&mut self, params: Value) -> Value {
        self.request("tools/call", params).unwrap()
    }

    /// The next request of the bridge's.
    #[track_caller]
    pub(crate) fn asked(&mut self, method: &str) -> Value {
        self.wait(method, |message| message["method"] == method && message.get("id").is_some())
    }

    /// Answers a request of the bridge's.
    #[track_caller]
    pub(crate) fn answer(&mut self, request: &Value, result: Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": request["id"], "result": result}));
    }

    /// The next message that is wanted.
    #[track_caller]
    pub(crate) fn wait(&mut self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        if let Some(index) = self.kept.iter().position(&wanted) {
            return self.kept.remove(index);
        }
        loop {
            let Ok(line) = self.lines.recv_timeout(PATIENCE) else {
                panic!("waited in vain for {what}; came: {:#?}", self.kept);
            };
            let message: Value = serde_json::from_str(&line).expect("each line is JSON");
            if wanted(&message) {
                return message;
            }
            self.kept.push(message);
        }
    }

    /// All messages that came and were not waited for.
    pub(crate) fn rest(&mut self) -> Vec<Value> {
        self.kept.extend(self.lines.try_iter().map(|line| serde_json::from_str(&line).unwrap()));
        std::mem::take(&mut self.kept)
    }

    /// All that still comes, to the end of the bridge's output.
    pub(crate) fn last(&mut self) -> Vec<Value> {
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            self.kept.push(serde_json::from_str(&line).unwrap());
        }
        std::mem::take(&mut self.kept)
    }

    /// Closes its end.
    pub(crate) fn close(&mut self) {
        self.stdin = None;
    }

    /// Signals the bridge.
    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the bridge's end.
    pub(crate) fn ended(&mut self) -> Ended {
        let status: ExitStatus = eventually("the bridge ends", || self.child.try_wait().unwrap());
        let mut stderr = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        Ended { code: status.code(), stderr }
    }

    /// Closes its end, and waits for the bridge's.
    pub(crate) fn leave(&mut self) -> Ended {
        self.close();
        self.ended()
    }

    /// Whether the bridge has ended by itself after so long.
    pub(crate) fn has_ended_within(&mut self, time: Duration) -> bool {
        let begun = std::time::Instant::now();
        while begun.elapsed() < time {
            if self.child.try_wait().unwrap().is_some() {
                return true;
            }
            thread::sleep(Duration::from_millis(20));
        }
        false
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The text of a result.
#[track_caller]
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result:#}"))
}
