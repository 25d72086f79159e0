//! The listening side of a seccomp filter (seccomp_unotify(2)): calls that wait for an answer, and the answers.
//!
//! A call that was received waits until it is answered or its thread is killed. A [`Notification`] that is dropped
//! without an answer refuses its call, so that no path through the code, not even one that panics, leaves a caller
//! waiting or lets it through. When the last descriptor of the listener is closed, the kernel answers every call that
//! waits, and every later one, with `ENOSYS`.

use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::fd::last_errno;
use super::seccomp::{InstallError, Instruction, with_program};

/// `SECCOMP_FILTER_FLAG_NEW_LISTENER` and `SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV` (`linux/seccomp.h`): once a call was
/// received only a deadly signal ends its wait, so that handled signals do not make it fail.
const NEW_LISTENER: usize = (1 << 3) | (1 << 5);

/// The ioctls of `linux/seccomp.h`, by direction, size, type and number.
const RECEIVE: libc::Ioctl = 0xc050_2100_u32 as libc::Ioctl;
const SEND: libc::Ioctl = 0xc018_2101_u32 as libc::Ioctl;
const IS_VALID: libc::Ioctl = 0x4008_2102;
const SET_FLAGS: libc::Ioctl = 0x4008_2104;

/// `SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP`: answer and wake up on one processor (Linux 6.6).
const SYNC_WAKE_UP: usize = 1;

/// `SECCOMP_USER_NOTIF_FLAG_CONTINUE`.
const CONTINUE: u32 = 1;

/// A call as it was made (`struct seccomp_data`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrappedCall {
    /// Its number.
    pub number: i32,
    /// Its architecture, which the filter has checked.
    pub architecture: u32,
    /// Where it was made.
    pub instruction: u64,
    /// Its arguments. Of those that the kernel takes as `int` only the lower half means anything.
    pub arguments: [u64; 6],
}

/// `struct seccomp_notif`.
#[repr(C)]
#[derive(Default)]
struct Request {
    id: u64,
    thread: u32,
    flags: u32,
    data: TrappedCall,
}

/// `struct seccomp_notif_resp`.
#[repr(C)]
struct Response {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

/// Installs a filter, as `seccomp::install`, and returns the descriptor on which its calls arrive.
///
/// # Errors
/// As `seccomp::install`; `EBUSY` where a filter of this thread has a listener already.
pub fn install(filter: &[Instruction]) -> Result<OwnedFd, InstallError> {
    with_program(filter, |program| {
        // SAFETY: `program` points to a valid program that lives until the call returns.
        let fd = unsafe {
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, NEW_LISTENER, program)
        };
        let fd = i32::try_from(fd).ok().filter(|fd| *fd >= 0).ok_or_else(last_errno)?;
        // SAFETY: the kernel has just made this descriptor for this process, and nobody else owns it.
        Ok(unsafe { OwnedFd::from_raw_fd(fd) })
    })
}

/// Asks whether a filter with a listener could be installed, and its answers be understood (`SECCOMP_GET_NOTIF_SIZES`).
///
/// # Errors
/// The kernel's answer, or that of a filter above this process: `EPERM` where that allows no listener.
pub fn is_available() -> Result<(), Errno> {
    let mut sizes = [0u16; 3];
    // SAFETY: the call writes three 16-bit numbers (`struct seccomp_notif_sizes`) to a live value.
    let answer = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_NOTIF_SIZES, 0usize, sizes.as_mut_ptr())
    };
    if answer != 0 {
        return Err(last_errno());
    }
    let known = [size_of::<Request>(), size_of::<Response>(), size_of::<TrappedCall>()];
    if sizes.map(usize::from) != known {
        return Err(Errno::OVERFLOW);
    }
    let nothing: *const u8 = std::ptr::null();
    // SAFETY: the flags are looked at first, then the pointer, which is null: nothing can be installed.
    unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, NEW_LISTENER, nothing)
    };
    match last_errno() {
        Errno::FAULT => Ok(()),
        errno => Err(errno),
    }
}

/// The descriptor on which calls arrive; several threads may receive at once.
#[derive(Clone, Debug)]
pub struct Listener(Arc<OwnedFd>);

