//! Who is let in, and what happens when there is no room.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream as StdStream;
use std::process::Command;

use brattice_protocol::hello::Role;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;
use tokio::net::UnixStream;

use super::harness::{Client, Running, Supervisor, error, hello, limits, soon};
use crate::server::Refused;

#[tokio::test]
async fn a_peer_below_a_supervisor_is_refused() {
    let above = std::os::unix::process::parent_id();
    let server = Running::with(limits(|_| ()), Supervisor(Some(above)));
    let own = std::process::id();
    let message = format!("process {own} belongs to a task (supervisor {above})");
    for path in [&server.paths.client, &server.paths.control] {
        Client::connect(path).await.is_turned_away(-32003, "refused", &message).await;
    }
    let uid = Some(rustix::process::geteuid().as_raw());
    let refused = |role| Refused { role, pid: Some(own), uid, reason: message.clone() };
    let told = server.script.refused.lock().unwrap().clone();
    assert_eq!(told, [refused(Role::Client), refused(Role::Operator)]);
    assert_eq!(*server.script.greeted.borrow(), 0);
}

#[tokio::test]
async fn a_supervisor_itself_is_refused() {
    let own = std::process::id();
    let server = Running::with(limits(|_| ()), Supervisor(Some(own)));
    let message = format!("process {own} belongs to a task (supervisor {own})");
    server.connect().await.is_turned_away(-32003, "refused", &message).await;
}

#[tokio::test]
async fn a_peer_beside_a_supervisor_is_let_in() {
    let mut beside = Command::new("sleep").arg("60").spawn().unwrap();
    let server = Running::with(limits(|_| ()), Supervisor(Some(beside.id())));
    server.greet().await;
    beside.kill().unwrap();
    beside.wait().unwrap();
}

#[tokio::test]
async fn a_connection_too_many_is_busy_and_the_other_socket_has_its_own_count() {
    let server = Running::with(limits(|limits| limits.connections = 2), Supervisor(None));
    let first = server.greet().await;
    let _second = server.greet().await;
    let message = "2 connections are already open";
    server.connect().await.is_turned_away(-32004, "busy", message).await;
    Client::connect(&server.paths.control).await.hello().await;

    drop(first);
    server.until_gone(1).await;
    let again = async {
        loop {
            let mut client = server.connect().await;
            client.send_while_open(format!("{}\n", hello_line()).as_bytes()).await;
            let answer = client.next().await.unwrap();
            if answer.get("result").is_some() {
                return;
            }
            assert_eq!(error(&answer), (-32004, "busy", message));
        }
    };
    soon("a free seat", again).await;
}

fn hello_line() -> String {
    json!({"jsonrpc": "2.0", "id": 0, "method": "hello", "params": hello()}).to_string()
}

/// Runs in a process of its own, for it takes away every descriptor there is.
#[tokio::test]
async fn without_descriptors_a_client_is_told_busy_and_the_server_goes_on() {
    const INSIDE: &str = "BRATTICE_TEST_OUT_OF_DESCRIPTORS";
    if std::env::var_os(INSIDE).is_none() {
        let name = std::thread::current().name().unwrap().to_owned();
        let run = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", &name, "--nocapture"])
            .env(INSIDE, "1")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stdout);
        assert!(run.status.success() && said.contains("1 passed"), "{run:?}");
        return;
    }
    let server = Running::start();
    let mut friend = server.greet().await;
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).unwrap();
    let most = Rlimit { current: Some(128), ..getrlimit(Resource::Nofile) };
    setrlimit(Resource::Nofile, most).unwrap();
    let taken: Vec<OwnedFd> = std::iter::from_fn(|| socket.try_clone().ok()).collect();
    connect(&socket, &SocketAddrUnix::new(&server.paths.client).unwrap()).unwrap();
    let stream = UnixStream::from_std(StdStream::from(socket)).unwrap();
    let mut client = Client::over(stream);
    client.is_turned_away(-32004, "busy", "the daemon has no descriptor left").await;
    friend.call(1, "echo", json!({})).await;
    drop(taken);
    server.greet().await;
}
