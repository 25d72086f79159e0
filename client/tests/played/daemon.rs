//! A daemon that a test plays: one client, one task that does what the test says, and daemons that die and are succeeded.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread::JoinHandle;

use brattice_protocol::bytes;
use brattice_protocol::outcome::Cause;
use brattice_protocol::task::{InputParams, OutputParams};
use brattice_protocol::tools::Stream;
use brattice_protocol::{ErrorCode, Message, Request, Response, RpcError, codec};
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
    /// When it is killed at once, and not when it is asked to end.
    WhenForced,
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

/// At which request a played daemon dies; the next one goes on where it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dies {
    /// When the task was started and nobody was told.
    AtStart,
    /// When standard output is asked for from this byte on.
    AtOutput(u64),
    /// When so many bytes of input were taken and more comes: before it takes that,
    BeforeInput(usize),
    /// or after, and tells nobody,
    AfterInput(usize),
    /// or it turns it away, since it is ending.
    TurningInputAway(usize),
    /// When the end is waited for.
    AtWait,
}

/// What a successor knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Successor {
    /// All of it.
    Knows,
    /// Nothing of the session.
    Forgot,
}

/// What the played task does.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    /// The sessions that there are, each with a task `bash-1`; the first is the one that is opened.
    pub(crate) sessions: &'static [&'static str],
    /// How its daemons die, one after the other.
    pub(crate) deaths: &'static [Dies],
    pub(crate) successor: Successor,
    /// What was dropped from the beginning of standard output.
    pub(crate) dropped: u64,
    pub(crate) opens: Opens,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: Vec<u8>,
    pub(crate) ends: Ends,
    pub(crate) cause: Cause,
    pub(crate) exit_code: Option<i32>,
    pub(crate) signal: Option<&'static str>,
    /// The limit that the task is listed with.
    pub(crate) timeout_ms: Option<u64>,
}

/// What the client asked for.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) start: Value,
    pub(crate) input: Vec<u8>,
    pub(crate) kill: Option<Value>,
    pub(crate) closed: bool,
    pub(crate) resumed: usize,
    /// The session that tasks were last named in.
    pub(crate) session: Value,
}

pub(crate) struct Played {
    pub(crate) socket: PathBuf,
    folder: PathBuf,
    methods: mpsc::Receiver<String>,
    word: mpsc::Sender<()>,
    thread: Option<JoinHandle<Seen>>,
}

