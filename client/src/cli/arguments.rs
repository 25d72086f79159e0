//! The command line as data. Nothing here does any work.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use brattice_protocol::session::ToolsetName;
use brattice_protocol::tools::ToolFormat;
use brattice_protocol::{Mode, Network};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use super::asked::{Answer, Approvals, Approve, Questions, Reject};
use super::audit::Audit;
use super::duration;
use super::task::Task;

/// Runs commands in a sandbox, by way of the Brattice daemon.
#[derive(Debug, Parser)]
#[command(name = "brattice", version, propagate_version = true, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags that every command takes.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// The daemon's socket [default: $BRATTICE_SOCKET, or in $XDG_RUNTIME_DIR/brattice]
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// The daemon's operators' socket [default: $BRATTICE_CONTROL_SOCKET, or beside the socket]
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) control_socket: Option<PathBuf>,
    /// Fail where no daemon answers instead of starting one
    #[arg(long, global = true)]
    pub(crate) no_start: bool,
    /// Print data instead of text
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Run one command and stream its output
    ///
    /// Exits with the command's own status; 128 + n when signal n ended it; 124 when its time was over; 125 when
    /// Brattice failed. Standard input is passed on when it is a pipe or a file. With --json the outcome is one line
    /// of JSON, the last on standard error. Should the daemon go away meanwhile the command goes on, and is followed by
    /// way of the next one. Ctrl-C stops the command: SIGTERM, and SIGKILL after a grace; a second one kills it at once.
    Run(Run),
    /// Start, list, read, wait for and stop background tasks
    ///
    /// A task's number is its session's own. Where several sessions have a bash-1, put the beginning of the session's id
    /// before it, as in 01995d2c/bash-1.
    #[command(subcommand)]
    Task(Task),
    /// Make one tool call
    ///
    /// Exits with 1 when the call failed as a call; a command's exit code is no failure of the call. Without --session the
    /// call has a session of its own, which ends with it, unless something goes on in the background: then that is named on
    /// standard error, and the session is closed after the daemon's limit for such sessions, an hour by default.
    Call(Call),
    /// Show the tools that a session declares
    Tools(Tools),
    /// Serve one session to an MCP client over standard input and output
    ///
    /// Runs brattice-mcp, which is to stand beside this program or in a folder of PATH. The session ends with the client; its
    /// background tasks go on for the daemon's limit for sessions without a client, an hour by default. What an approval needs
    /// is asked of an attached operator, or told in the result with the command that allows it; an MCP client's word counts
    /// where the daemon's configuration has `trust_elicitation`.
    Mcp(Mcp),
    /// List, show and close sessions
    #[command(subcommand)]
    Session(Session),
    /// Watch sessions, tasks and their output on a full screen, and answer what waits
    ///
    /// Keys are told at the bottom, all of them by `?`. Whoever is attached is there to be asked: meanwhile calls may ask for a
    /// wider sandbox mode. Needs a terminal; the other commands show the same a line at a time.
    Attach,
    /// Show what waits for a person's answer
    ///
    /// Calls that ask for a wider sandbox mode wait here, with the exact command, its folder, the modes and the reason.
    /// Answer with `brattice approve ID` or `brattice reject ID`. Calls ask only where somebody is there to answer: the
    /// session's own client, or whoever follows with -f. What a call by way of `brattice mcp` needs stays open all the same,
    /// and the call runs when it is made again.
    Approvals(Approvals),
    /// Allow the command of an approval to run once, in the mode that it asks for
    Approve(Approve),
    /// Reject the command of an approval
    Reject(Reject),
    /// List the model's questions and plans that wait for an answer
    ///
    /// Answer with `brattice answer ID`. A session declares its question tool only where somebody can answer: the session's own
    /// client, or whoever follows with -f.
    Questions(Questions),
    /// Answer the questions of a call, or judge a plan
    ///
    /// Every question of the call takes an answer: an option, or your own words. Only --approve approves a plan, which ends the
    /// session's plan mode; --keep-planning sends it back.
    Answer(Answer),
    /// Show the policy in force and explain its verdicts
    #[command(subcommand)]
    Policy(Policy),
    /// Show the audit log and find changes in it
    #[command(subcommand)]
    Audit(Audit),
    /// Tell what this machine can enforce, what each gap costs and how to close it
    ///
    /// Exits with 1 when a layer that the confined modes need is missing.
    Doctor,
    /// Start, stop, restart and inspect the daemon
    #[command(subcommand)]
    Daemon(Daemon),
    /// Print the manual page, or write that of each command into a folder
    ///
    /// With a folder there is a page for each command, named as brattice-task-start.1 is; without one that of brattice itself
    /// is printed, as man(1) formats it. The daemon prints its own: `bratticed --man`.
    Man {
        /// The folder, which must exist
        #[arg(value_name = "DIR")]
        folder: Option<PathBuf>,
    },
    /// Print a completion script
    Completions {
        /// The shell that will read it
        shell: Shell,
    },
}

