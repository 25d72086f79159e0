//! Names that move or multiply: rename(2) and link(2).
//!
//! Landlock's rules on these (its documentation, `LANDLOCK_ACCESS_FS_REFER`): within one folder the rights to make and to
//! remove suffice. Between folders any of those that is missing is `EACCES`; then `REFER` is needed on both sides, and the
//! file must gain no right by the move, else `EXDEV`.

use brattice_policy::DeniedOperation;
use brattice_policy::enforce::granted::{AccessFs, Rights};
use brattice_policy::enforce::seccomp::trap::Place;
use brattice_policy::sys::file::{Permission, permits};
use rustix::fs::{FileType, RenameFlags, Stat};
use rustix::io::Errno;

use super::Judge;
use super::caller::{Caller, Look};
use super::names::is_empty;
use super::resolve::{self, File, Found, Last, LastLink};
use super::verdict::{Answer, Refusal, leave, path_in, path_of};
use super::{host, permits as native};

const AT_SYMLINK_FOLLOW: u32 = 0x400;

/// The right to make a file of this kind.
fn making(file: &File) -> Rights {
    match file.kind() {
        FileType::Directory => AccessFs::MakeDir,
        FileType::Symlink => AccessFs::MakeSym,
        FileType::Fifo => AccessFs::MakeFifo,
        FileType::Socket => AccessFs::MakeSock,
        FileType::CharacterDevice => AccessFs::MakeChar,
        FileType::BlockDevice => AccessFs::MakeBlock,
        _ => AccessFs::MakeReg,
    }
    .into()
}

/// The right to remove it.
fn removing(file: &File) -> Rights {
    match file.kind() {
        FileType::Directory => AccessFs::RemoveDir,
        _ => AccessFs::RemoveFile,
    }
    .into()
}

/// A move: what is needed in the folder that is left, and in the one that is reached.
struct Move<'a> {
    from: &'a Found,
    to: &'a Found,
    source: Rights,
    destination: Rights,
    /// Whether something goes the other way as well.
    is_exchange: bool,
}

/// What Landlock says to a move, and the right that is missing.
fn judge_move(judge: &Judge, step: &Move<'_>) -> Result<Option<(Errno, Rights)>, Look> {
    let Move { from, to, source, destination, is_exchange } = *step;
    let stat = |found: &Found| rustix::fs::fstat(&found.folder).map_err(Look::Native);
    if same(&stat(from)?, &stat(to)?) {
        let wanted = source | destination;
        let missing = wanted & !judge.granted_in(&from.folder, wanted)?;
        return Ok((!missing.is_empty()).then_some((Errno::ACCESS, missing)));
    }
    let (left, reached) = (
        judge.granted_in(&from.folder, Rights::all())?,
        judge.granted_in(&to.folder, Rights::all())?,
    );
    let missing = (source & !left) | (destination & !reached);
    if !missing.is_empty() {
        return Ok(Some((Errno::ACCESS, missing)));
    }
    let refer = Rights::from(AccessFs::Refer);
    let gains = !(reached & !left).is_empty() || (is_exchange && !(left & !reached).is_empty());
    let is_refused = !(left & reached).contains(refer) || gains;
    Ok(is_refused.then_some((Errno::XDEV, refer)))
}

fn same(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)
}

pub(super) fn rename(
    judge: &Judge,
    caller: Caller<'_>,
    from: Place,
    to: Place,
    flags: u32,
) -> Answer {
    let flags = RenameFlags::from_bits_retain(flags);
    let known = RenameFlags::NOREPLACE | RenameFlags::EXCHANGE | RenameFlags::WHITEOUT;
    let excluded = RenameFlags::NOREPLACE | RenameFlags::WHITEOUT;
    if !known.contains(flags)
        || (flags.contains(RenameFlags::EXCHANGE) && flags.intersects(excluded))
    {
        return Answer::Continue;
    }
    let places = resolve::place(caller, from, LastLink::Name).and_then(|from| {
        let to = resolve::place(caller, to, LastLink::Name)?;
        rename_found(judge, &from, &to, flags)
    });
    places.unwrap_or_else(leave)
}

fn rename_found(
    judge: &Judge,
    from: &Found,
    to: &Found,
    flags: RenameFlags,
) -> Result<Answer, Look> {
    let Some(file) = &from.file else { return Ok(Answer::Continue) };
    if !is_possible(from, to, file, flags)? {
        return Ok(Answer::Continue);
    }
    let is_exchange = flags.contains(RenameFlags::EXCHANGE);
    let mut source = removing(file);
    let mut destination = making(file);
    if let Some(victim) = &to.file {
        destination |= removing(victim);
        if is_exchange {
            source |= making(victim);
        }
    }
    if flags.contains(RenameFlags::WHITEOUT) {
        source |= AccessFs::MakeChar;
    }
    let step = Move { from, to, source, destination, is_exchange };
    Ok(match judge_move(judge, &step)? {
        None => Answer::Continue,
        Some((errno, missing)) => refusal(DeniedOperation::Rename, from, to, errno, missing),
    })
}

fn refusal(
    operation: DeniedOperation,
    from: &Found,
    to: &Found,
    errno: Errno,
    missing: Rights,
) -> Answer {
    let path = match &from.file {
        Some(file) if from.name.is_empty() => path_of(&file.fd),
        _ => path_in(&from.folder, &from.name),
    };
    let mut refusal = Refusal::of_files(operation, path, missing);
    refusal.errno = errno;
    refusal.second_path = Some(path_in(&to.folder, &to.name));
    refusal.into()
}

