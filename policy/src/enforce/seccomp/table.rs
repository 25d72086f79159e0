//! The table of refused calls. Data only: a reason for each, in the order of the policy's layers.
//!
//! `EPERM` says "not allowed". `ENOSYS` stands where programs must take their fallback for a kernel without the
//! call: `clone3` and `openat2` (their flags are behind a pointer that no filter can read; libraries fall back to `clone`
//! and `openat`), io_uring and the key ring. `EACCES` and `EAFNOSUPPORT` are what `socket` itself would say.

use libc::{EACCES, EAFNOSUPPORT, ENOSYS, EPERM};

use super::compile::Action::{Allow, Errno};
use super::compile::Test::{HasAny, Is, IsNot, MaskedIs, NotNull};
use super::compile::{Rule, Test};

/// Rows of a table: `call tests => action, "reason";`, the call by its name in the `number` module where it stands.
macro_rules! rules {
    ($($name:ident $tests:expr => $action:expr, $reason:literal;)*) => {
        &[$(Rule {
            number: number::$name,
            name: stringify!($name),
            tests: $tests,
            action: $action,
            reason: $reason,
        },)*]
    };
}

pub(super) use rules;

/// Numbers that `libc` lacks, beside those that it has. All are the same on x86_64 and aarch64 (the generic table
/// from 424 on) but for the older ones, which come from `libc`.
pub(super) mod number {
    #![allow(non_upper_case_globals, missing_docs, reason = "the names are the kernel's")]
    pub(in super::super) use libc::{
        SYS_acct as acct, SYS_add_key as add_key, SYS_bpf as bpf, SYS_chroot as chroot,
        SYS_clone as clone, SYS_clone3 as clone3, SYS_delete_module as delete_module,
        SYS_fanotify_init as fanotify_init, SYS_fchmod as fchmod, SYS_fchmodat as fchmodat,
        SYS_finit_module as finit_module, SYS_fsconfig as fsconfig, SYS_fsmount as fsmount,
        SYS_fsopen as fsopen, SYS_fspick as fspick, SYS_init_module as init_module,
        SYS_io_uring_enter as io_uring_enter, SYS_io_uring_register as io_uring_register,
        SYS_io_uring_setup as io_uring_setup, SYS_ioctl as ioctl, SYS_ioprio_set as ioprio_set,
        SYS_kcmp as kcmp, SYS_kexec_load as kexec_load, SYS_keyctl as keyctl,
        SYS_mknodat as mknodat, SYS_mount as mount, SYS_mount_setattr as mount_setattr,
        SYS_move_mount as move_mount, SYS_mq_open as mq_open, SYS_mq_unlink as mq_unlink,
        SYS_msgctl as msgctl, SYS_msgget as msgget, SYS_msgrcv as msgrcv, SYS_msgsnd as msgsnd,
        SYS_open_by_handle_at as open_by_handle_at, SYS_open_tree as open_tree,
        SYS_openat as openat, SYS_openat2 as openat2, SYS_perf_event_open as perf_event_open,
        SYS_personality as personality, SYS_pidfd_getfd as pidfd_getfd,
        SYS_pivot_root as pivot_root, SYS_prlimit64 as prlimit64,
        SYS_process_madvise as process_madvise, SYS_process_mrelease as process_mrelease,
        SYS_process_vm_readv as process_vm_readv, SYS_process_vm_writev as process_vm_writev,
        SYS_ptrace as ptrace, SYS_quotactl as quotactl, SYS_quotactl_fd as quotactl_fd,
        SYS_reboot as reboot, SYS_request_key as request_key,
        SYS_sched_setaffinity as sched_setaffinity, SYS_sched_setattr as sched_setattr,
        SYS_sched_setparam as sched_setparam, SYS_sched_setscheduler as sched_setscheduler,
        SYS_seccomp as seccomp, SYS_semctl as semctl, SYS_semget as semget, SYS_semop as semop,
        SYS_semtimedop as semtimedop, SYS_setdomainname as setdomainname,
        SYS_sethostname as sethostname, SYS_setns as setns, SYS_setpriority as setpriority,
        SYS_shmat as shmat, SYS_shmctl as shmctl, SYS_shmdt as shmdt, SYS_shmget as shmget,
        SYS_socket as socket, SYS_socketpair as socketpair, SYS_swapoff as swapoff,
        SYS_swapon as swapon, SYS_syslog as syslog, SYS_umount2 as umount2, SYS_unshare as unshare,
        SYS_userfaultfd as userfaultfd, SYS_vhangup as vhangup,
    };
    pub(in super::super) const kexec_file_load: i64 =
        if cfg!(target_arch = "x86_64") { 320 } else { 294 };
    pub(in super::super) const open_tree_attr: i64 = 467;
    pub(in super::super) const fchmodat2: i64 = 452;
    pub(in super::super) const file_setattr: i64 = 469;
    // Calls that only x86_64 has; -1 is no call, and compiles to no rule.
    pub(in super::super) const chmod: i64 = if cfg!(target_arch = "x86_64") { 90 } else { -1 };
    pub(in super::super) const creat: i64 = if cfg!(target_arch = "x86_64") { 85 } else { -1 };
    pub(in super::super) const open: i64 = if cfg!(target_arch = "x86_64") { 2 } else { -1 };
    pub(in super::super) const mknod: i64 = if cfg!(target_arch = "x86_64") { 133 } else { -1 };
}

