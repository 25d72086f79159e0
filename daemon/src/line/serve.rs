//! The worker's side of the line: calls from the daemon, a bounded number at a time, each on the thread that has heard it.
//!
//! ```text
//!  waiting ── the socket has something ──► hearing ── a call ──► the next one may hear; the call is done here ──► waiting, or gone
//! ```
//!
//! States: *serving* → *over*, when the daemon's end of the socket closes. It holds nothing between calls. There is always a
//! thread that waits, so that each call can be withdrawn, and one at most that hears: the socket is armed for one event
//! (epoll(7), `EPOLLONESHOT`), and again once a message was read. So the kernel picks who hears next, and no thread has to
//! wake another one before its own work.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use brattice_policy::sys::signal;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::io::Errno;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::frame;
use super::message::ToWorker;

/// What a worker does.
pub(crate) trait Work: Send + Sync + 'static {
    /// What it is asked.
    type Request: DeserializeOwned + Send;
    /// What it answers.
    type Answer: Serialize;
    /// What stops a call.
    type Flag: Flag;

    /// Calls that are worked on at the same time; the next one waits.
    const MOST_CALLS: usize;

    /// Does what is asked, or next to nothing once the flag is raised.
    fn answer(&self, request: Self::Request, flag: &Self::Flag) -> Self::Answer;

    /// The answer where doing it failed in a way that it should not.
    fn broken() -> Self::Answer;
}

/// Raised, it stops a call. Clones are the same one.
pub(crate) trait Flag: Clone + Default + Send + Sync {
    /// Raises it.
    fn raise(&self);

    /// Whether it is.
    fn is_raised(&self) -> bool;
}

/// Threads that wait, and are kept.
const MOST_IDLE: usize = 2;

/// That the socket has something, or ends.
const HEAR: EventFlags = EventFlags::IN.union(EventFlags::ONESHOT);

/// What the threads share.
struct Shared<W: Work> {
    work: W,
    calls: Mutex<Calls<W::Flag>>,
    /// One of them ended, or was withdrawn.
    changed: Condvar,
    /// None comes any more. Apart from `changed`, so that no thread is woken for each call's end.
    over: Condvar,
    /// Read by whoever hears.
    socket: UnixStream,
    /// Tells one thread that the socket has something.
    armed: OwnedFd,
    /// Threads that wait for that.
    idle: AtomicUsize,
    answers: Mutex<UnixStream>,
}

/// The calls that have come and are not answered.
struct Calls<F> {
    /// Each with what stops it.
    flags: HashMap<u64, F>,
    /// How many are being worked on.
    working: usize,
    /// Whether none comes any more.
    is_over: bool,
}

/// A call that was heard.
struct Call<W: Work> {
    id: u64,
    request: W::Request,
    flag: W::Flag,
}

/// Serves until the daemon's end closes; the socket is standard input. It ends by that, not by signals: what a call has begun
/// it undoes, for which the grace between SIGTERM and SIGKILL is there.
pub(crate) fn serve(work: impl Work) -> ExitCode {
    if signal::block_all().is_err() {
        return ExitCode::FAILURE;
    }
    match run(work) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn run(work: impl Work) -> io::Result<()> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let answers = Mutex::new(socket.try_clone()?);
    let calls = Calls { flags: HashMap::new(), working: 0, is_over: false };
    let (calls, changed, over) = (Mutex::new(calls), Condvar::new(), Condvar::new());
    let armed = epoll::create(CreateFlags::CLOEXEC)?;
    epoll::add(&armed, &socket, EventData::new_u64(0), HEAR)?;
    let idle = AtomicUsize::new(0);
    let shared = Arc::new(Shared { work, calls, changed, over, socket, armed, idle, answers });
    spawn(&shared)?;
    let over = shared.over.wait_while(lock(&shared.calls), |calls| !calls.is_over);
    drop(over.unwrap_or_else(PoisonError::into_inner));
    // Nobody hears the answers any more; what a call has begun it undoes.
    shared.withdraw_all();
    Ok(())
}

