//! What both test files begin with: the binary, a script with nothing special about it, and what a client says once.

use std::ffi::OsString;

use brattice_protocol::outcome::Cause;

use crate::daemon::{Ends, Opens, Script, Successor};

/// Said once, whatever becomes of how many daemons.
pub(crate) const GONE: &str = "brattice: the daemon went away, its tasks go on: connecting again\n";

/// One session, and a task that succeeds without a word.
pub(crate) fn script(ends: Ends) -> Script {
    Script {
        sessions: &["s"],
        deaths: &[],
        successor: Successor::Knows,
        dropped: 0,
        opens: Opens::AtOnce,
        stdout: Vec::new(),
        stderr: Vec::new(),
        ends,
        cause: Cause::Exited,
        exit_code: Some(0),
        signal: None,
        timeout_ms: None,
    }
}

/// The built client; where the tests were archived and unpacked elsewhere, nextest says where it is now.
pub(crate) fn program() -> OsString {
    std::env::var_os("NEXTEST_BIN_EXE_brattice").unwrap_or(env!("CARGO_BIN_EXE_brattice").into())
}