/// `CLONE_NEWNS`, `NEWCGROUP`, `NEWUTS`, `NEWIPC`, `NEWUSER`, `NEWPID`, `NEWNET` (clone(2)).
const NEW_NAMESPACES: u32 = 0x7e02_0000;

/// The same, and `CLONE_NEWTIME`, which only unshare(2) takes (in clone(2) its bit is part of the exit signal).
const UNSHARE_NAMESPACES: u32 = NEW_NAMESPACES | 0x80;

/// `SECCOMP_FILTER_FLAG_NEW_LISTENER` (seccomp(2)).
const NEW_LISTENER: u32 = 1 << 3;

/// The type of seccomp's ioctls, `SECCOMP_IOC_MAGIC` (`!`), where an ioctl's number has its type.
const SECCOMP_IOCTLS: u32 = (b'!' as u32) << 8;

/// Ioctls that make, change or remove files behind Landlock's back, by their types and numbers (`linux/btrfs.h`,
/// `linux/fs.h`, `linux/fsverity.h`, `linux/fscrypt.h`, `fs/ocfs2/ocfs2_ioctl.h`).
const BTRFS_IOCTLS: u32 = 0x9400;
const BCACHEFS_IOCTLS: u32 = 0xbc00;
const FICLONE: u32 = 0x4004_9409;
const FICLONERANGE: u32 = 0x4020_940d;
const FIDEDUPERANGE: u32 = 0xc018_9436;
const FS_IOC_GETFSLABEL: u32 = 0x8100_9431;
const OCFS2_IOC_REFLINK: u32 = 0x4018_6f04;
const FS_IOC_SETFLAGS: u32 = 0x4008_6602;
const FS_IOC_FSSETXATTR: u32 = 0x401c_5820;
const FS_IOC_SETVERSION: u32 = 0x4008_7602;
const EXT4_IOC_SETVERSION: u32 = 0x4008_6604;
const EXT4_IOC_ALLOC_DA_BLKS: u32 = 0x660c;
const EXT4_IOC_CLEAR_ES_CACHE: u32 = 0x6628;
const FS_IOC_ENABLE_VERITY: u32 = 0x4080_6685;
const FS_IOC_SET_ENCRYPTION_POLICY: u32 = 0x400c_6613;

const S_ISUID: u32 = 0o4000;
/// `O_CREAT`, and the bit of `O_TMPFILE` that is not `O_DIRECTORY`'s: with any other flag the mode is noise (open(2)).
const MAKES_A_FILE: u32 = 0o100 | 0o20_000_000;

const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541c;

/// `PRIO_USER` (setpriority(2)): all processes of the user, ours among them.
const PRIO_USER: u32 = 2;

/// `IOPRIO_WHO_USER` (ioprio_set(2)).
const IOPRIO_USER: u32 = 3;

pub(super) const AF_UNIX: u32 = 1;
const AF_INET: u32 = 2;
const AF_INET6: u32 = 10;
const AF_NETLINK: u32 = 16;
const NETLINK_ROUTE: u32 = 0;

/// The part of a socket's type that is no flag (`SOCK_TYPE_MASK` of the kernel).
pub(super) const TYPE: u32 = 0xf;
pub(super) const SOCK_DGRAM: u32 = 2;
pub(super) const SOCK_RAW: u32 = 3;

