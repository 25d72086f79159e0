//! Configuration: what the operator's and the user's files say, and what follows from them together.
//!
//! ```text
//!  operator's text ──▶ File ─┐
//!                            ├─▶ Configuration { ceiling, session, limits, environment, tools, rules, settings }
//!  user's text ──────▶ File ─┘        later files win; the ceiling only narrows
//! ```
//!
//! Pure functions over text: where the files are and who may write to them is the daemon's part, and so is which
//! toolsets there are (the type parameter `T`). Every key is read and checked.

mod configuration;
mod environment;
mod fault;
mod file;
mod quantity;
mod reader;
mod rule;
mod setting;
#[cfg(test)]
mod tests;
mod value;

pub use configuration::{Ceiling, Configuration, Mcp, SessionDefaults, Tools};
pub use fault::{Fault, FaultKind, Faults, Position};
pub use file::{Author, File, Source};
pub use setting::{Layer, Setting, Settings};
