//! How a task ended, put together from what its keeper and its spools tell.
//!
//! The order in which facts arrive at the keeper decides the cause: a program that ended before its stop began has ended by
//! itself. In the background the task is all that the program started, so there a stop after the program's end counts as long
//! as something of it was left.

use brattice_policy::sys::wait::{Exit, Usage};
use brattice_protocol::outcome::{Cause, ProcessFacts};

use super::task::Task;
use crate::exec::message::{ResumedTask, Spooled};
use crate::exec::spec::{LeftoverFate, Placement, TaskEnd};

/// Why a task is being stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StopCause {
    /// Its time is over.
    TimedOut,
    /// It has been silent for too long.
    Idle,
    /// Somebody asked.
    Asked { by: String },
}

/// How a task's keeper left.
pub(super) enum KeeperLeft {
    /// It said that nothing is left, or what could not be killed.
    Gone { usage: Usage, unkillable: Vec<ProcessFacts>, stopping: bool },
    /// It was killed; these could not be killed after it.
    Lost { unkillable: Vec<ProcessFacts> },
}

impl Task {
    /// How a daemon that did not start it is told of it; the spools are named by whoever hands them over.
    pub(super) fn resumed(&self, spools: Vec<Spooled>) -> ResumedTask {
        let (stdout, stderr) = self.bytes();
        let is_adopted =
            self.leftovers.as_ref().is_some_and(|left| left.fate == LeftoverFate::Adopted);
        ResumedTask {
            facts: self.facts.clone(),
            placement: self.placement,
            is_stopping: self.stop.is_some() || self.overdue_at.is_some(),
            returned: is_adopted.then(|| Box::new(self.returned())),
            stdout,
            stderr,
            spools,
            denials: self.denials(),
        }
    }

    /// Puts the end together from what is known.
    pub(super) fn finish(&self, left: KeeperLeft) -> TaskEnd {
        let (cause, reason) = self.cause(&left);
        let (after, unkillable) = match left {
            KeeperLeft::Gone { usage, unkillable, .. } => (usage, unkillable),
            KeeperLeft::Lost { unkillable } => (Usage::default(), unkillable),
        };
        let end = self.returned();
        TaskEnd {
            cause,
            reason,
            user: end.user + after.user,
            sys: end.sys + after.sys,
            max_rss: end.max_rss.max(after.max_rss),
            unkillable,
            ..end
        }
    }

    /// How the program ended, whatever goes on.
    pub(super) fn returned(&self) -> TaskEnd {
        let usage = self.ended.map_or(Usage::default(), |end| end.usage);
        let (exit_code, signal) = match self.ended.map(|end| end.exit) {
            Some(Exit::Code(code)) => (Some(code), None),
            Some(Exit::Signal(signal)) => (None, Some(signal)),
            None => (None, None),
        };
        TaskEnd {
            cause: if signal.is_some() { Cause::Signaled } else { Cause::Exited },
            exit_code,
            signal,
            reason: None,
            duration: self.ended.map_or_else(|| self.begun.elapsed(), |end| end.duration),
            user: usage.user,
            sys: usage.sys,
            max_rss: usage.max_rss,
            stdout: self.stdout.spool.end(),
            stderr: self.stderr.as_ref().map(|stream| stream.spool.end()),
            leftovers: self.leftovers.clone().filter(|left| left.count > 0),
            unkillable: Vec::new(),
            denials: self.denials(),
            git_changes: self.git.changes(),
            mode: self.facts.mode,
            layers: self.facts.layers.clone(),
        }
    }

