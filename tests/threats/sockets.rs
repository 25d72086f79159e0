//! S1 to S10: no service is reached by path, by abstract name or, where it is off, by network.

use std::io::Read;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use brattice_protocol::ErrorCode;
use brattice_tests::{CONFINED, World};
use serde_json::{Value, json};

use crate::attack::{Attack, assert_outcomes};

/// A service outside that would do what it is told; it counts who came.
fn service(world: &World, name: &str) -> Arc<AtomicUsize> {
    let listener = UnixListener::bind(world.out().join(name)).unwrap();
    let visits = Arc::new(AtomicUsize::new(0));
    let counter = visits.clone();
    thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            counter.fetch_add(1, Ordering::SeqCst);
            // Whatever comes is enough, and so is a peer that says nothing and hangs up.
            if let Err(error) = stream.read(&mut [0; 64]).map(drop) {
                eprintln!("a visitor: {error}");
            }
        }
    });
    visits
}

#[test]
fn s1_s5_no_service_is_reached_by_its_path() {
    let world = World::new();
    let visits = service(&world, "docker.sock");
    let steps = r#"
def connect(kind, path):
    with socket.socket(socket.AF_UNIX, kind) as s:
        s.connect(path)
        s.sendall(b"POST /containers/create HTTP/1.1\r\n\r\n")
attempt("stream", connect, socket.SOCK_STREAM, OUT + "/docker.sock")
attempt("seqpacket", connect, socket.SOCK_SEQPACKET, OUT + "/docker.sock")
attempt("raw", socket.socket, socket.AF_UNIX, socket.SOCK_RAW)
attempt("pair", socket.socketpair)
"#;
    Attack {
        steps,
        confined: "stream EACCES\nseqpacket EACCES\nraw EACCES\npair ok",
        native: "stream ok\nseqpacket EPROTOTYPE\nraw ok\npair ok",
        ..Attack::default()
    }
    .run_in(&world, "", "");
    assert_eq!(visits.load(Ordering::SeqCst), 1, "only the twin came");
    world.finish();
}

#[test]
fn s2_no_datagram_reaches_a_path() {
    let world = World::new();
    let victim = UnixDatagram::bind(world.out().join("log")).unwrap();
    victim.set_nonblocking(true).unwrap();
    let steps = r#"
def datagram():
    return socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
attempt("sendto", lambda: datagram().sendto(b"x", OUT + "/log"))
attempt("sendmsg", lambda: datagram().sendmsg([b"x"], [], 0, OUT + "/log"))
def pair():
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    a.sendto(b"x", OUT + "/log")
attempt("pair", pair)
"#;
    Attack {
        steps,
        confined: "sendto EPERM|EACCES\nsendmsg EPERM|EACCES\npair EPERM|EACCES|EPROTOTYPE",
        native: "sendto ok\nsendmsg ok\npair ok",
        ..Attack::default()
    }
    .run_in(&world, "", "");
    let received = std::iter::from_fn(|| victim.recv(&mut [0; 8]).ok()).count();
    assert_eq!(received, 3, "only the twin's came");
    world.finish();
}

#[test]
fn s4_no_abstract_socket_is_reached() {
    let world = World::new();
    let steps = r#"
listener = sys.argv[1]
def connect():
    with socket.socket(socket.AF_UNIX) as s:
        s.connect("\0" + listener)
attempt("abstract", connect)
"#;
    let name = format!("brattice-test-{}", std::process::id());
    let address =
        <std::os::unix::net::SocketAddr as std::os::linux::net::SocketAddrExt>::from_abstract_name(
            &name,
        )
        .unwrap();
    let listener = UnixListener::bind_addr(&address).unwrap();
    Attack { steps, confined: "abstract EPERM|EACCES", native: "abstract ok", ..Attack::default() }
        .run_in(&world, &name, &name);
    drop(listener);
    world.finish();
}

#[test]
fn s6_a_terminal_multiplexer_outside_does_nothing_for_a_command() {
    let world = World::new();
    world.setup("tmux -S $OUT/tmux new-session -d 'sleep 900'");
    let attack = "tmux -S $OUT/tmux run-shell \"touch $OUT/pwned\"; rm -f $OUT/tmux; [ -S $OUT/tmux ] && echo still there";
    for mode in CONFINED {
        world.session(mode).open().run(attack).exits(0).holds("still there");
        assert!(!world.out().join("pwned").exists(), "{mode}");
    }
    world.native("tmux -S $OUT/tmux run-shell \"touch $OUT/pwned\"").succeeded();
    assert!(world.out().join("pwned").exists());
    world.native("tmux -S $OUT/tmux kill-server").succeeded();
    world.finish();
}