pub(super) const NO_TESTS: &[Test] = &[];
const ANOTHER_PROCESS: &[Test] = &[IsNot(0, 0)];

/// Rows for every confined mode.
pub const ALWAYS: &[Rule] = rules! {
    io_uring_setup NO_TESTS => Errno(ENOSYS), "its operations pass every filter on calls";
    io_uring_enter NO_TESTS => Errno(ENOSYS), "as io_uring_setup";
    io_uring_register NO_TESTS => Errno(ENOSYS), "as io_uring_setup";
    clone3 NO_TESTS => Errno(ENOSYS), "its flags are behind a pointer; libraries fall back to clone";
    clone &[HasAny(0, NEW_NAMESPACES)] => Errno(EPERM), "namespaces give capabilities over the kernel's attack surface";
    unshare &[HasAny(0, UNSHARE_NAMESPACES)] => Errno(EPERM), "as clone";
    setns NO_TESTS => Errno(EPERM), "as clone";
    mount NO_TESTS => Errno(EPERM), "the view of files is not the command's to change";
    umount2 NO_TESTS => Errno(EPERM), "as mount";
    pivot_root NO_TESTS => Errno(EPERM), "as mount";
    chroot NO_TESTS => Errno(EPERM), "as mount";
    move_mount NO_TESTS => Errno(EPERM), "as mount";
    open_tree NO_TESTS => Errno(EPERM), "as mount";
    open_tree_attr NO_TESTS => Errno(EPERM), "as mount";
    fsopen NO_TESTS => Errno(EPERM), "as mount";
    fsconfig NO_TESTS => Errno(EPERM), "as mount";
    fsmount NO_TESTS => Errno(EPERM), "as mount";
    fspick NO_TESTS => Errno(EPERM), "as mount";
    mount_setattr NO_TESTS => Errno(EPERM), "as mount";
    open_by_handle_at NO_TESTS => Errno(EPERM), "opens files without walking a path";
    fanotify_init NO_TESTS => Errno(EPERM), "watches whole file systems";
    bpf NO_TESTS => Errno(EPERM), "programs in the kernel";
    perf_event_open NO_TESTS => Errno(EPERM), "watches other processes and the kernel";
    userfaultfd NO_TESTS => Errno(EPERM), "widens races in the kernel";
    add_key NO_TESTS => Errno(ENOSYS), "key rings are shared with the user's other processes";
    request_key NO_TESTS => Errno(ENOSYS), "as add_key";
    keyctl NO_TESTS => Errno(ENOSYS), "as add_key";
    kexec_load NO_TESTS => Errno(EPERM), "replaces the kernel";
    kexec_file_load NO_TESTS => Errno(EPERM), "as kexec_load";
    init_module NO_TESTS => Errno(EPERM), "code in the kernel";
    finit_module NO_TESTS => Errno(EPERM), "as init_module";
    delete_module NO_TESTS => Errno(EPERM), "as init_module";
    reboot NO_TESTS => Errno(EPERM), "the machine is not the command's";
    swapon NO_TESTS => Errno(EPERM), "as reboot";
    swapoff NO_TESTS => Errno(EPERM), "as reboot";
    acct NO_TESTS => Errno(EPERM), "as reboot";
    quotactl NO_TESTS => Errno(EPERM), "as reboot";
    quotactl_fd NO_TESTS => Errno(EPERM), "as reboot";
    sethostname NO_TESTS => Errno(EPERM), "as reboot";
    setdomainname NO_TESTS => Errno(EPERM), "as reboot";
    syslog NO_TESTS => Errno(EPERM), "the kernel's log is not the command's";
    vhangup NO_TESTS => Errno(EPERM), "hangs up a terminal";
    seccomp &[HasAny(1, NEW_LISTENER)] => Errno(EPERM), "a listener of the command's own would answer for ours";
    ioctl &[Is(1, TIOCSTI)] => Errno(EPERM), "types into the terminal (CVE-2017-5226)";
    ioctl &[Is(1, TIOCLINUX)] => Errno(EPERM), "pastes into the console (CVE-2023-28100)";
    ioctl &[MaskedIs(1, 0xff00, SECCOMP_IOCTLS)] => Errno(EPERM), "answers for a listener of seccomp's";
    ioctl &[Is(1, FICLONE)] => Allow, "shares blocks between two open files, as `cp --reflink` does";
    ioctl &[Is(1, FICLONERANGE)] => Allow, "as FICLONE";
    ioctl &[Is(1, FIDEDUPERANGE)] => Allow, "as FICLONE";
    ioctl &[Is(1, FS_IOC_GETFSLABEL)] => Allow, "reads a label";
    ioctl &[MaskedIs(1, 0xff00, BTRFS_IOCTLS)] => Errno(EPERM), "make, change and remove subvolumes behind Landlock";
    ioctl &[MaskedIs(1, 0xff00, BCACHEFS_IOCTLS)] => Errno(EPERM), "as btrfs";
    ioctl &[Is(1, OCFS2_IOC_REFLINK)] => Errno(EPERM), "makes files behind Landlock";
    ioctl &[Is(1, FS_IOC_SETFLAGS)] => Errno(EPERM), "inode flags of any own file, which Landlock does not judge";
    ioctl &[Is(1, FS_IOC_FSSETXATTR)] => Errno(EPERM), "as FS_IOC_SETFLAGS";
    ioctl &[Is(1, FS_IOC_SETVERSION)] => Errno(EPERM), "an inode's generation, by which NFS knows it";
    ioctl &[Is(1, EXT4_IOC_SETVERSION)] => Errno(EPERM), "as FS_IOC_SETVERSION";
    ioctl &[Is(1, EXT4_IOC_ALLOC_DA_BLKS)] => Errno(EPERM), "works on a file that is open for reading only";
    ioctl &[Is(1, EXT4_IOC_CLEAR_ES_CACHE)] => Errno(EPERM), "as EXT4_IOC_ALLOC_DA_BLKS";
    ioctl &[Is(1, FS_IOC_ENABLE_VERITY)] => Errno(EPERM), "makes any own file read-only for ever";
    ioctl &[Is(1, FS_IOC_SET_ENCRYPTION_POLICY)] => Errno(EPERM), "as FS_IOC_SETFLAGS";
    file_setattr NO_TESTS => Errno(EPERM), "as FS_IOC_SETFLAGS";
    chmod &[HasAny(1, S_ISUID)] => Errno(EPERM), "a set-user-ID file lends the user's identity to everybody";
    fchmod &[HasAny(1, S_ISUID)] => Errno(EPERM), "as chmod";
    fchmodat &[HasAny(2, S_ISUID)] => Errno(EPERM), "as chmod";
    fchmodat2 &[HasAny(2, S_ISUID)] => Errno(EPERM), "as chmod";
    creat &[HasAny(1, S_ISUID)] => Errno(EPERM), "as chmod";
    open &[HasAny(1, MAKES_A_FILE), HasAny(2, S_ISUID)] => Errno(EPERM), "as chmod";
    openat &[HasAny(2, MAKES_A_FILE), HasAny(3, S_ISUID)] => Errno(EPERM), "as chmod";
    openat2 NO_TESTS => Errno(ENOSYS), "its mode is behind a pointer; programs fall back to openat";
    mknod &[HasAny(1, S_ISUID)] => Errno(EPERM), "as chmod";
    mknodat &[HasAny(2, S_ISUID)] => Errno(EPERM), "as chmod";
    setpriority &[Is(0, PRIO_USER)] => Errno(EPERM), "re-nices every process of the user";
    ioprio_set &[Is(0, IOPRIO_USER)] => Errno(EPERM), "as setpriority";
    process_mrelease NO_TESTS => Errno(EPERM), "takes another process's memory";
    personality &[Is(0, 0)] => Allow, "the default";
    personality &[Is(0, 0x8)] => Allow, "a 32-bit machine's name, as `setarch` asks for it";
    personality &[Is(0, 0x2_0000)] => Allow, "an old kernel's version, as `setarch` asks for it";
    personality &[Is(0, 0x2_0008)] => Allow, "both";
    personality &[Is(0, 0x4_0000)] => Allow, "no address randomisation, as debuggers need";
    personality &[Is(0, u32::MAX)] => Allow, "asks and changes nothing";
    personality NO_TESTS => Errno(EPERM), "other execution domains weaken memory protection";
    shmget NO_TESTS => Errno(EPERM), "System V objects are shared with the user's other programs";
    shmat NO_TESTS => Errno(EPERM), "as shmget";
    shmdt NO_TESTS => Errno(EPERM), "as shmget";
    shmctl NO_TESTS => Errno(EPERM), "as shmget";
    semget NO_TESTS => Errno(EPERM), "as shmget";
    semop NO_TESTS => Errno(EPERM), "as shmget";
    semtimedop NO_TESTS => Errno(EPERM), "as shmget";
    semctl NO_TESTS => Errno(EPERM), "as shmget";
    msgget NO_TESTS => Errno(EPERM), "as shmget";
    msgsnd NO_TESTS => Errno(EPERM), "as shmget";
    msgrcv NO_TESTS => Errno(EPERM), "as shmget";
    msgctl NO_TESTS => Errno(EPERM), "as shmget";
    setpriority &[IsNot(0, 0), IsNot(1, 0)] => Errno(EPERM), "re-nices a group of processes";
    ioprio_set &[IsNot(0, 1), IsNot(1, 0)] => Errno(EPERM), "as setpriority";
    mq_open NO_TESTS => Errno(EPERM), "queues are the machine's: made outside every root, and other programs' are read";
    mq_unlink NO_TESTS => Errno(EPERM), "removes queues of the user's other programs";
};

