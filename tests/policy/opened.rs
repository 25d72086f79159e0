//! What configuration opens besides folders: devices, and sockets wherever they are.

use std::io::Read as _;
use std::os::unix::net::UnixListener;
use std::path::Path;

use brattice_protocol::ErrorCode;
use brattice_tests::{CONFINED, World};

use crate::worlds::configured;

const CONNECT: &str = "python3 -c 'import socket, sys
s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.sendall(b\"hello\")'";

/// Serves one who connects, and returns what they said.
fn serve(path: &Path) -> std::thread::JoinHandle<String> {
    let listener = UnixListener::bind(path).unwrap();
    std::thread::spawn(move || {
        let mut said = String::new();
        listener.accept().unwrap().0.read_to_string(&mut said).unwrap();
        said
    })
}

#[test]
fn a_listed_socket_is_reached_by_its_name_and_no_other_is() {
    let builder = World::builder();
    let out = builder.root().join("out");
    let listed = out.join("listed.sock");
    let planted = builder.root().join("ws/planted.sock");
    let text = format!("[session]\nunix_sockets = [{listed:?}, {planted:?}]\n");
    let world = builder.configured(&text).start();
    let other = UnixListener::bind(out.join("other.sock")).unwrap();
    for mode in CONFINED {
        let session = world.session(mode).open();
        // What comes to listen there later is reached in the same session.
        for _ in 0..2 {
            let service = serve(&listed);
            session.run(&format!("{CONNECT} $OUT/listed.sock")).exits(0);
            assert_eq!(service.join().unwrap(), "hello");
            std::fs::remove_file(&listed).unwrap();
        }
        session.run(&format!("{CONNECT} $OUT/other.sock")).exits(1).holds("Permission denied");
    }
    // A link at a listed name opens nothing else.
    let session = world.session("workspace-write").open();
    session.run("ln -s $OUT/other.sock planted.sock").exits(0);
    session.run(&format!("{CONNECT} planted.sock")).exits(1).holds("Permission denied");
    let again = world.session("workspace-write").try_open();
    assert!(again.is_ok(), "{:?}", again.err());
    drop(other);
    world.finish();
}

#[test]
fn a_listed_device_is_opened_and_one_that_is_missing_is_not_missed() {
    let open = "python3 -c 'import os; os.open(\"/dev/ptmx\", os.O_RDWR | os.O_NOCTTY)'";
    let text = "[session]\ndevices = [\"/dev/ptmx\", \"/dev/brattice-absent\"]\n";
    let (plain, world) = (World::new(), configured(text).start());
    for mode in CONFINED {
        plain.session(mode).open().run(open).exits(1).holds("Permission denied");
        world.session(mode).open().run(open).exits(0);
    }
    plain.finish();
    world.finish();
}

#[test]
fn what_is_no_device_is_refused_at_the_opening() {
    for path in ["/etc/passwd", "/etc", "/dev", "/dev/fd"] {
        let world = configured(&format!("[session]\ndevices = [{path:?}]\n")).start();
        let refusal = world.session("read-only").try_open().err().unwrap();
        assert!(refusal.is(ErrorCode::Refused), "{refusal:?}");
        assert_eq!(
            refusal.message,
            format!("devices: {path} is neither a device nor a folder below /dev")
        );
        world.finish();
    }
}
