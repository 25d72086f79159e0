//! The namespaces layer as a whole: what commands cannot do about it, and sessions where it is not to be had.

use brattice_protocol::ErrorCode;
use brattice_protocol::{LayerName, LayerState};
use brattice_tests::{CONFINED, World};
use serde_json::json;

use crate::control::without;

#[test]
fn where_namespaces_are_refused_sessions_work_as_before_and_say_so() {
    let world = without(World::builder(), "namespaces", 1).start();
    world.setup("git init -q .; mkdir -p .git/hooks");
    let layer = |layers: &[brattice_protocol::Layer]| {
        layers.iter().find(|layer| layer.name == LayerName::Namespaces).cloned().unwrap()
    };
    let told = layer(&world.hello().sandbox.layers);
    assert_eq!(told.state, LayerState::Off);
    let reason = told.reason.clone().unwrap();
    assert!(reason.starts_with("unshare: EPERM (Operation not permitted): "), "{reason}");
    assert!(reason.contains(".git/hooks are not held"), "{reason}");
    for mode in CONFINED {
        let session = world.session(mode).open();
        assert_eq!(layer(&session.opened().sandbox.layers), told);
        session.run("echo x > /tmp/brattice-off").exits(1).holds("Permission denied");
        assert_eq!(layer(&session.run("true").outcome().sandbox.layers).state, LayerState::Off);
    }
    let writer = world.session("workspace-write").open();
    writer
        .run("touch $TMPDIR/f /dev/shm/brattice-off .git/hooks/x && rm /dev/shm/brattice-off")
        .exits(0);
    let refusal =
        world.session("read-only").with("network", json!("loopback")).try_open().err().unwrap();
    assert!(refusal.is(ErrorCode::Refused), "{refusal:?}");
    assert!(
        refusal.message.starts_with("network = \"loopback\" needs namespaces: unshare: EPERM"),
        "{refusal:?}"
    );
    world.finish();
}

#[test]
fn what_only_namespaces_hide_is_refused_without_them() {
    let builder = World::builder().configured("[session]\ndeny_read = [\"~/secret\"]\n");
    let world = without(builder, "namespaces", 28).start();
    for mode in CONFINED {
        let refusal = world.session(mode).try_open().err().unwrap();
        assert!(refusal.is(ErrorCode::Refused), "{refusal:?}");
        assert!(
            refusal.message.starts_with("deny_read needs namespaces: unshare: ENOSPC"),
            "{refusal:?}"
        );
    }
    world.session("danger-full-access").open().run("echo hi").exits(0).says("hi");
    world.finish();
}

#[test]
fn s10_a_network_of_its_own_has_no_way_out() {
    let world = World::new();
    let interfaces = "cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' ' | sort | xargs echo";
    for network in ["none", "loopback"] {
        let session = world.session("workspace-write").with("network", json!(network)).open();
        session.run(interfaces).exits(0).says("lo");
        assert_ne!(
            session.run("readlink /proc/self/ns/net").text(),
            world.native("readlink /proc/self/ns/net").stdout.trim()
        );
    }
    let full = world.session("workspace-write").open();
    assert_eq!(full.run(interfaces).text(), world.native(interfaces).stdout.trim());
    world.finish();
}

const SERVE: &str = "
import socket, sys
s = socket.socket(); s.bind(('127.0.0.1', 0)); s.listen(); print(s.getsockname()[1], flush=True)
while True: c, _ = s.accept(); c.sendall(b'hello'); c.close()
";

const ASK: &str = "
import socket, sys
c = socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5); print(c.recv(10).decode())
";

#[test]
fn s10_the_loopback_is_the_sessions_own() {
    let world = World::new();
    world.file("serve.py", SERVE);
    world.file("ask.py", ASK);
    let mut native = world
        .command("python3")
        .arg("serve.py")
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(
        &mut std::io::BufReader::new(native.stdout.take().unwrap()),
        &mut line,
    )
    .unwrap();
    let outside = line.trim().to_owned();
    world.native(&format!("python3 ask.py {outside}")).succeeded();
    let session = world
        .session("workspace-write")
        .with("network", json!("loopback"))
        .with("options", json!({"loop_detector": false}))
        .open();
    session.run(&format!("python3 ask.py {outside}")).exits(1).holds("ConnectionRefusedError");
    let task = session.start("python3 serve.py");
    let port = brattice_tests::eventually("the server tells its port", || {
        let printed =
            String::from_utf8(brattice_tests::bytes(&session.read(&task, json!({"offset": 0}))))
                .unwrap();
        printed.ends_with('\n').then(|| printed.trim().to_owned())
    });
    session.run(&format!("python3 ask.py {port}")).exits(0).says("hello");
    // What is set up anew meanwhile, and another mode, are of the same network.
    world.setup("git init -q .; mkdir -p .git/hooks");
    session.run(&format!("python3 ask.py {port}")).exits(0).says("hello");
    session.request("session.update", json!({"mode": "read-only"})).unwrap();
    session.run(&format!("python3 ask.py {port}")).exits(0).says("hello");
    assert_ne!(world.native(&format!("python3 ask.py {port}")).stdout, "hello\n");
    native.kill().unwrap();
    native.wait().unwrap();
    world.finish();
}

#[test]
fn p10_namespaces_and_mounts_stay_refused_within() {
    let world = World::new();
    for mode in CONFINED {
        let session = world.session(mode).open();
        for attempt in [
            "unshare -rm true",
            "unshare -n true",
            "mount -t tmpfs none /tmp",
            "umount /tmp",
            "umount -l /dev/shm",
            "nsenter -t $PPID -m true",
        ] {
            assert_ne!(session.run(attempt).code(), Some(0), "{mode}: {attempt}");
        }
        // Nothing is left of what the owner of a user namespace may do.
        let held =
            session.run("grep -E '^Cap(Eff|Prm|Inh|Amb)' /proc/self/status | cut -f2 | sort -u");
        let expected = if rustix::process::geteuid().is_root() {
            "0000000000000000\n000000000000000b"
        } else {
            "0000000000000000"
        };
        held.says(expected);
    }
    world.native("unshare -rm mount -t tmpfs none /tmp").succeeded();
    world.finish();
}
