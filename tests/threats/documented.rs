//! F23, F24, M5, S8: what the sandbox does not close, as `SECURITY.md` says under "What cannot be blocked for a process of
//! the same user". Held here so that the page says what is so.

use brattice_tests::{World, eventually};
use serde_json::json;

use crate::attack::{Attack, Record};

#[test]
fn f23_f24_m5_what_is_said_to_be_open_is_open() {
    let open =
        "command-line ok\nstatus ok\nmounts ok\nmetadata ok\nwatch ok\nshared-lock ok\nlock ok";
    Attack {
        steps: r#"
import fcntl
def read(path):
    with open(path, "rb") as file: return file.read(1)
attempt("command-line", read, "/proc/1/cmdline")
attempt("status", read, "/proc/1/status")
attempt("mounts", read, "/proc/self/mounts")
attempt("metadata", os.stat, OUT + "/attack.py")
watcher = libc.inotify_init1(0)
attempt("watch", call, 254, watcher, (OUT + "/attack.py").encode(), 0xfff)
fd = os.open(OUT + "/attack.py", os.O_RDONLY)
attempt("shared-lock", fcntl.flock, fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
attempt("lock", fcntl.flock, fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
"#,
        confined: open,
        native: open,
        record: Record::Nothing,
        ..Attack::default()
    }
    .run();
}

/// What somebody outside hands in is theirs to hand: the right to a file was decided when it was opened.
#[test]
fn s8_a_descriptor_that_is_received_is_used() {
    let world = World::new();
    world.file(
        "receive.py",
        "import os, socket\ns = socket.socket(socket.AF_UNIX); s.bind('s.new'); s.listen(); os.rename('s.new', 's')\n\
         c, _ = s.accept(); _, fds, _, _ = socket.recv_fds(c, 1, 1); os.write(fds[0], b'received')",
    );
    let send = "import os, socket, sys\ns = socket.socket(socket.AF_UNIX); s.connect('s')\n\
                fd = os.open(sys.argv[1], os.O_WRONLY); socket.send_fds(s, [b'x'], [fd])";
    std::fs::write(world.out().join("victim"), "").unwrap();
    std::fs::write(world.out().join("send.py"), send).unwrap();
    let session = world.session("workspace-write").open();
    session.run("echo x > $OUT/victim").exits(1);
    let receiving = session.begin(json!({"command": "python3 -B receive.py"}));
    eventually("it listens", || world.ws().join("s").exists().then_some(()));
    world.native("python3 -B $OUT/send.py $OUT/victim").succeeded();
    session.end(receiving).exits(0);
    assert_eq!(std::fs::read(world.out().join("victim")).unwrap(), b"received");
    world.finish();
}
