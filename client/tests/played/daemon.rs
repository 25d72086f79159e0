//! A daemon that a test plays: one client, one session, one task that does what the test says.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread::JoinHandle;

use brattice_protocol::bytes;
use brattice_protocol::outcome::Cause;
use brattice_protocol::task::{InputParams, OutputParams};
use brattice_protocol::tools::Stream;
use brattice_protocol::{Message, Request, Response, codec};
use serde_json::{Value, json};

/// When the played task ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// At once.
    AtOnce,
    /// When its input ends.
    WithInput,
    /// When it is killed.
    WhenKilled,
    /// When its session is closed, and not before.
    WithSession,
}

/// When the played session opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opens {
    /// At once.
    AtOnce,
    /// When the test says so.
    OnWord,
}

/// What the played task does.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) opens: Opens,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) ends: Ends,
    pub(crate) cause: Cause,
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<&'static str>,
}

/// What the client asked for.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) start: Value,
    pub(crate) input: Vec<u8>,
    pub(crate) kill: Option<Value>,
    pub(crate) closed: bool,
}

pub(crate) struct Played {
    pub(crate) socket: PathBuf,
    folder: PathBuf,
    methods: mpsc::Receiver<String>,
    word: mpsc::Sender<()>,
    thread: Option<JoinHandle<Seen>>,
}

impl Played {
    /// Listens, and plays the script for the one client that comes.
    pub(crate) fn new(name: &str, script: Script) -> Self {
        let folder = std::env::temp_dir().join(format!("brattice-{name}-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let socket = folder.join("s");
        let listener = UnixListener::bind(&socket).unwrap();
        let (tell, methods) = mpsc::channel();
        let (word, given) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let (seen, parked) = (Seen::default(), Vec::new());
            Play { script, stream, given, seen, parked, over: false }.serve(&tell)
        });
        Played { socket, folder, methods, word, thread: Some(thread) }
    }

    /// Waits until the client has asked for `method`.
    pub(crate) fn wait_for(&self, method: &str) {
        while self.methods.recv().unwrap() != method {}
    }

    /// Lets the session open.
    pub(crate) fn open(&self) {
        self.word.send(()).unwrap();
    }

    /// What the client asked for, once it is gone.
    pub(crate) fn seen(mut self) -> Seen {
        self.thread.take().unwrap().join().unwrap()
    }
}

impl Drop for Played {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.folder).unwrap();
    }
}

struct Play {
    script: Script,
    stream: UnixStream,
    given: mpsc::Receiver<()>,
    seen: Seen,
    parked: Vec<Request>,
    over: bool,
}

impl Play {
    fn serve(mut self, tell: &mpsc::Sender<String>) -> Seen {
        self.over = self.script.ends == Ends::AtOnce;
        let reader = BufReader::new(self.stream.try_clone().unwrap());
        for line in reader.split(b'\n') {
            // A client that was told to end may leave answers unread, which resets the connection.
            let Ok(line) = line else { break };
            let Message::Request(request) = codec::decode(&line).unwrap() else {
                panic!("no request")
            };
            // The test may not be interested any more.
            drop(tell.send(request.method.clone()));
            self.parked.push(request);
            // An answer may be what a request that was parked before waited for.
            for request in std::mem::take(&mut self.parked).into_iter().rev() {
                match self.answer(&request) {
                    Some(result) => self.say(request, result),
                    None => self.parked.push(request),
                }
            }
        }
        self.seen
    }

    fn say(&mut self, request: Request, result: Value) {
        let response = Response { id: Some(request.id), outcome: Ok(result) };
        // The client may be gone.
        drop(self.stream.write_all(&codec::encode(&Message::Response(response))));
    }

    fn answer(&mut self, Request { method, params, .. }: &Request) -> Option<Value> {
        match method.as_str() {
            "hello" => Some(json!({
                "protocol": 1, "daemon": {"name": "played", "version": "0"}, "role": "client",
                "sandbox": {"landlock_abi": 7, "layers": []},
                "limits": {"message_bytes": 1, "message_depth": 1, "in_flight": 1, "inline_bytes": 1},
            })),
            "session.open" => {
                if self.script.opens == Opens::OnWord {
                    self.given.recv().unwrap();
                }
                Some(json!({
                    "session": "s", "workspace": params["workspace"], "cwd": params["workspace"],
                    "mode": "workspace-write", "toolset": "standard", "network": "full",
                    "sandbox": {"landlock_abi": 7, "layers": []},
                }))
            }
            "task.start" => {
                self.seen.start = params.clone();
                Some(json!({"task": "bash-1"}))
            }
            "task.output" => self.output(&serde_json::from_value(params.clone()).unwrap()),
            "task.wait" => self.over.then(|| json!({"task": "bash-1", "outcome": self.outcome()})),
            "task.input" => {
                let input: InputParams = serde_json::from_value(params.clone()).unwrap();
                self.seen.input.extend(bytes::decode(&input.data, input.encoding).unwrap());
                self.over |= input.eof && self.script.ends == Ends::WithInput;
                Some(json!({}))
            }
            "task.kill" => {
                self.seen.kill = Some(params["reason"].clone());
                self.over |= self.script.ends == Ends::WhenKilled;
                Some(json!({}))
            }
            "session.close" => {
                self.seen.closed = true;
                Some(json!({}))
            }
            other => panic!("unexpected method {other}"),
        }
    }

    /// At most 1000 bytes at once, so that characters are cut.
    fn output(&self, params: &OutputParams) -> Option<Value> {
        let all = match params.stream.unwrap_or_default() {
            Stream::Stdout => &self.script.stdout,
            Stream::Stderr => &self.script.stderr,
        };
        let from = usize::try_from(params.offset.unwrap_or(0)).unwrap();
        let to = all.len().min(from + 1000);
        let (data, encoding) = bytes::encode(&all[from..to]);
        (to > from || self.over).then(|| {
            json!({
                "data": data, "encoding": encoding, "offset": from, "next_offset": to, "skipped": 0,
                "status": if self.over { "completed" } else { "running" },
            })
        })
    }

    fn outcome(&self) -> Value {
        let stream = json!({"bytes": 0, "shown": [0, 0]});
        json!({
            "cause": self.script.cause, "exit_code": self.script.exit_code,
            "signal": self.script.signal, "duration_ms": 1, "user_ms": 0, "sys_ms": 0,
            "max_rss_bytes": 0, "stdout": stream, "stderr": stream,
            "sandbox": {"mode": "workspace-write", "landlock_abi": 7, "layers": []},
        })
    }
}