#[test]
fn s7_the_daemons_own_sockets_are_closed_to_commands() {
    let world = World::new();
    let steps = r#"
for path in sys.argv[1:]:
    def connect():
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(path)
    attempt("connect", connect)
    attempt("unlink", os.rename, path, path)
"#;
    let sockets = format!("{} {}", world.socket().display(), world.control().display());
    Attack {
        steps,
        confined: "connect EPERM|EACCES\nunlink EACCES",
        native: "connect ok\nunlink ok",
        ..Attack::default()
    }
    .run_in(&world, &sockets, &sockets);
    world.finish();
}

#[test]
fn s7_a_peer_that_descends_from_a_task_is_refused_with_a_line() {
    let world = World::new();
    let ask = r#"
import json, socket, sys
with socket.socket(socket.AF_UNIX) as s:
    s.connect(sys.argv[1])
    try: s.sendall(b'{"jsonrpc":"2.0","id":1,"method":"hello","params":{"protocol":1,"client":{"name":"x","version":"1"}}}\n')
    except BrokenPipeError: pass
    print(s.makefile().readline(), end="")
"#;
    world.file("ask.py", ask);
    let session = world.session("danger-full-access").open();
    for path in [world.socket(), world.control()] {
        for prefix in ["", "setsid "] {
            let reply = session.run(&format!("{prefix}python3 ask.py {}", path.display()));
            let line: Value = serde_json::from_str(&reply.exits(0).text()).unwrap();
            assert_eq!(line["error"]["data"]["code"], json!(ErrorCode::Refused), "{line}");
        }
    }
    assert_eq!(world.sessions().len(), 1);
    world.finish();
}

const NETWORK: &str = r#"
FAMILIES = (("inet", 2, 1, 0), ("inet6", 10, 1, 0), ("udp", 2, 2, 0), ("raw", 2, 3, 1), ("mptcp", 2, 1, 262), ("sctp", 2, 1, 132),
            ("netlink", 16, 3, 0), ("packet", 17, 3, 0), ("alg", 38, 5, 0), ("vsock", 40, 1, 0), ("smc", 43, 1, 0))
for name, family, kind, protocol in FAMILIES:
    attempt(name, lambda: os.close(call(41, family, kind, protocol)))
"#;

#[test]
fn s10_without_network_no_socket_of_any_family_is_made() {
    let world = World::new();
    let program = world.out().join("attack.py");
    Attack {
        steps: NETWORK,
        confined: "inet ok\ninet6 ok|EAFNOSUPPORT\nudp ok\nraw EPERM|EACCES\nmptcp ok|EPROTONOSUPPORT|EPERM|EACCES\nsctp ok|EPROTONOSUPPORT|EPERM|EACCES\nnetlink ok\npacket EPERM|EACCES|EAFNOSUPPORT\nalg ok|EAFNOSUPPORT|EPERM|EACCES\nvsock ok|EAFNOSUPPORT|EPERM|EACCES\nsmc ok|EAFNOSUPPORT|EPERM|EACCES",
        native: "inet ok\ninet6 ok|EAFNOSUPPORT\nudp ok\nraw ok|EPERM\nmptcp ok|EPROTONOSUPPORT\nsctp ok|EPROTONOSUPPORT\nnetlink ok\npacket ok|EPERM|EAFNOSUPPORT\nalg ok|EAFNOSUPPORT\nvsock ok|EAFNOSUPPORT\nsmc ok|EAFNOSUPPORT",
        ..Attack::default()
    }
    .run_in(&world, "", "");
    for mode in CONFINED {
        let session = world.session(mode).with("network", json!("none")).open();
        let reply = session.run(&format!("python3 -B {}", program.display()));
        let refused = "EPERM|EACCES";
        let names = [
            "inet", "inet6", "udp", "raw", "mptcp", "sctp", "netlink", "packet", "alg", "vsock",
            "smc",
        ];
        let expected: String = names.map(|name| format!("{name} {refused}\n")).concat();
        assert_outcomes(&format!("network none, {mode}"), &reply.exits(0).printed(), &expected);
        session.run("python3 -c 'import socket; a, b = socket.socketpair(); a.send(b\"x\"); print(b.recv(1))'").exits(0).says("b'x'");
    }
    world.finish();
}
