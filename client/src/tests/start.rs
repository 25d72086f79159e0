//! Starting a daemon, played by small shell scripts.

use std::os::unix::fs::PermissionsExt as _;

use super::peer::{Daemon, Folder};
use crate::start::{RootPolicy, StartError, StartOptions, connect_or_start, start_daemon};
use crate::{ConnectOptions, Locations};

/// A daemon that does what `script` says.
fn daemon(folder: &Folder, script: &str) -> StartOptions {
    let program = folder.join("bratticed");
    // Written by another process: this one may fork while the file is open, and what is open for writing in any
    // process cannot be run.
    let writing = "printf '#!/bin/sh\\n%s\\n' \"$2\" > \"$1\" && chmod 700 \"$1\"";
    let mut writer = std::process::Command::new("sh");
    writer.args(["-c", writing, "sh"]).arg(&program).arg(script);
    assert!(writer.status().unwrap().success());
    let locations = Locations {
        socket: folder.join("s"),
        control_socket: folder.join("c"),
        state: folder.join("state"),
    };
    StartOptions { program, locations, root: RootPolicy::Refuse }
}

#[tokio::test]
async fn a_daemon_is_told_its_paths_and_waited_for() {
    let folder = Folder::new();
    let told = folder.join("told");
    let options = daemon(&folder, &format!("printf '%s ' \"$@\" > {}; echo READY", told.display()));
    let allowed = StartOptions { root: RootPolicy::Allow, ..options.clone() };
    start_daemon(&allowed).await.unwrap();
    let Locations { socket, control_socket, state } = &options.locations;
    let expected = format!(
        "--socket {} --control-socket {} --state {} --allow-root ",
        socket.display(),
        control_socket.display(),
        state.display()
    );
    assert_eq!(std::fs::read_to_string(told).unwrap(), expected);
    let mode =
        |name: &str| std::fs::metadata(folder.join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("state"), mode("state/daemon.log")), (0o700, 0o600));
}

#[tokio::test]
async fn a_daemon_that_does_not_start_is_quoted() {
    let folder = Folder::new();
    let options = daemon(&folder, "echo >&2 no bash here; echo >&2; exit 3");
    std::fs::create_dir(&options.locations.state).unwrap();
    std::fs::write(options.locations.state.join("daemon.log"), "an earlier day\n").unwrap();
    let error = start_daemon(&options).await.unwrap_err();
    assert_eq!(error.to_string(), "the daemon did not start (exit status: 3): no bash here");
}

#[tokio::test]
async fn a_missing_program_is_named_with_a_hint() {
    let folder = Folder::new();
    let mut options = daemon(&folder, "");
    options.program = folder.join("nowhere");
    let error = start_daemon(&options).await.unwrap_err();
    assert!(matches!(error, StartError::Spawn { .. }), "{error:?}");
    assert_eq!(error.hint(), Some("install bratticed beside brattice or in a folder of PATH"));
}

#[tokio::test]
async fn the_loser_of_a_race_connects_to_the_winner() {
    let folder = Folder::new();
    // The other daemon has the lock when ours starts, and listens only after ours has exited.
    let script = "echo >&2 'another daemon already runs there'; touch \"$2.lost\"; exit 1";
    let options = daemon(&folder, script);
    let (socket, lost) = (options.locations.socket.clone(), folder.join("s.lost"));
    let winner = async {
        while !lost.exists() {
            tokio::task::yield_now().await;
        }
        Daemon::greet(&Daemon::listen(&socket)).await
    };
    let connect = connect_or_start(&socket, ConnectOptions::new("test", "1"), &options);
    let (client, _daemon) = tokio::join!(connect, winner);
    assert_eq!(client.unwrap().hello().daemon.name, "played");
}

#[tokio::test]
async fn a_daemon_is_started_once_the_one_before_has_ended() {
    let folder = Folder::new();
    // The first attempt finds the lock taken by a daemon that is ending; the second finds it free.
    let script = "if mkdir \"$2.ending\"; then echo >&2 'another daemon already runs there'; exit 1; fi\n\
                  touch \"$2.free\"; until [ -e \"$2\" ]; do :; done; echo READY";
    let options = daemon(&folder, script);
    let (socket, free) = (options.locations.socket.clone(), folder.join("s.free"));
    let second = async {
        while !free.exists() {
            tokio::task::yield_now().await;
        }
        Daemon::greet(&Daemon::listen(&socket)).await
    };
    let connect = connect_or_start(&socket, ConnectOptions::new("test", "1"), &options);
    let (client, _daemon) = tokio::join!(connect, second);
    assert_eq!(client.unwrap().hello().daemon.name, "played");
}
