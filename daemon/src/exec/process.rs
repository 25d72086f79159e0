//! Trees of processes, read from `/proc`: for naming what is left, and for killing where no domain can be broadcast to.
//!
//! A keeper is a subreaper, so whatever its command did to its parents, every process of the command descends from
//! the keeper. Numbers are reused: a process is signalled through a descriptor that was opened while the number still
//! meant the same start time (proc_pid_stat(5), field 22).

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use brattice_policy::sys::Errno;
use brattice_protocol::outcome::ProcessFacts;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// A process as `/proc` told it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    /// Its number.
    pub(crate) pid: u32,
    parent: u32,
    name: String,
    /// Clock ticks since boot at which it started.
    started: u64,
    /// Clock ticks that it has run.
    own_ticks: u64,
    /// Clock ticks that children it has waited for had run.
    waited_ticks: u64,
    zombie: bool,
}

impl Process {
    /// What is told of it.
    pub(crate) fn facts(&self) -> ProcessFacts {
        ProcessFacts { pid: self.pid, name: self.name.clone() }
    }

    fn read(pid: u32) -> Option<Process> {
        parse(pid, &std::fs::read(format!("/proc/{pid}/stat")).ok()?)
    }

    /// Sends a signal to this very process.
    ///
    /// # Errors
    /// `ESRCH` when it is gone, `EPERM` when it is another user's by now.
    pub(crate) fn signal(&self, signal: Signal) -> Result<(), Errno> {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
        let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
        let now = Process::read(self.pid).ok_or(Errno::SRCH)?;
        if now.started != self.started {
            return Err(Errno::SRCH);
        }
        pidfd_send_signal(&pidfd, signal)
    }
}

/// Whether a process of this number lives. One that is a zombie has handed its children on.
pub(crate) fn is_alive(pid: u32) -> bool {
    Process::read(pid).is_some_and(|process| !process.zombie)
}

/// Every living descendant of `root`, parents before children; zombies and `root` itself are left out.
pub(crate) fn descendants(root: u32) -> Vec<Process> {
    descendants_beside(root, &HashSet::new())
}

/// Every living descendant of `root` but `kept` processes and what descends from those.
pub(crate) fn descendants_beside(root: u32, kept: &HashSet<u32>) -> Vec<Process> {
    let mut children: HashMap<u32, Vec<Process>> = HashMap::new();
    for pid in numbers().filter(|pid| !kept.contains(pid)) {
        if let Some(process) = Process::read(pid) {
            children.entry(process.parent).or_default().push(process);
        }
    }
    let mut found = children.remove(&root).unwrap_or_default();
    let mut next = 0;
    while let Some(process) = found.get(next) {
        let below = children.remove(&process.pid).unwrap_or_default();
        found.extend(below);
        next += 1;
    }
    found.retain(|process| !process.zombie);
    found
}

/// What is below a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    /// CPU time of all that is below it, and of all that was, as far as somebody waited for it.
    pub(crate) cpu: Duration,
    /// How many processes are below it.
    pub(crate) processes: u64,
}

/// What is below each of these processes, none of which is below another.
pub(crate) fn trees(roots: &[u32]) -> HashMap<u32, Tree> {
    let processes: HashMap<u32, Process> =
        numbers().filter_map(|pid| Some((pid, Process::read(pid)?))).collect();
    let is_root: HashSet<u32> = roots.iter().copied().collect();
    let ticks_per_second = rustix::param::clock_ticks_per_second().max(1);
    let duration = |ticks: u64| Duration::from_millis(ticks * 1000 / ticks_per_second);
    let mut trees: HashMap<u32, Tree> = roots
        .iter()
        .filter_map(|root| {
            // Its own time is no part of what it keeps.
            let cpu = duration(processes.get(root)?.waited_ticks);
            Some((*root, Tree { cpu, processes: 0 }))
        })
        .collect();
    for process in processes.values().filter(|process| !is_root.contains(&process.pid)) {
        let root = root_of(process, &processes, &is_root);
        if let Some(tree) = root.and_then(|root| trees.get_mut(&root)) {
            tree.cpu += duration(process.own_ticks + process.waited_ticks);
            tree.processes += u64::from(!process.zombie);
        }
    }
    trees
}

/// The root that a process is below. `/proc` is not read at one moment, so a chain of parents may be a circle: no
/// process has more ancestors than there are processes.
fn root_of(
    process: &Process,
    processes: &HashMap<u32, Process>,
    is_root: &HashSet<u32>,
) -> Option<u32> {
    let mut at = process;
    for _ in 0..processes.len() {
        if is_root.contains(&at.parent) {
            return Some(at.parent);
        }
        at = processes.get(&at.parent)?;
    }
    None
}

fn numbers() -> impl Iterator<Item = u32> {
    std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Reads a `stat` line. The name stands in parentheses and may hold anything, parentheses too.
fn parse(pid: u32, line: &[u8]) -> Option<Process> {
    let open = line.iter().position(|byte| *byte == b'(')?;
    let close = line.iter().rposition(|byte| *byte == b')')?;
    let name = String::from_utf8_lossy(line.get(open + 1..close)?).into_owned();
    let rest = std::str::from_utf8(line.get(close + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // Waited-for children's fields are signed (proc_pid_stat(5), fields 14 to 17).
    let ticks = |range: std::ops::Range<usize>| -> Option<u64> {
        fields.get(range)?.iter().map(|field| field.parse::<u64>().ok()).sum()
    };
    Some(Process {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        name,
        started: fields.get(19)?.parse().ok()?,
        own_ticks: ticks(11..13)?,
        waited_ticks: ticks(13..15)?,
        // A process whose first thread has ended looks like one while the others run on (field 20 counts them).
        zombie: matches!(*fields.first()?, "Z" | "X") && fields.get(17)?.parse::<u64>().ok()? <= 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_may_hold_parentheses() {
        let line = b"42 (a) b (c) S 7 42 42 0 -1 4194560 1 0 0 0 5 6 7 8 20 0 1 0 98765 0 0\n";
        let process = parse(42, line).unwrap();
        assert_eq!(
            process,
            Process {
                pid: 42,
                parent: 7,
                name: "a) b (c".to_owned(),
                started: 98765,
                own_ticks: 11,
                waited_ticks: 15,
                zombie: false
            }
        );
    }

    #[test]
    fn a_tree_is_what_is_below_its_root() {
        let mut shell = std::process::Command::new("sh")
            .args(["-c", "sleep 1000 & sleep 1000 & echo; wait"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Read::read_exact(shell.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        let own = std::process::id();
        let below = |root: u32| trees(&[root]).get(&root).map(|tree| tree.processes);
        assert_eq!(below(shell.id()), Some(2));
        assert!(below(own) >= Some(3));
        for process in descendants(shell.id()) {
            process.signal(Signal::KILL).unwrap();
        }
        shell.wait().unwrap();
        assert_eq!(below(u32::MAX), None);
    }

    #[test]
    fn a_child_is_found_and_signalled_and_its_number_is_not_trusted() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let found = descendants(std::process::id());
        let process = found.iter().find(|process| process.pid == child.id()).unwrap().clone();
        let stranger = Process { started: process.started + 1, ..process.clone() };
        assert_eq!(stranger.signal(Signal::KILL), Err(Errno::SRCH));
        assert_eq!(process.signal(Signal::KILL), Ok(()));
        child.wait().unwrap();
        assert_eq!(process.signal(Signal::KILL), Err(Errno::SRCH));
    }
}
