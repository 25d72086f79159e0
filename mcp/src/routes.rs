//! Which call of this bridge something is about that the daemon tells or asks: output to show, and what a person is asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use brattice_client::protocol::CallId;
use brattice_client::protocol::tools::CallOutput;
use tokio::sync::mpsc;

use crate::question::Question;

/// What waits for a call to look at it. Output that is one too many is dropped, a question declined.
const CAPACITY: usize = 32;

/// Something about a call.
#[derive(Debug)]
pub(crate) enum CallEvent {
    /// It printed something.
    Output(CallOutput),
    /// A person is asked about it.
    Question(Box<Question>),
}

/// The calls that run.
#[derive(Debug, Default)]
pub(crate) struct Routes(Mutex<HashMap<CallId, mpsc::Sender<CallEvent>>>);

/// What comes for one call, as long as this is held.
#[derive(Debug)]
pub(crate) struct Route {
    call: CallId,
    events: mpsc::Receiver<CallEvent>,
    routes: Arc<Routes>,
}

impl Routes {
    /// What comes for this call from now on.
    pub(crate) fn add(self: &Arc<Self>, call: CallId) -> Route {
        let (sender, events) = mpsc::channel(CAPACITY);
        self.calls().insert(call.clone(), sender);
        Route { call, events, routes: self.clone() }
    }

    /// The calls that run.
    pub(crate) fn running(&self) -> Vec<CallId> {
        self.calls().keys().cloned().collect()
    }

    /// Passes output on.
    pub(crate) fn output(&self, output: CallOutput) {
        if let Some(events) = self.calls().get(&output.call) {
            // Who reads too slowly sees a later end of it.
            events.try_send(CallEvent::Output(output)).ok();
        }
    }

    /// Passes a question on. Gives it back where its call is unknown here, or has too much to look at.
    pub(crate) fn question(&self, question: Question) -> Result<(), Box<Question>> {
        let events = self.calls().get(question.call()).cloned();
        let question = Box::new(question);
        match events.as_ref().map(mpsc::Sender::try_reserve) {
            Some(Ok(place)) => {
                place.send(CallEvent::Question(question));
                Ok(())
            }
            Some(Err(_)) | None => Err(question),
        }
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<CallId, mpsc::Sender<CallEvent>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Route {
    /// The call.
    pub(crate) fn call(&self) -> &CallId {
        &self.call
    }

    /// The next of it.
    pub(crate) async fn next(&mut self) -> CallEvent {
        match self.events.recv().await {
            Some(event) => event,
            // Its sender goes with this very route.
            None => std::future::pending().await,
        }
    }
}

impl Drop for Route {
    fn drop(&mut self) {
        self.routes.calls().remove(&self.call);
    }
}
