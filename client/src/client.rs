//! The client: a connection that has said `hello`, and requests over it.
//!
//! The typed methods are in [`crate::methods`], the tasks behind the connection in [`crate::connection`].

use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use brattice_protocol::codec::{self, MAX_MESSAGE};
use brattice_protocol::hello::{Answers, Hello, HelloParams, Peer, Watch};
use brattice_protocol::{Message, Notification, PROTOCOL, Request, RequestId};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::net::UnixStream;
use tokio::sync::{broadcast, mpsc};
use tokio::task::AbortHandle;

use crate::ClientError;
use crate::approvals::{self, ApprovalQuestion, Approvals};
use crate::connection::{self, Pending};
use crate::notifications::{self, Notifications};
use crate::questions::{self, Inquiry, Questions};

/// How long a daemon may take to answer `hello`.
const HANDSHAKE: Duration = Duration::from_secs(10);

/// Requests that wait for the socket; the next one waits until there is room.
const QUEUE: usize = 16;

/// What a client says of itself in `hello`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectOptions {
    /// The program that connects, for the daemon's log.
    pub client: Peer,
    /// What the client wants to be told; see [`Client::notifications`].
    pub watch: Vec<Watch>,
    /// What the client puts to a person; see [`Client::approvals`]. A request that it did not declare is refused by the
    /// library.
    pub answers: Vec<Answers>,
}

impl ConnectOptions {
    /// Options of a program that watches nothing.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        ConnectOptions {
            client: Peer { name: name.into(), version: version.into() },
            watch: Vec::new(),
            answers: Vec::new(),
        }
    }

    /// The same, and answering approvals.
    #[must_use]
    pub fn answering_approvals(mut self) -> Self {
        self.answers.push(Answers::Approval);
        self
    }

    /// The same, and answering questions and judging plans; see [`Client::questions`].
    #[must_use]
    pub fn answering_questions(mut self) -> Self {
        self.answers.extend([Answers::Question, Answers::Plan]);
        self
    }

    /// The same, and watching.
    #[must_use]
    pub fn watching(mut self, watch: impl IntoIterator<Item = Watch>) -> Self {
        self.watch.extend(watch);
        self
    }
}

/// A connection to a daemon. Clones share it; it closes when the last one is dropped.
///
/// A dropped connection cancels nothing: its sessions and their tasks stay until they are closed or their time is up.
#[derive(Clone, Debug)]
pub struct Client {
    shared: Arc<Shared>,
    hello: Arc<Hello>,
}

#[derive(Debug)]
struct Shared {
    pending: Arc<Pending>,
    lines: mpsc::Sender<Vec<u8>>,
    ring: broadcast::WeakSender<Notification>,
    next_id: AtomicI64,
    approvals: Mutex<Option<Approvals>>,
    questions: Mutex<Option<Questions>>,
    reader: AbortHandle,
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.reader.abort();
    }
}

impl Client {
    /// Connects to the daemon at `socket` and says `hello`. Needs a tokio runtime with I/O and time.
    ///
    /// # Errors
    /// Nothing listens there, it does not answer within 10 s, it refuses this client, or it speaks another version.
    pub async fn connect(socket: &Path, options: ConnectOptions) -> Result<Client, ClientError> {
        let stream = UnixStream::connect(socket)
            .await
            .map_err(|source| ClientError::Connect { path: socket.to_owned(), source })?;
        let shared = Arc::new(Shared::over(stream, &options.answers));
        let params = HelloParams {
            protocol: PROTOCOL,
            client: options.client,
            answers: options.answers,
            watch: options.watch,
        };
        let hello: Hello =
            tokio::time::timeout(HANDSHAKE, shared.request("hello", &params)).await.map_err(
                |_| ClientError::Silent { path: socket.to_owned(), seconds: HANDSHAKE.as_secs() },
            )??;
        if hello.protocol != PROTOCOL {
            return Err(ClientError::Protocol { theirs: hello.protocol });
        }
        Ok(Client { shared, hello: Arc::new(hello) })
    }

