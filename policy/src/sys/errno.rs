//! Error numbers by the names that manual pages use: a message that says `ENOSPC` can be looked up.

use rustix::io::Errno;

const NAMES: [(Errno, &str); 41] = [
    (Errno::PERM, "EPERM"),
    (Errno::NOENT, "ENOENT"),
    (Errno::SRCH, "ESRCH"),
    (Errno::INTR, "EINTR"),
    (Errno::IO, "EIO"),
    (Errno::NXIO, "ENXIO"),
    (Errno::TOOBIG, "E2BIG"),
    (Errno::NOEXEC, "ENOEXEC"),
    (Errno::BADF, "EBADF"),
    (Errno::CHILD, "ECHILD"),
    (Errno::AGAIN, "EAGAIN"),
    (Errno::NOMEM, "ENOMEM"),
    (Errno::ACCESS, "EACCES"),
    (Errno::FAULT, "EFAULT"),
    (Errno::BUSY, "EBUSY"),
    (Errno::EXIST, "EEXIST"),
    (Errno::XDEV, "EXDEV"),
    (Errno::NODEV, "ENODEV"),
    (Errno::NOTDIR, "ENOTDIR"),
    (Errno::ISDIR, "EISDIR"),
    (Errno::INVAL, "EINVAL"),
    (Errno::NFILE, "ENFILE"),
    (Errno::MFILE, "EMFILE"),
    (Errno::TXTBSY, "ETXTBSY"),
    (Errno::FBIG, "EFBIG"),
    (Errno::NOSPC, "ENOSPC"),
    (Errno::SPIPE, "ESPIPE"),
    (Errno::ROFS, "EROFS"),
    (Errno::MLINK, "EMLINK"),
    (Errno::PIPE, "EPIPE"),
    (Errno::NAMETOOLONG, "ENAMETOOLONG"),
    (Errno::NOSYS, "ENOSYS"),
    (Errno::LOOP, "ELOOP"),
    (Errno::OVERFLOW, "EOVERFLOW"),
    (Errno::OPNOTSUPP, "EOPNOTSUPP"),
    (Errno::STALE, "ESTALE"),
    (Errno::DQUOT, "EDQUOT"),
    (Errno::LIBBAD, "ELIBBAD"),
    (Errno::CONNRESET, "ECONNRESET"),
    (Errno::NOBUFS, "ENOBUFS"),
    (Errno::USERS, "EUSERS"),
];

/// The number's name, such as `ENOSPC`; `errno 133` for one without a name here.
pub fn name(errno: Errno) -> String {
    NAMES
        .iter()
        .find(|(known, _)| *known == errno)
        .map_or_else(|| format!("errno {}", errno.raw_os_error()), |(_, name)| (*name).to_owned())
}

/// The number's name and what it means: `ENOSPC (No space left on device)`.
pub fn explain(errno: Errno) -> String {
    let text = errno.to_string();
    let meaning = text.split(" (os error").next().unwrap_or_default();
    format!("{} ({meaning})", name(errno))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_told_by_its_name() {
        assert_eq!(name(Errno::NOSPC), "ENOSPC");
        assert_eq!(name(Errno::HWPOISON), "errno 133");
        assert_eq!(explain(Errno::PERM), "EPERM (Operation not permitted)");
    }
}
