//! P9 to P16, P19, P25, S11: privileges, namespaces and kernel objects.

use brattice_tests::{CONFINED, World};

use crate::attack::{Attack, Record};

fn status_of(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(":\t")).unwrap();
    u64::from_str_radix(line.trim(), 16).unwrap()
}

/// The sets CapInh, CapPrm, CapEff, CapBnd and CapAmb.
fn capabilities_of(text: &str) -> [u64; 5] {
    ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"].map(|set| status_of(text, set))
}

#[test]
fn p9_no_privilege_is_held_or_gained() {
    // CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER (capabilities(7)): what root needs for the ownership of files.
    const FILE_OWNERSHIP: u64 = 0b1011;
    const STATUS: &str = "grep -E '^(NoNewPrivs|Cap...|Seccomp):' /proc/self/status";
    let world = World::new();
    let plain = world.native(STATUS).stdout;
    let held = match rustix::process::geteuid().is_root() {
        true => [0, FILE_OWNERSHIP, FILE_OWNERSHIP, FILE_OWNERSHIP, 0],
        // In a user namespace of its own an ordinary user's launcher gives up the bounding set as well.
        false => [0, 0, 0, 0, 0],
    };
    let helpers = format!(
        "for c in 'sudo -n true' 'su nobody -s /bin/true' 'pkexec true' 'newgrp root' 'crontab -l' 'mount'; do \
         timeout 20 $c </dev/null >/dev/null 2>&1; done; {STATUS}"
    );
    for mode in CONFINED {
        let text = world.session(mode).open().run_for(200_000, &helpers).exits(0).text();
        assert_eq!(
            (status_of(&text, "NoNewPrivs"), status_of(&text, "Seccomp")),
            (1, 2),
            "{mode}: {text}"
        );
        assert_eq!(capabilities_of(&text), held, "{mode}: {text}");
        let session = world.session(mode).open();
        let setuid = "find /usr/bin /bin -perm -4000 2>/dev/null | head -1";
        session.run(&format!("f=$({setuid}); [ -n \"$f\" ] && echo found")).exits(0).says("found");
        session.run("su nobody -s /bin/sh -c 'echo switched' </dev/null").lacks("switched");
    }
    assert_eq!(
        (status_of(&plain, "NoNewPrivs"), status_of(&plain, "Seccomp")),
        (0, 0),
        "the check sees a process without"
    );
    let [_, permitted, effective, bounding, _] =
        capabilities_of(&world.native(&format!("unshare -r {STATUS}")).stdout);
    assert!(
        [permitted, effective, bounding].iter().all(|set| set & !FILE_OWNERSHIP != 0),
        "the check sees a process with more"
    );
    let danger =
        world.session("danger-full-access").open().run("grep NoNewPrivs /proc/self/status");
    danger.exits(0).says("NoNewPrivs:\t0");
    world.finish();
}

