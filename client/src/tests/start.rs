//! Starting a daemon, played by small shell scripts.

use std::os::unix::fs::PermissionsExt as _;

use brattice_protocol::DaemonExit;

use super::peer::{Daemon, Folder};
use crate::start::{
    RootPolicy, StartError, StartOptions, check_daemon, connect_or_start, start_daemon,
};
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
    let options = daemon(&folder, "echo >&2 no socket here; echo >&2; exit 1");
    std::fs::create_dir(&options.locations.state).unwrap();
    std::fs::write(options.locations.state.join("daemon.log"), "an earlier day\n").unwrap();
    let error = start_daemon(&options).await.unwrap_err();
    assert_eq!(error.to_string(), "the daemon did not start (exit status: 1): no socket here");
}

#[tokio::test]
async fn a_daemons_exit_status_tells_what_to_do_whatever_its_words() {
    let cases = [
        (1, Some(DaemonExit::Failed), "its log is daemon.log in the state folder"),
        (2, Some(DaemonExit::Usage), "use a brattice and a bratticed of the same version"),
        (
            3,
            Some(DaemonExit::Taken),
            "that daemon listens at another socket: use it, or set BRATTICE_STATE too",
        ),
        (
            4,
            Some(DaemonExit::Root),
            "use an ordinary user, or start bratticed --allow-root by hand",
        ),
        (5, Some(DaemonExit::NoBash), "install bash"),
        (99, None, "its log is daemon.log in the state folder"),
    ];
    for (status, exit, hint) in cases {
        let folder = Folder::new();
        let words = "echo >&2 another daemon needs --allow-root";
        let options = daemon(&folder, &format!("{words}; exit {status}"));
        let error = start_daemon(&options).await.unwrap_err();
        assert_eq!((error.exit(), error.hint()), (exit, Some(hint)), "{status}");
    }
}

#[tokio::test]
async fn whether_a_daemon_would_start_is_asked_and_nothing_is_left_of_that() {
    let folder = Folder::new();
    let told = folder.join("told");
    let options = daemon(&folder, &format!("echo \"$7\" > {}", told.display()));
    check_daemon(&options).await.unwrap();
    assert_eq!(std::fs::read_to_string(told).unwrap(), "--check\n");
    assert!(!options.locations.state.exists());

    let faulty = "echo >&2 a line of the log; echo >&2 bratticed: no such key; exit 1";
    let error = check_daemon(&daemon(&folder, faulty)).await.unwrap_err();
    assert_eq!(error.to_string(), "it would end with exit status: 1: no such key");
    assert_eq!((error.exit(), error.hint()), (Some(DaemonExit::Failed), None));
    let error = check_daemon(&daemon(&folder, "exit 5")).await.unwrap_err();
    assert_eq!((error.exit(), error.hint()), (Some(DaemonExit::NoBash), Some("install bash")));
}

#[tokio::test]
async fn a_log_that_grew_long_makes_room_for_the_next() {
    let folder = Folder::new();
    let options = daemon(&folder, "echo >&2 now; echo READY");
    let state = &options.locations.state;
    std::fs::create_dir(state).unwrap();
    let (log, older) = (state.join("daemon.log"), state.join("daemon.log.1"));
    std::fs::write(&older, "the year before\n").unwrap();
    let long = "a day like any other\n".repeat(200_000);
    assert!(long.len() > 4 << 20);
    std::fs::write(&log, &long).unwrap();
    start_daemon(&options).await.unwrap();
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "now\n");
    assert!(std::fs::read_to_string(&older).unwrap() == long);
    start_daemon(&options).await.unwrap();
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "now\nnow\n");
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
    let script = "touch \"$2.lost\"; exit 3";
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
    let script = "if mkdir \"$2.ending\"; then exit 3; fi\n\
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
