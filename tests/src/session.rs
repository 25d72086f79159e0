//! One client of the client library and the one session that it opened, without `async` for the tests.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use brattice_client::{Approvals, Client, ClientError, ConnectOptions, Inquiry, Notice, Questions};
use brattice_protocol::RpcError;
use brattice_protocol::hello::Watch;
use brattice_protocol::session::Session as Opened;
use brattice_protocol::tools::{CallOutput, CallResult};
use serde_json::{Map, Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::inquiry::{AskedPlan, AskedQuestions};
use crate::notices::Notices;
use crate::operator::Question;
use crate::reply::Reply;
use crate::until::PATIENCE;

/// Drives the connections of all sessions of a test.
pub(crate) static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime can be made")
});

/// A session that is to be opened, or resumed.
pub struct Opening {
    socket: PathBuf,
    method: &'static str,
    params: Map<String, Value>,
    watch: Vec<Watch>,
    answers: bool,
    judges: bool,
}

impl Opening {
    pub(crate) fn new(socket: PathBuf, workspace: &Path, mode: &str) -> Opening {
        let opening = Opening::by("session.open", socket);
        opening.with("workspace", json!(workspace)).with("mode", json!(mode))
    }

    pub(crate) fn again(socket: PathBuf, session: &str) -> Opening {
        Opening::by("session.resume", socket).with("session", json!(session))
    }

    fn by(method: &'static str, socket: PathBuf) -> Opening {
        Opening {
            socket,
            method,
            params: Map::new(),
            watch: Vec::new(),
            answers: false,
            judges: false,
        }
    }

    /// Sets a parameter of the request.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.params.insert(name.to_owned(), value);
        self
    }

    /// Of a toolset, with all of its tools; in `minimal` nobody is asked before they act.
    #[must_use]
    pub fn of_toolset(self, toolset: &str) -> Self {
        match toolset {
            "minimal" => self.of_minimal("never"),
            _ => self.with("toolset", json!(toolset)),
        }
    }

    /// Of the toolset `minimal` with all of its tools, which asks before they act as this option says.
    #[must_use]
    pub fn of_minimal(self, ask: &str) -> Self {
        let options = json!({"edit_tools": true, "ask": ask});
        self.with("toolset", json!("minimal")).with("options", options)
    }

    /// Asks to be told of these things.
    #[must_use]
    pub fn watching(mut self, watch: &[Watch]) -> Self {
        self.watch = watch.to_vec();
        self
    }

    /// Declares that its client puts approvals to a person: see [`Session::question`].
    #[must_use]
    pub fn answering(mut self) -> Self {
        self.answers = true;
        self
    }

    /// Declares that its client puts questions and plans to a person: see [`Session::asked`] and [`Session::planned`].
    #[must_use]
    pub fn judging(mut self) -> Self {
        self.judges = true;
        self
    }

    /// Connects and opens it.
    ///
    /// # Panics
    /// When the daemon refuses.
    #[track_caller]
    pub fn open(self) -> Session {
        let method = self.method;
        self.try_open().unwrap_or_else(|error| panic!("{method}: {error:?}"))
    }

    /// Connects and tries to open it.
    ///
    /// # Errors
    /// The daemon's refusal.
    ///
    /// # Panics
    /// When the daemon does not answer.
    pub fn try_open(self) -> Result<Session, RpcError> {
        RUNTIME.block_on(async {
            let options = ConnectOptions::new("brattice-tests", env!("CARGO_PKG_VERSION"))
                .watching(self.watch);
            let options = if self.answers { options.answering_approvals() } else { options };
            let options = if self.judges { options.answering_questions() } else { options };
            let client =
                Client::connect(&self.socket, options).await.expect("the daemon welcomes a client");
            let notices = Notices::of(&client);
            let questions = RefCell::new(client.approvals());
            let inquiries = RefCell::new(client.questions());
            match client.request(self.method, &self.params).await {
                Ok(opened) => Ok(Session { client, notices, questions, inquiries, opened }),
                Err(error) => Err(answered(error)),
            }
        })
    }
}

/// An open session.
pub struct Session {
    client: Client,
    notices: Notices,
    questions: RefCell<Option<Approvals>>,
    inquiries: RefCell<Option<Questions>>,
    opened: Opened,
}

/// A call whose result is still to come.
#[must_use]
pub struct Pending(JoinHandle<Result<CallResult, ClientError>>);

impl Pending {
    /// Waits for it no longer, and lets go of its connection.
    pub fn abandon(self) {
        self.0.abort();
        // An aborted task is gone once it was waited for, and so is its share of the connection.
        drop(RUNTIME.block_on(self.0));
    }
}

impl Session {
    /// Its id.
    pub fn id(&self) -> &str {
        self.opened.session.as_str()
    }

    /// What the daemon said when it was opened.
    pub fn opened(&self) -> &Opened {
        &self.opened
    }

    /// Runs a command with the defaults.
    ///
    /// # Panics
    /// When the call is answered with an error.
    #[track_caller]
    pub fn run(&self, command: &str) -> Reply {
        self.bash(json!({"command": command}))
    }

    /// Runs a command with a limit in milliseconds.
    ///
    /// # Panics
    /// When the call is answered with an error.
    #[track_caller]
    pub fn run_for(&self, timeout: u64, command: &str) -> Reply {
        self.bash(json!({"command": command, "timeoutMs": timeout}))
    }

    /// Calls `bash` with these arguments; a description is added, which one toolset demands.
    ///
    /// # Panics
    /// When the call is answered with an error.
    #[track_caller]
    pub fn bash(&self, arguments: Value) -> Reply {
        self.end(self.begin(arguments))
    }

