//! One bare connection: what a client library would hide, tests of the protocol need to see.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

use brattice_protocol::codec::{decode, encode};
use brattice_protocol::hello::Hello;
use brattice_protocol::{Message, PROTOCOL, Request, RequestId, Response, RpcError};
use serde_json::{Value, json};

use crate::until::PATIENCE;

/// A connection.
pub struct Wire {
    stream: UnixStream,
    reader: BufReader<UnixStream>,
    next: i64,
    answers: HashMap<i64, Result<Value, RpcError>>,
}

impl Wire {
    /// Connects and says nothing.
    ///
    /// # Panics
    /// When nobody listens.
    pub fn connect(socket: &Path) -> Wire {
        let stream = UnixStream::connect(socket);
        Wire::over(stream.unwrap_or_else(|error| panic!("{}: {error}", socket.display())))
    }

    fn over(stream: UnixStream) -> Wire {
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket takes a read timeout");
        stream.set_write_timeout(Some(PATIENCE)).expect("a socket takes a write timeout");
        let reader = BufReader::new(stream.try_clone().expect("a socket can be duplicated"));
        Wire { stream, reader, next: 1, answers: HashMap::new() }
    }

    /// Connects and says hello.
    ///
    /// # Panics
    /// When the daemon does not welcome it.
    pub fn open(socket: &Path) -> Wire {
        let mut wire = Wire::connect(socket);
        wire.hello();
        wire
    }

    /// The same; `None` when nobody listens, or the daemon dies meanwhile.
    ///
    /// # Panics
    /// When the daemon does not welcome it.
    pub fn try_open(socket: &Path) -> Option<Wire> {
        let mut wire = Wire::over(UnixStream::connect(socket).ok()?);
        wire.ask("hello", hello())?.expect("hello is answered");
        Some(wire)
    }

    /// Says hello.
    ///
    /// # Panics
    /// When the daemon does not welcome it.
    pub fn hello(&mut self) -> Hello {
        let answer = self.request("hello", hello()).expect("hello is answered");
        serde_json::from_value(answer).expect("the answer has hello's shape")
    }

    /// Sends bytes as they are.
    ///
    /// # Errors
    /// What the socket says, for instance when the daemon has hung up.
    pub fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.stream.write_all(bytes)
    }

    /// Reads the next line; `None` at the end of the stream.
    ///
    /// # Panics
    /// When nothing comes, or what comes is no message.
    pub fn read(&mut self) -> Option<Message> {
        let mut line = Vec::new();
        match self.reader.read_until(b'\n', &mut line) {
            // A line without an end is one that the daemon died over.
            Ok(_) if !line.ends_with(b"\n") => None,
            Ok(_) => Some(decode(line.trim_ascii_end()).expect("the daemon sends messages")),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => None,
            Err(error) => panic!("reading from the daemon: {error}"),
        }
    }

    /// Sends a request and does not wait; the answer is had from [`Wire::wait`].
    ///
    /// # Panics
    /// When the daemon has hung up.
    pub fn begin(&mut self, method: &str, params: Value) -> i64 {
        let (id, request) = self.compose(method, params);
        self.send(&request).expect("the daemon reads");
        id
    }

    fn compose(&mut self, method: &str, params: Value) -> (i64, Vec<u8>) {
        let id = self.next;
        self.next += 1;
        let request = Request { id: RequestId::Number(id), method: method.to_owned(), params };
        (id, encode(&Message::Request(request)))
    }

    /// Waits for the answer to a request, keeping other answers that come meanwhile and dropping notifications.
    ///
    /// # Errors
    /// The error that was answered.
    ///
    /// # Panics
    /// When the daemon hangs up or answers nothing.
    pub fn wait(&mut self, id: i64) -> Result<Value, RpcError> {
        self.answer(id).expect("the daemon answers before it hangs up")
    }

    /// Sends a request and waits for its answer; `None` when the daemon hangs up without one.
    pub fn ask(&mut self, method: &str, params: Value) -> Option<Result<Value, RpcError>> {
        let (id, request) = self.compose(method, params);
        self.send(&request).ok()?;
        self.answer(id)
    }

    fn answer(&mut self, id: i64) -> Option<Result<Value, RpcError>> {
        loop {
            if let Some(answer) = self.answers.remove(&id) {
                return Some(answer);
            }
            match self.read()? {
                Message::Response(Response { id: Some(RequestId::Number(other)), outcome }) => {
                    self.answers.insert(other, outcome);
                }
                Message::Notification(_) => {}
                other => panic!("an answer to nothing: {other:?}"),
            }
        }
    }

    /// Sends a request and waits for its answer.
    ///
    /// # Errors
    /// The error that was answered.
    ///
    /// # Panics
    /// When the daemon hangs up or answers nothing.
    pub fn request(&mut self, method: &str, params: Value) -> Result<Value, RpcError> {
        let id = self.begin(method, params);
        self.wait(id)
    }

    /// The error in the daemon's last words, after which it must have hung up.
    ///
    /// # Panics
    /// When it says something else or stays.
    pub fn last_words(&mut self) -> RpcError {
        let error = match self.read() {
            Some(Message::Response(Response { outcome: Err(error), .. })) => error,
            other => panic!("expected an error, not {other:?}"),
        };
        assert_eq!(self.read(), None, "the connection must close after {error:?}");
        error
    }

    /// The daemon's process, by the kernel's word.
    ///
    /// # Panics
    /// When the kernel does not say.
    pub fn peer(&self) -> u32 {
        let credentials =
            rustix::net::sockopt::socket_peercred(&self.stream).expect("a peer has credentials");
        credentials.pid.as_raw_nonzero().get().unsigned_abs()
    }
}

fn hello() -> Value {
    json!({
        "protocol": PROTOCOL,
        "client": {"name": "brattice-tests", "version": env!("CARGO_PKG_VERSION")},
    })
}
