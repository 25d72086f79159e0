//! Toolsets as data, and the pure functions over them: arguments in, declarations and texts out.
//!
//! ```text
//!  tools.list ──▶ declare ──▶ [Tool] ──▶ format (mcp, openai, anthropic)
//!  tools.call ──▶ arguments ──▶ BashArguments ──▶ (the session runs it) ──▶ TaskEnd + tails of its streams
//!                    │                                                          │
//!                    ▼                                                          ▼
//!                ArgumentFault ──▶ Toolset::error                 render::render_command ──▶ text, flag, outcome
//! ```
//!
//! What two toolsets do differently is a value in [`Toolset`]; nothing here asks for a toolset's name. Nothing here
//! does I/O either: starting the command, reading the tails and sending the answer belong to the session.

mod arguments;
mod declare;
mod definition;
mod dsh;
mod parameter;
pub(crate) mod render;
mod standard;
mod variables;

pub(crate) use arguments::{BashArguments, Timeout, parse_bash};
pub(crate) use declare::{ToolKind, declarations, find, format};
pub(crate) use definition::Toolset;
pub(crate) use variables::SessionFacts;
