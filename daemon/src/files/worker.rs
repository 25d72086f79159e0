//! The worker role: calls from the daemon, a bounded number at a time, each on the thread that has heard it.
//!
//! ```text
//!  waiting for its turn ──► hearing ──a call──► the next one hears; the call is done here ──► waiting for its turn, or gone
//! ```
//!
//! States: *serving* → *over*, when the daemon's end of the socket closes. It holds nothing between calls. There is always a
//! thread that hears, so that each call can be withdrawn.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use brattice_files::{
    self as files, Cancel, Context, EditFault, Errno, Fault, FaultKind, FileFault, Operation,
};
use brattice_policy::sys::signal;
use brattice_search as search;
use rustix::fs::{Access, AtFlags, CWD};

use super::frame;
use super::message::{
    Answer, Barrier, Manner, QueryFault, ReadFile, Refused, Request, Standing, Target, ToWorker,
};

/// Calls that are worked on at the same time; the next one waits.
const MOST_CALLS: usize = 16;

/// Threads that wait for their turn to hear, and are kept.
const MOST_IDLE: usize = 1;

/// How long another writer of the same folder is waited for.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// What the threads share.
struct Shared {
    calls: Mutex<Calls>,
    /// One of them ended, or was withdrawn.
    changed: Condvar,
    /// Whoever has it hears.
    socket: Mutex<UnixStream>,
    /// Threads that wait for it.
    idle: AtomicUsize,
    answers: Mutex<UnixStream>,
}

/// The calls that have come and are not answered.
#[derive(Default)]
struct Calls {
    /// Each with what stops it.
    flags: HashMap<u64, Flags>,
    /// How many are being worked on.
    working: usize,
    /// Whether none comes any more.
    is_over: bool,
}

/// A call that was heard.
struct Call {
    id: u64,
    request: Request,
    flags: Flags,
}

/// What stops a call: each engine has a flag of its own kind.
#[derive(Clone, Default)]
struct Flags {
    files: Cancel,
    search: search::Cancel,
}

