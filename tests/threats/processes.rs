//! P1 to P4, P26, F22: processes outside can be neither signalled, traced, read nor limited.

use brattice_tests::{CONFINED, Process, World, eventually};
use serde_json::json;

use crate::attack::{Attack, Bystander};

/// The numbers of the daemon and of all its own processes.
fn daemon(world: &mut World) -> String {
    let daemon = world.daemon().pid();
    let below = Process::below(daemon);
    below.iter().map(|process| process.pid).chain([daemon]).map(|pid| format!(" {pid}")).collect()
}

/// Makes an attack on a bystander and, confined only, on the daemon and its processes.
#[track_caller]
fn on_others(steps: &str, confined: &str, native: &str) {
    let mut world = World::new();
    let mut bystander = Bystander::start();
    let session = world.session("workspace-write").open();
    session.run("true").exits(0);
    let targets = format!("{}{}", bystander.pid(), daemon(&mut world));
    Attack { steps, confined, native, ..Attack::default() }.run_in(
        &world,
        &targets,
        &bystander.pid().to_string(),
    );
    bystander.lives();
    session.run("echo on").exits(0).says("on");
    world.finish();
}

#[test]
fn p1_no_process_outside_is_signalled() {
    on_others(
        r#"
for pid in map(int, sys.argv[1:]):
    attempt("kill", os.kill, pid, signal.SIGCONT)
    attempt("tkill", call, 200, pid, signal.SIGCONT)
    attempt("tgkill", call, 234, pid, pid, signal.SIGCONT)
    information = (ctypes.c_int * 32)(signal.SIGCONT, 0, -1)
    attempt("sigqueue", call, 129, pid, signal.SIGCONT, ctypes.addressof(information))
    attempt("pidfd", lambda: signal.pidfd_send_signal(os.pidfd_open(pid), signal.SIGCONT))
"#,
        "kill EPERM|ESRCH\ntkill EPERM|ESRCH\ntgkill EPERM|ESRCH\nsigqueue EPERM|ESRCH\npidfd EPERM|ESRCH",
        "kill ok\ntkill ok\ntgkill ok\nsigqueue ok\npidfd ok",
    );
}

#[test]
fn p2_no_process_outside_is_traced_or_read() {
    on_others(
        r#"
PTRACE_SEIZE, CLONE_NEWUTS, MADV_COLD = 0x4206, 0x04000000, 20
buffer = ctypes.create_string_buffer(8)
local = struct.pack("QQ", ctypes.addressof(buffer), 8)
def mapped(pid):
    """A page there, where its map may be read; elsewhere any, since the kernel asks who calls before it looks."""
    try:
        with open("/proc/%d/maps" % pid) as maps: return int(maps.readline().split("-")[0], 16)
    except OSError:
        return ctypes.addressof(buffer)
for pid in map(int, sys.argv[1:]):
    page = mapped(pid)
    def pidfd(number, *rest):
        call(number, os.pidfd_open(pid), *rest)
    attempt("seize", lambda: in_child(lambda: call(101, PTRACE_SEIZE, pid, 0, 0)))
    attempt("readv", call, 310, pid, local, 1, local, 1, 0)
    attempt("writev", call, 311, pid, local, 1, local, 1, 0)
    attempt("getfd", pidfd, 438, 0, 0)
    attempt("kcmp", call, 312, pid, os.getpid(), 0, 0, 0)
    attempt("setns", lambda: in_child(lambda: pidfd(308, CLONE_NEWUTS)))
    attempt("pages", call, 279, pid, 1, struct.pack("Q", page), 0, buffer, 0)
    attempt("madvise", pidfd, 440, struct.pack("QQ", page, 4096), 1, MADV_COLD, 0)
"#,
        // Landlock's EACCES comes before the EPERM that tells an ordinary user to be root for `process_madvise`.
        "seize EPERM|EACCES|ESRCH\nreadv EPERM|EACCES|ESRCH\nwritev EPERM|EACCES|ESRCH\ngetfd EPERM|EACCES|ESRCH\nkcmp EPERM|EACCES|ESRCH\nsetns EPERM|EACCES|ESRCH\npages EPERM|ESRCH\nmadvise EACCES|ESRCH",
        "seize ok\nreadv EFAULT\nwritev EFAULT\ngetfd ok\nkcmp ok\nsetns ok|EPERM\npages ok\nmadvise ok|EPERM",
    );
}

