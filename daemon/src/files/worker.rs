//! The worker role: calls from the daemon, a bounded number at a time, each on a thread of its own.
//!
//! States: *serving* → *over*, when the daemon's end of the socket closes. It holds nothing between calls.

use std::collections::HashMap;
use std::io::{self, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use brattice_files::{
    self as files, Cancel, Context, EditFault, Errno, Fault, FaultKind, FileFault, Operation,
};
use brattice_policy::sys::signal;
use brattice_search as search;
use brattice_skills as skills;
use rustix::fs::{Access, AtFlags, CWD};

use super::frame;
use super::message::{
    Answer, Barrier, QueryFault, ReadFile, Refused, Request, Standing, Target, ToWorker,
};

/// Calls that are worked on at the same time; the next one waits.
const MOST_CALLS: usize = 16;

/// How long another writer of the same folder is waited for.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// What the threads share.
struct Shared {
    calls: Mutex<Calls>,
    /// One of them ended, or was withdrawn.
    changed: Condvar,
    answers: Mutex<UnixStream>,
}

/// The calls that have come and are not answered.
#[derive(Default)]
struct Calls {
    /// Each with what stops it.
    flags: HashMap<u64, Flags>,
    /// How many are being worked on.
    working: usize,
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
    let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let answers = Mutex::new(socket.try_clone()?);
    let shared = Arc::new(Shared { calls: Mutex::default(), changed: Condvar::new(), answers });
    let heard = hear(&mut socket, &shared);
    // However it ended, nobody hears the answers any more; what a call has begun it undoes.
    shared.withdraw_all();
    heard
}

/// Takes calls until the daemon's end closes. It never waits for one, so that each can be withdrawn.
fn hear(socket: &mut UnixStream, shared: &Arc<Shared>) -> io::Result<()> {
    while let Some(message) = frame::receive::<ToWorker>(socket)? {
        match message {
            ToWorker::Cancel { id } => shared.withdraw(id),
            ToWorker::Call { id, request } => {
                let flags = lock(&shared.calls).flags.entry(id).or_default().clone();
                let own = shared.clone();
                let work = move || own.work(id, request, &flags);
                if thread::Builder::new().name("call".to_owned()).spawn(work).is_err() {
                    shared.tell(id, Answer::Broken);
                }
            }
        }
    }
    Ok(())
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
    /// Works on a call once there is room, or at once where it was withdrawn: it then does next to nothing.
    fn work(&self, id: u64, request: Request, flags: &Flags) {
        let waits = |calls: &mut Calls| calls.working >= MOST_CALLS && !flags.is_raised();
        let calls = self.changed.wait_while(lock(&self.calls), waits);
        calls.unwrap_or_else(PoisonError::into_inner).working += 1;
        let answer = catch_unwind(AssertUnwindSafe(|| answer(request, flags)));
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
    let context = |journal| Context { journal, cancel: &flags.files, lock_wait: LOCK_WAIT };
    match request {
        Request::Recover { journal } => Answer::Recovered(recover(&journal)),
        Request::Find { paths } => Answer::Found(paths.iter().map(|path| find(path)).collect()),
        Request::Read { path, window, caps } => {
            let reading = files::read(&path, window, caps, &flags.files);
            let read = |reading| Box::new(ReadFile { target: find(&path).ok(), reading });
            Answer::Read(reading.map(read).map_err(|fault| refused(fault, Access::READ_OK)))
        }
        Request::Write { path, content, expected, apply, journal } => {
            let written = files::write(&path, &content, expected, apply, context(&journal));
            Answer::Written(written.map(Box::new).map_err(|fault| refused(fault, Access::WRITE_OK)))
        }
        Request::Edit { files: edits, apply, journal } => {
            let edited = files::edit(&edits, apply, context(&journal));
            Answer::Edited(edited.map_err(|faults| faults.into_iter().map(refused_edit).collect()))
        }
        Request::Grep(query) => {
            Answer::Grepped(search::grep(&query, &flags.search).map_err(QueryFault::from))
        }
        Request::Glob(query) => {
            Answer::Listed(search::glob(&query, &flags.search).map_err(QueryFault::from))
        }
        Request::Skills { roots } => Answer::Skills(skills::list(&roots)),
        Request::Skill { roots, name } => Answer::Skill(skills::read(&roots, &name).map(Box::new)),
    }
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
