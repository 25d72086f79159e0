//! `structuredContent` of a command from what its supervisor tells. The words for the same facts are in `closing`.

use std::time::Duration;

use brattice_policy::Mode;
use brattice_policy::layer::{Layer, LayerReport, LayerState};
use brattice_protocol::TaskId;
use brattice_protocol::outcome::{CommandOutcome, LeftRunning, SandboxFacts, StreamOutcome};
use brattice_protocol::signal::signal_name;

use super::decode::Excerpt;
use super::denied::facts;
use crate::exec::spec::{LeftoverFate, StreamEnd, TaskEnd};

/// How many processes are named.
pub(super) const NAMED_PROCESSES: usize = 16;

/// The facts about a task whose output no text shows: for clients that read it with `task.output`.
pub(crate) fn unshown_outcome(task: &TaskId, end: &TaskEnd) -> CommandOutcome {
    let nothing = Excerpt::default();
    command_outcome(task, end, &nothing, &nothing)
}

/// The facts about a command that never was a task.
pub(super) fn taskless_outcome(end: &TaskEnd) -> CommandOutcome {
    let nothing = Excerpt::default();
    outcome(end, &nothing, &nothing)
}

/// The facts about a task of which a text shows these tails.
pub(super) fn command_outcome(
    task: &TaskId,
    end: &TaskEnd,
    stdout: &Excerpt,
    stderr: &Excerpt,
) -> CommandOutcome {
    let left_running = left_running(task, end);
    CommandOutcome { task: Some(task.clone()), left_running, ..outcome(end, stdout, stderr) }
}

fn outcome(end: &TaskEnd, stdout: &Excerpt, stderr: &Excerpt) -> CommandOutcome {
    let denials = end.denials.as_ref();
    CommandOutcome {
        cause: end.cause,
        exit_code: end.exit_code,
        signal: end.signal.map(|number| signal_name(number).into_owned()),
        reason: end.reason.clone(),
        duration_ms: milliseconds(end.duration),
        user_ms: milliseconds(end.user),
        sys_ms: milliseconds(end.sys),
        max_rss_bytes: end.max_rss,
        stdout: stream_outcome(&end.stdout, stdout),
        stderr: end.stderr.as_ref().map(|end| stream_outcome(end, stderr)),
        denials: denials.map_or_else(Vec::new, |denials| facts(&denials.records)),
        denials_total: denials.map(|denials| denials.total),
        denials_ambient: denials.map_or(0, |denials| denials.ambient),
        unobserved: denials.map(|denials| denials.unobserved),
        git_changes: end.git_changes.clone(),
        sandbox: sandbox_facts(end.mode, &end.layers),
        task: None,
        left_running: None,
        escalated_from: None,
        approval_required: None,
    }
}

/// How something was confined.
pub(super) fn sandbox_facts(mode: Mode, layers: &LayerReport) -> SandboxFacts {
    SandboxFacts {
        mode,
        landlock_abi: layers.landlock_abi,
        layers: layers.layers.iter().map(layer).collect(),
    }
}

/// A layer as a result tells it. Why a machine has only part of one, or none, is the same for every command and told by
/// `hello` and `session.open`; what a command could not run for want of is told here as well.
fn layer(layer: &Layer) -> Layer {
    let reason = layer.reason.as_ref().filter(|_| layer.state == LayerState::Missing);
    Layer { name: layer.name, state: layer.state, reason: reason.cloned() }
}

/// A duration on the wire.
pub(super) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn stream_outcome(end: &StreamEnd, shown: &Excerpt) -> StreamOutcome {
    let is_whole = shown.from == 0 && shown.to == end.bytes;
    let file = if is_whole { None } else { end.file.as_ref() };
    StreamOutcome {
        bytes: end.bytes,
        shown: [shown.from, shown.to],
        file: file.map(|path| path.to_string_lossy().into_owned()),
        dropped: end.dropped.1.saturating_sub(end.dropped.0),
        lost: end.lost.clone(),
        invalid_utf8: shown.invalid,
    }
}

/// What the shell left behind. What could not be stopped outweighs what was.
fn left_running(task: &TaskId, end: &TaskEnd) -> Option<LeftRunning> {
    let told = |task, stopped, processes: &[_], count| LeftRunning {
        task,
        stopped,
        processes: processes.iter().take(NAMED_PROCESSES).cloned().collect(),
        count,
    };
    if !end.unkillable.is_empty() {
        return Some(told(None, Some(false), &end.unkillable, end.unkillable.len() as u64));
    }
    let left = end.leftovers.as_ref().filter(|leftovers| leftovers.count > 0)?;
    Some(match left.fate {
        LeftoverFate::Stopped => told(None, Some(true), &left.processes, left.count),
        LeftoverFate::Adopted => told(Some(task.clone()), None, &left.processes, left.count),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use brattice_policy::layer::LayerName;

    #[test]
    fn only_a_missing_layer_says_why_in_a_result() {
        let told = |state| layer(&Layer::with(LayerName::Landlock, state, "why")).reason;
        assert_eq!(told(LayerState::Missing).as_deref(), Some("why"));
        assert_eq!([LayerState::Off, LayerState::Partial].map(told), [None, None]);
    }
}