/// How a session confines its commands.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct Confinement {
    /// The sandbox mode [default: the daemon's, workspace-write]
    #[arg(long, value_parser = named(&MODES))]
    pub(crate) mode: Option<Mode>,
    /// The folder that commands may write below [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// What commands may do with sockets [default: the daemon's, full]
    #[arg(long, value_parser = named(&NETWORKS))]
    pub(crate) network: Option<Network>,
    /// One more folder that commands may write below; can be repeated
    #[arg(long, value_name = "DIR")]
    pub(crate) writable: Vec<PathBuf>,
}

/// `brattice run`
#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) confinement: Confinement,
    /// Stop the command after this long: 90s, 500ms, 2m, 1h, or plain seconds
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) timeout: Option<Duration>,
    /// One argument is a line for bash, several are a program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// `brattice call`
#[derive(Debug, Args)]
pub(crate) struct Call {
    /// The tool's name
    pub(crate) tool: String,
    /// Its arguments, a JSON object
    #[arg(value_name = "JSON")]
    pub(crate) arguments: String,
    /// The session to call in: its id, or the beginning of it [default: one of its own]
    #[arg(
        long,
        value_name = "ID",
        conflicts_with_all = ["mode", "workspace", "network", "writable", "toolset"]
    )]
    pub(crate) session: Option<String>,
    #[command(flatten)]
    pub(crate) confinement: Confinement,
    /// The toolset of the call's own session
    #[arg(long, value_parser = named(&TOOLSETS))]
    pub(crate) toolset: Option<ToolsetName>,
}

/// `brattice tools`
#[derive(Debug, Args)]
pub(crate) struct Tools {
    /// The toolset
    #[arg(long, value_parser = named(&TOOLSETS))]
    pub(crate) toolset: Option<ToolsetName>,
    /// Print the declarations as JSON, in this shape
    #[arg(long, value_parser = named(&FORMATS))]
    pub(crate) format: Option<ToolFormat>,
    /// The workspace of the session that is asked [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
}

/// `brattice mcp`
#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// The folder that commands may write below [default: the current folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) workspace: Option<PathBuf>,
    /// The sandbox mode [default: the daemon's, workspace-write]
    #[arg(long, value_parser = named(&MODES))]
    pub(crate) mode: Option<Mode>,
    /// The toolset [default: the daemon's, standard]
    #[arg(long, value_parser = named(&TOOLSETS))]
    pub(crate) toolset: Option<ToolsetName>,
    /// What commands may do with sockets [default: the daemon's, full]
    #[arg(long, value_parser = named(&NETWORKS))]
    pub(crate) network: Option<Network>,
}

/// `brattice session`
#[derive(Debug, Subcommand)]
pub(crate) enum Session {
    /// List all sessions of the daemon
    List,
    /// Show one session
    Show {
        /// The session's id, or the beginning of it
        id: String,
    },
    /// Stop a session's tasks and remove it
    Close {
        /// The session's id, or the beginning of it
        id: String,
    },
}

/// `brattice policy`
#[derive(Debug, Subcommand)]
pub(crate) enum Policy {
    /// Show the rules and settings that a session with these flags is held by, and where each comes from
    Show(Confinement),
    /// Find what is wrong with a configuration file
    ///
    /// Exits with 1 when it has faults, each of which is told as FILE:LINE:COLUMN with what was expected. No daemon is
    /// needed. Who may write to the file is not looked at.
    Check {
        /// The file
        file: PathBuf,
        /// Take it for the operator's, as /etc/brattice/config.toml is: it may have a ceiling
        #[arg(long)]
        operator: bool,
    },
    /// Tell whether such a session may use a path, and why
    Explain {
        /// The path
        path: PathBuf,
        /// Ask about changing or creating it instead of reading it
        #[arg(long)]
        write: bool,
        #[command(flatten)]
        confinement: Confinement,
    },
}

