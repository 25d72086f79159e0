//! C5, C6, C9, C10: the control plane. What the daemon lives on is out of reach, and a missing layer stops the command.

use brattice_protocol::ErrorCode;
use brattice_tests::{CONFINED, World, WorldBuilder};
use serde_json::json;

/// Starts a program with a system call of its and its descendants answered by an errno.
const FILTER: &str = r#"
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
kind, error = sys.argv[1], int(sys.argv[2])
def op(code, jt, jf, k): return struct.pack("HBBI", code, jt, jf, k)
load = lambda offset: op(0x20, 0, 0, offset)
fail, allow = op(0x06, 0, 0, 0x50000 | error), op(0x06, 0, 0, 0x7fff0000)
filters = {
    # landlock_create_ruleset
    "landlock": load(0) + op(0x15, 0, 1, 444) + fail + allow,
    # unshare of mounts
    "namespaces": load(0) + op(0x15, 0, 3, 272) + load(16) + op(0x45, 0, 1, 0x20000) + fail + allow,
    # seccomp, and prctl(PR_SET_SECCOMP), but this program's own
    "seccomp": load(0) + op(0x15, 3, 0, 317) + op(0x15, 0, 3, 157) + load(16) + op(0x15, 0, 1, 22) + fail + allow,
}
class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]
code = ctypes.create_string_buffer(filters[kind])
program = Program(len(filters[kind]) // 8, ctypes.addressof(code))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, ctypes.byref(program)) == 0, ctypes.get_errno()
os.execv(sys.argv[3], sys.argv[3:])
"#;

/// A world whose daemon gets an errno for the calls that install a layer.
fn world_without(layer: &str, errno: i32) -> World {
    without(World::builder(), layer, errno).start()
}

/// The same of a world with something special about it.
pub(crate) fn without(world: WorldBuilder, layer: &str, errno: i32) -> WorldBuilder {
    world.wrapper(&["/usr/bin/python3", "-c", FILTER, layer, &errno.to_string()])
}

/// Asserts that a layer's absence is told, stops confined commands before they run, and nothing else.
#[track_caller]
fn fails_closed(world: &World, layer: &str, piece: &str, remedy: &str) {
    let hello = world.hello();
    let missing = hello.sandbox.missing().expect("hello tells the missing layer");
    assert_eq!(serde_json::to_value(missing.name).unwrap(), json!(layer));
    assert!(missing.reason.as_deref().is_some_and(|reason| reason.contains(piece)), "{missing:?}");
    for mode in CONFINED {
        let session = world.session(mode).open();
        let told = session.opened().sandbox.missing().expect("session.open tells it, too");
        assert_eq!(told.name, missing.name);
        for _ in 0..2 {
            let reply = session.run("echo hi > f; echo done");
            reply.is_refused().holds(layer).holds(piece).holds(remedy);
        }
        // The tools for files are done behind the same layers.
        for (tool, arguments) in [
            ("write", json!({"file_path": "f", "content": ""})),
            ("read", json!({"file_path": "/etc/hostname"})),
        ] {
            let call = session.begin_call(json!({"name": tool, "arguments": arguments}));
            session.end(call).is_refused().holds(layer).holds(piece);
        }
        assert!(!world.ws().join("f").exists(), "{mode}");
    }
    world.session("danger-full-access").open().run("echo hi").exits(0).says("hi");
    // Which, why, and what to do.
    let doctor = brattice_tests::brattice_in(world, &["doctor"]);
    assert_eq!(doctor.code, Some(1), "{doctor:?}");
    for told in [layer, piece, remedy, "commands cannot run in read-only and workspace-write"] {
        assert!(doctor.stdout.contains(told), "{told:?}: {doctor:?}");
    }
    assert_eq!(world.strays(), []);
}

#[test]
fn b024_c9_without_landlock_confined_commands_are_refused_and_others_run() {
    let world = world_without("landlock", 38);
    fails_closed(&world, "landlock", "ENOSYS", "use a kernel with CONFIG_SECURITY_LANDLOCK");
    world.finish();
}

#[test]
fn b024_c9_with_landlock_switched_off_likewise() {
    let world = world_without("landlock", 95);
    fails_closed(&world, "landlock", "EOPNOTSUPP", "add landlock to the lsm= boot parameter");
    world.finish();
}

#[test]
fn c10_a_layer_that_fails_after_another_stops_the_command() {
    let world = world_without("seccomp", 1);
    fails_closed(&world, "seccomp", "EPERM", "allow the call in the container's profile");
    world.finish();
}

#[test]
fn c5_what_the_daemon_lives_on_is_out_of_reach() {
    let world = World::new();
    let targets = [
        world.state().join("x"),
        world.state().join("sessions/x"),
        world.socket().with_file_name("x"),
        brattice_tests::bratticed(),
    ];
    for mode in CONFINED {
        let session = world.session(mode).open();
        for target in &targets {
            session.run(&format!("echo x >> {}", target.display())).exits(1);
        }
        session.run(&format!("rm -f {}", world.socket().display())).exits(1);
    }
    let ws = world.state().join("sessions");
    let error =
        world.session("workspace-write").with("writable", json!([ws])).try_open().err().unwrap();
    assert!(error.is(ErrorCode::Invalid) || error.is(ErrorCode::Refused), "{error:?}");
    world.native(&format!("touch {}", targets[0].display())).succeeded();
    std::fs::remove_file(&targets[0]).unwrap();
    world.finish();
}

#[test]
fn c6_a_call_names_no_mode() {
    let world = World::new();
    let session = world.session("read-only").open();
    for (name, value) in [
        ("mode", json!("danger-full-access")),
        ("sandbox", json!(false)),
        ("sandbox_permissions", json!("workspace-write")),
    ] {
        session.bash(json!({"command": "touch $WS/ran", name: value})).is_refused().holds(name);
    }
    let mut with_mode = json!({"name": "bash", "arguments": {"command": "touch $WS/ran"}});
    with_mode["mode"] = json!("danger-full-access");
    let error = session.try_end(session.begin_call(with_mode)).unwrap_err();
    assert!(error.is(ErrorCode::Invalid) && error.message.contains("mode"), "{error:?}");
    assert!(!world.ws().join("ran").exists());
    world.finish();
}