#[test]
fn p3_no_process_outside_is_limited() {
    on_others(
        r#"
CPU, FSIZE, CORE, NOFILE = 0, 1, 4, 7
limit = struct.pack("QQ", 0, 0)
for pid in map(int, sys.argv[1:]):
    for name, resource in (("core", CORE), ("fsize", FSIZE)):
        attempt(name, call, 302, pid, resource, limit, 0)
    if len(sys.argv) > 2:
        attempt("cpu", call, 302, pid, CPU, limit, 0)
        attempt("nofile", call, 302, pid, NOFILE, limit, 0)
attempt("own", call, 302, 0, CORE, limit, 0)
"#,
        "core EPERM|ESRCH\nfsize EPERM|ESRCH\ncpu EPERM|ESRCH\nnofile EPERM|ESRCH\nown ok",
        "core ok\nfsize ok\nown ok",
    );
}

#[test]
fn p4_no_process_outside_is_re_niced() {
    on_others(
        r#"
SCHED_BATCH = 3
mask = struct.pack("Q", 1) + bytes(120)
parameter = struct.pack("i", 0)
attribute = struct.pack("IIQiIQQQ", 48, SCHED_BATCH, 0, 5, 0, 0, 0, 0)
for pid in map(int, sys.argv[1:]):
    attempt("setpriority", call, 141, 0, pid, 5)
    attempt("ioprio", call, 251, 1, pid, (2 << 13) | 7)
    attempt("affinity", call, 203, pid, len(mask), mask)
    attempt("scheduler", call, 144, pid, SCHED_BATCH, parameter)
    attempt("parameter", call, 142, pid, parameter)
    attempt("attribute", call, 314, pid, attribute, 0)
attempt("own", call, 141, 0, 0, 5)
"#,
        "setpriority EPERM|ESRCH\nioprio EPERM|ESRCH\naffinity EPERM|ESRCH\nscheduler EPERM|ESRCH\nparameter EPERM|ESRCH\nattribute EPERM|ESRCH\nown ok",
        "setpriority ok\nioprio ok\naffinity ok\nscheduler ok\nparameter ok\nattribute ok\nown ok",
    );
}

#[test]
fn f22_the_daemons_files_in_proc_are_closed() {
    on_others(
        r#"
for pid in map(int, sys.argv[1:]):
    for name in ("cwd", "root", "exe"):
        attempt(name, os.readlink, "/proc/%d/%s" % (pid, name))
    for name in ("fd/0", "fd/1"):
        attempt("fd", os.readlink, "/proc/%d/%s" % (pid, name))
        attempt("open-fd", os.open, "/proc/%d/%s" % (pid, name), os.O_RDONLY | os.O_NONBLOCK)
    for name in ("environ", "maps", "mem"):
        attempt(name, lambda: open("/proc/%d/%s" % (pid, name), "rb", buffering=0).read(0))
    attempt("mem-write", os.open, "/proc/%d/mem" % pid, os.O_RDWR)
"#,
        "cwd EACCES|ENOENT\nroot EACCES|ENOENT\nexe EACCES|ENOENT\nfd EACCES|ENOENT\nopen-fd EACCES|ENOENT\nenviron EACCES|ENOENT\nmaps EACCES|ENOENT\nmem EACCES|ENOENT\nmem-write EACCES|ENOENT",
        "cwd ok\nroot ok\nexe ok\nfd ok\nopen-fd ok|ENXIO\nenviron ok\nmaps ok\nmem ok\nmem-write ok",
    );
}

#[test]
fn p26_t028_a_broadcast_hits_the_commands_own_processes_only() {
    let world = World::new();
    let mut bystander = Bystander::start();
    // Never broadcasts where a process outside could be hit: then the sandbox is broken, and the test says so.
    let guarded = format!(
        "for p in {} 1 $PPID; do if kill -0 $p 2>/dev/null; then echo can signal $p; exit 99; fi; done; \
         sleep 900 & p=$!; kill -9 -1; wait $p; echo $?",
        bystander.pid()
    );
    for mode in CONFINED {
        let (other, session) = (world.session(mode).open(), world.session(mode).open());
        let flag = world.out().join(format!("go-{mode}"));
        let wait = format!(
            "echo waiting; while [ ! -e {} ]; do sleep 0.05; done; echo went on",
            flag.display()
        );
        let calls =
            [other.begin(json!({"command": wait})), session.begin(json!({"command": wait}))];
        eventually("both commands run", || (world.strays().len() >= 2).then_some(()));
        let reply = session.run(&guarded);
        assert_eq!(reply.exits(0).lines()[0], "137", "{mode}");
        std::fs::write(&flag, "").unwrap();
        let [first, second] = calls;
        other.end(first).exits(0).says("waiting\nwent on");
        session.end(second).exits(0).says("waiting\nwent on");
        bystander.lives();
    }
    let twin =
        world.native("unshare -rpf bash -c 'sleep 900 & p=$!; kill -9 -1; wait $p; echo $?'");
    assert!(twin.stdout.contains("137"), "{twin:?}");
    world.finish();
}
