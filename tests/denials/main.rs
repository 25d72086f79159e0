//! What the sandbox refused, as everybody is told of it: in results, of background tasks, over restarts, in the audit log.
//! What is a denial and what is none is the observer's, and the target `sandbox`'s.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod audit;
mod background;
mod killed;
mod results;

use brattice_protocol::outcome::CommandOutcome;

/// What is said of a way out while nobody can be asked.
const HINT: &str = "[sandbox: final: approval prompts are disabled]";

/// Operation, path and count of each denial.
fn kinds(outcome: &CommandOutcome) -> Vec<(&str, &str, u64)> {
    let denials = outcome.denials.iter();
    denials.map(|told| (&*told.operation, &*told.path, told.count)).collect()
}