/// Whether the kernel would do the rename without the sandbox.
fn is_possible(from: &Found, to: &Found, file: &File, flags: RenameFlags) -> Result<bool, Look> {
    let is_exchange = flags.contains(RenameFlags::EXCHANGE);
    let is_folder = file.kind() == FileType::Directory;
    let victim = to.file.as_ref();
    if from.last != Last::Name
        || to.last != Last::Name
        || native::mount(&from.folder) != native::mount(&to.folder)
        || (victim.is_some() && flags.contains(RenameFlags::NOREPLACE))
        || (victim.is_none() && is_exchange)
        || (!is_folder && (from.has_slash || (to.has_slash && !is_exchange)))
        || native::mount(&file.fd) != native::mount(&from.folder)
    {
        return Ok(false);
    }
    let is_folder_too = |victim: &File| victim.kind() == FileType::Directory;
    if is_exchange && to.has_slash && !victim.is_some_and(is_folder_too) {
        return Ok(false);
    }
    // Two names of one file, or the same name: nothing is done, and nothing refused but by Landlock.
    if victim.is_some_and(|victim| same(&victim.stat, &file.stat)) {
        return Ok(!native::is_read_only(&from.folder));
    }
    let stat = |found: &Found| rustix::fs::fstat(&found.folder).map_err(Look::Native);
    let (left, reached) = (stat(from)?, stat(to)?);
    if !native::can_remove(&from.folder, &left, file) {
        return Ok(false);
    }
    // A folder that gets another parent is written to itself: its `..` changes.
    let stays = !is_folder || same(&left, &reached);
    if !stays && !permits(&file.fd, Permission::Write) {
        return Ok(false);
    }
    let Some(victim) = victim else {
        return Ok(native::can_create(&to.folder, &reached) && !is_above(file, &to.folder)?);
    };
    if native::mount(&victim.fd) != native::mount(&to.folder)
        || !native::can_remove(&to.folder, &reached, victim)
    {
        return Ok(false);
    }
    let victim_is_folder = is_folder_too(victim);
    let fits =
        is_exchange || (is_folder == victim_is_folder && (!victim_is_folder || is_empty(to)));
    Ok(fits && !is_above(file, &to.folder)? && !is_above(victim, &from.folder)?)
}

/// Whether a folder is the other one, or above it.
fn is_above(file: &File, folder: &std::os::fd::OwnedFd) -> Result<bool, Look> {
    if file.kind() != FileType::Directory {
        return Ok(false);
    }
    judge_above(&file.stat, folder).map_err(Look::Native)
}

fn judge_above(wanted: &Stat, folder: &std::os::fd::OwnedFd) -> Result<bool, Errno> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at = rustix::io::dup(folder)?;
    loop {
        let stat = rustix::fs::fstat(&at)?;
        if same(&stat, wanted) {
            return Ok(true);
        }
        let up = rustix::fs::openat(&at, c"..", flags, Mode::empty())?;
        if same(&rustix::fs::fstat(&up)?, &stat) {
            return Ok(false);
        }
        at = up;
    }
}

pub(super) fn link(
    judge: &Judge,
    caller: Caller<'_>,
    from: Place,
    to: Place,
    flags: u32,
) -> Answer {
    // `AT_EMPTY_PATH` needs a capability that no command has; other flags are the kernel's to refuse.
    if flags & !AT_SYMLINK_FOLLOW != 0 {
        return Answer::Continue;
    }
    let last = match flags & AT_SYMLINK_FOLLOW {
        0 => LastLink::Keep,
        _ => LastLink::Follow,
    };
    let answer = resolve::place(caller, from, last).and_then(|from| {
        let to = resolve::place(caller, to, LastLink::Name)?;
        link_found(judge, from, &to)
    });
    answer.unwrap_or_else(leave)
}

fn link_found(judge: &Judge, mut from: Found, to: &Found) -> Result<Answer, Look> {
    let Some(file) = &from.file else { return Ok(Answer::Continue) };
    let reached = rustix::fs::fstat(&to.folder).map_err(Look::Native)?;
    let attributes = native::attributes(&file.fd);
    let is_used = permits(&file.fd, Permission::Read) && permits(&file.fd, Permission::Write);
    if to.last != Last::Name
        || to.file.is_some()
        || to.has_slash
        || file.kind() == FileType::Directory
        || file.stat.st_nlink == 0
        || native::mount(&file.fd) != native::mount(&to.folder)
        || attributes.is_immutable
        || attributes.is_append_only
        || host::protects_source(&file.stat, is_used)
        || !native::can_create(&to.folder, &reached)
    {
        return Ok(Answer::Continue);
    }
    let destination = making(file);
    if from.last != Last::Name {
        let Some(folder) = judge.folder_of(file)? else { return Ok(Answer::Continue) };
        from.folder = folder;
    }
    let step = Move { from: &from, to, source: Rights::empty(), destination, is_exchange: false };
    Ok(match judge_move(judge, &step)? {
        None => Answer::Continue,
        Some((errno, missing)) => refusal(DeniedOperation::Link, &from, to, errno, missing),
    })
}