    /// What the daemon said of itself, of this machine and of its limits.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// A subscription to what the daemon tells from now on. Each one is bounded: a subscriber that falls more than
    /// 256 notifications behind loses the oldest and reads [`crate::Notice::Skipped`] with their count.
    pub fn notifications(&self) -> Notifications {
        Notifications::of(&self.shared.ring)
    }

    /// The daemon's questions to this client, which it declared to answer. They are handed out once, for each has one
    /// answer; `None` after that, and where it declared none.
    pub fn approvals(&self) -> Option<Approvals> {
        self.shared.approvals.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// The model's questions and plans that the daemon has this client put to a person, which it declared to do. Handed out
    /// once; `None` after that, and where it declared neither.
    pub fn questions(&self) -> Option<Questions> {
        self.shared.questions.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Sends any request and waits for its answer. Answers may come in any order; a future that is dropped gives up
    /// the answer, it cancels nothing.
    ///
    /// # Errors
    /// [`ClientError::Rpc`] when the daemon answers with an error; else the connection or the shapes are at fault.
    pub async fn request<P, R>(&self, method: &str, params: &P) -> Result<R, ClientError>
    where
        P: Serialize + ?Sized,
        R: DeserializeOwned,
    {
        self.shared.request(method, params).await
    }
}

impl Shared {
    fn over(stream: UnixStream, answers: &[Answers]) -> Self {
        let (read_half, write_half) = stream.into_split();
        let pending = Arc::new(Pending::new());
        let (lines, queue) = mpsc::channel(QUEUE);
        let (ring, _) = broadcast::channel(notifications::CAPACITY);
        let weak_ring = ring.downgrade();
        let (questions, asked) = mpsc::channel::<ApprovalQuestion>(approvals::CAPACITY);
        let (inquiries, inquired) = mpsc::channel::<Inquiry>(questions::CAPACITY);
        let from = connection::Asking { lines: lines.downgrade(), questions, inquiries };
        let reading = connection::read(read_half, pending.clone(), ring, from);
        let reader = tokio::spawn(reading).abort_handle();
        tokio::spawn(connection::write(write_half, pending.clone(), queue));
        // What was not declared is declined, as nobody takes it.
        let asked = answers.contains(&Answers::Approval).then(|| Approvals::of(asked));
        let judges = [Answers::Question, Answers::Plan].iter().any(|kind| answers.contains(kind));
        let inquired = judges.then(|| Questions::of(inquired));
        let (next_id, approvals, questions) =
            (AtomicI64::new(1), Mutex::new(asked), Mutex::new(inquired));
        Shared { pending, lines, ring: weak_ring, next_id, approvals, questions, reader }
    }

    async fn request<P, R>(&self, method: &str, params: &P) -> Result<R, ClientError>
    where
        P: Serialize + ?Sized,
        R: DeserializeOwned,
    {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let line = encode(id, method, params)?;
        let answer = self.pending.register(id)?;
        let waiting = Waiting { pending: &self.pending, id };
        // A queue that is gone means that the writer failed; the reader learns why and closes the slot.
        drop(self.lines.send(line).await);
        let outcome = answer.await.map_err(|_| self.pending.end())?;
        drop(waiting);
        let result = outcome.map_err(ClientError::Rpc)?;
        serde_json::from_value(result)
            .map_err(|source| ClientError::Decode { method: method.to_owned(), source })
    }
}

/// Takes a request out of the table when its future is dropped before the answer came.
struct Waiting<'a> {
    pending: &'a Pending,
    id: i64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.pending.forget(self.id);
    }
}

fn encode<P: Serialize + ?Sized>(
    id: i64,
    method: &str,
    params: &P,
) -> Result<Vec<u8>, ClientError> {
    let params = serde_json::to_value(params)
        .map_err(|source| ClientError::Encode { method: method.to_owned(), source })?;
    let request = Request { id: RequestId::Number(id), method: method.to_owned(), params };
    let line = codec::encode(&Message::Request(request));
    match line.len() - 1 {
        bytes if bytes > MAX_MESSAGE => {
            Err(ClientError::TooLarge { method: method.to_owned(), bytes })
        }
        _ => Ok(line),
    }
}
