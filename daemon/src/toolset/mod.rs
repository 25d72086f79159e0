//! Toolsets as data, and the pure functions over them: arguments in, declarations and texts out.
//!
//! ```text
//!  tools.list ──▶ tool ──▶ declare, describe ──▶ [Tool] ──▶ format (mcp, openai, anthropic)
//!                  │ which tools a session declares
//!  tools.call ──▶ tool ──▶ arguments ──▶ BashArguments … ──▶ (the session acts) ──▶ TaskEnd, tails, summaries
//!                             │                                                          │
//!                             ▼                                                          ▼
//!                        ArgumentFault ──▶ Toolset::error                  render ──▶ text, flag, facts
//! ```
//!
//! What two toolsets do differently is a value in [`Toolset`]; nothing here asks for a toolset's name. Nothing here
//! does I/O either: starting the command, reading the tails and sending the answer belong to the session.

mod arguments;
mod declare;
mod definition;
mod describe;
mod dsh;
mod glrs;
mod minimal;
mod options;
mod parameter;
pub(crate) mod render;
mod skills;
mod standard;
mod tool;
mod variables;
mod window;
mod wording;

pub(crate) use arguments::{
    ArgumentFault, BashArguments, EditArguments, EditedFile, GlobArguments, GrepArguments, Input,
    Part, Placement, PlanArguments, ReadArguments, TaskInputArguments, TaskKillArguments,
    TaskOutputArguments, Timeout, Wait, Wish, WriteArguments, parse_bash, parse_edit, parse_glob,
    parse_grep, parse_plan, parse_questions, parse_read, parse_skill, parse_task_input,
    parse_task_kill, parse_task_list, parse_task_output, parse_todos, parse_write,
};
pub(crate) use declare::{declarations, format};
pub(crate) use definition::Toolset;
pub(crate) use options::OptionFault;
pub(crate) use tool::{
    Background, EscalationOffer, Offer, Offers, Repetition, SessionTools, ToolKind,
};
pub(crate) use variables::SessionFacts;
pub(crate) use window::Reading;
pub(crate) use wording::{Folder, Kept, LoopDetector, Shell};
