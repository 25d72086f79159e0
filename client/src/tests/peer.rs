//! A daemon for tests: reads requests and writes exactly the lines that a test wants.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use brattice_protocol::hello::{Hello, Peer, Role, WireLimits};
use brattice_protocol::{LayerReport, Message, PROTOCOL, Request, codec};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};

/// A folder that is removed with the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("brattice-client-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// The daemon's end of one connection.
pub(crate) struct Daemon {
    reader: BufReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
}

impl Daemon {
    pub(crate) fn listen(socket: &Path) -> UnixListener {
        UnixListener::bind(socket).unwrap()
    }

    /// Accepts a connection without reading from it.
    pub(crate) async fn accept(listener: &UnixListener) -> Self {
        let (stream, _) = listener.accept().await.unwrap();
        let (reader, writer) = UnixStream::into_split(stream);
        Daemon { reader: BufReader::new(reader), writer }
    }

    /// Accepts a connection and answers its `hello`.
    pub(crate) async fn greet(listener: &UnixListener) -> Self {
        let mut daemon = Daemon::accept(listener).await;
        let request = daemon.request().await;
        assert_eq!(request.method, "hello");
        daemon.answer(&request, serde_json::to_value(hello()).unwrap()).await;
        daemon
    }

    pub(crate) async fn request(&mut self) -> Request {
        match self.message().await {
            Message::Request(request) => request,
            other => panic!("expected a request, got {other:?}"),
        }
    }

    pub(crate) async fn message(&mut self) -> Message {
        let mut line = Vec::new();
        self.reader.read_until(b'\n', &mut line).await.unwrap();
        codec::decode(line.strip_suffix(b"\n").unwrap()).unwrap()
    }

    pub(crate) async fn answer(&mut self, request: &Request, result: Value) {
        self.say(&json!({"jsonrpc": "2.0", "id": request.id, "result": result}).to_string()).await;
    }

    /// Waits for the client to close the connection.
    pub(crate) async fn ends(&mut self) {
        let mut rest = Vec::new();
        self.reader.read_until(b'\n', &mut rest).await.unwrap();
        assert_eq!(rest, b"");
    }

    pub(crate) async fn say(&mut self, line: &str) {
        self.writer.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }
}

pub(crate) fn hello() -> Hello {
    Hello {
        protocol: PROTOCOL,
        daemon: Peer { name: "played".into(), version: "0".into() },
        role: Role::Client,
        sandbox: LayerReport::default(),
        limits: WireLimits {
            message_bytes: codec::MAX_MESSAGE,
            message_depth: codec::MAX_DEPTH,
            in_flight: 64,
            inline_bytes: 256 << 10,
        },
    }
}