#[test]
fn p10_p11_no_namespace_and_no_mount() {
    Attack {
        steps: r#"
USER, NS, NET, PID, UTS, IPC, CGROUP = 0x10000000, 0x20000, 0x40000000, 0x20000000, 0x4000000, 0x8000000, 0x2000000
attempt("unshare-user", lambda: in_child(lambda: call(272, USER)))
attempt("unshare-all", lambda: in_child(lambda: call(272, USER | NS | NET | PID | UTS | IPC | CGROUP)))
def clone(flags):
    pid = call(56, flags | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0: os._exit(0)
    os.waitpid(pid, 0)
attempt("clone-user", clone, USER)
attempt("clone-newns", clone, USER | NS)
attempt("clone", clone, 0)
attempt("clone3", call, 435, 0, 0)
attempt("setns", call, 308, os.open("/proc/self/ns/user", os.O_RDONLY), 0)
attempt("mount", call, 165, b"none", IN.encode(), b"tmpfs", 0, 0)
attempt("umount", call, 166, IN.encode(), 0)
attempt("bind", call, 165, OUT.encode(), IN.encode(), 0, 4096, 0)
attempt("chroot", lambda: in_child(lambda: call(161, IN.encode())))
attempt("fsopen", call, 430, b"tmpfs", 0)
attempt("open_tree", call, 428, AT_FDCWD, OUT.encode(), 1)
attempt("move_mount", call, 429, AT_FDCWD, OUT.encode(), AT_FDCWD, IN.encode(), 0)
attempt("mount_setattr", call, 442, AT_FDCWD, IN.encode(), 0, b"\0" * 32, 32)
attempt("pivot_root", call, 155, IN.encode(), IN.encode())
"#,
        confined: "unshare-user EPERM\nunshare-all EPERM\nclone-user EPERM\nclone-newns EPERM\nclone ok\nclone3 ENOSYS\nsetns EPERM\nmount EPERM\numount EPERM\nbind EPERM\nchroot EPERM\nfsopen EPERM\nopen_tree EPERM\nmove_mount EPERM\nmount_setattr EPERM\npivot_root EPERM",
        native: "unshare-user ok\nunshare-all ok\nclone-user ok\nclone-newns ok\nclone ok\nclone3 EINVAL\nsetns EINVAL\nmount ok\numount ok\nbind ok\nchroot ok\nfsopen ok\nopen_tree ok\nmove_mount EINVAL\nmount_setattr ok|EINVAL\npivot_root ok",
        ..Attack::default()
    }
    .run_with_twin_in_a_user_namespace();
}

#[test]
fn p12_p13_kernel_objects_that_no_build_needs() {
    Attack {
        steps: r#"
attempt("io_uring_setup", call, 425, 1, 0)
attempt("io_uring_enter", call, 426, -1, 0, 0, 0, 0, 0)
attempt("io_uring_register", call, 427, -1, 0, 0, 0)
attempt("add_key", call, 248, b"user", b"brattice", b"x", 1, -2)
attempt("request_key", call, 249, b"user", b"brattice-none", 0, 0)
attempt("keyctl", call, 250, 0, -2, 1)
attempt("bpf", call, 321, 0, 0, 0)
attempt("userfaultfd", call, 323, 1)
attempt("perf_event_open", call, 298, 0, 0, -1, -1, 0)
attempt("fanotify_init", call, 300, 0x200, 0)
attempt("open_by_handle_at", call, 304, AT_FDCWD, 0, 0)
attempt("personality", call, 135, 0x0400000)
attempt("personality-query", call, 135, 0xffffffff)
attempt("kexec", call, 246, 0, 0, 0, 0)
attempt("init_module", call, 175, 0, 0, b"")
attempt("reboot", call, 169, 0, 0, 0, 0)
attempt("swapon", call, 167, b"/nosuch", 0)
attempt("acct", call, 163, b"/nosuch")
attempt("memfd", os.memfd_create, "allowed")
"#,
        confined: "io_uring_setup ENOSYS\nio_uring_enter ENOSYS\nio_uring_register ENOSYS\nadd_key ENOSYS\nrequest_key ENOSYS\nkeyctl ENOSYS\nbpf EPERM\nuserfaultfd EPERM\nperf_event_open EPERM\nfanotify_init EPERM\nopen_by_handle_at EPERM\npersonality EPERM\npersonality-query ok\nkexec EPERM\ninit_module EPERM\nreboot EPERM\nswapon EPERM\nacct EPERM\nmemfd ok",
        native: "io_uring_setup EFAULT|EPERM\nio_uring_enter EBADF|EOPNOTSUPP\nio_uring_register EBADF|EINVAL\nadd_key ok|EDQUOT\nrequest_key ENOKEY|EFAULT\nkeyctl ok\nbpf EFAULT|EINVAL|EPERM\nuserfaultfd ok\nperf_event_open EFAULT|EACCES\nfanotify_init ok|EPERM\nopen_by_handle_at EFAULT|EPERM\npersonality ok\npersonality-query ok\nkexec ok|EPERM|EINVAL|EBUSY|ENOSYS\ninit_module EFAULT|EPERM|ENOEXEC|ENOSYS\nreboot EINVAL|EPERM\nswapon ENOENT|EPERM\nacct ENOENT|EPERM\nmemfd ok",
        ..Attack::default()
    }
    .run();
}

#[test]
fn s11_p13_sysv_ipc_and_message_queues_are_closed() {
    Attack {
        steps: r#"
CREATE = 0o1600
attempt("shmget", call, 29, 0, 4096, CREATE)
attempt("semget", call, 64, 0, 1, CREATE)
attempt("msgget", call, 68, 0, CREATE)
attempt("mq_unlink", call, 241, b"brattice-none")
"#,
        confined: "shmget EPERM\nsemget EPERM\nmsgget EPERM\nmq_unlink EPERM",
        native: "shmget ok\nsemget ok\nmsgget ok\nmq_unlink ENOENT",
        ..Attack::default()
    }
    .run();
}

#[test]
fn p13_no_message_queue_is_made() {
    // Removes the queue and prints whether there was one.
    let victim = "python3 -c 'import ctypes; libc = ctypes.CDLL(None, use_errno=True); print(libc.syscall(241, b\"brattice-p13\"), ctypes.get_errno())'";
    Attack {
        setup: victim,
        steps: r#"
attempt("mq_open", call, 240, b"brattice-p13", os.O_CREAT | os.O_RDWR, 0o600, 0)
attempt("mq_open-existing", call, 240, b"brattice-p13", os.O_RDONLY, 0, 0)
"#,
        victim,
        confined: "mq_open EPERM|ENOSYS\nmq_open-existing EPERM|ENOSYS",
        native: "mq_open ok\nmq_open-existing ok",
        ..Attack::default()
    }
    .run();
}

#[test]
fn p14_other_call_numbers_are_refused() {
    Attack {
        steps: r#"
import mmap
def int80(number):
    # mov eax, number; int 0x80; ret
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(b"\xb8" + struct.pack("<I", number) + b"\xcd\x80\xc3")
    result = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
    if result < 0: raise OSError(-result, "")
I386_GETPID, X32 = 20, 0x40000000
attempt("int80", lambda: in_child(lambda: int80(I386_GETPID)))
attempt("x32-getpid", lambda: in_child(lambda: call(X32 + 39)))
attempt("x32-ptrace", lambda: in_child(lambda: call(X32 + 521, 0, 0, 0, 0)))
"#,
        // 1031: the child was ended by SIGSYS.
        confined: "int80 EPERM|1031\nx32-getpid ENOSYS|EPERM|1031\nx32-ptrace ENOSYS|EPERM|1031",
        native: "int80 ok|ENOSYS|1011\nx32-getpid ok|ENOSYS\nx32-ptrace ok|ENOSYS",
        record: Record::Nothing,
        ..Attack::default()
    }
    .run();
}

#[test]
fn p16_no_second_listener() {
    Attack {
        steps: r#"
MODE_FILTER, NEW_LISTENER = 1, 8
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
allow = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0x7fff0000))
program = Program(1, ctypes.addressof(allow))
libc.prctl(38, 1, 0, 0, 0)
attempt("listener", lambda: in_child(lambda: call(317, MODE_FILTER, NEW_LISTENER, ctypes.addressof(program))))
attempt("filter", lambda: in_child(lambda: call(317, MODE_FILTER, 0, ctypes.addressof(program))))
attempt("notify-ioctl", call, 16, 0, 0xc0502100, 0)
attempt("upper-notify-ioctl", call, 16, 0, (1 << 32) | 0xc0502100, 0)
"#,
        confined: "listener EPERM\nfilter ok\nnotify-ioctl EPERM\nupper-notify-ioctl EPERM",
        native: "listener ok\nfilter ok\nnotify-ioctl ENOTTY\nupper-notify-ioctl ENOTTY",
        ..Attack::default()
    }
    .run();
}

#[test]
fn p19_no_core_is_dumped() {
    let world = World::new();
    for mode in CONFINED {
        let session = world.session(mode).open();
        session.run("ulimit -Hc; ulimit -Sc; ulimit -c unlimited 2>/dev/null && [ $(ulimit -c) != 0 ] && echo raised; true").says("0\n0");
    }
    let twin = world.native("ulimit -c $(ulimit -Hc); ulimit -Sc");
    assert_ne!(twin.stdout, "0\n", "outside a core may be dumped: {twin:?}");
    world.finish();
}

#[test]
fn p25_execution_is_no_boundary() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    session
        .run("cp /bin/echo e; chmod -x e; $(ls /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 2>/dev/null) ./e by-loader")
        .exits(0)
        .says("by-loader");
    let memfd = "import os; fd = os.memfd_create('e'); os.write(fd, open('/bin/echo', 'rb').read()); os.execv('/proc/self/fd/%d' % fd, ['echo', 'by-memfd'])";
    session.run(&format!("python3 -c \"{memfd}\"")).exits(0).says("by-memfd");
    world.finish();
}
