//! The arguments of `brattice audit`. Nothing here does any work.

use std::path::PathBuf;

use brattice_protocol::audit::{DEFAULT_LINES, Head};
use clap::{Args, Subcommand};

/// `brattice audit`
#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// Show the newest lines of the audit log
    ///
    /// Reads the log's files, so that no daemon need run. With --json the lines come as they stand in the files. Times are
    /// UTC.
    Tail(Tail),
    /// Find out whether the audit log is still what was written
    ///
    /// Exits with 1 when it is not, and names the first place. A change of the last line, and lines that are missing at
    /// the end, show only against an end that was noted before: keep the `head` that this command prints somewhere else.
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(Verify),
}

const VERIFY_EXAMPLES: &str = "\
Examples:
  brattice audit verify
  brattice audit verify --json | jq -r .head.sha256
  brattice audit verify --noted 532:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";

/// `brattice audit tail`
#[derive(Debug, Args)]
pub(crate) struct Tail {
    /// How many lines
    #[arg(short = 'n', long, value_name = "N", default_value_t = DEFAULT_LINES)]
    pub(crate) lines: usize,
    /// Go on showing lines as they are written
    #[arg(short, long)]
    pub(crate) follow: bool,
    #[command(flatten)]
    pub(crate) log: Log,
}

/// `brattice audit verify`
#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// An end of the log from an earlier look, which it must still hold
    #[arg(long, value_name = "N:HASH")]
    pub(crate) noted: Option<Head>,
    #[command(flatten)]
    pub(crate) log: Log,
}

/// Which log.
#[derive(Debug, Args)]
pub(crate) struct Log {
    /// The folder of the log [default: audit in the state folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::cli::arguments::{Arguments, Command};

    fn parse(line: &[&str]) -> Result<Audit, clap::error::ErrorKind> {
        let words = ["brattice", "audit"].iter().chain(line);
        match Arguments::try_parse_from(words).map_err(|error| error.kind())?.command {
            Command::Audit(audit) => Ok(audit),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn tail_is_like_tail() {
        let Ok(Audit::Tail(tail)) = parse(&["tail", "-n", "3", "-f"]) else { panic!("not tail") };
        assert_eq!((tail.lines, tail.follow), (3, true));
        let Ok(Audit::Tail(tail)) = parse(&["tail"]) else { panic!("not tail") };
        assert_eq!((tail.lines, tail.follow, tail.log.folder), (10, false, None));
    }

    #[test]
    fn what_was_noted_is_a_number_and_a_hash() {
        let noted = format!("7:{}", "a".repeat(64));
        let Ok(Audit::Verify(verify)) = parse(&["verify", "--noted", &noted]) else {
            panic!("not verify")
        };
        assert_eq!(verify.noted, noted.parse().ok());
        for bad in ["7", "7:", "x:y", &noted[..60]] {
            let kind = parse(&["verify", "--noted", bad]).unwrap_err();
            assert_eq!(kind, clap::error::ErrorKind::ValueValidation, "{bad}");
        }
        assert!(parse(&["tail", "-n", "-1"]).is_err());
    }
}
