//! A calling thread, seen from the observer: its memory, its folders, its descriptors, and whose it is.
//!
//! Everything is asked of the *thread*: its tables may differ from those of its process. What was found out is worth
//! something only while the call still waits; whoever acts on it asks that afterwards. Texts are read once a call.

use std::cell::OnceCell;
use std::ffi::CString;
use std::fs;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use brattice_policy::enforce::seccomp::trap::{Folder, Place, Word};
use brattice_policy::sys::listener::Notification;
use brattice_policy::sys::memory;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags};

/// `AT_FDCWD`.
const CURRENT: i32 = -100;

/// Longest path, with its NUL (`PATH_MAX`).
const LONGEST_PATH: usize = 4096;

/// `PIDFD_THREAD` (Linux 6.9).
const THREAD: u32 = 0o200;

/// Why a call cannot be looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// The kernel would refuse the call with this by itself, whatever the sandbox says.
    Native(Errno),
    /// The caller cannot be looked into.
    Blind,
}

/// What was read of a calling thread.
#[derive(Default)]
pub(super) struct Seen {
    /// The paths behind its arguments.
    paths: [OnceCell<Result<Vec<u8>, Look>>; 6],
    /// The path of its working directory.
    current: OnceCell<Option<Vec<u8>>>,
}

/// A calling thread.
#[derive(Clone, Copy)]
pub(super) struct Caller<'a> {
    notification: &'a Notification,
    seen: &'a Seen,
}

impl<'a> Caller<'a> {
    pub(super) fn new(notification: &'a Notification, seen: &'a Seen) -> Self {
        Caller { notification, seen }
    }

    /// Its thread.
    pub(super) fn thread(self) -> u32 {
        self.notification.thread()
    }

    /// Whether the call still waits.
    pub(super) fn is_waiting(self) -> bool {
        self.notification.is_waiting()
    }

    /// All 64 bits of an argument.
    pub(super) fn argument(self, number: u8) -> u64 {
        self.notification.data().arguments.get(usize::from(number)).copied().unwrap_or(0)
    }

    /// An argument of type `int`: its lower half.
    pub(super) fn word(self, number: u8) -> u32 {
        (self.argument(number) & u64::from(u32::MAX)) as u32
    }

    /// A word of the call.
    pub(super) fn value(self, word: Word) -> u32 {
        match word {
            Word::Argument(number) => self.word(number),
            Word::Fixed(value) => value,
        }
    }

    /// The text behind an argument, without its NUL.
    pub(super) fn text(self, number: u8, most: usize) -> Result<Vec<u8>, Look> {
        memory::read_text(self.thread(), self.argument(number), most).map_err(seen)
    }

    /// The path behind an argument.
    pub(super) fn path(self, number: u8) -> Result<&'a [u8], Look> {
        let Some(seen) = self.seen.paths.get(usize::from(number)) else {
            return Err(Look::Native(Errno::FAULT));
        };
        let path = seen.get_or_init(|| self.text(number, LONGEST_PATH));
        path.as_deref().map_err(|look| *look)
    }

    /// The path of its working directory, as far as it has one: what stands in a text, not a place that is pinned.
    pub(super) fn current_path(self) -> Option<&'a [u8]> {
        let read = || rustix::fs::readlink(self.proc("cwd"), Vec::new()).ok();
        self.seen.current.get_or_init(|| read().map(CString::into_bytes)).as_deref()
    }

    /// The bytes at an address.
    pub(super) fn bytes(self, address: u64, buffer: &mut [u8]) -> Result<(), Look> {
        memory::read(self.thread(), address, buffer).map_err(seen)
    }

    /// Where the path begins.
    pub(super) fn base(self, place: Place, path: &[u8]) -> Result<OwnedFd, Look> {
        if path.first() == Some(&b'/') {
            return open(&PathBuf::from("/"), OFlags::DIRECTORY).map_err(Look::Native);
        }
        match place.folder {
            Folder::Argument(number) if self.word(number).cast_signed() != CURRENT => {
                self.descriptor(self.word(number))
            }
            Folder::Argument(_) | Folder::Current => self.current(),
        }
    }

    /// Its working directory.
    pub(super) fn current(self) -> Result<OwnedFd, Look> {
        open(&self.proc("cwd"), OFlags::empty()).map_err(|errno| match errno {
            Errno::ACCESS | Errno::PERM => Look::Blind,
            errno => Look::Native(errno),
        })
    }

    /// A file that it has open, pinned; the descriptor says nothing of how it was opened.
    pub(super) fn descriptor(self, number: u32) -> Result<OwnedFd, Look> {
        if number.cast_signed() < 0 {
            return Err(Look::Native(Errno::BADF));
        }
        let link = self.proc(&format!("fd/{number}"));
        open(&link, OFlags::empty()).map_err(|errno| match errno {
            Errno::ACCESS | Errno::PERM => Look::Blind,
            Errno::NOENT => Look::Native(Errno::BADF),
            errno => Look::Native(errno),
        })
    }

    /// Whether a descriptor only names a file (`O_PATH`): the calls that take a descriptor refuse such.
    pub(super) fn is_name_only(self, number: u32) -> Result<bool, Look> {
        let facts = fs::read_to_string(self.proc(&format!("fdinfo/{number}")))
            .map_err(|_| Look::Native(Errno::BADF))?;
        let flags = facts.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
        Ok(flags.is_some_and(|flags| flags & OFlags::PATH.bits() != 0))
    }

    /// A descriptor of the caller's, as its own: the very open file.
    pub(super) fn duplicate(self, number: u32) -> Result<OwnedFd, Look> {
        let pidfd = pid(self.thread()).and_then(|thread| {
            rustix::process::pidfd_open(thread, PidfdFlags::from_bits_retain(THREAD))
        });
        let pidfd = pidfd.map_err(Look::Native)?;
        // The number is wanted as it came; one that is negative is the kernel's to refuse.
        let number = number.cast_signed();
        rustix::process::pidfd_getfd(pidfd, number, PidfdGetfdFlags::empty()).map_err(|errno| {
            match errno {
                Errno::PERM => Look::Blind,
                errno => Look::Native(errno),
            }
        })
    }

    /// The numbers of its process and thread, for the links of procfs that lead to whoever asks.
    pub(super) fn numbers(self) -> Result<(u32, u32), Look> {
        let status = fs::read_to_string(self.proc("status")).map_err(|_| Look::Blind)?;
        let process = status.lines().find_map(|line| line.strip_prefix("Tgid:"));
        let process = process.and_then(|number| number.trim().parse().ok()).ok_or(Look::Blind)?;
        Ok((process, self.thread()))
    }

    /// Its program's name.
    pub(super) fn program(self) -> String {
        let name = fs::read(self.proc("comm")).unwrap_or_default();
        String::from_utf8_lossy(&name).trim_end_matches('\n').to_owned()
    }

    fn proc(self, name: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{name}", self.thread()))
    }
}

/// A number of a process or a thread.
pub(super) fn pid(number: u32) -> Result<Pid, Errno> {
    i32::try_from(number).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)
}

fn open(path: &std::path::Path, more: OFlags) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC | more, Mode::empty())
}

fn seen(errno: Errno) -> Look {
    match errno {
        Errno::PERM | Errno::ACCESS | Errno::NOSYS => Look::Blind,
        errno => Look::Native(errno),
    }
}
