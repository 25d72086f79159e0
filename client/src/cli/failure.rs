//! Why a command of `brattice` failed, and how that is told: what, its causes, a hint; then exit status 125.

use std::error::Error as _;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use brattice_client::start::StartError;
use brattice_client::{ClientError, LocationError};
use brattice_protocol::ErrorCode;
use serde_json::json;

use super::plain::plain;
use super::terminal::{Format, Style};
use crate::commands::LogError;
use crate::commands::interrupt::Interrupt;

/// The exit status when Brattice itself failed.
pub(crate) const BRATTICE_FAILED: u8 = 125;

/// What a program gets that SIGPIPE ends: 128 + 13.
pub(crate) const NOBODY_READS: u8 = 141;

/// A failure of a command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Location(#[from] LocationError),
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Audit(#[from] LogError),
    #[error("the daemon went away, and its task was lost from sight")]
    DaemonGone(#[source] Arc<Failure>),
    #[error("no daemon answered within {seconds} s")]
    NoDaemon { seconds: u64 },
    #[error("cannot start the runtime")]
    Runtime(#[source] io::Error),
    #[error("cannot listen for signals")]
    Signals(#[source] io::Error),
    #[error("the command wrote faster than its output could be taken, and some of it was dropped")]
    Incomplete,
    #[error(
        "the daemon went away while it passed input on, and a piece of it may have reached the command twice"
    )]
    DoubtfulInput,
    #[error("interrupted by {}", .0.name())]
    Interrupted(Interrupt),
    #[error("cannot resolve {}", path.display())]
    Path { path: PathBuf, source: io::Error },
    #[error("cannot write {}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot read {}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot find the current folder")]
    CurrentFolder(#[source] io::Error),
    #[error("not valid UTF-8: {}", .0.display())]
    NotUtf8(OsString),
    #[error("the arguments of {tool} are no JSON object")]
    Arguments { tool: String, source: serde_json::Error },
    #[error("cannot write {what} as JSON")]
    Json { what: &'static str, source: serde_json::Error },
    #[error("cannot write to standard {name}")]
    Output { name: &'static str, source: io::Error },
    #[error("cannot read standard input")]
    Input(#[source] io::Error),
    #[error("the daemon sent output of {task} that is not base64")]
    Garbled { task: String, source: brattice_protocol::bytes::BadBase64 },
    #[error("the command did not run: {}", reason.as_deref().unwrap_or("no reason was given"))]
    NotRun { reason: Option<String> },
    #[error("how the command ended is not known")]
    Lost,
    #[error("no session {}; there are {}", word(name), listed(known))]
    UnknownSession { name: String, known: Vec<String> },
    #[error("{name} begins several sessions: {}", listed(candidates))]
    AmbiguousSession { name: String, candidates: Vec<String> },
    #[error("no task {}; there are {}", word(name), listed(known))]
    UnknownTask { name: String, known: Vec<String> },
    #[error("{name} names several tasks: {}", listed(candidates))]
    AmbiguousTask { name: String, candidates: Vec<String> },
    #[error("{said:?} names none of the questions {}", known.join(", "))]
    Unaddressed { said: String, known: Vec<String> },
    #[error("the daemon, process {pid}, still runs after {seconds} s")]
    StillThere { pid: u32, seconds: u64 },
    #[error("cannot run the MCP bridge {}", program.display())]
    Bridge { program: PathBuf, source: io::Error },
    #[error("attach shows a full screen, and {0}")]
    NoScreen(&'static str),
    #[error("cannot use the terminal")]
    Screen(#[source] io::Error),
    #[error("a restart starts a daemon, which --no-start refuses")]
    RestartRefused,
    #[error("another daemon would not start, so the one that runs goes on, process {pid}")]
    NotReplaced { pid: u32, source: StartError },
}

impl Failure {
    /// A failure to write what people or programs would have read.
    pub(crate) fn output(name: &'static str) -> impl Fn(io::Error) -> Failure {
        move |source| Failure::Output { name, source }
    }

    /// Whether the daemon answered with an error, and the connection goes on.
    pub(crate) fn is_answer(&self) -> bool {
        matches!(self, Failure::Client(error) if error.is_answer())
    }

    /// Whether the daemon said that there is no such session.
    pub(crate) fn is_unknown_session(&self) -> bool {
        match self {
            Failure::Client(ClientError::Rpc(error)) => error.is(ErrorCode::UnknownSession),
            Failure::DaemonGone(failure) => failure.is_unknown_session(),
            _ => false,
        }
    }

    fn hint(&self) -> Option<&str> {
        match self {
            Failure::Client(error) => error.hint(),
            Failure::Start(error) => error.hint(),
            Failure::Audit(error) => error.hint(),
            Failure::Location(LocationError::NoState) => Some("set HOME or BRATTICE_STATE"),
            Failure::NotReplaced { source, .. } => source.hint(),
            Failure::UnknownSession { known, .. } => {
                (!known.is_empty()).then_some("`brattice session list` tells more of them")
            }
            Failure::UnknownTask { known, .. } => {
                (!known.is_empty()).then_some("`brattice task list` tells more of them")
            }
            Failure::AmbiguousSession { .. } => Some("more of its id tells them apart"),
            Failure::AmbiguousTask { .. } => {
                Some("name the task with its session, as they stand there")
            }
            Failure::Unaddressed { .. } => Some("write it as QUESTION=ANSWER"),
            Failure::DaemonGone(_) => Some("`brattice task list` shows what still runs"),
            Failure::DoubtfulInput => Some("run the command again if it matters"),
            Failure::Arguments { .. } => {
                Some("an example: brattice call bash '{\"command\": \"ls\"}'")
            }
            Failure::StillThere { .. } => {
                Some("its log tells what it waits for; SIGKILL ends it, and background tasks go on")
            }
            Failure::Bridge { source, .. } if source.kind() == io::ErrorKind::NotFound => {
                Some("install brattice-mcp beside brattice or in a folder of PATH")
            }
            Failure::NoScreen(_) => Some(
                "`brattice approvals`, `brattice task list` and `brattice task output -f` show the same a line at a time",
            ),
            Failure::Lost => Some("the daemon's log tells more"),
            Failure::Incomplete => Some("have the command write to a file in the workspace"),
            Failure::Location(LocationError::Relative { .. })
            | Failure::NoDaemon { .. }
            | Failure::Bridge { .. }
            | Failure::RestartRefused
            | Failure::Runtime(_)
            | Failure::Screen(_)
            | Failure::Signals(_)
            | Failure::Interrupted(_)
            | Failure::Path { .. }
            | Failure::Write { .. }
            | Failure::Read { .. }
            | Failure::CurrentFolder(_)
            | Failure::NotUtf8(_)
            | Failure::Json { .. }
            | Failure::Output { .. }
            | Failure::Input(_)
            | Failure::Garbled { .. }
            | Failure::NotRun { .. } => None,
        }
    }

    /// Tells the failure on standard error and gives the exit status.
    pub(crate) fn report(&self, format: Format) -> ExitCode {
        let status = match self {
            // Whoever closed the pipe knows, as after SIGPIPE.
            Failure::Output { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => {
                return ExitCode::from(NOBODY_READS);
            }
            Failure::Interrupted(interrupt) => interrupt.exit_status(),
            _ => BRATTICE_FAILED,
        };
        self.warn(format);
        ExitCode::from(status)
    }

    /// Tells the failure on standard error.
    pub(crate) fn warn(&self, format: Format) {
        let told = match format {
            Format::Json => format!("{}\n", self.data()),
            Format::Text => self.text(Style::of_stderr()),
        };
        // Where standard error cannot be written there is nobody left to tell; the exit status remains.
        drop(io::stderr().write_all(told.as_bytes()));
    }

    fn causes(&self) -> Vec<String> {
        std::iter::successors(self.source(), |cause| (*cause).source())
            .map(ToString::to_string)
            .collect()
    }

    fn text(&self, style: Style) -> String {
        let message = self.to_string();
        // What the wire calls a field of the parameters people know by that field's name.
        let message = message.strip_prefix("params.").unwrap_or(&message);
        let mut text = format!("{} {}\n", style.red("brattice:"), plain(message));
        for cause in self.causes() {
            text.push_str(&format!("  caused by: {}\n", plain(&cause)));
        }
        if let Some(hint) = self.hint() {
            text.push_str(&format!("  {} {}\n", style.bold("hint:"), plain(hint)));
        }
        text
    }

    fn data(&self) -> serde_json::Value {
        data(&self.to_string(), &self.causes(), self.hint())
    }
}

/// A failure as programs are told it.
pub(super) fn data(message: &str, causes: &[String], hint: Option<&str>) -> serde_json::Value {
    json!({"error": {"message": message, "causes": causes, "hint": hint}})
}

/// How many of the things that there are a failure lists.
const MOST_LISTED: usize = 8;

/// The first of them, and how many more there are.
fn listed(things: &[String]) -> String {
    let first = things.iter().take(MOST_LISTED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match things.len() {
        0 => "none".to_owned(),
        count if count > MOST_LISTED => format!("{first} and {} more", count - MOST_LISTED),
        _ => first,
    }
}

/// A name as a word of a sentence, which an empty one is not.
fn word(name: &str) -> &str {
    if name.is_empty() { "''" } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;
    use brattice_protocol::RpcError;

    #[test]
    fn a_parameter_is_called_by_its_name() {
        let text = "params.label: expected at most 200 characters, got 300";
        let failure = Failure::Client(ClientError::Rpc(RpcError::new(ErrorCode::Invalid, text)));
        let told = "brattice: label: expected at most 200 characters, got 300\n";
        assert_eq!(failure.text(Style::Plain), told);
        assert_eq!(failure.data()["error"]["message"], text);
    }

    #[test]
    fn what_there_is_is_listed_in_bounds() {
        let known = |count: usize| (1..=count).map(|n| format!("bash-{n}")).collect();
        let told =
            |count| Failure::UnknownTask { name: "x".into(), known: known(count) }.to_string();
        assert_eq!(told(0), "no task x; there are none");
        let none = Failure::UnknownSession { name: "x".into(), known: Vec::new() };
        assert_eq!(none.text(Style::Plain), "brattice: no session x; there are none\n");
        assert_eq!(told(2), "no task x; there are bash-1, bash-2");
        assert!(told(10).ends_with("bash-8 and 2 more"), "{}", told(10));
    }

    #[test]
    fn nothing_that_others_named_reaches_the_terminal_as_a_command() {
        let failure = Failure::Arguments {
            tool: "\u{1b}[2J".into(),
            source: serde_json::from_str::<u8>("x").unwrap_err(),
        };
        let told = failure.text(Style::Plain);
        assert!(told.starts_with("brattice: the arguments of \\u{1b}[2J are no"), "{told}");
    }

    #[test]
    fn a_failure_names_the_thing_its_causes_and_the_way_out() {
        let failure = Failure::Client(ClientError::Connect {
            path: "/s/b.sock".into(),
            source: io::Error::from_raw_os_error(2),
        });
        assert_eq!(
            failure.text(Style::Plain),
            "brattice: cannot connect to the daemon at /s/b.sock\n  \
             caused by: No such file or directory (os error 2)\n  \
             hint: no daemon runs there: start one with `brattice daemon start`\n"
        );
        assert_eq!(
            failure.data(),
            json!({"error": {
                "message": "cannot connect to the daemon at /s/b.sock",
                "causes": ["No such file or directory (os error 2)"],
                "hint": "no daemon runs there: start one with `brattice daemon start`",
            }})
        );
    }
}
