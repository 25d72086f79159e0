//! The threads that receive calls. One of them waits in the kernel at a time: it wakes all that do so at every call, and what
//! a call costs is the waking.
//!
//! ```text
//!           the post is free                  a call
//!  resting ─────────────────► on post ───────────────────► answering
//!     ▲    (called, or made)     ▲     the post is free       │
//!     │                          └──── nobody took it ◄───────┤
//!     └───────────────────────────────── somebody did ◄───────┘
//! ```
//!
//! Who has received takes the post again after the answer, unless another was called to it meanwhile: because more calls
//! are queued, because this one may wait for something slow ([`Cover`]), or because it has already taken long, which the
//! watch finds out. The watch looks only while calls come.
//!
//! A thread that panics takes the launcher with it: what it was about to answer nobody knows, and the supervisor stops a
//! mode that nobody observes.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use brattice_policy::sys::listener::Listener;
use rustix::io::Errno;

use super::Judge;

/// Threads at the start: a call that comes while another is looked into need not wait for one to be made.
const AT_FIRST: usize = 4;

/// Most threads: as many slow calls of a mode at once, less one.
const MOST: usize = 128;

/// Threads that rest and are kept.
const MOST_RESTING: usize = 3;

/// How long a call may be looked into before another thread is called to the post: longer than any that waits for
/// nothing.
const LONG: Duration = Duration::from_millis(20);

/// The threads' common state.
pub(super) struct Receivers {
    judge: Judge,
    listener: Listener,
    crew: Mutex<Crew>,
    /// Somebody is called to the post, or all is over.
    called: Condvar,
    /// Calls come again, or all is over.
    stirred: Condvar,
}

#[derive(Default)]
struct Crew {
    /// Whether a thread waits in the kernel.
    post: Post,
    resting: usize,
    all: usize,
    /// Calls that were received.
    received: u64,
    watch: Watch,
    /// Whether nothing more can be received.
    is_over: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Post {
    #[default]
    Free,
    Taken,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Watch {
    #[default]
    Asleep,
    Awake,
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
        self.0.call_another()
    }
}

/// Starts receiving.
///
/// # Errors
/// No thread can be made.
pub(super) fn start(judge: Judge, listener: Listener) -> std::io::Result<()> {
    let (crew, called, stirred) = (Mutex::default(), Condvar::new(), Condvar::new());
    let receivers = Arc::new(Receivers { judge, listener, crew, called, stirred });
    let watched = receivers.clone();
    thread::Builder::new().name("watch".to_owned()).spawn(move || watched.watch())?;
    (0..AT_FIRST).try_for_each(|_| spawn(&receivers, &mut receivers.crew()))
}

fn spawn(receivers: &Arc<Receivers>, crew: &mut Crew) -> std::io::Result<()> {
    let own = Arc::clone(receivers);
    let thread = thread::Builder::new().name("observer".to_owned());
    thread.spawn(move || receive(&own))?;
    crew.all += 1;
    Ok(())
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
    while receivers.take_post() {
        match receivers.listener.receive() {
            Ok(Some(notification)) => {
                receivers.leave_post();
                if receivers.listener.has_more() {
                    // Where there can be no other thread, this one answers them one by one.
                    receivers.call_another().ok();
                }
                receivers.judge.answer(Cover(receivers), notification);
            }
            // Nothing more can come, or nothing more can be heard: whoever calls is refused by the kernel once the last
            // thread is gone.
            Ok(None) | Err(_) => return receivers.end(),
        }
    }
}

impl Receivers {
    fn crew(&self) -> MutexGuard<'_, Crew> {
        self.crew.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the post once it is free; rests until then. False where this thread is not needed any more.
    fn take_post(&self) -> bool {
        let mut crew = self.crew();
        while crew.post == Post::Taken && !crew.is_over {
            if crew.resting >= MOST_RESTING {
                crew.all -= 1;
                return false;
            }
            crew.resting += 1;
            crew = self.called.wait(crew).unwrap_or_else(PoisonError::into_inner);
            crew.resting -= 1;
        }
        crew.post = Post::Taken;
        !crew.is_over
    }

    /// Frees the post after a call was received. Nobody is called to it.
    fn leave_post(&self) {
        let mut crew = self.crew();
        crew.post = Post::Free;
        crew.received += 1;
        if crew.watch == Watch::Asleep {
            crew.watch = Watch::Awake;
            self.stirred.notify_one();
        }
    }

    /// Sees to it that a thread is on post, or on its way there.
    fn call_another(self: &Arc<Self>) -> Result<(), Errno> {
        let mut crew = self.crew();
        if crew.post == Post::Taken {
            return Ok(());
        }
        if crew.resting > 0 {
            self.called.notify_one();
            return Ok(());
        }
        if crew.all >= MOST {
            return Err(Errno::AGAIN);
        }
        spawn(self, &mut crew).map_err(|_| Errno::AGAIN)
    }

    /// Nothing more is received: all threads end, and with the last of them the listener closes.
    fn end(&self) {
        self.crew().is_over = true;
        self.called.notify_all();
        self.stirred.notify_all();
    }

    /// Calls another thread to the post while one call takes long. It sleeps when no calls come.
    fn watch(self: Arc<Self>) {
        let _fatal = Fatal;
        let mut crew = self.crew();
        while !crew.is_over {
            let before = crew.received;
            crew = match crew.watch {
                Watch::Asleep => self.stirred.wait(crew).unwrap_or_else(PoisonError::into_inner),
                Watch::Awake => {
                    let waited = self.stirred.wait_timeout(crew, LONG);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
            if crew.received != before {
                continue;
            }
            match crew.post {
                Post::Taken => crew.watch = Watch::Asleep,
                Post::Free => {
                    drop(crew);
                    // Where there can be no other thread now, there may be one at the next look.
                    self.call_another().ok();
                    crew = self.crew();
                }
            }
        }
    }
}
