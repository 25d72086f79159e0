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
