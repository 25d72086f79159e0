//! The daemon's threads: all are there when it serves, so that none can be missing when the user may have no more of them.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use brattice_protocol::task::TaskStatus;
use brattice_tests::{Wire, World, bratticed, eventually};
use rustix::process::{Signal, geteuid};
use serde_json::json;

fn threads(pid: u32) -> BTreeSet<String> {
    let entries = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn no_thread_is_started_once_the_daemon_serves() {
    let mut world = World::new();
    let pid = world.daemon().pid();
    let before = threads(pid);
    for mode in ["read-only", "workspace-write", "danger-full-access"] {
        let session = world.session(mode).open();
        session.run("echo hi").exits(0).says("hi");
        session.request("policy.explain", json!({"path": "x", "operation": "write"})).unwrap();
        let tasks: Vec<String> = (0..10).map(|_| session.start("seq 100000; sleep 960")).collect();
        for task in &tasks {
            eventually("it has printed", || (session.task(task).bytes == 588_895).then_some(()));
            assert_eq!(session.read(task, json!({"offset": 1000, "limit": 4})).data.len(), 4);
            session.kill(task);
            session.wait_for(task);
            assert_eq!(session.task(task).status, TaskStatus::Killed);
            assert_eq!(session.output(task).len(), 588_895);
        }
        Wire::open(&world.control()).request("audit.tail", json!({})).unwrap();
        let killed = session.start("sleep 961");
        world.supervisor(session.id()).kill();
        session.wait_for(&killed);
        session.request("session.close", json!({})).unwrap();
    }
    let id = world.session("read-only").open().id().to_owned();
    world.daemon().signal(Signal::HUP);
    eventually("the configuration was read again", || {
        world.log().contains("the configuration holds for new sessions").then_some(())
    });
    assert_eq!(threads(pid), before);
    // Nor by taking over what another daemon left.
    world.restart();
    let pid = world.daemon().pid();
    let before = threads(pid);
    world.resume(&id).open().run("true").exits(0);
    assert_eq!(threads(pid), before);
    world.finish();
}

/// Whose daemon it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum User {
    /// This one's.
    Own,
    /// One's that nobody else is, which only root can start.
    Alone,
}

/// Starts a daemon whose user may have so many processes and threads. Tells why it does not run, or that it did.
fn start_with(most: u32, folder: &Path, user: User) -> Result<(), String> {
    let at = |name: &str| folder.join(name).display().to_string();
    let mut command = Command::new("prlimit");
    command.arg(format!("--nproc={most}"));
    if user == User::Alone {
        command.args(["setpriv", "--reuid=64321", "--regid=64321", "--clear-groups"]);
    }
    command.arg(at("bratticed")).args(["--state", &at("state"), "--socket", &at("b.sock")]);
    command.args(["--control-socket", &at("c.sock"), "--allow-root"]);
    command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", folder).stdin(Stdio::null());
    let mut daemon = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = String::new();
    BufReader::new(daemon.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let runs = first == "READY\n";
    if runs {
        daemon.kill().unwrap();
    }
    let mut told = String::new();
    daemon.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    let status = daemon.wait().unwrap();
    if runs {
        return Ok(());
    }
    assert_eq!(status.code(), Some(1), "{told}");
    Err(told.lines().last().unwrap().to_owned())
}

#[test]
fn a_daemon_that_may_not_have_its_threads_says_so_and_ends() {
    let world = World::builder();
    let folder = world.root().join("alone");
    fs::create_dir(&folder).unwrap();
    fs::copy(bratticed(), folder.join("bratticed")).unwrap();
    let user = if geteuid().is_root() { User::Alone } else { User::Own };
    if user == User::Alone {
        // Whoever is root has no such limit.
        let own = world.root().join("own");
        fs::create_dir(&own).unwrap();
        fs::copy(bratticed(), own.join("bratticed")).unwrap();
        assert_eq!(start_with(1, &own, User::Own), Ok(()));
        fs::set_permissions(world.root(), fs::Permissions::from_mode(0o755)).unwrap();
        std::os::unix::fs::chown(&folder, Some(64321), Some(64321)).unwrap();
    }
    let mut told = BTreeSet::new();
    let mut most = 1;
    while let Err(why) = start_with(most, &folder, user) {
        told.insert(why);
        most += 1;
        assert!(most < 2_000, "{told:?}");
    }
    let all = [
        "cannot start the daemon's threads: Resource temporarily unavailable (os error 11)",
        "cannot start the threads of the runtime",
    ];
    let all = all.map(|why| format!("bratticed: {why}"));
    match user {
        User::Alone => assert_eq!(told, BTreeSet::from(all)),
        // Other processes of an ordinary user come and go, so that one of these may be passed over.
        User::Own => {
            assert!(told.iter().all(|why| all.contains(why)), "{told:?}");
            assert_ne!(told, BTreeSet::new());
        }
    }
}
