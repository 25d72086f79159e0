//! Installing a seccomp filter (seccomp(2)).

use rustix::io::Errno;

use super::errno;
use super::fd::last_errno;

/// One instruction of classic BPF, as the kernel takes it (`struct sock_filter` of `linux/filter.h`).
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// Operation code.
    pub code: u16,
    /// Instructions to skip when the test holds.
    pub jt: u8,
    /// Instructions to skip when it does not.
    pub jf: u8,
    /// Operand.
    pub k: u32,
}

/// A filter as the kernel takes it (`struct sock_fprog`).
#[repr(C)]
pub(super) struct Program {
    length: u16,
    instructions: *const Instruction,
}

/// Why a filter could not be installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InstallError {
    /// An empty filter allows everything: never what was meant.
    #[error("the filter is empty")]
    Empty,
    /// The kernel takes 4,096 instructions (`BPF_MAXINSNS`).
    #[error("the filter has {0} instructions, the kernel takes 4096")]
    TooLong(usize),
    /// The kernel's answer.
    #[error("seccomp: {}", errno::explain(*.0))]
    Refused(Errno),
}

/// Asks whether filters that answer with an errno can be installed (`SECCOMP_GET_ACTION_AVAIL`, Linux 4.14).
///
/// # Errors
/// The kernel's answer: `EINVAL` without filters, whatever a container's profile says to the call.
pub fn is_available() -> Result<(), Errno> {
    let action: u32 = libc::SECCOMP_RET_ERRNO;
    // SAFETY: the call reads four bytes at `action`, which lives until it returns.
    let answer = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0usize, &raw const action)
    };
    if answer == 0 { Ok(()) } else { Err(last_errno()) }
}

/// Filters the system calls of the calling thread and of all that it starts from now on. It cannot be undone.
///
/// # Errors
/// See [`InstallError`]; `EACCES` without `no_new_privs`.
pub fn install(filter: &[Instruction]) -> Result<(), InstallError> {
    with_program(filter, |program| {
        // SAFETY: `program` points to a valid program that lives until the call returns.
        let answer = unsafe {
            libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0usize, program)
        };
        if answer == 0 { Ok(()) } else { Err(last_errno()) }
    })
}

/// Checks a filter's length and lends it in the kernel's form. The kernel copies and checks the instructions; the layouts
/// are those of `struct sock_fprog` and `struct sock_filter`.
pub(super) fn with_program<T>(
    filter: &[Instruction],
    install: impl FnOnce(*const Program) -> Result<T, Errno>,
) -> Result<T, InstallError> {
    if filter.is_empty() {
        return Err(InstallError::Empty);
    }
    let length = u16::try_from(filter.len()).ok().filter(|length| *length <= 4096);
    let Some(length) = length else {
        return Err(InstallError::TooLong(filter.len()));
    };
    let program = Program { length, instructions: filter.as_ptr() };
    install(&raw const program).map_err(InstallError::Refused)
}