impl Listener {
    /// Takes a listener's descriptor.
    pub fn new(fd: OwnedFd) -> Self {
        // Before Linux 6.6 the kernel has no such flag; answers are then a little slower.
        // SAFETY: the ioctl takes an integer.
        unsafe { libc::ioctl(fd.as_raw_fd(), SET_FLAGS, SYNC_WAKE_UP) };
        Listener(Arc::new(fd))
    }

    /// Waits for a call. `None` when nothing more can come: nobody is left behind the filter.
    ///
    /// # Errors
    /// The kernel's answer; `EINTR` and a caller that was killed before it was received are waited through.
    pub fn receive(&self) -> Result<Option<Notification>, Errno> {
        loop {
            let mut request = Request::default();
            // SAFETY: the kernel writes one `struct seccomp_notif`, whose layout `Request` has, to a live, zeroed value.
            let answer = unsafe { libc::ioctl(self.0.as_raw_fd(), RECEIVE, &raw mut request) };
            if answer == 0 {
                let Request { id, thread, data, .. } = request;
                return Ok(Some(Notification {
                    listener: self.clone(),
                    id,
                    thread,
                    data,
                    is_answered: false,
                }));
            }
            match last_errno() {
                Errno::INTR | Errno::NOENT => {
                    if self.is_hung_up()? {
                        return Ok(None);
                    }
                }
                errno => return Err(errno),
            }
        }
    }

    /// Whether another call is there to be received. Where the kernel does not say, none is.
    pub fn has_more(&self) -> bool {
        self.poll(PollFlags::IN).is_ok_and(|found| found.contains(PollFlags::IN))
    }

    /// Whether no task is left behind the filter (`POLLHUP`).
    fn is_hung_up(&self) -> Result<bool, Errno> {
        Ok(self.poll(PollFlags::empty())?.contains(PollFlags::HUP))
    }

    fn poll(&self, events: PollFlags) -> Result<PollFlags, Errno> {
        let mut polled = [PollFd::new(&*self.0, events)];
        poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))?;
        Ok(polled[0].revents())
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A call that waits. Dropped without an answer, it is refused with `EPERM`.
#[derive(Debug)]
pub struct Notification {
    listener: Listener,
    id: u64,
    thread: u32,
    data: TrappedCall,
    is_answered: bool,
}

impl Notification {
    /// The calling thread. The number is the thread's only while [`is_waiting`](Self::is_waiting) says so.
    pub fn thread(&self) -> u32 {
        self.thread
    }

    /// The call.
    pub fn data(&self) -> &TrappedCall {
        &self.data
    }

    /// Whether the call still waits: what was found out about its thread until now was the thread's own.
    pub fn is_waiting(&self) -> bool {
        // SAFETY: the kernel reads eight bytes at `id`, which lives until the call returns.
        unsafe { libc::ioctl(self.listener.0.as_raw_fd(), IS_VALID, &raw const self.id) == 0 }
    }

    /// Lets the kernel carry the call out. It reads the arguments again, so this is no verdict: only what the kernel's
    /// own layers judge as well may be let through.
    pub fn carry_on(mut self) {
        self.send(0, 0, CONTINUE);
    }

    /// The call fails with this error.
    pub fn fail(mut self, errno: Errno) {
        self.send(0, -errno.raw_os_error(), 0);
    }

    /// The call was carried out on the caller's behalf, and this is its result.
    pub fn succeed(mut self, value: i64) {
        self.send(value, 0, 0);
    }

    /// A caller that is gone cannot be answered, and need not be.
    fn send(&mut self, value: i64, error: i32, flags: u32) {
        self.is_answered = true;
        let response = Response { id: self.id, value, error, flags };
        // SAFETY: the kernel reads one `struct seccomp_notif_resp`, whose layout `Response` has, from a live value.
        unsafe { libc::ioctl(self.listener.0.as_raw_fd(), SEND, &raw const response) };
    }
}

impl Drop for Notification {
    fn drop(&mut self) {
        if !self.is_answered {
            self.send(0, -libc::EPERM, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layouts_are_the_kernels() {
        assert_eq!(size_of::<Request>(), 80);
        assert_eq!(size_of::<Response>(), 24);
        assert_eq!((RECEIVE as u32 >> 16) & 0x3fff, 80);
        assert_eq!((SEND as u32 >> 16) & 0x3fff, 24);
    }
}