    fn cause(&self, left: &KeeperLeft) -> (Cause, Option<String>) {
        if self.group.as_ref().is_some_and(|group| group.oom_kills() > 0) {
            return (Cause::OomKilled, None);
        }
        let lost = || (Cause::Lost, Some("the process that kept it was killed".to_owned()));
        let was_stopped = match (self.ended, left) {
            (None, KeeperLeft::Lost { .. }) => return lost(),
            // In the background what the program left is the task as well, and nobody saw how that ended.
            (Some(_), KeeperLeft::Lost { .. })
                if self.placement == Placement::Background && self.stop.is_none() =>
            {
                return lost();
            }
            (None, KeeperLeft::Gone { .. }) => true,
            (Some(end), _) if end.stopping => true,
            // In the background the end is that of all that the program left.
            (Some(_), KeeperLeft::Gone { stopping, .. }) => {
                *stopping && self.placement == Placement::Background
            }
            (Some(_), KeeperLeft::Lost { .. }) => self.placement == Placement::Background,
        };
        match (&self.stop, self.ended.map(|end| end.exit)) {
            (Some(StopCause::TimedOut), _) if was_stopped => (Cause::TimedOut, None),
            (Some(StopCause::Idle), _) if was_stopped => {
                let after = self.facts.idle_timeout.unwrap_or_default().as_millis();
                (Cause::TimedOut, Some(format!("no output for {after}ms")))
            }
            (Some(StopCause::Asked { by }), _) if was_stopped => (Cause::Killed, Some(by.clone())),
            (_, Some(Exit::Code(_))) => (Cause::Exited, None),
            (_, Some(Exit::Signal(_))) => (Cause::Signaled, None),
            (_, None) => lost(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use brattice_policy::layer::LayerReport;
    use brattice_policy::{LeftoverRule, Limits, Mode};
    use brattice_protocol::TaskId;
    use brattice_protocol::task::TaskKind;

    use super::*;
    use crate::exec::cgroup::Group;
    use crate::exec::channel::Channel;
    use crate::exec::message::ProgramEnd;
    use crate::exec::spec::{Stdin, Streams, TaskFacts, Timestamp};
    use crate::exec::supervisor::git::GitState;
    use crate::exec::supervisor::peer::Peer;
    use crate::exec::supervisor::spool::Spool;
    use crate::exec::supervisor::task::{Parts, StreamState};
    use crate::session::testing::Scratch;

    /// A task in a group whose files are ordinary ones.
    fn task(scratch: &Scratch) -> Task {
        for name in ["cgroup.procs", "cgroup.kill", "memory.events"] {
            scratch.file(name, "");
        }
        let facts = TaskFacts {
            task: TaskId::numbered(1),
            kind: TaskKind::Bash,
            title: "make".to_owned(),
            digest: None,
            cwd: None,
            stdin: Stdin::Null,
            streams: Streams::Merged,
            mode: Mode::ReadOnly,
            layers: Arc::new(LayerReport::default()),
            started: Timestamp(7),
            timeout: None,
            idle_timeout: None,
        };
        let (near, _far) = Channel::pair().unwrap();
        Task::new(Parts {
            facts,
            placement: Placement::Background,
            leftover_rule: LeftoverRule::Stop,
            record: None,
            mode: 1,
            keeper: Peer::new(near).unwrap(),
            group: Some(Group::over(scratch.path(""), &[], &Limits::default()).unwrap()),
            stdout: StreamState { pipe: None, spool: Spool::new(scratch.path("stdout"), 0) },
            stderr: None,
            stdin: None,
            grace: Duration::ZERO,
            git: GitState::default(),
        })
    }

    fn cause(task: &Task) -> (Cause, Option<i32>, Option<i32>) {
        let gone =
            KeeperLeft::Gone { usage: Usage::default(), unkillable: Vec::new(), stopping: false };
        let end = task.finish(gone);
        (end.cause, end.exit_code, end.signal)
    }

    #[test]
    fn t081_an_end_for_want_of_memory_is_no_random_137() {
        let scratch = Scratch::new();
        let mut task = task(&scratch);
        let (exit, usage) = (Exit::Signal(9), Usage::default());
        task.program_ended(ProgramEnd { exit, usage, duration: Duration::ZERO, stopping: false });
        assert_eq!(cause(&task), (Cause::Signaled, None, Some(9)));
        scratch.file("memory.events", "oom 0\noom_kill 0\n");
        assert_eq!(cause(&task), (Cause::Signaled, None, Some(9)));
        scratch.file("memory.events", "oom 1\noom_kill 2\n");
        assert_eq!(cause(&task), (Cause::OomKilled, None, Some(9)));
    }

    #[test]
    fn t081_nor_is_that_of_a_shell_that_told_its_programs_end() {
        let scratch = Scratch::new();
        let mut task = task(&scratch);
        let (exit, usage) = (Exit::Code(137), Usage::default());
        task.program_ended(ProgramEnd { exit, usage, duration: Duration::ZERO, stopping: false });
        assert_eq!(cause(&task), (Cause::Exited, Some(137), None));
        scratch.file("memory.events", "oom_kill 1\n");
        assert_eq!(cause(&task), (Cause::OomKilled, Some(137), None));
    }
}
