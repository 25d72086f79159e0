//! A server with a handler that does what a test tells it, and clients that speak lines.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use brattice_policy::layer::LayerReport;
use brattice_protocol::hello::{Peer, Watch};
use brattice_protocol::{ErrorCode, RpcError};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::server::socket::FolderLocks;
use crate::server::{
    Body, BoxFuture, Connection, ConnectionLimits, Delivery, Descent, HandedOver, Handler, Refused,
    Server, SocketPaths, method_not_found,
};

/// Longer than anything here takes; a wait that reaches it is a failure.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits for a state.
pub(super) async fn soon<T>(what: &str, wait: impl Future<Output = T>) -> T {
    timeout(PATIENCE, wait).await.unwrap_or_else(|_| panic!("waited in vain for {what}"))
}

/// A folder of its own for a test, private and removed at the end.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("brattice-server-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Folder(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Paths of both sockets in a folder below, which does not exist yet.
    pub(super) fn sockets(&self) -> SocketPaths {
        let folder = self.0.join("run");
        SocketPaths { client: folder.join("brattice.sock"), control: folder.join("control.sock") }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// Takes one process for a supervisor, or none.
pub(super) struct Supervisor(pub(super) Option<u32>);

impl Descent for Supervisor {
    fn is_supervisor(&self, pid: u32) -> bool {
        self.0 == Some(pid)
    }
}

/// Answers the tests' methods and counts what it is told.
pub(super) struct Script {
    /// A `wait` ends when it gets a permit of this.
    pub(super) gate: Semaphore,
    pub(super) greeted: watch::Sender<usize>,
    /// Which connections are gone.
    pub(super) gone: watch::Sender<Vec<u64>>,
    /// Who was not let in.
    pub(super) refused: Mutex<Vec<Refused>>,
    /// Whether each notification of the last `flood` was queued.
    pub(super) flood: Mutex<Vec<Delivery>>,
    pub(super) finished: watch::Sender<usize>,
}

impl Script {
    fn new() -> Self {
        Script {
            gate: Semaphore::new(0),
            greeted: watch::Sender::new(0),
            gone: watch::Sender::new(Vec::new()),
            refused: Mutex::new(Vec::new()),
            flood: Mutex::new(Vec::new()),
            finished: watch::Sender::new(0),
        }
    }

    fn flood(&self, from: &Connection, params: &Value) -> Value {
        let number = |field: &str| usize::try_from(params[field].as_u64().unwrap()).unwrap();
        let text = "x".repeat(number("bytes"));
        let told = (0..number("count"))
            .map(|count| from.notify("noise", &json!({"n": count, "text": text})))
            .collect();
        *self.flood.lock().unwrap() = told;
        json!({"flooded": true})
    }
}

impl Handler for Script {
    fn hello(&self, _from: &Arc<Connection>) -> (Peer, LayerReport) {
        self.greeted.send_modify(|count| *count += 1);
        let daemon = Peer { name: "test".to_owned(), version: "1".to_owned() };
        (daemon, LayerReport::default())
    }

    fn call(
        self: Arc<Self>,
        from: Arc<Connection>,
        method: String,
        params: Value,
    ) -> BoxFuture<Result<Body, RpcError>> {
        Box::pin(async move {
            let result = match method.as_str() {
                "echo" => Ok(params),
                "wait" => {
                    self.gate.acquire().await.unwrap().forget();
                    self.finished.send_modify(|count| *count += 1);
                    Ok(json!({"waited": params, "open": from.is_open()}))
                }
                "tools.cancel" => Ok(json!({"cancelled": params})),
                "whoami" => Ok(json!({
                    "id": from.id().0,
                    "role": from.role(),
                    "output": from.watches(Watch::Output),
                    "tasks": from.watches(Watch::Tasks),
                })),
                "flood" => Ok(self.flood(&from, &params)),
                "long" => Ok(json!("x".repeat(5 << 20))),
                "panic" => panic!("a handler's panic, as the test wants it"),
                "refuse" => Err(RpcError::new(ErrorCode::UnknownTask, "no task 7")),
                other => Err(method_not_found(other)),
            };
            Body::of(&result?)
        })
    }

    fn refused(&self, peer: Refused) {
        self.refused.lock().unwrap().push(peer);
    }

    fn closed(&self, from: &Connection) {
        assert!(!from.is_open());
        self.gone.send_modify(|gone| gone.push(from.id().0));
    }
}

/// A running server.
pub(super) struct Running {
    pub(super) script: Arc<Script>,
    pub(super) paths: SocketPaths,
    pub(super) shutdown: watch::Sender<bool>,
    pub(super) served: JoinHandle<FolderLocks>,
    pub(super) folder: Folder,
}

impl Running {
    pub(super) fn start() -> Self {
        Self::with(ConnectionLimits::default(), Supervisor(None))
    }

    pub(super) fn with(limits: ConnectionLimits, descent: Supervisor) -> Self {
        let folder = Folder::new();
        let paths = folder.sockets();
        let script = Arc::new(Script::new());
        let (shutdown, requested) = watch::channel(false);
        let server = Server::bind(&paths, HandedOver::default()).unwrap();
        let handler = Arc::clone(&script) as Arc<dyn Handler>;
        let serving = server.serve(handler, Arc::new(descent), limits, requested);
        Running { script, paths, shutdown, served: tokio::spawn(serving), folder }
    }

    /// A client that has connected and said nothing.
    pub(super) async fn connect(&self) -> Client {
        Client::connect(&self.paths.client).await
    }

    /// A client that has said hello.
    pub(super) async fn greet(&self) -> Client {
        let mut client = self.connect().await;
        client.hello().await;
        client
    }

    /// Waits until the server has told the handler that this connection is gone.
    pub(super) async fn until_gone(&self, connection: u64) {
        let mut gone = self.script.gone.subscribe();
        let wait = gone.wait_for(|gone| gone.contains(&connection));
        drop(soon("a connection's end", wait).await.unwrap());
    }
}

/// What `hello` takes.
pub(super) fn hello() -> Value {
    json!({"protocol": 1, "client": {"name": "t", "version": "0"}})
}

/// One connection, seen from outside.
pub(super) struct Client {
    input: BufReader<OwnedReadHalf>,
    output: OwnedWriteHalf,
}

impl Client {
    pub(super) async fn connect(path: &Path) -> Self {
        Self::over(UnixStream::connect(path).await.unwrap())
    }

    pub(super) fn over(stream: UnixStream) -> Self {
        let (input, output) = stream.into_split();
        Client { input: BufReader::new(input), output }
    }

    pub(super) async fn send_raw(&mut self, bytes: &[u8]) {
        soon("room to write", self.output.write_all(bytes)).await.unwrap();
    }

    /// Writes as much as the other side takes before it closes.
    pub(super) async fn send_while_open(&mut self, bytes: &[u8]) {
        soon("the end of writing", self.output.write_all(bytes)).await.unwrap_or_default();
    }

    pub(super) async fn send(&mut self, id: u64, method: &str, params: Value) {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send_raw(format!("{request}\n").as_bytes()).await;
    }

    /// The next message; `None` when the server has closed.
    pub(super) async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        match soon("a line", self.input.read_line(&mut line)).await {
            // A close with unread input is a reset.
            Ok(0) => None,
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => None,
            read => {
                read.unwrap();
                Some(serde_json::from_str(&line).unwrap())
            }
        }
    }

    pub(super) async fn call(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.send(id, method, params).await;
        let answer = self.next().await.unwrap();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    pub(super) async fn hello(&mut self) -> Value {
        self.call(0, "hello", hello()).await["result"].clone()
    }

    /// The connection's number in the server.
    pub(super) async fn number(&mut self) -> u64 {
        self.call(1, "whoami", json!({})).await["result"]["id"].as_u64().unwrap()
    }

    /// Asserts that the server's last words are this error, and that it has closed.
    pub(super) async fn is_turned_away(&mut self, code: i64, text: &str, message: &str) {
        let answer = self.next().await.unwrap();
        assert_eq!(
            (&answer["id"], &answer["error"]["code"], &answer["error"]["data"]["code"]),
            (&Value::Null, &json!(code), &json!(text)),
            "{answer}"
        );
        assert_eq!(answer["error"]["message"], message);
        assert_eq!(self.next().await, None);
    }
}

/// Number, text code and message of an error answer.
pub(super) fn error(answer: &Value) -> (i64, &str, &str) {
    let error = &answer["error"];
    (
        error["code"].as_i64().unwrap(),
        error["data"]["code"].as_str().unwrap(),
        error["message"].as_str().unwrap(),
    )
}

/// A server's limits with something changed.
pub(super) fn limits(change: impl FnOnce(&mut ConnectionLimits)) -> ConnectionLimits {
    let mut limits = ConnectionLimits::default();
    change(&mut limits);
    limits
}
