//! The rows that exist only with an observer: calls that it looks into, and those that it can tell from a harmless one
//! where a filter cannot. Reading is never among them.
//!
//! Two kinds. What Landlock judges as well is let through unless Landlock is about to refuse it, so that a wrong guess
//! costs a record and no more. What Landlock does not judge (metadata, sockets by path) is done on the caller's behalf.

use libc::EACCES;

use super::compile::Action::{Errno, Observe};
use super::compile::Rule;
use super::compile::Test::{HasAny, Is, IsNot, MaskedIs, NotNull};
use super::table::{AF_UNIX, NO_TESTS, SOCK_DGRAM, SOCK_RAW, TYPE, rules};
use super::trap::{Change, Folder, Place, Target, Times, Trap, Word};

/// Numbers that `table` has no use for.
mod number {
    #![allow(non_upper_case_globals, missing_docs, reason = "the names are the kernel's")]
    pub(super) use crate::enforce::seccomp::table::number::{
        chmod, creat, fchmod, fchmodat, fchmodat2, mknod, mknodat, open, openat, prlimit64,
        sched_setaffinity, sched_setattr, sched_setparam, sched_setscheduler, setpriority, socket,
        socketpair,
    };
    pub(super) use libc::{
        SYS_bind as bind, SYS_connect as connect, SYS_fchown as fchown, SYS_fchownat as fchownat,
        SYS_fremovexattr as fremovexattr, SYS_fsetxattr as fsetxattr, SYS_ioprio_set as ioprio_set,
        SYS_kill as kill, SYS_landlock_restrict_self as landlock_restrict_self,
        SYS_linkat as linkat, SYS_lremovexattr as lremovexattr, SYS_lsetxattr as lsetxattr,
        SYS_mkdirat as mkdirat, SYS_prctl as prctl, SYS_removexattr as removexattr,
        SYS_renameat as renameat, SYS_renameat2 as renameat2, SYS_setxattr as setxattr,
        SYS_symlinkat as symlinkat, SYS_truncate as truncate, SYS_unlinkat as unlinkat,
        SYS_utimensat as utimensat,
    };
    pub(super) const setxattrat: i64 = 463;
    pub(super) const removexattrat: i64 = 466;
    macro_rules! only_x86_64 {
        ($($name:ident = $number:literal;)*) => {
            $(pub(super) const $name: i64 = if cfg!(target_arch = "x86_64") { $number } else { -1 };)*
        };
    }
    only_x86_64! {
        rename = 82; mkdir = 83; rmdir = 84; link = 86; unlink = 87; symlink = 88; chown = 92; lchown = 94;
        utime = 132; utimes = 235; futimesat = 261;
    }
}

/// Opening with any of these writes, or makes a file: the access mode (`O_ACCMODE`), `O_CREAT`, `O_TRUNC`, and the bit of
/// `O_TMPFILE` that is not `O_DIRECTORY`'s (with which every opening of a folder would be looked into).
const WRITES: u32 = 0o3 | 0o100 | 0o1000 | 0o20_000_000;

/// What creat(2) implies.
const CREAT: u32 = 0o1 | 0o100 | 0o1000;

const AT_REMOVEDIR: u32 = 0x200;
const NO_FOLLOW: u32 = 0x100;
const NO_FLAGS: Word = Word::Fixed(0);

const PR_SET_DUMPABLE: u32 = 4;

const fn path(path: u8) -> Place {
    Place { folder: Folder::Current, path }
}

const fn at(folder: u8, path: u8) -> Place {
    Place { folder: Folder::Argument(folder), path }
}

const fn flags(argument: u8) -> Word {
    Word::Argument(argument)
}

const fn change(target: Target, change: Change) -> super::compile::Action {
    Observe(Trap::Change(target, change))
}

const fn followed(place: Place) -> Target {
    Target::Path(place, NO_FLAGS)
}

const fn link_itself(place: Place) -> Target {
    Target::Path(place, Word::Fixed(NO_FOLLOW))
}

const SET: Change = Change::SetAttribute { name: 1, value: 2, size: 3, flags: 4 };

/// Calls that Landlock judges, too.
pub const FILES: &[Rule] = rules! {
    open &[HasAny(1, WRITES)] => Observe(Trap::Open(path(0), flags(1))), "writes";
    openat &[HasAny(2, WRITES)] => Observe(Trap::Open(at(0, 1), flags(2))), "as open";
    creat NO_TESTS => Observe(Trap::Open(path(0), Word::Fixed(CREAT))), "as open";
    truncate NO_TESTS => Observe(Trap::Truncate(path(0))), "writes";
    mkdir NO_TESTS => Observe(Trap::MakeFolder(path(0))), "makes a name";
    mkdirat NO_TESTS => Observe(Trap::MakeFolder(at(0, 1))), "as mkdir";
    mknod NO_TESTS => Observe(Trap::MakeNode(path(0), 1)), "as mkdir";
    mknodat NO_TESTS => Observe(Trap::MakeNode(at(0, 1), 2)), "as mkdir";
    symlink NO_TESTS => Observe(Trap::MakeLink(path(1))), "as mkdir";
    symlinkat NO_TESTS => Observe(Trap::MakeLink(at(1, 2))), "as mkdir";
    unlink NO_TESTS => Observe(Trap::Remove(path(0), NO_FLAGS)), "removes a name";
    unlinkat NO_TESTS => Observe(Trap::Remove(at(0, 1), flags(2))), "as unlink";
    rmdir NO_TESTS => Observe(Trap::Remove(path(0), Word::Fixed(AT_REMOVEDIR))), "as unlink";
    rename NO_TESTS => Observe(Trap::Rename(path(0), path(1), NO_FLAGS)), "moves a name";
    renameat NO_TESTS => Observe(Trap::Rename(at(0, 1), at(2, 3), NO_FLAGS)), "as rename";
    renameat2 NO_TESTS => Observe(Trap::Rename(at(0, 1), at(2, 3), flags(4))), "as rename";
    link NO_TESTS => Observe(Trap::Link(path(0), path(1), NO_FLAGS)), "makes a name";
    linkat NO_TESTS => Observe(Trap::Link(at(0, 1), at(2, 3), flags(4))), "as link";
    bind NO_TESTS => Observe(Trap::Bind), "a Unix socket's address is a file";
    landlock_restrict_self NO_TESTS => Observe(Trap::Confine), "nobody acts for a caller behind a domain of its own";
    kill &[IsNot(0, u32::MAX)] => Observe(Trap::Signal), "commands of a session may signal each other, and nobody else";
    prctl &[Is(0, PR_SET_DUMPABLE), Is(1, 0)] => Errno(0), "the observer must be able to look into its callers";
};

