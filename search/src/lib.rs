//! Searching trees of files: by content ([`grep()`]) and by name ([`glob()`]).
//!
//! ```text
//!  query ─▶ pattern (regex, glob) ─▶ walk: folders and batches of files, by several threads ─▶ fold, in order of paths
//!                                      └─ rules: what .gitignore and the like leave             └─▶ Found
//! ```
//!
//! Values in, values out: no sandbox, no wire, no words for the user. Calls block, start threads of their own, at most
//! one for each processor, and end them before they return. Results do not depend on what the threads did when: they
//! are those of a search by one thread in the order of paths, which stopped when it had enough.
//!
//! What both do alike: results are regular files. Links below the root are neither followed nor listed (what they lead
//! to has a name of its own, or is not below the root); a root that is a link stands for its target. FIFOs, devices and
//! sockets are never opened. A root is searched even where rules would skip it. Paths sort by their components.

mod cancel;
mod grep;
mod newest;
mod pattern;
mod query;
mod rules;
mod shown;
mod walk;

pub use cancel::Cancel;
pub use grep::{
    FileHits, Found, GrepQuery, LetterCase, Line, LineKind, Output, PatternError, Span, Stop,
    Syntax, grep,
};
pub use newest::{GlobQuery, Listed, glob};
pub use pattern::{GlobError, GlobFault};
pub use query::{Cause, Ignored, QueryError, Unreadable, UnreadableList, UserRules};
