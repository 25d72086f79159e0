//! The audit log: what its lines look like, how each holds on to the one before, and how a change is found.
//!
//! ```text
//!  00000001.jsonl   {"seq":1,"time":…,"prev":"0000…","event":"daemon_started",…}
//!                   {"seq":2,"time":…,"prev":"9f3a…","event":"session_opened",…}
//!                                             └── SHA-256 of line 1, its newline included
//!  00000002.jsonl   {"seq":3,"time":…,"prev":"51c0…",…}          the chain goes on across files
//! ```
//!
//! `prev` is what `sed -n 1p 00000001.jsonl | sha256sum` prints; that of the first line is 64 zeros. Lines that tell of the
//! log itself account for what a reader would otherwise have to take for a change: bytes of a line that a crash cut off
//! (`recovered`), events that could not be written (`gap`), files that were removed for their age (`pruned`), and files
//! that somebody else touched (`log_changed`).
//!
//! Pure data and functions. Writing the log, rotating and removing its files is the daemon's part; reading the files
//! is each reader's own.

mod detail;
mod digest;
mod event;
mod file;
mod line;
mod redact;
mod tail;
mod verify;

pub use detail::{Actor, Change, CommandText, DaemonEnd, DenialCounts, Repeated, TornTail};
pub use digest::{BadDigest, Digest, Hasher};
pub use event::Event;
pub use file::{BadFileName, FileNumber, Place};
pub use line::{BadHead, Head, Header, Line};
pub use redact::redact;
pub use tail::{DEFAULT_LINES, MAX_LINES, Tail, TailParams};
pub use verify::{Break, Fault, Verified, verify};

/// The log's folder in the state folder.
pub const FOLDER: &str = "audit";
