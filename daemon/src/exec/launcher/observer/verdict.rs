//! What the observer says to a call, and what it puts on record.

use std::ffi::OsStr;
use std::os::fd::{AsFd, AsRawFd as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use brattice_policy::enforce::granted::Rights;
use brattice_policy::{DeniedOperation, LayerName};
use rustix::io::Errno;

use super::caller::Look;

/// The answer to a call.
#[derive(Debug)]
pub(super) enum Answer {
    /// The kernel carries it out, or refuses it by its own layers.
    Continue,
    /// It could not be looked into. The kernel's own layers judge it.
    Unobserved,
    /// It could not be looked into, and nobody else would judge it: it is refused.
    Unseen,
    /// The sandbox refuses it, which is recorded.
    Refuse(Box<Refusal>),
    /// The kernel would refuse it with this.
    Fail(Errno),
    /// It was carried out on the caller's behalf.
    Done(i64),
}

/// A refusal as it is found.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) operation: DeniedOperation,
    pub(super) path: PathBuf,
    pub(super) second_path: Option<PathBuf>,
    pub(super) layer: LayerName,
    pub(super) errno: Errno,
    pub(super) right: String,
    /// A setting that would allow it.
    pub(super) grant: Option<String>,
}

impl Refusal {
    /// A refusal by Landlock's rules on files.
    pub(super) fn of_files(operation: DeniedOperation, path: PathBuf, missing: Rights) -> Self {
        Refusal {
            operation,
            path,
            second_path: None,
            layer: LayerName::Landlock,
            errno: Errno::ACCESS,
            right: name(missing),
            grant: None,
        }
    }
}

impl From<Refusal> for Answer {
    fn from(refusal: Refusal) -> Self {
        Answer::Refuse(Box::new(refusal))
    }
}

/// What a call that Landlock judges as well is answered when it cannot be looked into.
pub(super) fn leave(look: Look) -> Answer {
    match look {
        // The kernel finds the same fault.
        Look::Native(_) => Answer::Continue,
        Look::Blind => Answer::Unobserved,
    }
}

/// What a call that nobody else judges is answered then.
pub(super) fn refuse(look: Look) -> Answer {
    match look {
        Look::Native(errno) => Answer::Fail(errno),
        Look::Blind => Answer::Unseen,
    }
}

/// The path of a pinned file, as procfs shows it.
///
/// # Errors
/// `ENAMETOOLONG` for a path of more than `PATH_MAX` bytes.
pub(super) fn seen_path(file: impl AsFd) -> Result<PathBuf, Errno> {
    let link = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    let text = rustix::fs::readlink(link, Vec::new())?;
    Ok(PathBuf::from(std::ffi::OsString::from_vec(text.into_bytes())))
}

/// The same for a record, which has none where it cannot be seen: nothing is decided by it.
pub(super) fn path_of(file: impl AsFd) -> PathBuf {
    seen_path(file).unwrap_or_default()
}

/// The path of a name in a pinned folder.
pub(super) fn path_in(folder: impl AsFd, name: &[u8]) -> PathBuf {
    path_of(folder).join(Path::new(OsStr::from_bytes(name)))
}

/// The first of the rights, in the words of the kernel's header (`linux/landlock.h`, without `LANDLOCK_ACCESS_FS_`).
fn name(rights: Rights) -> String {
    let first = rights.iter().next().map(|right| format!("{right:?}")).unwrap_or_default();
    let mut name = String::new();
    for letter in first.chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.extend(letter.to_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use brattice_policy::enforce::granted::AccessFs;

    #[test]
    fn rights_have_the_kernels_names() {
        assert_eq!(name(AccessFs::WriteFile.into()), "write_file");
        assert_eq!(name(AccessFs::MakeReg | AccessFs::WriteFile), "write_file");
        assert_eq!(name(AccessFs::Refer.into()), "refer");
    }
}
