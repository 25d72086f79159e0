//! The child of a spawn: system calls and nothing else, on a stack of its own, in its parent's memory.
//!
//! What it needs is laid down by the parent, and what failed is laid down for the parent; the word [`Shared::turn`]
//! says who may touch it. The parent's calls in between are rustix's, which leave `errno` alone.

use std::cell::UnsafeCell;
use std::convert::Infallible;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, getpid, getppid, set_parent_process_death_signal};
use rustix::thread::futex;

use super::{ControllingTerminal, Place, Step, StepError};
use crate::sys::fd::last_errno;
use crate::sys::{landlock, signal};

/// Whose turn it is, as the word's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Turn {
    /// The child has exec'd or ended. The kernel writes this value (`CLONE_CHILD_CLEARTID`, clone(2)).
    Gone = 0,
    /// The child runs; the parent waits.
    Child = 1,
    /// The child waits.
    Parent = 2,
}

/// What parent and child share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) turn: AtomicU32,
    parent: Pid,
    ruleset: Option<i32>,
    group: Option<i32>,
    order: UnsafeCell<Option<Order>>,
    failure: UnsafeCell<Option<StepError>>,
}

/// What to become, by pointers into the waiting parent's frame.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) candidates: *const [*const libc::c_char],
    pub(super) argv: *const *const libc::c_char,
    pub(super) environment: *const *const libc::c_char,
    pub(super) directory: *const libc::c_char,
    /// Source, then a place for its high duplicate, then target.
    pub(super) descriptors: *mut [(i32, i32, i32)],
    pub(super) terminal: ControllingTerminal,
}

impl Shared {
    pub(super) fn new(place: &Place<'_>) -> Self {
        Shared {
            turn: AtomicU32::new(Turn::Child as u32),
            parent: getpid(),
            ruleset: place.ruleset.map(|fd| fd.as_raw_fd()),
            group: place.group.map(|fd| fd.as_raw_fd()),
            order: UnsafeCell::new(None),
            failure: UnsafeCell::new(None),
        }
    }

    pub(super) fn turn(&self) -> Turn {
        match self.turn.load(Ordering::Acquire) {
            0 => Turn::Gone,
            1 => Turn::Child,
            _ => Turn::Parent,
        }
    }

    /// The parent's part: waits until the child waits, or is gone.
    pub(super) fn wait_for_child(&self) -> Turn {
        self.wait_while(Turn::Child);
        self.turn()
    }

    /// The parent's part, after it has killed the child.
    pub(super) fn wait_until_gone(&self) {
        self.wait_while(Turn::Child);
        self.wait_while(Turn::Parent);
    }

    /// The parent's part, while the child waits: says what to become.
    pub(super) fn order(&self, order: Order) {
        // SAFETY: it is the parent's turn, so the child does not look.
        unsafe { *self.order.get() = Some(order) };
        // The kernel may have written that the child is gone: that is the last word and stays.
        let (from, to) = (Turn::Parent as u32, Turn::Child as u32);
        if self.turn.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed).is_ok() {
            self.wake();
        }
    }

    /// The parent's part, once the child waits or is gone: the step that failed, where one did.
    pub(super) fn failure(&self) -> Option<StepError> {
        // SAFETY: it is not the child's turn, so the child does not write.
        unsafe { *self.failure.get() }
    }

    fn wait_while(&self, turn: Turn) {
        while self.turn() == turn {
            // Woken, changed before it slept, or interrupted: the word says which. Not a private futex, for the
            // kernel's own wake at the child's end is none.
            futex::wait(&self.turn, futex::Flags::empty(), turn as u32, None).ok();
        }
    }

    fn wake(&self) {
        // Nobody may be asleep yet; the word says it then.
        futex::wake(&self.turn, futex::Flags::empty(), 1).ok();
    }
}

/// The child.
pub(super) extern "C" fn main(argument: *mut libc::c_void) -> i32 {
    // SAFETY: the parent passes a pointer to its `Shared`, which it keeps for as long as this process uses it.
    let shared = unsafe { &*argument.cast::<Shared>() };
    let Err(failure) = live(shared);
    // SAFETY: it is the child's turn, so the parent does not look.
    unsafe { *shared.failure.get() = Some(failure) };
    // SAFETY: ends this process only; nothing of the parent's is flushed or dropped.
    unsafe { libc::_exit(127) }
}

fn live(shared: &Shared) -> Result<Infallible, StepError> {
    enter(shared)?;
    shared.turn.store(Turn::Parent as u32, Ordering::Release);
    shared.wake();
    shared.wait_while(Turn::Parent);
    // SAFETY: it is the child's turn again, so the parent does not write.
    let order = unsafe { &*shared.order.get() };
    match order {
        Some(order) => become_program(order),
        None => Err(StepError { step: Step::Wait, errno: Errno::INVAL }),
    }
}

