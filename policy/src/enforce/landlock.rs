//! Landlock rulesets: the one of a mode, and the one that every command gets for itself.
//!
//! - **D1**, the mode's: every right on files that the kernel knows is handled, so that what no grant opens is refused;
//!   both scopes, where the ABI has them; and with `network = "none"` every right on ports. (Rules on ports name one
//!   port each, so a session with the whole network handles none of them; seccomp bounds its families.) The launcher
//!   enters it and everything below inherits it.
//! - **D2 and D3**, a command's: nothing but the signal scope, so that a keeper's broadcast reaches its own command
//!   and no other, and a command reaches neither its keeper nor another command. A ruleset must handle at least one
//!   right, and a layer that does not handle `REFER` refuses every rename and link between folders: so exactly that
//!   right is handled, and granted on `/`.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible, PathBeneath, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use rustix::fs::{FileType, Mode as FileMode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::granted::{Granted, Rights};
use crate::grant::GrantReason;
use crate::{Access, Grant, Network, Profile};

/// The least ABI for a confined mode: below it files can be truncated whatever the rules say.
pub const LEAST_ABI: u32 = 3;

/// The first ABI with rights on TCP ports.
pub const PORTS_ABI: u32 = 4;

/// The newest ABI whose rights are handled here; a newer kernel's further rights are not.
pub const NEWEST_ABI: u32 = 10;

/// The first ABI with scopes on signals and abstract sockets.
pub const SCOPES_ABI: u32 = 6;

/// Why a ruleset could not be made.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A granted path cannot be opened.
    #[error("cannot open {path} to grant it{}", hint(*source))]
    Open {
        /// The path.
        path: PathBuf,
        /// The kernel's answer.
        #[source]
        source: Errno,
    },
    /// The kernel refused the ruleset or a rule.
    #[error("landlock refused the ruleset")]
    Refused(#[source] Box<RulesetError>),
    /// The ruleset has no descriptor: the kernel enforces nothing.
    #[error("landlock is not supported here")]
    Unsupported,
}

/// What an error that means something else to most means here.
fn hint(source: Errno) -> &'static str {
    match source {
        Errno::LOOP => ": a symbolic link has taken its place, or that of a folder above it",
        _ => "",
    }
}

impl From<RulesetError> for BuildError {
    fn from(error: RulesetError) -> Self {
        BuildError::Refused(Box::new(error))
    }
}

/// A mode's ruleset, and what it grants.
#[derive(Debug)]
pub struct ModeRules {
    /// For `sys::landlock::restrict_self`.
    pub ruleset: OwnedFd,
    /// The same rules, to be asked.
    pub granted: Granted,
}

/// A ruleset in the making: every rule goes to the kernel and into `granted`.
struct Rules {
    ruleset: RulesetCreated,
    granted: Granted,
}

impl Rules {
    fn add(self, path: &Path, fd: OwnedFd, rights: Rights) -> Result<Self, BuildError> {
        let Rules { ruleset, mut granted } = self;
        granted
            .note(&fd, rights)
            .map_err(|source| BuildError::Open { path: path.to_owned(), source })?;
        Ok(Rules { ruleset: ruleset.add_rule(PathBeneath::new(fd, rights))?, granted })
    }
}

/// The ruleset D1 of a mode.
///
/// # Errors
/// A granted path that is gone, or a kernel that refuses. Devices and shared memory may be absent in a container: what
/// does not exist needs no rule.
pub fn mode_ruleset(profile: &Profile, abi: u32) -> Result<ModeRules, BuildError> {
    let known = known(abi);
    let mut ruleset = strict().handle_access(AccessFs::from_all(known))?;
    if profile.network == Network::None && abi >= PORTS_ABI {
        ruleset = ruleset.handle_access(AccessNet::from_all(known))?;
    }
    if abi >= SCOPES_ABI {
        ruleset = ruleset.scope(Scope::from_all(known))?;
    }
    let mut rules = Rules { ruleset: ruleset.create()?, granted: Granted::default() };
    for grant in &profile.grants() {
        if grant.reason == GrantReason::ReadAll {
            rules = read_all(rules, known)?;
            continue;
        }
        let fd = match pin(grant) {
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::NXIO) if is_optional(grant) => {
                continue;
            }
            other => {
                other.map_err(|source| BuildError::Open { path: grant.path.clone(), source })?
            }
        };
        let mut rights = rights(grant.access, known);
        if !is_folder(&fd) {
            rights &= AccessFs::from_file(known);
        }
        // Below ABI 9 no rule is about sockets: the observer alone judges them.
        if !rights.is_empty() {
            rules = rules.add(&grant.path, fd, rights)?;
        }
    }
    rules = own_program(rules, known)?;
    Ok(ModeRules { ruleset: descriptor(rules.ruleset)?, granted: rules.granted })
}

/// Grants reading and executing the program that this process runs, which the file worker is started from. Where it stands
/// below a folder that commands see another one of, as `/tmp`, no other rule is about it.
fn own_program(rules: Rules, abi: ABI) -> Result<Rules, BuildError> {
    let path = Path::new("/proc/self/exe");
    let fd = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, FileMode::empty())
        .map_err(|source| BuildError::Open { path: path.to_owned(), source })?;
    rules.add(path, fd, rights(Access::Read, abi) & AccessFs::from_file(abi))
}

