//! Owning the sockets: locks, stale and live ones, permissions, and what is removed.

use std::error::Error;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;

use super::harness::{Folder, Running};
use crate::server::{HandedOver, Server, SocketPaths};

/// The whole chain of an error, as the log has it.
fn refusal(paths: &SocketPaths) -> String {
    let error = Server::bind(paths, HandedOver::default()).unwrap_err();
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn folder_and_sockets_are_private() {
    let folder = Folder::new();
    let paths = folder.sockets();
    let server = Server::bind(&paths, HandedOver::default()).unwrap();
    assert_eq!(mode(&folder.path().join("run")), 0o700);
    assert_eq!(mode(&folder.path().join("run/brattice.lock")), 0o600);
    assert_eq!((mode(&paths.client), mode(&paths.control)), (0o600, 0o600));
    drop(server);
    assert!(!paths.client.exists() && !paths.control.exists());
}

#[tokio::test]
async fn a_second_daemon_is_refused_and_the_first_keeps_its_sockets() {
    let server = Running::start();
    let folder = server.folder.path().join("run");
    assert_eq!(
        refusal(&server.paths),
        format!(
            "cannot open the daemon's sockets: cannot own the folder of the socket {socket}: \
             another daemon (pid {pid}) already runs on {folder}: it holds {folder}/brattice.lock",
            socket = server.paths.client.display(),
            folder = folder.display(),
            pid = std::process::id()
        )
    );
    server.greet().await;
}

#[tokio::test]
async fn a_lock_that_says_nothing_is_a_lock_all_the_same() {
    let server = Running::start();
    let lock = server.folder.path().join("run/brattice.lock");
    std::fs::write(&lock, "").unwrap();
    let refusal = refusal(&server.paths);
    assert!(refusal.ends_with(&format!("it holds {}", lock.display())), "{refusal}");
    assert!(!refusal.contains("pid"), "{refusal}");
}

#[tokio::test]
async fn a_stale_socket_is_replaced() {
    let folder = Folder::new();
    let paths = folder.sockets();
    std::fs::create_dir(folder.path().join("run")).unwrap();
    set_mode(&folder.path().join("run"), 0o700);
    drop(UnixListener::bind(&paths.client).unwrap());
    assert!(paths.client.exists());
    let server = Server::bind(&paths, HandedOver::default()).unwrap();
    std::os::unix::net::UnixStream::connect(&paths.client).unwrap();
    drop(server);
}

#[tokio::test]
async fn a_live_socket_without_a_lock_is_left_alone() {
    let folder = Folder::new();
    let paths = folder.sockets();
    std::fs::create_dir(folder.path().join("run")).unwrap();
    set_mode(&folder.path().join("run"), 0o700);
    let other = UnixListener::bind(&paths.client).unwrap();
    assert_eq!(
        refusal(&paths),
        format!(
            "cannot open the daemon's sockets: another process already listens on {}",
            paths.client.display()
        )
    );
    std::os::unix::net::UnixStream::connect(&paths.client).unwrap();
    assert!(!paths.control.exists(), "what was bound before the failure is removed");
    drop(other);
}

#[tokio::test]
async fn a_file_of_the_sockets_name_is_left_alone() {
    let folder = Folder::new();
    let paths = folder.sockets();
    std::fs::create_dir(folder.path().join("run")).unwrap();
    set_mode(&folder.path().join("run"), 0o700);
    std::fs::write(&paths.control, "precious").unwrap();
    let refusal = refusal(&paths);
    assert!(refusal.contains("control.sock exists and is no socket; remove it"), "{refusal}");
    assert_eq!(std::fs::read_to_string(&paths.control).unwrap(), "precious");
}

#[tokio::test]
async fn a_successors_socket_is_not_removed() {
    let folder = Folder::new();
    let paths = folder.sockets();
    let server = Server::bind(&paths, HandedOver::default()).unwrap();
    std::fs::rename(&paths.client, folder.path().join("moved")).unwrap();
    let successor = UnixListener::bind(&paths.client).unwrap();
    drop(server);
    std::os::unix::net::UnixStream::connect(&paths.client).unwrap();
    assert!(!paths.control.exists());
    drop(successor);
}

#[tokio::test]
async fn a_folder_that_others_may_write_to_is_refused() {
    let folder = Folder::new();
    set_mode(folder.path(), 0o1777);
    let paths = SocketPaths {
        client: folder.path().join("brattice.sock"),
        control: folder.path().join("control.sock"),
    };
    assert_eq!(
        refusal(&paths),
        format!(
            "cannot open the daemon's sockets: cannot own the folder of the socket {0}/brattice.sock: \
             others may write to the folder {0} (mode 1777); run chmod 700 on it, or choose a folder \
             of its own for the sockets",
            folder.path().display()
        )
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is done");
}

#[tokio::test]
async fn a_folder_that_is_a_file_is_refused() {
    let folder = Folder::new();
    std::fs::write(folder.path().join("run"), "").unwrap();
    let refusal = refusal(&folder.sockets());
    assert!(refusal.ends_with("run is no folder; remove it or choose another one"), "{refusal}");
}

#[tokio::test]
async fn a_path_too_long_names_the_limit_and_the_variable() {
    let folder = Folder::new();
    let mut paths = folder.sockets();
    paths.client = folder.path().join("x".repeat(120));
    let length = paths.client.as_os_str().len();
    let refusal = refusal(&paths);
    assert!(
        refusal.ends_with(&format!(
            "is {length} bytes long, and a socket's path has at most 107; set BRATTICE_SOCKET to a \
             shorter one"
        )),
        "{refusal}"
    );
}

#[tokio::test]
async fn the_longest_path_is_taken() {
    let folder = Folder::new();
    let mut paths = folder.sockets();
    let run = folder.path().join("run/");
    let rest = 107 - run.as_os_str().len();
    paths.client = run.join("x".repeat(rest));
    assert_eq!(paths.client.as_os_str().len(), 107);
    let server = Server::bind(&paths, HandedOver::default()).unwrap();
    std::os::unix::net::UnixStream::connect(&paths.client).unwrap();
    drop(server);
}

#[tokio::test]
async fn sockets_of_two_folders_lock_both() {
    let folder = Folder::new();
    let at = |folder_name: &str, name: &str| folder.path().join(folder_name).join(name);
    let first = SocketPaths { client: at("a", "1.sock"), control: at("b", "2.sock") };
    let server = Server::bind(&first, HandedOver::default()).unwrap();
    let second = SocketPaths { client: at("c", "1.sock"), control: at("b", "3.sock") };
    assert!(refusal(&second).contains("already runs on"));
    let third = SocketPaths { client: at("a", "4.sock"), control: at("d", "2.sock") };
    assert!(refusal(&third).contains("already runs on"));
    drop(server);
    drop(Server::bind(&second, HandedOver::default()).unwrap());
}

#[tokio::test]
async fn one_folder_by_two_names_is_locked_once() {
    let folder = Folder::new();
    let mut paths = folder.sockets();
    std::os::unix::fs::symlink("run", folder.path().join("alias")).unwrap();
    paths.control = folder.path().join("alias/control.sock");
    drop(Server::bind(&paths, HandedOver::default()).unwrap());
}

#[tokio::test]
async fn both_sockets_at_one_path_are_refused() {
    let folder = Folder::new();
    let mut paths = folder.sockets();
    paths.control.clone_from(&paths.client);
    assert!(refusal(&paths).contains("the client's and the control socket cannot both be"));
}
