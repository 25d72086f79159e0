//! The threads that receive calls. Each handles one call at a time; one that is about to wait for something slow makes
//! sure that another one receives meanwhile.
//!
//! A thread that panics takes the launcher with it: what it was about to answer nobody knows, and the supervisor stops a
//! mode that nobody observes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use brattice_policy::sys::listener::Listener;
use rustix::io::Errno;

use super::Judge;

/// Threads at the start: a call that comes while another is looked into need not wait.
const AT_FIRST: usize = 4;

/// Most threads: as many slow calls of a mode at once, less one.
const MOST: usize = 128;

/// Threads that wait for a call and are kept.
const MOST_IDLE: usize = 4;

/// The threads' common state.
pub(super) struct Receivers {
    judge: Judge,
    listener: Listener,
    /// Threads that wait for a call.
    idle: AtomicUsize,
    all: AtomicUsize,
}

/// Lets a call wait.
#[derive(Clone, Copy)]
pub(super) struct Cover<'a>(&'a Arc<Receivers>);

impl Cover<'_> {
    /// Before something that may take long: sees to it that calls go on to be received.
    ///
    /// # Errors
    /// `EAGAIN`: too many calls wait already, or no thread can be made.
    pub(super) fn keep_receiving(self) -> Result<(), Errno> {
        if self.0.idle.load(Ordering::SeqCst) > 0 {
            return Ok(());
        }
        if self.0.all.load(Ordering::SeqCst) >= MOST {
            return Err(Errno::AGAIN);
        }
        spawn(self.0).map_err(|_| Errno::AGAIN)
    }
}

/// Starts receiving.
///
/// # Errors
/// No thread can be made.
pub(super) fn start(judge: Judge, listener: Listener) -> std::io::Result<()> {
    let (idle, all) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let receivers = Arc::new(Receivers { judge, listener, idle, all });
    (0..AT_FIRST).try_for_each(|_| spawn(&receivers))
}

fn spawn(receivers: &Arc<Receivers>) -> std::io::Result<()> {
    let own = Arc::clone(receivers);
    receivers.all.fetch_add(1, Ordering::SeqCst);
    let spawned = thread::Builder::new().name("observer".to_owned()).spawn(move || receive(&own));
    if spawned.is_err() {
        receivers.all.fetch_sub(1, Ordering::SeqCst);
    }
    spawned.map(drop)
}

/// Ends the process when its thread unwinds.
struct Fatal;

impl Drop for Fatal {
    fn drop(&mut self) {
        if thread::panicking() {
            std::process::abort();
        }
    }
}

fn receive(receivers: &Arc<Receivers>) {
    let _fatal = Fatal;
    loop {
        let waiting = receivers.idle.fetch_add(1, Ordering::SeqCst);
        if waiting >= MOST_IDLE {
            break;
        }
        let received = receivers.listener.receive();
        receivers.idle.fetch_sub(1, Ordering::SeqCst);
        match received {
            Ok(Some(notification)) => {
                receivers.judge.answer(Cover(receivers), notification);
            }
            // Nothing more can come, or nothing more can be heard: whoever calls is refused by the kernel once the last
            // thread is gone.
            Ok(None) | Err(_) => {
                receivers.all.fetch_sub(1, Ordering::SeqCst);
                return;
            }
        }
    }
    receivers.idle.fetch_sub(1, Ordering::SeqCst);
    receivers.all.fetch_sub(1, Ordering::SeqCst);
}