fn spawn<W: Work>(shared: &Arc<Shared<W>>) -> io::Result<()> {
    let own = shared.clone();
    thread::Builder::new().name("call".to_owned()).spawn(move || hear(&own)).map(drop)
}

/// Hears and works in turns, as long as it is needed.
fn hear<W: Work>(shared: &Arc<Shared<W>>) {
    while shared.idle.fetch_update(Ordering::SeqCst, Ordering::SeqCst, one_more).is_ok() {
        let Ok(Some(call)) = shared.next() else { return shared.end() };
        let is_heard = shared.idle.load(Ordering::SeqCst) > 0 || spawn(shared).is_ok();
        if shared.arm().is_err() {
            return shared.end();
        }
        match is_heard {
            true => shared.work(call),
            // Where no other thread can be had this one hears on.
            false => shared.tell(call.id, W::broken()),
        }
    }
}

/// Counts a thread among those that wait, unless there are enough of them: one that leaves was never among them.
fn one_more(idle: usize) -> Option<usize> {
    (idle < MOST_IDLE).then_some(idle + 1)
}

impl<W: Work> Shared<W> {
    /// Waits for the next call, and does not arm the socket again. `None` once the daemon's end is closed.
    ///
    /// # Errors
    /// It says what nobody understands, or there is no waiting for it.
    fn next(&self) -> io::Result<Option<Call<W>>> {
        loop {
            let waited = self.wait();
            self.idle.fetch_sub(1, Ordering::SeqCst);
            waited?;
            match frame::receive::<ToWorker<W::Request>>(&mut &self.socket)? {
                Some(ToWorker::Cancel { id }) => self.withdraw(id),
                Some(ToWorker::Call { id, request }) => {
                    let flag = lock(&self.calls).flags.entry(id).or_default().clone();
                    return Ok(Some(Call { id, request, flag }));
                }
                None => return Ok(None),
            }
            self.idle.fetch_add(1, Ordering::SeqCst);
            self.arm()?;
        }
    }

    fn wait(&self) -> io::Result<()> {
        let mut events = Vec::with_capacity(1);
        loop {
            match epoll::wait(&self.armed, spare_capacity(&mut events), None) {
                Ok(0) | Err(Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    fn arm(&self) -> io::Result<()> {
        Ok(epoll::modify(&self.armed, &self.socket, EventData::new_u64(0), HEAR)?)
    }

    fn end(&self) {
        lock(&self.calls).is_over = true;
        self.over.notify_all();
    }

    /// Works on a call once there is room, or at once where it was withdrawn: it then does next to nothing.
    fn work(&self, Call { id, request, flag }: Call<W>) {
        let waits =
            |calls: &mut Calls<W::Flag>| calls.working >= W::MOST_CALLS && !flag.is_raised();
        let calls = self.changed.wait_while(lock(&self.calls), waits);
        calls.unwrap_or_else(PoisonError::into_inner).working += 1;
        let answer = catch_unwind(AssertUnwindSafe(|| self.work.answer(request, &flag)));
        lock(&self.calls).working -= 1;
        self.tell(id, answer.unwrap_or_else(|_| W::broken()));
    }

    fn tell(&self, id: u64, answer: W::Answer) {
        let told = frame::frame(&(id, answer)).or_else(|_| frame::frame(&(id, W::broken())));
        if let Ok(told) = told {
            // A daemon that is gone is seen by the thread that reads.
            lock(&self.answers).write_all(&told).ok();
        }
        lock(&self.calls).flags.remove(&id);
        self.changed.notify_all();
    }

    fn withdraw(&self, id: u64) {
        if let Some(flag) = lock(&self.calls).flags.get(&id) {
            flag.raise();
        }
        self.changed.notify_all();
    }

    /// Withdraws all, and waits until none is left.
    fn withdraw_all(&self) {
        let calls = lock(&self.calls);
        calls.flags.values().for_each(Flag::raise);
        self.changed.notify_all();
        let ended = self.changed.wait_while(calls, |calls| !calls.flags.is_empty());
        drop(ended.unwrap_or_else(PoisonError::into_inner));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