/// Calls that Landlock does not judge.
pub const METADATA: &[Rule] = rules! {
    chmod NO_TESTS => change(followed(path(0)), Change::Mode(1)), "Landlock does not judge metadata";
    fchmod NO_TESTS => change(Target::Descriptor(0), Change::Mode(1)), "as chmod";
    fchmodat NO_TESTS => change(followed(at(0, 1)), Change::Mode(2)), "as chmod";
    fchmodat2 NO_TESTS => change(Target::Path(at(0, 1), flags(3)), Change::Mode(2)), "as chmod";
    chown NO_TESTS => change(followed(path(0)), Change::Owner(1, 2)), "as chmod";
    lchown NO_TESTS => change(link_itself(path(0)), Change::Owner(1, 2)), "as chmod";
    fchown NO_TESTS => change(Target::Descriptor(0), Change::Owner(1, 2)), "as chmod";
    fchownat NO_TESTS => change(Target::Path(at(0, 1), flags(4)), Change::Owner(2, 3)), "as chmod";
    utime NO_TESTS => change(followed(path(0)), Change::Times(Times::Seconds(1))), "as chmod";
    utimes NO_TESTS => change(followed(path(0)), Change::Times(Times::Microseconds(1))), "as chmod";
    futimesat NO_TESTS => change(followed(at(0, 1)), Change::Times(Times::Microseconds(2))), "as chmod";
    utimensat NO_TESTS => change(Target::Path(at(0, 1), flags(3)), Change::Times(Times::Nanoseconds(2))), "as chmod";
    setxattr NO_TESTS => change(followed(path(0)), SET), "as chmod";
    lsetxattr NO_TESTS => change(link_itself(path(0)), SET), "as chmod";
    fsetxattr NO_TESTS => change(Target::Descriptor(0), SET), "as chmod";
    setxattrat NO_TESTS => change(Target::Path(at(0, 1), flags(2)), Change::SetAttributeBy { name: 3, arguments: 4, size: 5 }), "as chmod";
    removexattr NO_TESTS => change(followed(path(0)), Change::RemoveAttribute(1)), "as chmod";
    lremovexattr NO_TESTS => change(link_itself(path(0)), Change::RemoveAttribute(1)), "as chmod";
    fremovexattr NO_TESTS => change(Target::Descriptor(0), Change::RemoveAttribute(1)), "as chmod";
    removexattrat NO_TESTS => change(Target::Path(at(0, 1), flags(2)), Change::RemoveAttribute(3)), "as chmod";
};

/// Another process's limits and scheduling: the same task's are the command's own to change.
pub const PROCESSES: &[Rule] = rules! {
    prlimit64 &[IsNot(0, 0), NotNull(2)] => Observe(Trap::Process(0)), "limits of another process can kill it";
    setpriority &[Is(0, 0), IsNot(1, 0)] => Observe(Trap::Process(1)), "re-nices another process";
    ioprio_set &[Is(0, 1), IsNot(1, 0)] => Observe(Trap::Process(1)), "as setpriority";
    sched_setaffinity &[IsNot(0, 0)] => Observe(Trap::Process(0)), "schedules another process";
    sched_setattr &[IsNot(0, 0)] => Observe(Trap::Process(0)), "as sched_setaffinity";
    sched_setparam &[IsNot(0, 0)] => Observe(Trap::Process(0)), "as sched_setaffinity";
    sched_setscheduler &[IsNot(0, 0)] => Observe(Trap::Process(0)), "as sched_setaffinity";
};

/// Unix sockets: streams, whose only way to a path is connect(2). No filter sees an address, nor its family, so that
/// every connect is carried out on the caller's behalf.
pub const SOCKETS: &[Rule] = rules! {
    socketpair &[Is(0, AF_UNIX), MaskedIs(1, TYPE, SOCK_DGRAM)] => Observe(Trap::Datagram), "a datagram socket reaches any path";
    socketpair &[Is(0, AF_UNIX), MaskedIs(1, TYPE, SOCK_RAW)] => Observe(Trap::Datagram), "as a datagram socket";
    socket &[Is(0, AF_UNIX), MaskedIs(1, TYPE, SOCK_DGRAM)] => Observe(Trap::Datagram), "a datagram socket reaches any path";
    socket &[Is(0, AF_UNIX), MaskedIs(1, TYPE, SOCK_RAW)] => Observe(Trap::Datagram), "as a datagram socket";
    socket &[Is(0, AF_UNIX)] => super::compile::Action::Allow, "streams reach only what is connected to";
    connect NO_TESTS => Observe(Trap::Connect), "a path may lead to a service that acts for the command";
};

/// What the kernel would answer to a datagram socket that is refused.
pub const DATAGRAM_REFUSED: i32 = EACCES;