/// Pairs of sockets stay: processes of a command talk over them. A datagram socket, pair or not, can be turned to any
/// address, and raw is the same thing under another name (unix(7)).
pub const SOCKET_PAIRS: &[Rule] = rules! {
    socketpair &[IsNot(0, AF_UNIX)] => Errno(EAFNOSUPPORT), "other families' pairs reach the kernel and the wire";
    socketpair &[Is(0, AF_UNIX), MaskedIs(1, TYPE, SOCK_DGRAM)] => Errno(EACCES), "a datagram socket reaches any path";
    socketpair &[Is(0, AF_UNIX), MaskedIs(1, TYPE, SOCK_RAW)] => Errno(EACCES), "as a datagram socket";
};

/// Families for `network = "full"`. A socket by path would reach services that act for the command (container
/// engines, agents, this daemon), and no filter sees the path: the family is closed as a whole.
pub const NETWORK_FULL: &[Rule] = rules! {
    socket &[Is(0, AF_INET)] => Allow, "IPv4";
    socket &[Is(0, AF_INET6)] => Allow, "IPv6";
    socket &[Is(0, AF_NETLINK), Is(2, NETLINK_ROUTE)] => Allow, "interfaces and addresses, for name resolution";
    socket &[Is(0, AF_UNIX)] => Errno(EACCES), "services behind a path act for the command";
    socket NO_TESTS => Errno(EAFNOSUPPORT), "other families reach the kernel, the hypervisor or the wire";
};

