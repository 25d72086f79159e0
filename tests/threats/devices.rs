//! F18, P6, P7: devices, terminals and descriptors.

use brattice_tests::World;

use crate::attack::Attack;

#[test]
fn f18_only_harmless_devices_open_for_writing() {
    Attack {
        steps: r#"
for name in ("null", "zero", "full", "random", "urandom"):
    attempt(name, os.open, "/dev/" + name, os.O_RDWR)
attempt("tty", os.open, "/dev/tty", os.O_RDWR)
attempt("ptmx", os.open, "/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
for name in ("kmsg", "mem", "kvm", "uinput", "fuse", "loop-control"):
    attempt(name, os.open, "/dev/" + name, os.O_WRONLY)
"#,
        confined: "null ok\nzero ok\nfull ok\nrandom ok\nurandom ok\ntty ENXIO\nptmx EACCES\nkmsg EACCES|EPERM|ENOENT\nmem EACCES|EPERM|ENOENT\nkvm EACCES|ENOENT|ENODEV\nuinput EACCES|ENOENT|ENODEV\nfuse EACCES|ENOENT|ENODEV\nloop-control EACCES|ENOENT|ENODEV",
        native: "null ok\nzero ok\nfull ok\nrandom ok\nurandom ok\ntty ok|ENXIO\nptmx ok\nkmsg ok|EACCES|EPERM|ENOENT\nmem ok|EACCES|EPERM|ENOENT\nkvm ok|EACCES|ENOENT|ENODEV\nuinput ok|EACCES|ENOENT|ENODEV\nfuse ok|EACCES|ENOENT|ENODEV\nloop-control ok|EACCES|ENOENT|ENODEV",
        ..Attack::default()
    }
    .run();
}

#[test]
fn p6_nothing_is_typed_into_a_terminal() {
    Attack {
        steps: r#"
TIOCSTI, TIOCLINUX, UPPER = 0x5412, 0x541c, 1 << 32
byte = ctypes.create_string_buffer(b"x")
for name, request in (("sti", TIOCSTI), ("linux", TIOCLINUX), ("upper-sti", UPPER | TIOCSTI), ("upper-linux", UPPER | TIOCLINUX)):
    attempt(name, call, 16, 0, request, ctypes.addressof(byte))
"#,
        confined: "sti EPERM\nlinux EPERM\nupper-sti EPERM\nupper-linux EPERM",
        native: "sti ENOTTY\nlinux ENOTTY\nupper-sti ENOTTY\nupper-linux ENOTTY",
        ..Attack::default()
    }
    .run();
}

/// The twin on a terminal: what is typed is read there, unless the machine as a whole forbids it (sysctl `dev.tty.legacy_tiocsti`,
/// which root is above).
#[test]
fn p6_outside_what_is_typed_into_a_terminal_is_read_there() {
    let world = World::new();
    let steps = r#"
import errno, fcntl, os, pty, termios
child, master = pty.fork()
if child == 0:
    try: fcntl.ioctl(0, termios.TIOCSTI, b"x"); fcntl.ioctl(0, termios.TIOCSTI, b"\n")
    except OSError as error: print(errno.errorcode[error.errno], flush=True); os._exit(0)
    print("typed", input(), flush=True); os._exit(0)
told = b""
try:
    while piece := os.read(master, 100): told += piece
except OSError: pass
os.waitpid(child, 0)
print(told.decode().split("\n")[-2].strip())
"#;
    std::fs::write(world.out().join("type.py"), steps).unwrap();
    let twin = world.native("python3 $OUT/type.py");
    let is_allowed = rustix::process::geteuid().is_root()
        || std::fs::read_to_string("/proc/sys/dev/tty/legacy_tiocsti")
            .is_ok_and(|set| set == "1\n");
    let expected = if is_allowed { "typed x\n" } else { "EIO\n" };
    assert_eq!(twin.stdout, expected, "{twin:?}");
    world.finish();
}

#[test]
fn p7_a_command_inherits_three_descriptors() {
    let world = World::new();
    for mode in ["read-only", "workspace-write", "danger-full-access"] {
        let session = world.session(mode).open();
        session
            .run("python3 -c 'import os; print(*sorted(os.listdir(\"/proc/self/fd\")))'")
            .exits(0)
            .says("0 1 2 3");
        session.run("readlink /proc/self/fd/0").exits(0).says("/dev/null");
    }
    let twin = world.native(
        "exec 7</etc/passwd; python3 -c 'import os; print(*sorted(os.listdir(\"/proc/self/fd\")))'",
    );
    assert!(twin.stdout.contains(" 7"), "the check sees a descriptor that is inherited: {twin:?}");
    world.finish();
}
