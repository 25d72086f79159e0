//! A request to end a search early, which any thread may make.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ends a search when it is asked to. Clones are the same request; once made it stays.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// A request that was not made yet.
    pub fn new() -> Self {
        Cancel::default()
    }

    /// Makes the request. What runs looks often enough to end within 50 ms, whatever the files; only a pattern whose
    /// single step over one block of a file takes longer can delay it.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was made.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
