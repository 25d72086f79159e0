//! Namespaces: making them, for this process or only to see whether it can be done (unshare(2), user_namespaces(7)), and
//! making mounts read-only (mount_setattr(2)).

use std::ffi::CStr;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::ptr;

use rustix::io::Errno;
use rustix::process::{getegid, geteuid};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

use super::fd::last_errno;
use super::stack::Stack;

/// By which right namespaces are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// The process is privileged over mounts, and its users stay as they are.
    Privileged,
    /// In a user namespace of its own, in which this user and group are themselves and all others are nobody.
    Owner,
}

/// A step on the way to a mount namespace that can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Making the child that tries it.
    Clone,
    /// Making the namespaces.
    Unshare,
    /// Mapping user and group.
    Map,
    /// Changing a mount.
    Mount,
}

/// Makes a mount namespace for this process, and by [`Right::Owner`] a user namespace above it. Every mount hears of what
/// is mounted outside from now on, and tells nothing of its own.
///
/// # Errors
/// The step, and the kernel's answer. `EINVAL` where the process has more than one thread.
pub fn enter(right: Right) -> Result<(), (Step, Errno)> {
    Maps::of_caller(right).enter()
}

/// Makes a mount namespace for this process in a user namespace that another process of its user made.
///
/// # Errors
/// As [`enter`]; `EPERM` for a user namespace of somebody else's.
pub fn enter_beside(user: BorrowedFd<'_>) -> Result<(), (Step, Errno)> {
    let at = |step| move |errno| (step, errno);
    move_into_link_name_space(user, Some(LinkNameSpaceType::User)).map_err(at(Step::Unshare))?;
    Maps::of_caller(Right::Privileged).enter()
}

/// Makes a network namespace for this process, with nothing in it but a loopback that is down.
///
/// # Errors
/// The kernel's answer; `ENOSPC` where there are as many as may be.
pub fn unshare_network() -> Result<(), Errno> {
    // SAFETY: the descriptor table is not touched.
    unsafe { rustix::thread::unshare_unsafe(UnshareFlags::NEWNET) }
}

/// Tries [`enter`] in a child that ends at once. May be called in a process with threads.
///
/// # Errors
/// As [`enter`], and why there was no child.
pub fn try_in_child(right: Right) -> Result<(), (Step, Errno)> {
    let at_clone = |errno| (Step::Clone, errno);
    let stack = Stack::new().map_err(at_clone)?;
    let mut trial = Trial { maps: Maps::of_caller(right), outcome: Ok(()) };
    let held = Blocked::all();
    // No signal tells of its end, so that nobody who waits for children in general hears of it.
    let flags = libc::CLONE_VM | libc::CLONE_VFORK;
    // SAFETY: the stack and `trial` outlive the child's use of them, for this thread sleeps until the child has ended
    // (CLONE_VFORK). The child makes only system calls and allocates nothing. It runs no signal handler, since all signals
    // are blocked; and the `errno` that it shares is this sleeping thread's.
    let pid = unsafe { libc::clone(trial_main, stack.top(), flags, (&raw mut trial).cast()) };
    let cloned = if pid < 0 { Err(at_clone(last_errno())) } else { Ok(()) };
    drop(held);
    cloned?;
    // SAFETY: the number is that of a child that nobody else waits for, and no status is asked for.
    unsafe { libc::waitpid(pid, ptr::null_mut(), libc::__WALL) };
    trial.outcome
}

/// Makes a detached or attached mount, and all below it, read-only.
///
/// # Errors
/// The kernel's answer; `ENOSYS` before Linux 5.12.
pub fn make_read_only(mount: BorrowedFd<'_>) -> Result<(), Errno> {
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the path is an empty C string and the attributes live until the call returns, with their size beside them.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
            &raw const attributes,
            size_of_val(&attributes),
        )
    };
    if answer == 0 { Ok(()) } else { Err(last_errno()) }
}

/// What a trial needs and finds out.
struct Trial {
    maps: Maps,
    outcome: Result<(), (Step, Errno)>,
}

