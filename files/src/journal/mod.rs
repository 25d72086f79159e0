//! The journal: what a set of writes is about to do, so that after a death at any point each file can be made the old or the new
//! one, and nothing is left beside it.
//!
//! ```text
//!  begin ─▶ (folders, temporaries: `made`; saved contents: `saved`) ─▶ exchanged, written ─▶ `commit` ─▶ clean-up ─▶ end
//!  └──────────────── found without `commit`: put back ────────────────────────────────┘ └─ with: cleaned up ─┘
//! ```
//!
//! A record is one file of the journal's folder, locked for as long as its writer lives. What a recovery does and what a writer
//! does that failed is the same (`undo`). Records are on the disk before anything changes where a loss of power could leave
//! half a file or half a set: for files that are written in place, and for several at once. One file that is exchanged needs
//! that no more than a rename does.
//!
//! The folder is the caller's, on any file system, and nobody else's to write to: whoever can write there decides what a
//! recovery does. Recoveries run under the same confinement as the writes did.

mod content;
mod entry;
mod record;
mod recover;
mod undo;

pub(crate) use content::overwrite;
pub(crate) use entry::{Entry, FoundFile, Mark, Method, temporary};
pub(crate) use record::{Durability, Record, Saved};
pub use recover::{Recovered, Recovery, State, recover};
pub(crate) use undo::{Where, clean_up, container, undo};
