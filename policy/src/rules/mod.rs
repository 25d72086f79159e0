//! Command rules: which commands run, which are asked about and which are refused, by their words.
//!
//! ```text
//!  a line for bash ─▶ shell: simple commands ─▶ wrapper: what `env`, `xargs`, `sh -c` … run ─┐
//!  a program's words ───────────────────────────▶ the same ────────────────────────────────────┴▶ Rules::decide
//! ```
//!
//! Rules narrow, the sandbox is the boundary: a program can run another in ways that no line shows. What a line does show
//! is found wherever it stands, and what cannot be told from the line (a command's name behind `$X`, code that comes
//! through a pipe, a line that is none) is never taken for harmless: it is asked about as soon as there is a rule that
//! asks or forbids.

mod decide;
mod rule;
mod shell;
#[cfg(test)]
mod tests;
mod wrapper;

pub use decide::{Rules, Verdict};
pub use rule::{Decision, Rule};
