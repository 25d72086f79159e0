//! The engine of the file tools: reading windows of text, exact edits, and writes that are whole or not at all.
//!
//! ```text
//!  read   ─▶ text (what kind of file, lines)               ─▶ Reading
//!  write  ─▶ place (the real file, by descriptors) ─▶ replace (temporary, exchange) ─▶ Written
//!  edit   ─▶ lock ─▶ place, text ─▶ edit::resolve (pure) ─▶ replace, journal         ─▶ Edited, a file each
//!                                                            journal ─▶ recover       ─▶ after a crash
//! ```
//!
//! Values in, values out: blocking, without a runtime, and without any knowledge of sandboxes, tools or wires. It is meant to
//! run in a process that is confined, as a refusal of the kernel's comes back as a value with the operation, the path and the
//! errno ([`FaultKind::Kernel`]). Everything long is stopped by a [`Cancel`], and bounded in memory by what is stated with it.

pub mod cancel;
pub mod change;
pub mod diff;
pub mod edit;
pub mod fault;
pub mod fingerprint;
pub mod journal;
mod load;
mod lock;
mod place;
pub mod read;
mod replace;
mod shown;
pub mod text;

pub use cancel::{Cancel, Cancelled};
pub use change::{
    Apply, Context, EditFault, Edited, Expected, FileEdits, FileFault, Outcome, Replacement,
    Written, edit, write,
};
pub use fault::{Fault, FaultKind, FileType, Operation};
pub use fingerprint::Fingerprint;
pub use journal::{Recovered, Recovery, State, recover};
pub use place::{Links, resolved};
pub use read::{Reading, Window, read};
pub use rustix::io::Errno;
