//! What the sandbox refused, as everybody is told of it: in results, of background tasks, over restarts, in the audit log.
//! What is a denial and what is none is the observer's, and the target `sandbox`'s.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod audit;
mod background;
mod killed;
mod results;

use brattice_protocol::outcome::CommandOutcome;

/// What is said of a way out.
const HINT: &str = "[sandbox: to ask, repeat this call once with sandbox_permissions \"danger-full-access\" and justification]";

/// The same of a task that runs beside its call.
const HINT_OF_TASK: &str = "[sandbox: to ask, run the same command with bash, not in the background, with \
                            sandbox_permissions \"danger-full-access\" and justification]";

/// Operation, path and count of each denial.
fn kinds(outcome: &CommandOutcome) -> Vec<(&str, &str, u64)> {
    let denials = outcome.denials.iter();
    denials.map(|told| (&*told.operation, &*told.path, told.count)).collect()
}
