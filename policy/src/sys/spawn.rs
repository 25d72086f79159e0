//! Starting a program from a keeper: `clone(CLONE_VM | CLONE_VFORK)` on a stack of its own, then exec.
//!
//! The parent is suspended until the child has exec'd or ended, and the child shares its memory: a step that fails
//! is told by writing to a variable. A child that is killed before its exec looks like a program that was killed at its
//! start, which is what it is to whoever waits for it. `fork`
//! would copy page tables, and `libc::vfork` returns twice on one stack, which no Rust code survives.

use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, BorrowedFd};

use rustix::io::Errno;

use super::fd::last_errno;
use super::{landlock, signal};

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
    /// The ruleset below which the program gets a domain of its own, where it is confined.
    pub ruleset: Option<BorrowedFd<'a>>,
}

/// The steps from the clone to the program, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Step {
    /// Making the process.
    Clone = 1,
    /// A session of its own, without a controlling terminal.
    Session = 2,
    /// A Landlock domain of its own.
    Domain = 3,
    /// Standard input, output and error in place and all else closed.
    Descriptors = 4,
    /// The working directory.
    Directory = 5,
    /// An empty signal mask.
    Signals = 6,
    /// The exec itself.
    Exec = 7,
}

/// The step that failed, and the kernel's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepError {
    /// Which step.
    pub step: Step,
    /// Why.
    pub errno: Errno,
}

/// What the child needs, by raw pointers and numbers. Shared with the suspended parent.
struct Shared {
    candidates: Vec<*const libc::c_char>,
    argv: Vec<*const libc::c_char>,
    environment: Vec<*const libc::c_char>,
    directory: *const libc::c_char,
    /// Source, then a place for its high duplicate, then target.
    descriptors: Vec<(i32, i32, i32)>,
    ruleset: Option<i32>,
    failure: Option<StepError>,
}

/// The child makes system calls and nothing else; its frames are small.
const STACK: usize = 16 << 10;

/// The child's stack. Made ahead, so that its pages are there when somebody waits.
#[derive(Debug)]
pub struct Stack(Box<[u128]>);

impl Stack {
    /// A stack whose every page has been written to.
    pub fn new() -> Self {
        // Not zero, which the allocator could have from untouched pages.
        Stack(vec![1; STACK / size_of::<u128>()].into_boxed_slice())
    }
}

impl Default for Stack {
    fn default() -> Self {
        Stack::new()
    }
}

/// Duplicates are made from this number on, above every target, so that no source is overwritten by a target.
const ABOVE_TARGETS: i32 = 64;

/// Starts the program and returns its process number once it has exec'd. The number stays valid until this process
/// waits for it.
///
/// # Errors
/// The step that failed; the program has not run then, and nothing of it is left but a child to reap.
pub fn spawn(exec: &Exec<'_>, stack: &mut Stack) -> Result<u32, StepError> {
    let mut shared = Shared {
        candidates: exec.candidates.iter().map(|path| path.as_ptr()).collect(),
        argv: terminated(exec.argv),
        environment: terminated(exec.environment),
        directory: exec.directory.as_ptr(),
        descriptors: exec
            .descriptors
            .iter()
            .map(|(fd, target)| (fd.as_raw_fd(), -1, *target))
            .collect(),
        ruleset: exec.ruleset.map(|fd| fd.as_raw_fd()),
        failure: None,
    };
    let top = stack.0.as_mut_ptr_range().end;
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: `top` is the 16-byte aligned end of a stack that outlives the call, since CLONE_VFORK suspends this
    // thread until the child has exec'd or ended. `child` never returns into this stack frame, makes only system
    // calls, and is the only user of `shared` meanwhile. Keepers have one thread, so nobody else runs.
    let pid = unsafe { libc::clone(child, top.cast(), flags, (&raw mut shared).cast()) };
    if pid < 0 {
        return Err(StepError { step: Step::Clone, errno: last_errno() });
    }
    match shared.failure {
        None => Ok(pid.unsigned_abs()),
        Some(failure) => Err(failure),
    }
}

fn terminated(texts: &[CString]) -> Vec<*const libc::c_char> {
    texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
}

