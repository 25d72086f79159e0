//! What is asked of a supervisor and answered by nothing: stops, sizes, ends of input.

use std::collections::{BTreeMap, BTreeSet};

use brattice_protocol::TaskId;

use crate::exec::message::ToSupervisor;

/// Messages that nobody waits for: at most one of a kind and task, so that asking again and again costs nothing.
#[derive(Debug, Default)]
pub(super) struct Short {
    pub(super) stops: BTreeMap<TaskId, String>,
    pub(super) notifies: BTreeMap<TaskId, (u64, u64)>,
    pub(super) inputs: BTreeSet<TaskId>,
    pub(super) sizes: BTreeMap<TaskId, (u16, u16)>,
    pub(super) close: bool,
}

impl Short {
    /// What there is to send, which is then no longer there.
    pub(super) fn take(&mut self) -> Vec<ToSupervisor> {
        let Short { stops, notifies, inputs, sizes, close } = std::mem::take(self);
        let stops = stops.into_iter().map(|(task, by)| ToSupervisor::Stop { task, by });
        let notifies = notifies.into_iter().map(|(task, (stdout, stderr))| ToSupervisor::Notify {
            task,
            stdout,
            stderr,
        });
        let inputs = inputs.into_iter().map(|task| ToSupervisor::CloseInput { task });
        let sizes =
            sizes.into_iter().map(|(task, (rows, cols))| ToSupervisor::Resize { task, rows, cols });
        let close = close.then_some(ToSupervisor::Close);
        stops.chain(notifies).chain(inputs).chain(sizes).chain(close).collect()
    }
}
