//! What stays out of reach outside, and what a root that was asked for opens.

use std::fs;

use brattice_tests::{CONFINED, World};
use serde_json::json;

const RESOLVE: &str = r#"import os
p = os.path.expanduser("~/.cache/uv/sdists-v9/.git")
with open(p, "a"): pass
print("resolved")
"#;

#[test]
fn b001_a_cache_outside_is_closed_and_as_an_extra_root_open() {
    let world = World::new();
    world.setup("mkdir -p \"$HOME/.cache/uv/sdists-v9\"");
    world.file("resolve.py", RESOLVE);
    let marker = world.home().join(".cache/uv/sdists-v9/.git");
    world
        .session("workspace-write")
        .open()
        .run("python3 resolve.py")
        .exits(1)
        .holds("PermissionError");
    assert!(!marker.exists());
    let session = world
        .session("workspace-write")
        .with("writable", json!([world.home().join(".cache/uv")]))
        .open();
    session.run("python3 resolve.py").exits(0).says("resolved");
    assert!(marker.exists());
    session.run("touch ~/.cache/other").exits(1);
    let reader =
        world.session("read-only").with("writable", json!([world.home().join(".cache/uv")])).open();
    reader.run("touch ~/.cache/uv/x").exits(1);
    world.finish();
}

#[test]
fn b018_new_folders_below_a_link_that_leads_out_are_not_made() {
    let world = World::new();
    world.setup("mkdir -p \"$OUT/real\"; ln -s \"$OUT/real\" link");
    let session = world.session("workspace-write").open();
    session.run("mkdir -p link/n2 && echo x > link/n2/f").exits(1);
    assert_eq!(fs::read_dir(world.out().join("real")).unwrap().count(), 0);
    world.native("mkdir -p link/n2 && echo x > link/n2/f").succeeded();
    world.finish();
}

const ENGINE: &str = r#"
import os, socket
p = os.environ["OUT"] + "/e.sock"
s = socket.socket(socket.AF_UNIX); s.bind(p); s.listen(3)
print("listening", flush=True)
while True:
    c, _ = s.accept(); c.recv(100); open(p + ".pwned", "w").close(); c.sendall(b"container started"); c.close()
"#;

#[test]
fn b020_a_container_engine_is_not_reached_by_its_socket() {
    let world = World::new();
    world.file(
        "cli.py",
        "import socket, sys\nc = socket.socket(socket.AF_UNIX); c.connect(sys.argv[1]); c.sendall(b\"run\"); print(c.recv(100).decode())\n",
    );
    let mut engine = world
        .command("python3")
        .args(["-c", ENGINE])
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    brattice_tests::eventually("the engine listens", || {
        world.out().join("e.sock").exists().then_some(())
    });
    for mode in CONFINED {
        let reply = world.session(mode).open().run("python3 cli.py $OUT/e.sock");
        reply.exits(1).holds("PermissionError").holds("\ndenied: connect ");
        assert!(!world.out().join("e.sock.pwned").exists(), "{mode}");
    }
    world
        .session("danger-full-access")
        .open()
        .run("python3 cli.py $OUT/e.sock")
        .exits(0)
        .says("container started");
    engine.kill().unwrap();
    engine.wait().unwrap();
    world.finish();
}

#[test]
fn b025_a_hard_link_makes_nothing_outside_writable() {
    let world = World::new();
    world.setup("echo secret > $OUT/s.txt");
    let session = world.session("workspace-write").open();
    let reply = session.run("ln $OUT/s.txt alias && echo OWNED >> alias; cat $OUT/s.txt");
    assert_eq!(reply.exits(0).lines()[0], "secret");
    reply.holds("ln: ");
    assert!(!world.ws().join("alias").exists());
    assert_eq!(fs::read_to_string(world.out().join("s.txt")).unwrap(), "secret\n");
    world.finish();
}

#[test]
fn b016_a_read_only_session_writes_nothing() {
    let world = World::new();
    let session = world.session("read-only").open();
    session.run("echo hi > note.txt").exits(1).holds("note.txt: Permission denied");
    session
        .run("cat /etc/passwd > /dev/null && ls / > /dev/null && echo read")
        .exits(0)
        .says("read");
    assert!(!world.ws().join("note.txt").exists());
    world.finish();
}