    /// Calls `bash` and does not wait.
    ///
    /// # Panics
    /// When the arguments are no object.
    pub fn begin(&self, mut arguments: Value) -> Pending {
        let object = arguments.as_object_mut().expect("arguments are an object");
        object.entry("description").or_insert_with(|| json!("A test's command"));
        self.begin_call(json!({"name": "bash", "arguments": arguments}))
    }

    /// Sends `tools.call` with these parameters, the session added, and does not wait.
    pub fn begin_call(&self, mut params: Value) -> Pending {
        params["session"] = json!(self.id());
        let client = self.client.clone();
        Pending(RUNTIME.spawn(async move { client.request("tools.call", &params).await }))
    }

    /// Calls a tool.
    ///
    /// # Panics
    /// When the call is answered with an error.
    #[track_caller]
    pub fn call(&self, tool: &str, arguments: Value) -> Reply {
        self.end(self.begin_call(json!({"name": tool, "arguments": arguments})))
    }

    /// Returns once the daemon has read all that was sent on this connection before.
    ///
    /// # Panics
    /// When it does not answer.
    #[track_caller]
    pub fn is_heard(&self) {
        self.request("task.list", json!({})).expect("tasks are listed");
    }

    /// Waits for a call's result.
    ///
    /// # Panics
    /// When the call is answered with an error.
    #[track_caller]
    pub fn end(&self, pending: Pending) -> Reply {
        self.try_end(pending).unwrap_or_else(|error| panic!("tools.call: {error:?}"))
    }

    /// Waits for a call's result, which may be an error.
    ///
    /// # Errors
    /// The error that was answered.
    ///
    /// # Panics
    /// When the daemon hangs up.
    pub fn try_end(&self, pending: Pending) -> Result<Reply, RpcError> {
        match RUNTIME.block_on(pending.0).expect("a request does not panic") {
            Ok(result) => Ok(Reply::new(result)),
            Err(error) => Err(answered(error)),
        }
    }

    /// Sends a request about this session and waits for its answer.
    ///
    /// # Errors
    /// The error that was answered.
    ///
    /// # Panics
    /// When the daemon hangs up.
    pub fn request(&self, method: &str, mut params: Value) -> Result<Value, RpcError> {
        params["session"] = json!(self.id());
        RUNTIME.block_on(self.client.request(method, &params)).map_err(answered)
    }

    /// The next piece of a call's output that the daemon tells a watcher.
    ///
    /// # Panics
    /// When none comes.
    pub fn output_of(&self, call: &str) -> CallOutput {
        self.notice(&format!("output of {call}"), |notice| match notice {
            Notice::CallOutput(output) if output.call.as_str() == call => Some(output),
            _ => None,
        })
    }

    /// The next question that the daemon asks this client.
    ///
    /// # Panics
    /// When none comes.
    #[track_caller]
    pub fn question(&self) -> Question {
        let mut questions = self.questions.borrow_mut();
        let questions = questions.as_mut().expect("its client answers");
        let next = RUNTIME.block_on(async { timeout(PATIENCE, questions.next()).await });
        Question(next.expect("waited in vain for a question").expect("the connection goes on"))
    }

    /// The next questions of the model that the daemon asks this client.
    ///
    /// # Panics
    /// When none come.
    #[track_caller]
    pub fn asked(&self) -> AskedQuestions {
        match self.inquiry() {
            Inquiry::Questions(asked) => AskedQuestions(asked),
            Inquiry::Plan(asked) => panic!("a plan: {asked:?}"),
        }
    }

    /// The next plan that the daemon shows this client.
    ///
    /// # Panics
    /// When none comes.
    #[track_caller]
    pub fn planned(&self) -> AskedPlan {
        match self.inquiry() {
            Inquiry::Plan(asked) => AskedPlan(asked),
            Inquiry::Questions(asked) => panic!("questions: {asked:?}"),
        }
    }

    #[track_caller]
    fn inquiry(&self) -> Inquiry {
        let mut inquiries = self.inquiries.borrow_mut();
        let inquiries = inquiries.as_mut().expect("its client judges");
        let next = RUNTIME.block_on(async { timeout(PATIENCE, inquiries.next()).await });
        next.expect("waited in vain for an inquiry").expect("the connection goes on")
    }

    /// Asserts that nobody was asked by this client by the time the daemon answers something else.
    ///
    /// # Panics
    /// When somebody was.
    #[track_caller]
    pub fn is_asked_no_question(&self) {
        self.is_heard();
        let mut inquiries = self.inquiries.borrow_mut();
        let inquiries = inquiries.as_mut().expect("its client judges");
        let next = RUNTIME.block_on(async { timeout(Duration::ZERO, inquiries.next()).await });
        if let Ok(inquiry) = next {
            panic!("asked: {inquiry:?}");
        }
    }

    /// Asserts that the daemon has asked this client nothing by the time it answers something else.
    ///
    /// # Panics
    /// When it has.
    #[track_caller]
    pub fn is_asked_nothing(&self) {
        self.is_heard();
        let mut questions = self.questions.borrow_mut();
        let questions = questions.as_mut().expect("its client answers");
        let next = RUNTIME.block_on(async { timeout(Duration::ZERO, questions.next()).await });
        if let Ok(question) = next {
            panic!("asked: {question:?}");
        }
    }

    /// The next notice that is wanted.
    ///
    /// # Panics
    /// When it does not come.
    #[track_caller]
    pub fn notice<T>(&self, what: &str, wanted: impl FnMut(Notice) -> Option<T>) -> T {
        self.notices.next(what, wanted)
    }
}

/// The error in an answer; anything else ends the test.
pub(crate) fn answered(error: ClientError) -> RpcError {
    match error {
        ClientError::Rpc(error) => error,
        other => panic!("the connection failed: {other:?}"),
    }
}