/// Families for `network = "none"`.
pub const NETWORK_NONE: &[Rule] = rules! {
    socket NO_TESTS => Errno(EACCES), "the session has no network, and services behind a path act for the command";
};

/// Rows for kernels below Landlock ABI 6, where a command shares a domain with its keeper.
pub const UNSCOPED: &[Rule] = rules! {
    ptrace NO_TESTS => Errno(EPERM), "would reach the keeper, which is in the same domain";
    process_vm_readv NO_TESTS => Errno(EPERM), "as ptrace";
    process_vm_writev NO_TESTS => Errno(EPERM), "as ptrace";
    process_madvise NO_TESTS => Errno(EPERM), "as ptrace";
    pidfd_getfd NO_TESTS => Errno(EPERM), "as ptrace";
    kcmp NO_TESTS => Errno(EPERM), "as ptrace";
};

/// Rows where there is no observer, which could tell a command's own processes from others.
pub const UNOBSERVED: &[Rule] = rules! {
    prlimit64 &[IsNot(0, 0), NotNull(2)] => Errno(EPERM), "limits of another process can kill it";
    setpriority &[IsNot(1, 0)] => Errno(EPERM), "re-nices another process";
    ioprio_set &[IsNot(1, 0)] => Errno(EPERM), "as setpriority";
    sched_setaffinity ANOTHER_PROCESS => Errno(EPERM), "schedules another process";
    sched_setattr ANOTHER_PROCESS => Errno(EPERM), "as sched_setaffinity";
    sched_setparam ANOTHER_PROCESS => Errno(EPERM), "as sched_setaffinity";
    sched_setscheduler ANOTHER_PROCESS => Errno(EPERM), "as sched_setaffinity";
};
