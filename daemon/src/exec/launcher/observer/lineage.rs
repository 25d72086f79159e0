//! Which command a process belongs to: the chain of its parents ends at a keeper, a child of the zygote.
//!
//! A keeper is a subreaper, so whatever a command does to its processes their chain leads there; a parent that ends
//! meanwhile makes the chain shorter, never wrong.

use std::fs;

/// Longest chain that is followed.
const DEEPEST: usize = 4096;

/// How often a chain that changed under the walk is walked again.
const TRIES: usize = 8;

/// Where a process stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lineage {
    /// It is the keeper itself, or the zygote: nothing of a command's.
    Keeping,
    /// It belongs to the command of this keeper; `depth` parents lie between.
    Command {
        /// The keeper's process.
        keeper: u32,
        /// 1 for the keeper's own child.
        depth: usize,
    },
    /// It is none of this mode's.
    Outside,
    /// There is no such process.
    Gone,
}

/// Follows the parents of a process or thread.
pub(super) fn of(process: u32, zygote: u32) -> Lineage {
    for _ in 0..TRIES {
        if let Some(lineage) = walk(process, zygote) {
            return lineage;
        }
    }
    Lineage::Gone
}

/// `None` when a process of the chain ended while it was walked.
fn walk(process: u32, zygote: u32) -> Option<Lineage> {
    if process == zygote {
        return Some(Lineage::Keeping);
    }
    let Some(mut parent) = parent(process) else { return Some(Lineage::Gone) };
    let mut at = process;
    for depth in 0..DEEPEST {
        if parent == zygote {
            return Some(match depth {
                0 => Lineage::Keeping,
                depth => Lineage::Command { keeper: at, depth },
            });
        }
        if parent <= 1 {
            return Some(Lineage::Outside);
        }
        at = parent;
        parent = self::parent(at)?;
    }
    Some(Lineage::Outside)
}

/// The parent of a process or thread (proc_pid_stat(5)).
fn parent(process: u32) -> Option<u32> {
    let stat = fs::read(format!("/proc/{process}/stat")).ok()?;
    // The name may hold anything, parentheses too; the numbers come after the last one.
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(stat.get(end + 2..)?).ok()?;
    rest.split(' ').nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_ends_at_the_child_of_the_zygote() {
        let own = std::process::id();
        let above = parent(own).unwrap();
        assert_eq!(of(own, own), Lineage::Keeping);
        assert_eq!(of(own, above), Lineage::Keeping);
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(of(child.id(), above), Lineage::Command { keeper: own, depth: 1 });
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(of(own, u32::MAX), Lineage::Outside);
        assert_eq!(of(u32::MAX - 1, own), Lineage::Gone);
    }
}
