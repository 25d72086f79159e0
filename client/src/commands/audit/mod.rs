//! `brattice audit`: the audit log, read from its files. No daemon is asked, and none is started.
//!
//! ```text
//!  tail   ──▶ files, from the newest back ──▶ words ──▶ with -f: a watch on the folder
//!  verify ──▶ files, from the oldest on ──▶ brattice_protocol::audit::verify ──▶ exit status
//! ```

mod files;
mod follow;
mod tail;
mod time;
mod verify;
mod words;

use std::path::PathBuf;
use std::process::ExitCode;

use brattice_protocol::audit::FOLDER;

use crate::cli::audit::{Audit, Log};
use crate::cli::{Context, Failure};

pub(crate) use files::LogError;

use files::LogFiles;

/// Performs `audit tail` or `audit verify`.
pub(crate) fn audit(context: &Context, arguments: Audit) -> Result<ExitCode, Failure> {
    match arguments {
        Audit::Tail(arguments) => tail::tail(context, &arguments),
        Audit::Verify(arguments) => verify::verify(context, &arguments),
    }
}

fn log_files(context: &Context, log: &Log) -> LogFiles {
    let own = || -> PathBuf { context.locations.state.join(FOLDER) };
    LogFiles::new(log.folder.clone().unwrap_or_else(own))
}