impl Played {
    /// Listens, and plays the script for the one client that comes, and comes again after each death.
    pub(crate) fn new(name: &str, script: Script) -> Self {
        let folder = std::env::temp_dir().join(format!("brattice-{name}-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let socket = folder.join("s");
        let listener = UnixListener::bind(&socket).unwrap();
        let (tell, methods) = mpsc::channel();
        let (word, given) = mpsc::channel();
        let thread = std::thread::spawn(move || {
            let over = script.ends == Ends::AtOnce;
            let deaths = script.deaths;
            let mut play = Play { script, given, seen: Seen::default(), deaths, over };
            loop {
                let (stream, _) = listener.accept().unwrap();
                if play.serve(stream, &tell) == Life::Over {
                    return play.seen;
                }
            }
        });
        Played { socket, folder, methods, word, thread: Some(thread) }
    }

    /// Waits until the client has asked for `method`.
    pub(crate) fn wait_for(&self, method: &str) {
        while self.methods.recv().unwrap() != method {}
    }

    /// What the client asked for, in order, once it is gone.
    pub(crate) fn methods(&self) -> Vec<String> {
        self.methods.iter().collect()
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

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Life {
    /// The daemon died; its successor listens.
    Next,
    /// The client is gone.
    Over,
}

struct Play {
    script: Script,
    given: mpsc::Receiver<()>,
    seen: Seen,
    deaths: &'static [Dies],
    over: bool,
}

impl Play {
    fn serve(&mut self, mut stream: UnixStream, tell: &mpsc::Sender<String>) -> Life {
        let mut parked: Vec<Request> = Vec::new();
        let reader = BufReader::new(stream.try_clone().unwrap());
        for line in reader.split(b'\n') {
            // A client that was told to end may leave answers unread, which resets the connection.
            let Ok(line) = line else { break };
            let Message::Request(request) = codec::decode(&line).unwrap() else {
                panic!("no request")
            };
            // The test may not be interested any more.
            drop(tell.send(request.method.clone()));
            if self.dies(&request, &mut stream) {
                return Life::Next;
            }
            parked.push(request);
            // An answer may be what a request that was parked before waited for.
            for request in std::mem::take(&mut parked).into_iter().rev() {
                match self.answer(&request) {
                    Some(outcome) => say(&mut stream, request, outcome),
                    None => parked.push(request),
                }
            }
        }
        Life::Over
    }

    /// Whether the daemon dies of this request, and what it still does.
    fn dies(&mut self, request: &Request, stream: &mut UnixStream) -> bool {
        let Some((death, later)) = self.deaths.split_first() else { return false };
        let taken = self.seen.input.len();
        let dies = match (*death, request.method.as_str()) {
            (Dies::AtStart, "task.start") | (Dies::AtWait, "task.wait") => true,
            (Dies::AtOutput(from), "task.output") => {
                request.params["offset"].as_u64() >= Some(from)
                    && request.params["stream"] == "stdout"
            }
            (
                Dies::BeforeInput(after) | Dies::AfterInput(after) | Dies::TurningInputAway(after),
                "task.input",
            ) => taken >= after,
            _ => false,
        };
        if dies {
            self.deaths = later;
            match death {
                Dies::AtStart | Dies::AfterInput(_) => drop(self.answer(request)),
                Dies::TurningInputAway(_) => {
                    let error = RpcError::new(ErrorCode::ShuttingDown, "shutting down");
                    say(stream, request.clone(), Err(error));
                }
                Dies::AtOutput(_) | Dies::BeforeInput(_) | Dies::AtWait => {}
            }
        }
        dies
    }

    fn answer(&mut self, Request { method, params, .. }: &Request) -> Option<Outcome> {
        if method.starts_with("task.") {
            self.seen.session = params["session"].clone();
        }
        if method == "session.resume" && self.script.successor == Successor::Forgot {
            return Some(Err(RpcError::new(
                ErrorCode::UnknownSession,
                "no session s, or it is not yours",
            )));
        }
        self.result(method, params).map(Ok)
    }

    fn result(&mut self, method: &str, params: &Value) -> Option<Value> {
        match method {
            "hello" => Some(json!({
                "protocol": 1, "daemon": {"name": "played", "version": "0"}, "role": "client",
                "sandbox": {"landlock_abi": 7, "layers": []},
                "limits": {"message_bytes": 1, "message_depth": 1, "in_flight": 1, "inline_bytes": 1},
            })),
            "session.open" => {
                if self.script.opens == Opens::OnWord {
                    self.given.recv().unwrap();
                }
                Some(self.opened())
            }
            "session.resume" => {
                self.seen.resumed += 1;
                Some(self.opened())
            }
            "session.list" => {
                let summary = |session: &&str| {
                    json!({
                        "session": session, "workspace": "/", "mode": "workspace-write",
                        "toolset": "standard", "network": "full", "attached": false, "running": 1,
                        "opened": 0,
                    })
                };
                Some(self.script.sessions.iter().map(summary).collect())
            }
            "task.list" => Some(json!([self.summary()])),
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
                self.over |= match self.script.ends {
                    Ends::WhenKilled => true,
                    Ends::WhenForced => params["force"] == true,
                    Ends::AtOnce | Ends::WithInput | Ends::WithSession => false,
                };
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
        let (all, dropped) = match params.stream.unwrap_or_default() {
            Stream::Stdout => (&self.script.stdout, self.script.dropped),
            Stream::Stderr => (&self.script.stderr, 0),
        };
        let asked = params.offset.unwrap_or(0);
        let from = asked.max(dropped);
        let rest = all.get(usize::try_from(from - dropped).unwrap()..).unwrap_or_default();
        let piece = &rest[..rest.len().min(1000)];
        let (data, encoding) = bytes::encode(piece);
        let waits = params.wait_ms.unwrap_or(0) > 0;
        (!piece.is_empty() || self.over || !waits).then(|| {
            json!({
                "data": data, "encoding": encoding, "offset": from, "skipped": from - asked,
                "next_offset": from + piece.len() as u64,
                "status": if self.over { "completed" } else { "running" },
            })
        })
    }

    fn opened(&self) -> Value {
        json!({
            "session": self.script.sessions[0], "workspace": "/", "cwd": "/",
            "mode": "workspace-write", "toolset": "standard", "network": "full",
            "sandbox": {"landlock_abi": 7, "layers": []},
        })
    }

    fn summary(&self) -> Value {
        let bytes = self.script.stdout.len() + self.script.stderr.len();
        json!({
            "task": "bash-1", "kind": "bash", "status": if self.over { "completed" } else { "running" },
            "background": true, "command": "make -j", "started": 0, "processes": 1, "cpu_ms": 5,
            "bytes": bytes as u64 + self.script.dropped, "timeout_ms": self.script.timeout_ms,
        })
    }

    fn outcome(&self) -> Value {
        let stream = json!({"bytes": 0, "shown": [0, 0], "file": "/s/bash-1.stdout"});
        json!({
            "cause": self.script.cause, "exit_code": self.script.exit_code,
            "signal": self.script.signal, "duration_ms": 1, "user_ms": 0, "sys_ms": 0,
            "max_rss_bytes": 0, "stdout": stream, "stderr": stream,
            "sandbox": {"mode": "workspace-write", "landlock_abi": 7, "layers": []},
        })
    }
}

type Outcome = Result<Value, RpcError>;

fn say(stream: &mut UnixStream, request: Request, outcome: Outcome) {
    let response = Response { id: Some(request.id), outcome };
    // The client may be gone.
    drop(stream.write_all(&codec::encode(&Message::Response(response))));
}