fn at(step: Step) -> impl Fn(Errno) -> StepError {
    move |errno| StepError { step, errno }
}

/// Enters what the parent asked for at the clone.
fn enter(shared: &Shared) -> Result<(), StepError> {
    rustix::process::setsid().map_err(at(Step::Session))?;
    if let Some(ruleset) = shared.ruleset {
        landlock::restrict_self_raw(ruleset).map_err(at(Step::Domain))?;
    }
    // Nobody else would end a child whose parent is killed while it waits.
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(at(Step::Session))?;
    if getppid() != Some(shared.parent) {
        return Err(StepError { step: Step::Wait, errno: Errno::SRCH });
    }
    match shared.group {
        // "0" is whoever writes it (cgroups(7)).
        Some(procs) => write_zero(procs).map_err(at(Step::Group)),
        None => Ok(()),
    }
}

fn become_program(order: &Order) -> Result<Infallible, StepError> {
    // SAFETY: `descriptors` points into the parent's frame, which waits; nobody else uses it meanwhile.
    let descriptors = unsafe { &mut *order.descriptors };
    place_descriptors(descriptors).map_err(at(Step::Descriptors))?;
    if order.terminal == ControllingTerminal::StandardInput {
        rustix::process::ioctl_tiocsctty(rustix::stdio::stdin()).map_err(at(Step::Terminal))?;
    }
    // SAFETY: `directory` is a C string that the parent keeps alive.
    answered(unsafe { libc::chdir(order.directory) }).map_err(at(Step::Directory))?;
    set_parent_process_death_signal(None).map_err(at(Step::Session))?;
    signal::unblock_all().map_err(at(Step::Signals))?;
    Err(StepError { step: Step::Exec, errno: exec_first(order) })
}

/// Duplicates are made from this number on, above every target, so that no source is overwritten by a target.
const ABOVE_TARGETS: i32 = 64;

/// Takes a descriptor table of its own, puts every descriptor at its target and closes the rest.
fn place_descriptors(descriptors: &mut [(i32, i32, i32)]) -> Result<(), Errno> {
    // SAFETY: the flag concerns this process's descriptor table alone.
    answered(unsafe { libc::unshare(libc::CLONE_FILES) })?;
    for (source, high, _) in descriptors.iter_mut() {
        // SAFETY: integers only; a duplicate takes a free number and replaces none.
        *high = answered(unsafe { libc::fcntl(*source, libc::F_DUPFD_CLOEXEC, ABOVE_TARGETS) })?;
    }
    let mut last = 2;
    for (_, high, target) in descriptors.iter() {
        // SAFETY: integers only; in this process nobody else uses the target's number any more.
        answered(unsafe { libc::dup2(*high, *target) })?;
        last = last.max(*target);
    }
    for number in 3..last {
        if !descriptors.iter().any(|(_, _, target)| *target == number) {
            // SAFETY: integers only. A number that is not open is EBADF, which is what is wanted.
            unsafe { libc::close(number) };
        }
    }
    // SAFETY: integers only; everything above the targets is closed, in this process's own table.
    answered(unsafe { libc::syscall(libc::SYS_close_range, last + 1, u32::MAX, 0) } as i32)
        .map(|_| ())
}

/// Tries the candidates in turn and returns the error that tells most, as execvp(3) does, but for ENOEXEC: a file without
/// an interpreter is not guessed to be a shell's.
fn exec_first(order: &Order) -> Errno {
    let mut told = Errno::NOENT;
    // SAFETY: the list and its strings are the waiting parent's.
    for path in unsafe { &*order.candidates } {
        // SAFETY: path, arguments and environment are null-terminated and kept alive by the parent.
        unsafe { libc::execve(*path, order.argv, order.environment) };
        match last_errno() {
            Errno::NOENT | Errno::NOTDIR => {}
            Errno::ACCESS => told = Errno::ACCESS,
            errno => return errno,
        }
    }
    told
}

fn write_zero(fd: i32) -> Result<(), Errno> {
    let zero = [b'0'];
    // SAFETY: the call reads one byte of `zero`. A number that is not open is EBADF.
    match unsafe { libc::write(fd, zero.as_ptr().cast(), zero.len()) } {
        1 => Ok(()),
        0 => Err(Errno::IO),
        _ => Err(last_errno()),
    }
}

fn answered(answer: i32) -> Result<i32, Errno> {
    if answer < 0 { Err(last_errno()) } else { Ok(answer) }
}
