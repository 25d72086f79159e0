//! Commands that put themselves behind Landlock rules of their own (landlock_restrict_self(2)): the launcher's domain is
//! wider than theirs, so nothing is done on their behalf.
//!
//! Two of these calls are Brattice's: a keeper's, and then its first child's, before that runs any program. Every later
//! one of a command marks the whole command.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::lineage::Lineage;

/// Commands that are remembered before those that are over are forgotten.
const MANY: usize = 256;

/// How far a keeper's command is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The keeper has entered its domain.
    Kept,
    /// Its child has entered the command's.
    Started,
    /// The command has entered one more.
    Further,
}

/// What is known of the commands of a mode.
#[derive(Debug, Default)]
pub(super) struct Further {
    stages: Mutex<HashMap<u32, Stage>>,
    has_any: AtomicBool,
}

impl Further {
    /// Whether no command has done so yet.
    pub(super) fn is_empty(&self) -> bool {
        !self.has_any.load(Ordering::Acquire)
    }

    /// A thread is about to confine itself.
    pub(super) fn note(&self, lineage: Lineage, thread: u32) {
        let mut stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        match lineage {
            Lineage::Keeping => {
                if stages.len() >= MANY {
                    stages.retain(|keeper, _| Path::new(&format!("/proc/{keeper}")).exists());
                }
                stages.insert(thread, Stage::Kept);
            }
            Lineage::Command { keeper, depth } => {
                let stage = match stages.get(&keeper) {
                    Some(Stage::Kept) if depth == 1 => Stage::Started,
                    _ => Stage::Further,
                };
                stages.insert(keeper, stage);
                if stage == Stage::Further {
                    self.has_any.store(true, Ordering::Release);
                }
            }
            Lineage::Outside | Lineage::Gone => {}
        }
    }

    /// Whether a process's command has.
    pub(super) fn holds(&self, lineage: Lineage) -> bool {
        let Lineage::Command { keeper, .. } = lineage else { return false };
        let stages = self.stages.lock().unwrap_or_else(PoisonError::into_inner);
        stages.get(&keeper) == Some(&Stage::Further)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_domains_are_brattices_and_every_further_one_is_the_commands() {
        let further = Further::default();
        let at = |depth| Lineage::Command { keeper: 7, depth };
        further.note(Lineage::Keeping, 7);
        further.note(at(1), 8);
        assert!(further.is_empty() && !further.holds(at(2)));
        further.note(at(1), 8);
        assert!(!further.is_empty() && further.holds(at(3)));
        further.note(Lineage::Keeping, 7);
        assert!(!further.holds(at(1)), "the number is another keeper's by now");
        further.note(at(2), 9);
        assert!(further.holds(at(1)), "no keeper's child is that far below it");
    }
}