extern "C" fn trial_main(argument: *mut libc::c_void) -> i32 {
    // SAFETY: the parent passes its `Trial` and sleeps until this process has ended.
    let trial = unsafe { &mut *argument.cast::<Trial>() };
    trial.outcome = trial.maps.enter();
    // SAFETY: ends this process only; nothing of the parent's is flushed or dropped.
    unsafe { libc::_exit(0) }
}

/// What is written to `uid_map` and `gid_map`: made ahead, so that entering allocates nothing.
struct Maps {
    right: Right,
    user: String,
    group: String,
}

impl Maps {
    fn of_caller(right: Right) -> Self {
        let (user, group) = (geteuid().as_raw(), getegid().as_raw());
        Maps { right, user: format!("{user} {user} 1"), group: format!("{group} {group} 1") }
    }

    fn enter(&self) -> Result<(), (Step, Errno)> {
        let at = |step| move |errno| (step, errno);
        let flags = match self.right {
            Right::Privileged => UnshareFlags::NEWNS,
            Right::Owner => UnshareFlags::NEWUSER | UnshareFlags::NEWNS,
        };
        // SAFETY: the descriptor table is not touched.
        unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(at(Step::Unshare))?;
        if self.right == Right::Owner {
            // Who gives up setgroups(2) may map its own group (user_namespaces(7)).
            let maps = [
                (c"/proc/self/setgroups", "deny"),
                (c"/proc/self/uid_map", &self.user),
                (c"/proc/self/gid_map", &self.group),
            ];
            for (file, text) in maps {
                write(file, text.as_bytes()).map_err(at(Step::Map))?;
            }
        }
        slave_all().map_err(at(Step::Mount))
    }
}

/// mount(2) with MS_SLAVE on all that there is.
fn slave_all() -> Result<(), Errno> {
    use rustix::mount::MountPropagationFlags;
    let flags = MountPropagationFlags::DOWNSTREAM | MountPropagationFlags::REC;
    rustix::mount::mount_change(c"/", flags)
}

fn write(file: &CStr, text: &[u8]) -> Result<(), Errno> {
    use rustix::fs::{Mode, OFlags};
    let file = rustix::fs::open(file, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    match rustix::io::write(&file, text)? {
        written if written == text.len() => Ok(()),
        _ => Err(Errno::IO),
    }
}

/// All signals blocked for the calling thread, until it is dropped.
struct Blocked(libc::sigset_t);

impl Blocked {
    fn all() -> Self {
        // SAFETY: a signal set is plain numbers, for which zero is a value.
        let (mut all, mut before): (libc::sigset_t, libc::sigset_t) = unsafe { std::mem::zeroed() };
        // SAFETY: `all` is this function's own.
        unsafe { libc::sigfillset(&raw mut all) };
        // SAFETY: both sets are this function's own. The call fails for a wrong first argument only.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const all, &raw mut before) };
        Blocked(before)
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        // SAFETY: the set is what the thread had.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_changes_nothing_here_and_leaves_no_child() {
        let namespaces = || {
            ["user", "mnt"].map(|name| std::fs::read_link(format!("/proc/self/ns/{name}")).unwrap())
        };
        let before = namespaces();
        assert_eq!(try_in_child(Right::Owner), Ok(()));
        assert_eq!(namespaces(), before);
        let left = rustix::process::wait(rustix::process::WaitOptions::NOHANG);
        assert!(matches!(left, Ok(None) | Err(Errno::CHILD)), "{left:?}");
    }

    #[test]
    fn what_the_kernel_answers_a_trial_is_told() {
        // A process with threads cannot enter a user namespace, its child can.
        let (stop, wait) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || wait.recv());
        assert_eq!(enter(Right::Owner), Err((Step::Unshare, Errno::INVAL)));
        assert_eq!(try_in_child(Right::Owner), Ok(()));
        drop(stop);
        assert!(thread.join().unwrap().is_err());
    }
}
