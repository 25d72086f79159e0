//! What every command is given: where the daemon is, whether to start one, and how to show results.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use brattice_client::start::{self, RootPolicy, StartError, StartOptions};
use brattice_client::{Client, ClientError, ConnectOptions, Locations};
use brattice_protocol::hello::Role;
use brattice_protocol::location;
use serde::Serialize;
use serde_json::{Value, json};

use super::arguments::Global;
use super::failure::Failure;
use super::plain::plain;
use super::terminal::{Format, Style};

/// Who is there to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    /// Somebody who answers whatever is asked.
    Person,
    /// Somebody who answers approvals alone.
    Approvals,
    /// Somebody who answers questions and judges plans alone.
    Questions,
    /// Nobody.
    Nobody,
}

/// What to do where no daemon answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Absent {
    Start,
    Fail,
}

/// The global flags, resolved against the environment.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) locations: Locations,
    pub(crate) format: Format,
    absent: Absent,
}

impl Context {
    /// Resolves the global flags. They come before the environment's variables of the same meaning.
    pub(crate) fn new(global: &Global) -> Result<Self, Failure> {
        let socket = absolute(global.socket.as_deref())?;
        let control_socket = absolute(global.control_socket.as_deref())?;
        let locations = Locations::from_env(|name| match name {
            location::SOCKET if socket.is_some() => socket.clone(),
            location::CONTROL_SOCKET if control_socket.is_some() => control_socket.clone(),
            _ => std::env::var_os(name),
        })?;
        let absent = if global.no_start { Absent::Fail } else { Absent::Start };
        Ok(Context { locations, format: Format::of(global), absent })
    }

    /// The same, showing data whatever `--json` says.
    pub(crate) fn for_programs(&self) -> Self {
        Context { format: Format::Json, ..self.clone() }
    }

    /// A connection to the agents' socket.
    pub(crate) async fn agent(&self) -> Result<Client, Failure> {
        self.connect(&self.locations.socket).await
    }

    /// A connection to the operators' socket.
    pub(crate) async fn operator(&self) -> Result<Client, Failure> {
        self.connect(&self.locations.control_socket).await
    }

    /// A connection to the operators' socket if a daemon runs; none is started.
    pub(crate) async fn running_daemon(&self) -> Result<Option<Client>, Failure> {
        self.connect_if_there(identity()).await
    }

    async fn connect_if_there(&self, who: ConnectOptions) -> Result<Option<Client>, Failure> {
        match Client::connect(&self.locations.control_socket, who).await {
            Ok(client) => Ok(Some(client)),
            Err(error) if error.is_absent_daemon() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The same, of a program at which somebody answers whatever is asked.
    pub(crate) async fn attending(&self) -> Result<Option<Client>, Failure> {
        self.connect_if_there(identity().answering_approvals().answering_questions()).await
    }

    /// A connection to the agents' socket, or the operators', of a program that may have somebody to ask.
    pub(crate) async fn asking(&self, role: Role, asker: Asker) -> Result<Client, Failure> {
        let socket = match role {
            Role::Client => &self.locations.socket,
            Role::Operator => &self.locations.control_socket,
        };
        let who = match asker {
            Asker::Person => identity().answering_approvals().answering_questions(),
            Asker::Approvals => identity().answering_approvals(),
            Asker::Questions => identity().answering_questions(),
            Asker::Nobody => identity(),
        };
        self.connect_as(socket, who).await
    }

    async fn connect(&self, socket: &Path) -> Result<Client, Failure> {
        self.connect_as(socket, identity()).await
    }

    async fn connect_as(&self, socket: &Path, who: ConnectOptions) -> Result<Client, Failure> {
        match self.absent {
            Absent::Fail => Ok(Client::connect(socket, who).await?),
            Absent::Start => {
                let first = Client::connect(socket, who.clone()).await;
                if !first.as_ref().is_err_and(ClientError::is_absent_daemon) {
                    return Ok(first?);
                }
                let options = self.start_options();
                let client = start::connect_or_start(socket, who, &options).await?;
                if options.root == RootPolicy::Allow {
                    self.note(ROOT_NOTE);
                }
                Ok(client)
            }
        }
    }

    /// Whether a daemon may be started where none answers.
    pub(crate) fn may_start(&self) -> bool {
        self.absent == Absent::Start
    }

    /// Whether a daemon would start now, in place of the one that runs.
    pub(crate) async fn check_start(&self) -> Result<(), StartError> {
        start::check_daemon(&self.start_options()).await
    }

    /// Starts a daemon and says nothing about it: for a program that has the whole screen.
    pub(crate) async fn start_unheard(&self) -> Result<(), StartError> {
        start::start_daemon(&self.start_options()).await
    }

    fn start_options(&self) -> StartOptions {
        StartOptions {
            program: start::find_daemon(),
            locations: self.locations.clone(),
            root: RootPolicy::of_this_user(),
        }
    }

    /// Says something beside the result on standard error.
    pub(crate) fn note(&self, text: &str) {
        self.note_data(text, json!({}));
    }

    /// The same, with fields for programs.
    pub(crate) fn note_data(&self, text: &str, mut data: Value) {
        data["note"] = json!(text);
        let told = match self.format {
            Format::Text => format!("brattice: {}\n", plain(text)),
            Format::Json => format!("{data}\n"),
        };
        // Where standard error cannot be written there is nobody left to tell.
        drop(std::io::stderr().write_all(told.as_bytes()));
    }

    /// Shows a result on standard output: `data` to programs, `text` to people.
    pub(crate) fn show<T: Serialize>(
        &self,
        what: &'static str,
        data: &T,
        text: impl FnOnce(Style) -> String,
    ) -> Result<ExitCode, Failure> {
        let shown = match self.format {
            Format::Text => text(Style::of_stdout()),
            Format::Json => serde_json::to_string_pretty(data)
                .map(|json| json + "\n")
                .map_err(|source| Failure::Json { what, source })?,
        };
        print(&shown)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes to standard output at once.
pub(crate) fn print(bytes: impl AsRef<[u8]>) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    stdout
        .write_all(bytes.as_ref())
        .and_then(|()| stdout.flush())
        .map_err(Failure::output("output"))
}

fn identity() -> ConnectOptions {
    ConnectOptions::new(env!("CARGO_BIN_NAME"), env!("CARGO_PKG_VERSION"))
}

fn absolute(path: Option<&Path>) -> Result<Option<OsString>, Failure> {
    path.map(|path| match std::path::absolute(path) {
        Ok(absolute) => Ok(absolute.into_os_string()),
        Err(source) => Err(Failure::Path { path: path.to_owned(), source }),
    })
    .transpose()
}

/// Said by root's client when it started a daemon.
const ROOT_NOTE: &str = "started the daemon as root; its confined commands keep no capabilities but those for file ownership";
