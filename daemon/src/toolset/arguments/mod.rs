//! From a call's JSON arguments to what a tool is asked to do. A fault is a result of the call, so its text is written
//! for the model: the argument, what was expected and what came.
//!
//! ```text
//!  arguments ──▶ given ──▶ bash, files, search, tasks, people ──▶ BashArguments, ReadArguments …
//!                declared?  value by value
//!                required?        │
//!                    └──────▶ fault: ArgumentFault
//! ```
//!
//! Whether a folder or a task exists is found out by whoever looks for it.

mod bash;
mod fault;
mod files;
mod given;
mod nested;
mod people;
mod search;
mod tasks;

pub(crate) use bash::{BashArguments, Input, Placement, Timeout, TimeoutOrigin, Wish, parse_bash};
pub(crate) use fault::ArgumentFault;
pub(crate) use files::{
    EditArguments, EditedFile, ReadArguments, WriteArguments, parse_edit, parse_read, parse_write,
};
pub(crate) use people::{PlanArguments, parse_plan, parse_questions, parse_skill, parse_todos};
pub(crate) use search::{GlobArguments, GrepArguments, parse_glob, parse_grep};
pub(crate) use tasks::{
    Part, TaskInputArguments, TaskKillArguments, TaskOutputArguments, Wait, parse_task_input,
    parse_task_kill, parse_task_list, parse_task_output,
};

pub(super) use bash::{MAX_COMMAND_BYTES, MAX_JUSTIFICATION_BYTES};
pub(super) use tasks::{MAX_INPUT_BYTES, MAX_REASON_BYTES};
