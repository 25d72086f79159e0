//! What running tasks have printed and what they use: CPU time from their control groups, where they have any, else from
//! `/proc`, as their processes.

use std::collections::HashMap;
use std::time::Instant;

use brattice_protocol::TaskId;

use super::reactor::Source;
use super::serve::Supervisor;
use super::task::Task;
use crate::exec::cgroup::Group;
use crate::exec::denials::Tally;
use crate::exec::message::FromSupervisor;
use crate::exec::process;
use crate::exec::spec::TaskUsage;

/// Tasks that one message tells of, so that it fits.
const TOLD_AT_ONCE: usize = 400;

/// What a daemon is told of a task that runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Told {
    /// Of standard output and error.
    pub(super) bytes: (u64, u64),
    pub(super) denied: Option<Tally>,
}

impl Task {
    /// The reader is told this now, and waits no more.
    pub(super) fn tell(&mut self, now: Instant) -> Told {
        self.reader_knows = None;
        self.told_at = Some(now);
        self.told.insert(self.to_tell()).clone()
    }

    /// Whether there is anything that the reader has not been told.
    pub(super) fn has_news(&self) -> bool {
        self.told.as_ref() != Some(&self.to_tell())
    }

    fn to_tell(&self) -> Told {
        Told { bytes: self.bytes(), denied: self.tally() }
    }
}

impl Supervisor {
    /// Tells how far a task's streams have grown, what is in its pipes included.
    pub(super) fn measure(&mut self, sequence: u64, task: &TaskId) {
        let idle = self.index_of(task).and_then(|index| {
            for source in [Source::Stdout(index), Source::Stderr(index)] {
                self.take_output(index, source);
            }
            let mode = self.tasks.get(&index)?.mode;
            self.drain_mode(mode);
            self.tell_denials();
            if self.tasks.get(&index)?.has_news() {
                self.tell(index, Instant::now());
            }
            self.tasks.get(&index)?.idle()
        });
        self.say(&FromSupervisor::Measured { sequence, idle }, Vec::new());
    }

    pub(super) fn inspect(&mut self, sequence: u64) {
        let keepers: Vec<u32> = self.tasks.values().filter_map(|task| task.keeper_pid).collect();
        let trees: HashMap<u32, process::Tree> = process::trees(&keepers);
        let usages: Vec<TaskUsage> = self
            .tasks
            .values()
            .map(|task| {
                let tree = task.keeper_pid.and_then(|keeper| trees.get(&keeper));
                let (stdout, stderr) = task.bytes();
                TaskUsage {
                    task: task.id().clone(),
                    stdout,
                    stderr,
                    idle: task.idle(),
                    cpu: task
                        .group
                        .as_ref()
                        .and_then(Group::cpu)
                        .or_else(|| tree.map(|tree| tree.cpu))
                        .unwrap_or_default(),
                    processes: tree.map_or(0, |tree| tree.processes),
                    denials: task.tally().map(|tally| tally.total),
                }
            })
            .collect();
        let mut parts = usages.chunks(TOLD_AT_ONCE).peekable();
        if parts.peek().is_none() {
            let message = FromSupervisor::Inspected { sequence, tasks: Vec::new(), more: false };
            return self.say(&message, Vec::new());
        }
        while let Some(part) = parts.next() {
            let (tasks, more) = (part.to_vec(), parts.peek().is_some());
            self.say(&FromSupervisor::Inspected { sequence, tasks, more }, Vec::new());
        }
    }
}