/// `brattice daemon`
#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum Daemon {
    /// Start the daemon unless it runs
    Start,
    /// Stop the daemon and wait until it is gone
    Stop {
        /// Wait for calls that run instead of stopping them
        #[arg(long)]
        drain: bool,
    },
    /// Show the daemon's state; exits with 1 when none runs
    Status,
    /// Have the daemon read its configuration again, for sessions that are opened from then on
    ///
    /// A faulty file changes nothing. A ceiling that is narrower now holds for open sessions, too.
    Reload,
    /// Stop the daemon, if one runs, and start another, which keeps the background tasks
    ///
    /// Calls that somebody waits for are stopped. Where the configuration is faulty, or the other one could not start for
    /// another reason that can be seen before, the one that runs stays.
    Restart,
}

type Names<T, const N: usize> = [(&'static str, T); N];

static MODES: Names<Mode, 3> = [
    (Mode::ReadOnly.as_str(), Mode::ReadOnly),
    (Mode::WorkspaceWrite.as_str(), Mode::WorkspaceWrite),
    (Mode::DangerFullAccess.as_str(), Mode::DangerFullAccess),
];

static NETWORKS: Names<Network, 3> = [
    (Network::Full.as_str(), Network::Full),
    (Network::Loopback.as_str(), Network::Loopback),
    (Network::None.as_str(), Network::None),
];

static TOOLSETS: Names<ToolsetName, 4> = [
    (ToolsetName::Standard.as_str(), ToolsetName::Standard),
    (ToolsetName::Dsh.as_str(), ToolsetName::Dsh),
    (ToolsetName::Glrs.as_str(), ToolsetName::Glrs),
    (ToolsetName::Minimal.as_str(), ToolsetName::Minimal),
];

static FORMATS: Names<ToolFormat, 3> = [
    ("mcp", ToolFormat::Mcp),
    ("openai", ToolFormat::Openai),
    ("anthropic", ToolFormat::Anthropic),
];

/// A parser that knows its values by name, so that help and completions list them.
fn named<T, const N: usize>(names: &'static Names<T, N>) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(names.iter().map(|(name, _)| *name)).try_map(move |text| {
        names
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, value)| *value)
            .ok_or("not one of the values")
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn parse(line: &[&str]) -> Result<Arguments, clap::error::ErrorKind> {
        let words = std::iter::once("brattice").chain(line.iter().copied());
        Arguments::try_parse_from(words).map_err(|error| error.kind())
    }

    #[test]
    fn the_declarations_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn run_takes_its_flags_and_leaves_the_commands_alone() {
        let arguments = parse(&[
            "run",
            "--mode",
            "read-only",
            "--network",
            "none",
            "--timeout",
            "90s",
            "--writable",
            "/a",
            "--writable",
            "/b",
            "--json",
            "--",
            "ls",
            "--mode",
            "-l",
        ])
        .unwrap();
        assert!(arguments.global.json);
        let Command::Run(run) = arguments.command else { panic!("not run") };
        assert_eq!(run.command, ["ls", "--mode", "-l"]);
        assert_eq!(run.timeout, Some(Duration::from_secs(90)));
        assert_eq!(run.confinement.mode, Some(Mode::ReadOnly));
        assert_eq!(run.confinement.network, Some(Network::None));
        assert_eq!(run.confinement.writable, [PathBuf::from("/a"), PathBuf::from("/b")]);
    }

    #[test]
    fn faults_are_refused() {
        use clap::error::ErrorKind;
        let cases: [(&[&str], ErrorKind); 6] = [
            (&[], ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand),
            (&["run"], ErrorKind::MissingRequiredArgument),
            (&["run", "ls"], ErrorKind::UnknownArgument),
            (&["run", "--mode", "rw", "--", "ls"], ErrorKind::InvalidValue),
            (&["run", "--timeout", "soon", "--", "ls"], ErrorKind::ValueValidation),
            (
                &["call", "bash", "{}", "--session", "s", "--mode", "read-only"],
                ErrorKind::ArgumentConflict,
            ),
        ];
        for (line, kind) in cases {
            assert_eq!(parse(line).unwrap_err(), kind, "{line:?}");
        }
    }
}
