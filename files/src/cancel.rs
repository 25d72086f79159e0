//! The flag by which another thread stops what runs here.

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A shared flag. Whoever works looks at it between two steps, and at least every megabyte.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<AtomicBool>);

/// The flag was raised.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[error("cancelled")]
pub struct Cancelled;

impl Cancel {
    /// Raises the flag for good, in every clone.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// # Errors
    /// The flag is up.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.0.load(Ordering::Acquire) { Err(Cancelled) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_clone_sees_the_flag() {
        let flag = Cancel::default();
        let clone = flag.clone();
        assert_eq!(clone.check(), Ok(()));
        flag.cancel();
        assert_eq!(clone.check(), Err(Cancelled));
    }
}