/// Grants reading on everything but devices: listing on `/`, and reading and executing on each of its entries except
/// `/dev`. To read a terminal, a FIFO-like device or a watchdog is no passive thing: it takes what it reads from somebody
/// else, and to open a terminal is to acquire it. A folder that is put into `/` later is listed and not read.
fn read_all(mut rules: Rules, abi: ABI) -> Result<Rules, BuildError> {
    let open = |path: &Path| {
        rustix::fs::open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, FileMode::empty())
    };
    let failed = |path: &Path| {
        let path = path.to_owned();
        move |source| BuildError::Open { path, source }
    };
    let root = Path::new("/");
    let entries = std::fs::read_dir(root)
        .map_err(|error| failed(root)(Errno::from_io_error(&error).unwrap_or(Errno::IO)))?;
    let fd = open(root).map_err(failed(root))?;
    rules = rules.add(root, fd, AccessFs::ReadDir.into())?;
    for entry in
        entries.flatten().map(|entry| entry.path()).filter(|path| path != Path::new("/dev"))
    {
        // Gone meanwhile, or not for this user: then there is nothing to grant.
        let Ok(fd) = open(&entry) else { continue };
        let rights = rights(Access::Read, abi);
        let rights = if is_folder(&fd) { rights } else { rights & AccessFs::from_file(abi) };
        rules = rules.add(&entry, fd, rights)?;
    }
    Ok(rules)
}

/// The ruleset of D2 and D3. Needs [`SCOPES_ABI`].
///
/// # Errors
/// The kernel refuses, or has no scopes.
pub fn command_ruleset() -> Result<OwnedFd, BuildError> {
    let root = Path::new("/");
    let fd = rustix::fs::open(root, OFlags::PATH | OFlags::CLOEXEC, FileMode::empty())
        .map_err(|source| BuildError::Open { path: root.to_owned(), source })?;
    let ruleset = strict()
        .handle_access(AccessFs::Refer)?
        .scope(Scope::Signal)?
        .create()?
        .add_rule(PathBeneath::new(fd, AccessFs::Refer))?;
    descriptor(ruleset)
}

/// A ruleset in which every right that is asked for must be had.
fn strict() -> Ruleset {
    Ruleset::default().set_compatibility(CompatLevel::HardRequirement)
}

fn descriptor(ruleset: RulesetCreated) -> Result<OwnedFd, BuildError> {
    Option::<OwnedFd>::from(ruleset).ok_or(BuildError::Unsupported)
}

fn known(abi: u32) -> ABI {
    ABI::from(i32::try_from(abi).unwrap_or(i32::MAX))
}

/// Pins the file that a grant's path leads to now; the rule holds that inode and no other.
///
/// A root was resolved when the session was opened, so its path has no symbolic link in it. One that is there now was
/// put there since, by somebody who would like the rule to hold another folder: it is not followed.
///
/// # Errors
/// The kernel's answer; `ELOOP` for a root whose path leads through a symbolic link.
pub fn pin(grant: &Grant) -> Result<OwnedFd, Errno> {
    let resolve = match grant.reason {
        GrantReason::Workspace
        | GrantReason::Writable
        | GrantReason::Configured
        | GrantReason::Operator
        | GrantReason::Preset(_)
        | GrantReason::GitDir
        | GrantReason::GitCommonDir => ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS,
        GrantReason::ReadAll
        | GrantReason::Temp
        | GrantReason::SharedMemory
        | GrantReason::Device => ResolveFlags::empty(),
        // Nothing stands behind a link that was not there at the opening.
        GrantReason::Journal | GrantReason::UnixSocket => ResolveFlags::NO_SYMLINKS,
    };
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    rustix::fs::openat2(rustix::fs::CWD, &grant.path, flags, FileMode::empty(), resolve)
}

/// Whether a rule may be left out where its path does not exist.
fn is_optional(grant: &Grant) -> bool {
    matches!(
        grant.reason,
        GrantReason::Device
            | GrantReason::Journal
            | GrantReason::SharedMemory
            | GrantReason::UnixSocket
    )
}

fn is_folder(fd: &OwnedFd) -> bool {
    rustix::fs::fstat(fd).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_dir())
}

/// The rights behind an [`Access`], of those that the ABI has.
fn rights(access: Access, abi: ABI) -> Rights {
    let read = AccessFs::ReadFile | AccessFs::ReadDir | AccessFs::Execute;
    let rights = match access {
        Access::Read => read,
        Access::Write => {
            read | AccessFs::WriteFile
                | AccessFs::Truncate
                | AccessFs::RemoveDir
                | AccessFs::RemoveFile
                | AccessFs::MakeDir
                | AccessFs::MakeReg
                | AccessFs::MakeSock
                | AccessFs::MakeFifo
                | AccessFs::MakeSym
                | AccessFs::Refer
                | AccessFs::ResolveUnix
        }
        Access::Device => {
            AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::Truncate | AccessFs::IoctlDev
        }
        Access::Connect => AccessFs::ResolveUnix.into(),
    };
    rights & AccessFs::from_all(abi)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_cannot_be_made_under_a_writable_root() {
        let all = AccessFs::from_all(ABI::V7);
        let kept_back = AccessFs::MakeChar | AccessFs::MakeBlock | AccessFs::IoctlDev;
        assert_eq!(rights(Access::Write, ABI::V7), all & !kept_back);
    }

    #[test]
    fn an_older_abi_gets_the_rights_that_it_has() {
        assert!(!rights(Access::Device, ABI::V4).contains(AccessFs::IoctlDev));
        assert!(!rights(Access::Write, ABI::V3).contains(AccessFs::ResolveUnix));
        assert!(rights(Access::Write, ABI::V9).contains(AccessFs::ResolveUnix));
    }

    #[test]
    fn a_root_that_is_gone_is_named() {
        let mut profile = crate::profile::tests::profile(crate::Mode::WorkspaceWrite);
        profile.temp = std::env::temp_dir();
        let error = mode_ruleset(&profile, LEAST_ABI).unwrap_err();
        assert_eq!(error.to_string(), "cannot open /ws to grant it");
    }
}
