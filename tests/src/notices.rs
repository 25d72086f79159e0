//! What a connection is told without having asked, looked through for what a test waits for.

use std::cell::RefCell;

use brattice_client::{Client, Notice, Notifications};
use tokio::time::timeout;

use crate::session::RUNTIME;
use crate::until::PATIENCE;

/// The notices of one connection, in order.
pub(crate) struct Notices(RefCell<Notifications>);

impl Notices {
    /// Those that a client is told from now on.
    pub(crate) fn of(client: &Client) -> Notices {
        Notices(RefCell::new(client.notifications()))
    }

    /// The next one that is wanted; those before it are passed over.
    #[track_caller]
    pub(crate) fn next<T>(&self, what: &str, mut wanted: impl FnMut(Notice) -> Option<T>) -> T {
        let mut notifications = self.0.borrow_mut();
        let search = async {
            loop {
                let notice = notifications.next().await.expect("the connection goes on");
                if let Some(found) = wanted(notice) {
                    return found;
                }
            }
        };
        let found = RUNTIME.block_on(async { timeout(PATIENCE, search).await });
        found.unwrap_or_else(|_| panic!("waited in vain for {what}"))
    }
}
