//! The sessions whose supervisors were killed.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// Known to whoever kills them and to whoever judges what is told of their tasks. Clones are the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hits(Arc<Mutex<BTreeSet<String>>>);

impl Hits {
    /// The supervisor of this session is about to be killed.
    pub(crate) fn add(&self, session: &str) {
        self.0.lock().unwrap().insert(session.to_owned());
    }

    /// Whether it was.
    pub(crate) fn contains(&self, session: &str) -> bool {
        self.0.lock().unwrap().contains(session)
    }
}
