//! Starting a program from a keeper, in two parts: a process that is made ahead and waits, and its exec.
//!
//! ```text
//! keeper                              child
//! Child::fork ─── clone ────────────▶ session, domain, group
//!  (waits)    ◀── it waits now ──────┘
//!  does what it likes
//! Child::exec ─── the order ────────▶ descriptors, terminal, folder, signals, exec
//!  (waits)    ◀── memory is free ────┘ said by the kernel, at the exec or the end
//! ```
//!
//! `clone(CLONE_VM | CLONE_FILES)` on a stack of its own: the child shares the keeper's memory and, until its order
//! comes, its descriptors. `fork` would copy page tables, and `libc::vfork` returns twice on one stack, which no Rust
//! code survives. One word says whose turn it is: each side sleeps on it while the other runs, so that nothing is used
//! by both. `CLONE_VFORK` would do the same for the exec alone, and would count as load while the child waits.
//!
//! Ahead, because entering a control group takes the kernel 5 to 15 ms (it waits for every processor to pass a quiet
//! point) and a session and a domain take their part too. A child that is killed after its order and before its exec
//! looks like a program that was killed at its start, which is what it is to whoever waits for it.

mod child;

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::rc::Rc;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use serde::{Deserialize, Serialize};

use super::fd::last_errno;
use super::stack::Stack;
use child::{Order, Shared, Turn};

/// What the process of a program enters ahead.
#[derive(Debug)]
pub struct Place<'a> {
    /// The ruleset below which the program gets a domain of its own, where it is confined.
    pub ruleset: Option<BorrowedFd<'a>>,
    /// `cgroup.procs` of the program's control group, where it has one. The kernel judges whether the child may be
    /// moved by whoever opened it, so no right of the child's is needed.
    pub group: Option<BorrowedFd<'a>>,
}

/// A program to start, with all memory that the child needs made ahead: the child allocates nothing.
#[derive(Debug)]
pub struct Exec<'a> {
    /// Paths to try in turn, as execvp(3) does along `PATH`; at least one.
    pub candidates: &'a [CString],
    /// The arguments, with the program's name first.
    pub argv: &'a [CString],
    /// The environment, `NAME=value` each.
    pub environment: &'a [CString],
    /// The working directory.
    pub directory: &'a CStr,
    /// Descriptors, each with the number that it gets; all others are closed.
    pub descriptors: &'a [(BorrowedFd<'a>, i32)],
    /// What its session's terminal is.
    pub terminal: ControllingTerminal,
}

/// The controlling terminal of a program's session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ControllingTerminal {
    /// None: `/dev/tty` cannot be opened, and nothing stops or signals the session from there.
    None,
    /// The terminal that its standard input is.
    StandardInput,
}

/// The steps from the clone to the program, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Making the process.
    Clone,
    /// A session of its own, without a controlling terminal.
    Session,
    /// A Landlock domain of its own.
    Domain,
    /// Its control group.
    Group,
    /// Waiting for its order: it was killed.
    Wait,
    /// Standard input, output and error in place and all else closed.
    Descriptors,
    /// Acquiring its terminal.
    Terminal,
    /// The working directory.
    Directory,
    /// An empty signal mask.
    Signals,
    /// The exec itself.
    Exec,
}

/// The step that failed, and the kernel's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepError {
    /// Which step.
    pub step: Step,
    /// Why.
    pub errno: Errno,
}

/// A process that waits to become a program. Dropping it kills it; the kernel does so when this process ends.
#[derive(Debug)]
pub struct Child {
    /// Until its number is the caller's to wait for.
    pid: Option<Pid>,
    // Both outlive the child's use of them: see `Drop`.
    shared: Rc<Shared>,
    _stack: Stack,
}

impl Child {
    /// Makes the process and waits until it has entered its place.
    ///
    /// # Errors
    /// The step that failed; nothing is left of the process then.
    pub fn fork(place: &Place<'_>) -> Result<Child, StepError> {
        let at_clone = |errno| StepError { step: Step::Clone, errno };
        let stack = Stack::new().map_err(at_clone)?;
        let shared = Rc::new(Shared::new(place));
        let flags = libc::CLONE_VM | libc::CLONE_FILES | libc::CLONE_CHILD_CLEARTID | libc::SIGCHLD;
        let argument = Rc::as_ptr(&shared).cast_mut();
        // SAFETY: the stack and `shared` outlive the child's use of them: `Child` holds both, and waits in `exec` and
        // `drop` until the kernel has said that this memory is used no more (CLONE_CHILD_CLEARTID). The child's
        // function does not return into this frame and makes only system calls. While it runs, this thread does
        // nothing but sleep on `turn`, so that neither finds the other's `errno` in the thread pointer that they share.
        let pid = unsafe {
            libc::clone(
                child::main,
                stack.top(),
                flags,
                argument.cast(),
                std::ptr::null_mut::<libc::pid_t>(),
                std::ptr::null_mut::<libc::c_void>(),
                shared.turn.as_ptr(),
            )
        };
        if pid < 0 {
            return Err(at_clone(last_errno()));
        }
        let child = Child { pid: Pid::from_raw(pid), shared, _stack: stack };
        match child.shared.wait_for_child() {
            Turn::Parent => Ok(child),
            Turn::Child | Turn::Gone => Err(child.shared.failure().unwrap_or(KILLED)),
        }
    }

    /// Gives the order to become this program and returns the process's number once it has. The number stays valid
    /// until this process waits for it.
    ///
    /// # Errors
    /// The step that failed; the program has not run then, and nothing of it is left.
    pub fn exec(mut self, exec: &Exec<'_>) -> Result<u32, StepError> {
        if self.shared.turn() == Turn::Gone {
            return Err(KILLED);
        }
        let arguments = terminated(exec.argv);
        let environment = terminated(exec.environment);
        let candidates: Vec<_> = exec.candidates.iter().map(|path| path.as_ptr()).collect();
        let mut descriptors: Vec<_> =
            exec.descriptors.iter().map(|(fd, target)| (fd.as_raw_fd(), -1, *target)).collect();
        self.shared.order(Order {
            candidates: &raw const *candidates,
            argv: arguments.as_ptr(),
            environment: environment.as_ptr(),
            directory: exec.directory.as_ptr(),
            descriptors: &raw mut *descriptors,
            terminal: exec.terminal,
        });
        // The order's memory lives in this frame, which is left only when the child uses it no more.
        self.shared.wait_for_child();
        match (self.shared.failure(), self.pid) {
            (Some(failure), _) => Err(failure),
            (None, None) => Err(KILLED),
            (None, Some(pid)) => {
                self.pid = None;
                Ok(pid.as_raw_nonzero().get().unsigned_abs())
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let Some(pid) = self.pid else { return };
        // One that has ended by itself is a zombie until it is reaped here, so the number is still its own.
        kill_process(pid, Signal::KILL).ok();
        self.shared.wait_until_gone();
        while waitpid(Some(pid), WaitOptions::empty()).is_err_and(|errno| errno == Errno::INTR) {}
    }
}

const KILLED: StepError = StepError { step: Step::Wait, errno: Errno::CHILD };

fn terminated(texts: &[CString]) -> Vec<*const libc::c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}

#[cfg(test)]
mod tests;
