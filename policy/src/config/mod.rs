//! Configuration: what the operator's and the user's files say, and what follows from them together.
//!
//! ```text
//!  operator's text ──▶ File ─┐
//!                            ├─▶ Configuration { ceiling, session, limits }
//!  user's text ──────▶ File ─┘        later files win; the ceiling only narrows
//! ```
//!
//! Pure functions over text: where the files are and who may write to them is the daemon's part, and so is which
//! toolsets there are (the type parameter `T`). Only keys that have an effect are known; any other is refused with
//! the list of those that are.

mod configuration;
mod fault;
mod file;
mod quantity;
#[cfg(test)]
mod tests;
mod value;

pub use configuration::{Configuration, SessionDefaults};
pub use fault::{Fault, Position};
pub use file::{Author, File};
