//! A stack for a process that shares its parent's memory: below it lies a page that nobody may touch, so that running
//! over its end is a fault and not somebody else's memory.

use rustix::io::Errno;
use rustix::param::page_size;

use super::fd::last_errno;

/// The child makes system calls and nothing else; its frames are small.
const SIZE: usize = 16 << 10;

/// A mapping of [`SIZE`] bytes above a page without access.
#[derive(Debug)]
pub(super) struct Stack {
    base: *mut libc::c_void,
    length: usize,
}

impl Stack {
    /// A stack whose pages are there already: who waits for the child does not wait for them.
    ///
    /// # Errors
    /// `ENOMEM`, `EAGAIN`.
    pub(super) fn new() -> Result<Self, Errno> {
        let guard = page_size();
        let length = guard + SIZE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK | libc::MAP_POPULATE;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping at an address of the kernel's choice replaces none.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), length, access, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(last_errno());
        }
        let stack = Stack { base, length };
        // SAFETY: the first page of the new mapping, which nothing points into yet.
        if unsafe { libc::mprotect(base, guard, libc::PROT_NONE) } < 0 {
            return Err(last_errno());
        }
        Ok(stack)
    }

    /// Its upper end, where a stack begins; aligned to a page.
    pub(super) fn top(&self) -> *mut libc::c_void {
        self.base.wrapping_byte_add(self.length)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and whoever used it as a stack has left it.
        unsafe { libc::munmap(self.base, self.length) };
    }
}