/// The child of [`spawn`]: runs each step, and tells the one that failed.
extern "C" fn child(argument: *mut libc::c_void) -> i32 {
    // SAFETY: `spawn` passes a pointer to its `Shared`, which lives while the parent is suspended.
    let shared = unsafe { &mut *argument.cast::<Shared>() };
    let Err(failure) = become_program(shared);
    shared.failure = Some(failure);
    // SAFETY: ends this process only; nothing of the parent's is flushed or dropped.
    unsafe { libc::_exit(127) }
}

fn become_program(shared: &mut Shared) -> Result<std::convert::Infallible, StepError> {
    let at = |step| move |errno| StepError { step, errno };
    // SAFETY: the call takes nothing and touches no memory.
    answered(unsafe { libc::setsid() }).map_err(at(Step::Session))?;
    if let Some(ruleset) = shared.ruleset {
        landlock::restrict_self_raw(ruleset).map_err(at(Step::Domain))?;
    }
    place_descriptors(shared).map_err(at(Step::Descriptors))?;
    // SAFETY: `directory` is a C string that the parent keeps alive.
    answered(unsafe { libc::chdir(shared.directory) }).map_err(at(Step::Directory))?;
    signal::unblock_all().map_err(at(Step::Signals))?;
    Err(StepError { step: Step::Exec, errno: exec_first(shared) })
}

/// Puts every descriptor at its target and closes the rest. The child has a descriptor table of its own.
fn place_descriptors(shared: &mut Shared) -> Result<(), Errno> {
    for (source, high, _) in &mut shared.descriptors {
        // SAFETY: integers only; a duplicate takes a free number and replaces none.
        *high = answered(unsafe { libc::fcntl(*source, libc::F_DUPFD_CLOEXEC, ABOVE_TARGETS) })?;
    }
    let mut last = 2;
    for (_, high, target) in &shared.descriptors {
        // SAFETY: integers only; in this process nobody else uses the target's number any more.
        answered(unsafe { libc::dup2(*high, *target) })?;
        last = last.max(*target);
    }
    for number in 3..last {
        if !shared.descriptors.iter().any(|(_, _, target)| *target == number) {
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
fn exec_first(shared: &Shared) -> Errno {
    let mut told = Errno::NOENT;
    for path in &shared.candidates {
        // SAFETY: path, arguments and environment are null-terminated and kept alive by the parent.
        unsafe { libc::execve(*path, shared.argv.as_ptr(), shared.environment.as_ptr()) };
        match last_errno() {
            Errno::NOENT | Errno::NOTDIR => {}
            Errno::ACCESS => told = Errno::ACCESS,
            errno => return errno,
        }
    }
    told
}

fn answered(answer: i32) -> Result<i32, Errno> {
    if answer < 0 { Err(last_errno()) } else { Ok(answer) }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Read;

    use super::*;
    use std::os::fd::AsFd;

    fn run(directory: &CStr, program: &str) -> Result<String, StepError> {
        let text = |text: &str| CString::new(text).unwrap();
        let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
        let null = File::open("/dev/null").unwrap();
        let exec = Exec {
            candidates: &[text("/nonexistent/sh"), text(program)],
            argv: &[text("sh"), text("-c"), text("echo $A; pwd; ls /proc/self/fd | tr '\\n' ' '")],
            environment: &[text("A=1"), text("PATH=/usr/bin:/bin")],
            directory,
            descriptors: &[(null.as_fd(), 0), (write.as_fd(), 1), (write.as_fd(), 2)],
            ruleset: None,
        };
        let spawned = spawn(&exec, &mut Stack::new());
        drop(write);
        let mut output = String::new();
        File::from(read).read_to_string(&mut output).unwrap();
        spawned.map(|_| output)
    }

    #[test]
    fn runs_the_first_candidate_that_exists_with_three_descriptors() {
        // `ls` itself holds the folder that it lists.
        assert_eq!(run(c"/", "/bin/sh"), Ok("1\n/\n0 1 2 3 ".to_owned()));
    }

    #[test]
    fn tells_the_step_that_failed() {
        let failed = |step, errno| Err(StepError { step, errno });
        assert_eq!(run(c"/nonexistent", "/bin/sh"), failed(Step::Directory, Errno::NOENT));
        assert_eq!(run(c"/etc/passwd", "/bin/sh"), failed(Step::Directory, Errno::NOTDIR));
        assert_eq!(run(c"/", "/nonexistent"), failed(Step::Exec, Errno::NOENT));
        assert_eq!(run(c"/", "/etc/passwd"), failed(Step::Exec, Errno::ACCESS));
    }
}