/// Runs the worker role; its socket is standard input. It ends by that, not by signals: what a call has begun it undoes, for
/// which the grace between SIGTERM and SIGKILL is there.
pub(crate) fn main() -> ExitCode {
    if signal::block_all().is_err() {
        return ExitCode::FAILURE;
    }
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve() -> io::Result<()> {
    let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let answers = Mutex::new(socket.try_clone()?);
    let (calls, changed) = (Mutex::default(), Condvar::new());
    let (socket, idle) = (Mutex::new(socket), AtomicUsize::new(0));
    let shared = Arc::new(Shared { calls, changed, socket, idle, answers });
    spawn(&shared)?;
    let over = shared.changed.wait_while(lock(&shared.calls), |calls| !calls.is_over);
    drop(over.unwrap_or_else(PoisonError::into_inner));
    // Nobody hears the answers any more; what a call has begun it undoes.
    shared.withdraw_all();
    Ok(())
}

fn spawn(shared: &Arc<Shared>) -> io::Result<()> {
    let own = shared.clone();
    thread::Builder::new().name("call".to_owned()).spawn(move || hear(&own)).map(drop)
}

/// Hears and works in turns, as long as it is needed.
fn hear(shared: &Arc<Shared>) {
    while shared.idle.fetch_add(1, Ordering::SeqCst) <= MOST_IDLE {
        let mut socket = lock(&shared.socket);
        shared.idle.fetch_sub(1, Ordering::SeqCst);
        let Some(call) = shared.next(&mut socket) else {
            lock(&shared.calls).is_over = true;
            return shared.changed.notify_all();
        };
        let is_heard = shared.idle.load(Ordering::SeqCst) > 0 || spawn(shared).is_ok();
        drop(socket);
        match is_heard {
            true => shared.work(call),
            // Where no other thread can be had this one hears on.
            false => shared.tell(call.id, Answer::Broken),
        }
    }
    shared.idle.fetch_sub(1, Ordering::SeqCst);
}

impl Flags {
    fn raise(&self) {
        self.files.cancel();
        self.search.cancel();
    }

    fn is_raised(&self) -> bool {
        self.search.is_cancelled()
    }
}

impl Shared {
    /// The next call. `None` once the daemon's end is closed, or says what nobody understands.
    fn next(&self, socket: &mut UnixStream) -> Option<Call> {
        loop {
            match frame::receive::<ToWorker>(socket) {
                Ok(Some(ToWorker::Cancel { id })) => self.withdraw(id),
                Ok(Some(ToWorker::Call { id, request })) => {
                    let flags = lock(&self.calls).flags.entry(id).or_default().clone();
                    return Some(Call { id, request, flags });
                }
                Ok(None) | Err(_) => return None,
            }
        }
    }

    /// Works on a call once there is room, or at once where it was withdrawn: it then does next to nothing.
    fn work(&self, Call { id, request, flags }: Call) {
        let waits = |calls: &mut Calls| calls.working >= MOST_CALLS && !flags.is_raised();
        let calls = self.changed.wait_while(lock(&self.calls), waits);
        calls.unwrap_or_else(PoisonError::into_inner).working += 1;
        let answer = catch_unwind(AssertUnwindSafe(|| answer(request, &flags)));
        lock(&self.calls).working -= 1;
        self.tell(id, answer.unwrap_or(Answer::Broken));
    }

    fn tell(&self, id: u64, answer: Answer) {
        let told = frame::frame(&(id, answer)).or_else(|_| frame::frame(&(id, Answer::Broken)));
        if let Ok(told) = told {
            // A daemon that is gone is seen by the thread that reads.
            lock(&self.answers).write_all(&told).ok();
        }
        lock(&self.calls).flags.remove(&id);
        self.changed.notify_all();
    }

    fn withdraw(&self, id: u64) {
        if let Some(flags) = lock(&self.calls).flags.get(&id) {
            flags.raise();
        }
        self.changed.notify_all();
    }

    /// Withdraws all, and waits until none is left.
    fn withdraw_all(&self) {
        let calls = lock(&self.calls);
        calls.flags.values().for_each(Flags::raise);
        self.changed.notify_all();
        let ended = self.changed.wait_while(calls, |calls| !calls.flags.is_empty());
        drop(ended.unwrap_or_else(PoisonError::into_inner));
    }
}

fn answer(request: Request, flags: &Flags) -> Answer {
    match request {
        Request::Recover { journal } => Answer::Recovered(recover(&journal)),
        Request::Find { paths } => Answer::Found(paths.iter().map(|path| find(path)).collect()),
        Request::Read { path, window, caps } => {
            let reading = files::read(&path, window, caps, &flags.files);
            let read = |reading| Box::new(ReadFile { target: find(&path).ok(), reading });
            Answer::Read(reading.map(read).map_err(|fault| refused(fault, Access::READ_OK)))
        }
        Request::Write { path, content, expected, manner } => {
            let written =
                files::write(&path, &content, expected, manner.apply, context(&manner, flags));
            Answer::Written(written.map(Box::new).map_err(|fault| refused(fault, Access::WRITE_OK)))
        }
        Request::Edit { files: edits, manner } => {
            let edited = files::edit(&edits, manner.apply, context(&manner, flags));
            Answer::Edited(edited.map_err(|faults| faults.into_iter().map(refused_edit).collect()))
        }
        Request::Grep(query) => {
            Answer::Grepped(search::grep(&query, &flags.search).map_err(QueryFault::from))
        }
        Request::Glob(query) => {
            Answer::Listed(search::glob(&query, &flags.search).map_err(QueryFault::from))
        }
    }
}

fn context<'a>(manner: &'a Manner, flags: &'a Flags) -> Context<'a> {
    let Manner { journal, links, .. } = manner;
    Context { journal, cancel: &flags.files, lock_wait: LOCK_WAIT, links: *links }
}

fn find(path: &Path) -> Result<Target, Refused<Fault>> {
    let path = files::resolved(path).map_err(|fault| refused(fault, Access::READ_OK))?;
    let standing = match path.symlink_metadata() {
        Ok(_) => Standing::There,
        Err(_) => Standing::Absent,
    };
    Ok(Target { path, standing })
}

fn recover(journal: &Path) -> Result<files::Recovery, Fault> {
    match std::fs::create_dir_all(journal) {
        // Where it can neither be made nor listed, the recovery says so.
        Ok(()) | Err(_) => files::recover(journal),
    }
}

fn refused_edit(fault: FileFault) -> Refused<FileFault> {
    let barrier = match &fault.fault {
        EditFault::File(file) => barrier(file, Access::WRITE_OK),
        EditFault::Refused { .. } => Barrier::Ordinary,
    };
    Refused { fault, barrier }
}

fn refused(fault: Fault, access: Access) -> Refused<Fault> {
    let barrier = barrier(&fault, access);
    Refused { fault, barrier }
}

/// Landlock does not judge access(2), so that what it answers is what permissions and mounts alone allow.
fn barrier(fault: &Fault, access: Access) -> Barrier {
    let FaultKind::Kernel { errno, operation } = fault.kind else { return Barrier::Ordinary };
    if errno == Errno::ROFS {
        return Barrier::ReadOnly;
    }
    if ![Errno::ACCESS, Errno::XDEV].contains(&errno) {
        return Barrier::Ordinary;
    }
    let path = files::resolved(&fault.path).unwrap_or_else(|_| fault.path.clone());
    let permits =
        |path: &Path, access| rustix::fs::accessat(CWD, path, access, AtFlags::EACCESS).is_ok();
    let is_permitted = match operation {
        Operation::Read | Operation::Write | Operation::List => permits(&path, access),
        // What is about a name is the business of the folder that has it, or of the last one on the way to it.
        _ => {
            let folder = path.ancestors().find(|folder| folder.is_dir());
            folder.is_some_and(|folder| permits(folder, Access::WRITE_OK | Access::EXEC_OK))
        }
    };
    if is_permitted { Barrier::Sandbox } else { Barrier::Ordinary }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
