//! What a file's bytes are: text of some encoding, or binary and of which type; and text as lines.
//!
//! The rule of "binary": the first 8,192 bytes hold a NUL or begin as a known binary format does, and there is no mark of UTF-16. What comes later decides nothing, so that no cut through a character and no block of NULs in a log hides a file.

mod decode;
mod lines;
mod probe;
mod table;

pub(crate) use decode::Decoder;
pub use lines::{Line, LineEnds, Stop};
pub(crate) use lines::{Lines, Selection};
pub use probe::{Binary, Encoding};
pub(crate) use probe::{PROBE, probe};
