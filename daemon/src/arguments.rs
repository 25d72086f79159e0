//! The command line of `bratticed`: parsed here, acted on by `run`.
//!
//! Paths follow [`Locations`], so that a client finds the daemon by the same variables; a flag is stronger than its
//! variable, and a socket that was handed over is where it is.

use std::ffi::OsString;
use std::path::PathBuf;

use brattice_protocol::hello::Role;
use brattice_protocol::location::{CONTROL_SOCKET, LocationError, Locations, SOCKET, STATE};
use clap::{Parser, ValueEnum};

use crate::server::HandedOver;

/// Runs confined commands for agent runtimes, in the foreground. Says READY when it serves.
///
/// SIGTERM and SIGINT end it in order, with status 0: calls are stopped and answered, background tasks and sessions are left
/// to the next daemon. A second one stops the background tasks and closes the sessions, too; a third ends the daemon at once,
/// with status 1. SIGHUP reads the configuration again, for sessions that are opened from then on.
#[derive(Clone, Debug, PartialEq, Eq, Parser)]
#[command(name = "bratticed", version, max_term_width = 100)]
pub(crate) struct Arguments {
    /// The socket of agent runtimes [env: BRATTICE_SOCKET] [default: in $XDG_RUNTIME_DIR, else in the state folder]
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,

    /// The socket of operators [env: BRATTICE_CONTROL_SOCKET] [default: control.sock beside the first]
    #[arg(long, value_name = "PATH")]
    pub(crate) control_socket: Option<PathBuf>,

    /// The state folder [env: BRATTICE_STATE] [default: $XDG_STATE_HOME/brattice, else ~/.local/state/brattice]
    #[arg(long, value_name = "DIR")]
    pub(crate) state: Option<PathBuf>,

    /// The user's configuration [env: BRATTICE_CONFIG] [default: $XDG_CONFIG_HOME/brattice/config.toml, else
    /// ~/.config/brattice/config.toml, where there is one]
    #[arg(long, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,

    /// How log lines on stderr are written
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log_format: LogFormat,

    /// Run as root; confined commands lose every capability but those for file ownership
    #[arg(long)]
    pub(crate) allow_root: bool,

    /// Find out whether a daemon could start so, say why not, and end: the command line, the configuration and what it
    /// needs are looked at, and nothing is touched that a running daemon holds
    #[arg(long)]
    pub(crate) check: bool,

    /// Print the manual page, as man(1) formats it, and end
    #[arg(long)]
    pub(crate) man: bool,
}

/// The form of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// A line for people.
    Text,
    /// An object of JSON.
    Json,
}

impl Arguments {
    /// Where the sockets and the state are. Relative flags start at the current folder.
    ///
    /// # Errors
    /// Neither flags nor environment say where.
    pub(crate) fn locations(
        &self,
        handed: &HandedOver,
        environment: impl Fn(&str) -> Option<OsString>,
    ) -> Result<Locations, LocationError> {
        let flag = |name: &str| match name {
            SOCKET => handed.path(Role::Client).or(self.socket.as_deref()),
            CONTROL_SOCKET => handed.path(Role::Operator).or(self.control_socket.as_deref()),
            STATE => self.state.as_deref(),
            _ => None,
        };
        Locations::from_env(|name| match flag(name) {
            // An empty or unresolvable path stays as it is and is refused as relative.
            Some(path) => {
                Some(std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).into())
            }
            None => environment(name),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    fn parse(words: &[&str]) -> Arguments {
        Arguments::try_parse_from([&["bratticed"], words].concat()).unwrap()
    }

    #[test]
    fn the_declaration_is_sound() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_flag_is_stronger_than_its_variable() {
        let environment = |name: &str| match name {
            STATE => Some("/state".into()),
            SOCKET => Some("/run/a.sock".into()),
            _ => None,
        };
        let found = parse(&["--socket", "/other/b.sock"])
            .locations(&HandedOver::default(), environment)
            .unwrap();
        assert_eq!(
            found,
            Locations {
                socket: "/other/b.sock".into(),
                control_socket: "/other/control.sock".into(),
                state: "/state".into(),
            }
        );
    }

    #[test]
    fn a_relative_flag_starts_at_the_current_folder() {
        let found = parse(&["--state", "x"]).locations(&HandedOver::default(), |_| None).unwrap();
        assert_eq!(found.state, std::env::current_dir().unwrap().join("x"));
    }

    #[test]
    fn unknown_flags_and_formats_are_refused() {
        for words in [["--policy", "x"], ["--log-format", "xml"]] {
            assert!(Arguments::try_parse_from(["bratticed", words[0], words[1]]).is_err());
        }
    }
}
