//! What a mode's ruleset grants, kept beside it so that the observer can tell what Landlock is about to say. Made from
//! the same descriptors at the same moment as the rules themselves; Landlock goes on to hold what is enforced.

use std::collections::HashMap;
use std::os::fd::{AsFd, OwnedFd};

pub use landlock::AccessFs;
use landlock::BitFlags;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

/// A set of Landlock's rights on files.
pub type Rights = BitFlags<AccessFs>;

/// Longest chain of folders that is followed to the root.
const DEEPEST: usize = 1 << 20;

/// The rules of a ruleset by the file that each one holds.
#[derive(Clone, Debug, Default)]
pub struct Granted {
    rules: HashMap<(u64, u64), Rights>,
}

impl Granted {
    /// Notes the rule that was added for a file.
    ///
    /// # Errors
    /// The file cannot be looked at.
    pub(super) fn note(&mut self, file: impl AsFd, rights: Rights) -> Result<(), Errno> {
        let stat = rustix::fs::fstat(file)?;
        *self.rules.entry((stat.st_dev, stat.st_ino)).or_default() |= rights;
        Ok(())
    }

    /// The rights of the rule on this very file.
    pub fn on(&self, stat: &rustix::fs::Stat) -> Rights {
        self.rules.get(&(stat.st_dev, stat.st_ino)).copied().unwrap_or_default()
    }

    /// The rights of all rules on a folder and on what is above it, as Landlock unites them. Those that are `wanted` are
    /// told for certain; the way up ends once they are found.
    ///
    /// # Errors
    /// A folder on the way cannot be opened; `ENAMETOOLONG` where there are more than 2^20 of them.
    pub fn below(&self, folder: impl AsFd, wanted: Rights) -> Result<Rights, Errno> {
        let mut found = Rights::empty();
        let mut at: Option<OwnedFd> = None;
        let mut stat = rustix::fs::fstat(&folder)?;
        for _ in 0..DEEPEST {
            found |= self.on(&stat);
            if found.contains(wanted) {
                return Ok(found);
            }
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let up = match &at {
                Some(at) => rustix::fs::openat(at, c"..", flags, Mode::empty())?,
                None => rustix::fs::openat(&folder, c"..", flags, Mode::empty())?,
            };
            let above = rustix::fs::fstat(&up)?;
            if (above.st_dev, above.st_ino) == (stat.st_dev, stat.st_ino) {
                return Ok(found);
            }
            (at, stat) = (Some(up), above);
        }
        Err(Errno::NAMETOOLONG)
    }
}
