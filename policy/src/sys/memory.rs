//! Another process's memory (process_vm_readv(2)).

use rustix::io::Errno;

use super::fd::last_errno;

/// Bytes that are asked for at once: never across the end of a page, behind which there may be nothing.
const PAGE: u64 = 4096;

/// Reads as many bytes as `buffer` holds from the address in the thread's memory.
///
/// # Errors
/// `EFAULT` where the address is not the process's, `EPERM` where it may not be looked into, `ESRCH` when it is gone.
pub fn read(thread: u32, address: u64, buffer: &mut [u8]) -> Result<(), Errno> {
    let mut done = 0;
    while done < buffer.len() {
        let rest = &mut buffer[done..];
        let read = read_some(thread, address.wrapping_add(done as u64), rest)?;
        if read == 0 {
            return Err(Errno::FAULT);
        }
        done += read;
    }
    Ok(())
}

/// Reads a text up to its NUL, which is not part of the answer.
///
/// # Errors
/// As [`read`]; `ENAMETOOLONG` when there is no NUL within `most` bytes.
pub fn read_text(thread: u32, address: u64, most: usize) -> Result<Vec<u8>, Errno> {
    let mut text = Vec::with_capacity(256);
    let mut buffer = [0u8; 256];
    while text.len() < most {
        let at = address.wrapping_add(text.len() as u64);
        let until_page = usize::try_from(PAGE - at % PAGE).unwrap_or(buffer.len());
        let wanted = buffer.len().min(until_page).min(most - text.len());
        let read = read_some(thread, at, &mut buffer[..wanted])?;
        if read == 0 {
            return Err(Errno::FAULT);
        }
        match buffer[..read].iter().position(|byte| *byte == 0) {
            Some(end) => {
                text.extend_from_slice(&buffer[..end]);
                return Ok(text);
            }
            None => text.extend_from_slice(&buffer[..read]),
        }
    }
    Err(Errno::NAMETOOLONG)
}

fn read_some(thread: u32, address: u64, buffer: &mut [u8]) -> Result<usize, Errno> {
    let pid = libc::pid_t::try_from(thread).map_err(|_| Errno::SRCH)?;
    let base = usize::try_from(address).map_err(|_| Errno::FAULT)? as *mut libc::c_void;
    let local = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    let remote = libc::iovec { iov_base: base, iov_len: buffer.len() };
    // SAFETY: `local` describes `buffer`, which is exclusively borrowed through the call. `remote` is an address in the
    // other process, which the kernel checks and this process never follows.
    let read = unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    usize::try_from(read).map_err(|_| last_errno())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_read_up_to_its_end_and_no_further() {
        let text = c"hello";
        let own = std::process::id();
        let address = text.as_ptr() as u64;
        assert_eq!(read_text(own, address, 4096).unwrap(), b"hello");
        assert_eq!(read_text(own, address, 5), Err(Errno::NAMETOOLONG));
        assert_eq!(read_text(own, 8, 4096), Err(Errno::FAULT));
        let mut bytes = [0u8; 5];
        read(own, address, &mut bytes).unwrap();
        assert_eq!(&bytes, b"hello");
    }
}
