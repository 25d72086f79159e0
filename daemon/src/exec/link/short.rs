//! What is asked of a supervisor and answered by nothing: stops, sizes, ends of input.

use std::collections::{BTreeMap, BTreeSet};

use brattice_protocol::TaskId;
use tokio::sync::oneshot;

use crate::exec::message::ToSupervisor;
use crate::exec::spec::Urgency;

/// Messages that nobody waits for: at most one of a kind and task, so that asking again and again costs nothing.
#[derive(Debug, Default)]
pub(super) struct Short {
    stops: BTreeMap<TaskId, Stop>,
    pub(super) notifies: BTreeMap<TaskId, (u64, u64)>,
    pub(super) inputs: BTreeSet<TaskId>,
    pub(super) sizes: BTreeMap<TaskId, (u16, u16)>,
    pub(super) close: bool,
}

/// A stop that was asked for.
#[derive(Debug)]
struct Stop {
    by: String,
    urgency: Urgency,
    /// Whoever waits until it was handed over.
    askers: Vec<oneshot::Sender<()>>,
}

/// Whether something that was asked is out of this daemon's hands.
#[derive(Debug)]
pub(crate) struct Handing(Option<oneshot::Receiver<()>>);

/// It will not be handed over: the supervisor is gone, or left to the next daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotHanded;

impl Handing {
    /// There was nothing to ask.
    pub(crate) fn nothing() -> Self {
        Handing(None)
    }

    /// It is the next daemon's to be asked.
    pub(super) fn refused() -> Self {
        Handing(Some(oneshot::channel().1))
    }

    /// Returns once it stands in the supervisor's socket: from then on it is heard whatever becomes of this daemon.
    ///
    /// # Errors
    /// See [`NotHanded`].
    pub(crate) async fn done(self) -> Result<(), NotHanded> {
        match self.0 {
            Some(handed) => handed.await.map_err(|_| NotHanded),
            None => Ok(()),
        }
    }
}

/// A message, and whoever waits until it was handed over.
pub(super) type Said = (ToSupervisor, Vec<oneshot::Sender<()>>);

impl Short {
    /// Asks for a task's end. The first reason counts, and the greatest urgency.
    pub(super) fn stop(&mut self, task: &TaskId, by: String, urgency: Urgency) -> Handing {
        let (asker, handed) = oneshot::channel();
        let stop = self.stops.entry(task.clone());
        let stop = stop.or_insert(Stop { by, urgency, askers: Vec::new() });
        stop.urgency = urgency.max(stop.urgency);
        stop.askers.push(asker);
        Handing(Some(handed))
    }

    /// What there is to send, which is then no longer there.
    pub(super) fn take(&mut self) -> Vec<Said> {
        let Short { stops, notifies, inputs, sizes, close } = std::mem::take(self);
        let stops = stops.into_iter().map(|(task, Stop { by, urgency, askers })| {
            (ToSupervisor::Stop { task, by, urgency }, askers)
        });
        let notifies = notifies.into_iter().map(|(task, (stdout, stderr))| ToSupervisor::Notify {
            task,
            stdout,
            stderr,
        });
        let inputs = inputs.into_iter().map(|task| ToSupervisor::CloseInput { task });
        let sizes =
            sizes.into_iter().map(|(task, (rows, cols))| ToSupervisor::Resize { task, rows, cols });
        let close = close.then_some(ToSupervisor::Close);
        let others = notifies.chain(inputs).chain(sizes).chain(close);
        stops.chain(others.map(|message| (message, Vec::new()))).collect()
    }
}
