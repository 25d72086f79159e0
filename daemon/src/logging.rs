//! The daemon's log: lines on stderr, for people or as JSON.

use std::ffi::OsStr;
use std::io::{self, IsTerminal as _};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::ParseError;

use crate::arguments::LogFormat;

/// The environment variable that says what is logged: a level, or directives such as
/// `info,bratticed::session=debug`.
pub(crate) const LEVEL: &str = "BRATTICE_LOG";

/// Why there is no log.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LogError {
    /// The variable holds no directives.
    #[error(
        "{LEVEL} holds {value:?}, which says no level: expected error, warn, info, debug or trace"
    )]
    Directives {
        /// What it holds.
        value: String,
        /// What is wrong with it.
        source: ParseError,
    },
    /// Something else logs already.
    #[error("cannot start the log")]
    Start(#[source] tracing::subscriber::SetGlobalDefaultError),
}

/// Logs from now on. `level` is the variable's value; unset or empty it means `info`.
pub(crate) fn start(format: LogFormat, level: Option<&OsStr>) -> Result<(), LogError> {
    let value = level.filter(|level| !level.is_empty()).unwrap_or(OsStr::new("info"));
    let value = value.to_string_lossy().into_owned();
    let filter = EnvFilter::builder()
        .parse(&value)
        .map_err(|source| LogError::Directives { value, source })?;
    let is_coloured = io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
    let lines = tracing_subscriber::fmt()
        .with_writer(io::stderr)
        .with_env_filter(filter)
        // A line that cannot be written (a full disk, a reader that is gone) is lost. Told on stderr, as by default, it would
        // end the thread that logs: that is just where nothing can be written.
        .log_internal_errors(false)
        .with_ansi(is_coloured);
    let started = match format {
        LogFormat::Text => tracing::subscriber::set_global_default(lines.finish()),
        LogFormat::Json => tracing::subscriber::set_global_default(lines.json().finish()),
    };
    started.map_err(LogError::Start)
}
