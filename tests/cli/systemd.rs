//! The daemon under systemd, by its protocol: sockets that are handed over, and what it is told meanwhile. No systemd
//! runs here; a shell hands the descriptors over as systemd does, and the units are read as text.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixDatagram, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use brattice_protocol::DaemonExit;
use brattice_tests::{Native, Wire, World, eventually};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

/// A world whose daemon has ended.
fn without_daemon() -> World {
    let mut world = World::new();
    world.daemon().signal(Signal::TERM);
    world.daemon().wait();
    world
}

/// A socket as a socket unit with `SocketMode=0600` makes it.
fn listening(path: &Path) -> UnixListener {
    let listener = UnixListener::bind(path).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
    listener
}

/// The world's daemon behind a shell that moves its standard streams to where systemd hands descriptors over.
fn handed(world: &World, moved: &str, variables: &[(&str, &str)]) -> Command {
    let daemon = world.daemon_command();
    let mut command = world.command("/bin/sh");
    command
        .arg("-c")
        .arg(format!("{moved}; export LISTEN_PID=\"${{LISTEN_PID:-$$}}\"; exec \"$@\""))
        .arg("sh")
        .arg(daemon.get_program())
        .args(daemon.get_args())
        .envs(variables.iter().copied());
    command
}

/// A daemon that was handed its sockets, once it has said READY.
struct Activated {
    child: Child,
    _output: BufReader<ChildStdout>,
}

impl Activated {
    /// Hands over two sockets, as descriptors 3 and 4.
    fn start(world: &World, sockets: [&UnixListener; 2], variables: &[(&str, &str)]) -> Activated {
        let [third, fourth] =
            sockets.map(|socket| Stdio::from(OwnedFd::from(socket.try_clone().unwrap())));
        let log = world.socket().with_file_name("systemd.log");
        let moved = format!("exec 3<&0 4<&2 </dev/null 2>>'{}'", log.display());
        let mut command = handed(world, &moved, variables);
        command.env("LISTEN_FDS", "2").stdin(third).stderr(fourth).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        assert_eq!(line, "READY\n", "{}", fs::read_to_string(&log).unwrap_or_default());
        Activated { child, _output: output }
    }

    /// Ends it by SIGTERM.
    fn stop(mut self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
        let ended = eventually("the daemon ends", || self.child.try_wait().unwrap());
        assert_eq!(ended.code(), Some(DaemonExit::Ended.status().into()));
    }
}

/// Runs one command and says what it printed.
fn printed(wire: &mut Wire, world: &World, command: &str) -> String {
    let opened = wire.request("session.open", json!({"workspace": world.ws()})).unwrap();
    let params = json!({
        "session": opened["session"], "name": "bash", "arguments": {"command": command},
    });
    let answer = wire.request("tools.call", params).unwrap();
    answer["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn connections_made_before_the_daemon_is_up_are_served_and_the_sockets_stay() {
    let world = without_daemon();
    let sockets = [listening(&world.socket()), listening(&world.control())];
    let mut early = Wire::connect(&world.socket());
    for _ in 0..2 {
        let daemon = Activated::start(&world, [&sockets[0], &sockets[1]], &[]);
        early.hello();
        assert_eq!(printed(&mut early, &world, "echo on"), "on\n");
        let status = Wire::open(&world.control()).request("daemon.status", json!({})).unwrap();
        let paths = [&status["socket"], &status["control_socket"]]
            .map(|path| path.as_str().unwrap().to_owned());
        let expected = [world.socket(), world.control()].map(|path| path.display().to_string());
        assert_eq!(paths, expected);
        daemon.stop();
        world.is_quiet();
        assert!(world.socket().exists() && world.control().exists(), "they are systemd's");
        // Nobody serves now, and this one waits for the next daemon.
        early = Wire::connect(&world.socket());
    }
}

#[test]
fn names_say_which_socket_is_whose_and_the_daemon_serves_where_the_sockets_are() {
    let world = without_daemon();
    let folder = world.out();
    fs::set_permissions(&folder, Permissions::from_mode(0o700)).unwrap();
    let (agents, operators) = (folder.join("agents"), folder.join("operators"));
    let sockets = [listening(&operators), listening(&agents)];
    let names = [("LISTEN_FDNAMES", "control:brattice")];
    let daemon = Activated::start(&world, [&sockets[0], &sockets[1]], &names);
    let status = Wire::open(&operators).request("daemon.status", json!({})).unwrap();
    assert_eq!(
        (status["socket"].as_str(), status["control_socket"].as_str()),
        (agents.to_str(), operators.to_str())
    );
    Wire::open(&agents).request("daemon.status", json!({})).unwrap_err();
    let session = json!({"workspace": folder});
    let refusal = Wire::open(&agents).request("session.open", session).unwrap_err();
    assert!(refusal.message.contains("socket folder"), "{refusal:?}");
    assert!(!world.socket().exists() && !world.control().exists());
    daemon.stop();
}

#[test]
fn a_socket_that_was_not_handed_over_is_bound_and_removed() {
    let world = without_daemon();
    let control = listening(&world.control());
    let moved = "exec 3<&0 </dev/null";
    let names = [("LISTEN_FDS", "1"), ("LISTEN_FDNAMES", "control")];
    let mut command = handed(&world, moved, &names);
    let mut child = command.stdin(OwnedFd::from(control)).stdout(Stdio::null()).spawn().unwrap();
    eventually("the daemon serves", || world.socket().exists().then_some(()));
    assert_eq!(printed(&mut Wire::open(&world.socket()), &world, "echo on"), "on\n");
    Wire::open(&world.control()).request("daemon.status", json!({})).unwrap();
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    eventually("the daemon ends", || child.try_wait().unwrap());
    assert_eq!((world.socket().exists(), world.control().exists()), (false, true));
}

#[test]
fn sockets_for_another_process_are_passed_over() {
    let world = without_daemon();
    let elsewhere = listening(&world.out().join("b.sock"));
    let variables = [("LISTEN_PID", "1"), ("LISTEN_FDS", "1")];
    let mut command = handed(&world, "exec 3<&0 </dev/null", &variables);
    let mut child = command.stdin(OwnedFd::from(elsewhere)).stdout(Stdio::null()).spawn().unwrap();
    eventually("the daemon serves", || world.socket().exists().then_some(()));
    assert_eq!(printed(&mut Wire::open(&world.socket()), &world, "echo on"), "on\n");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    eventually("the daemon ends", || child.try_wait().unwrap());
    assert!(!world.socket().exists() && !world.control().exists());
}

#[test]
fn what_cannot_be_served_on_is_refused_in_words() {
    let world = without_daemon();
    let refusal = |stdin: Stdio, variables: &[(&str, &str)]| {
        let mut command = handed(&world, "exec 3<&0 </dev/null", variables);
        let child = command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        let ended = Native::gather(child.unwrap());
        assert_eq!(ended.code, Some(DaemonExit::Failed.status().into()), "{ended:?}");
        assert!(!world.socket().exists() && !world.control().exists());
        ended.stderr
    };
    let one = [("LISTEN_FDS", "1")];
    assert_eq!(
        refusal(File::open("/dev/null").unwrap().into(), &one),
        "bratticed: descriptor 3 that LISTEN_FDS announces is no socket: expected a listening Unix stream socket\n"
    );
    let datagrams = UnixDatagram::bind(world.out().join("d.sock")).unwrap();
    assert_eq!(
        refusal(OwnedFd::from(datagrams).into(), &one),
        "bratticed: descriptor 3 that LISTEN_FDS announces is a Unix socket of another type: expected a listening \
         Unix stream socket\n"
    );
    let path = world.out().join("open.sock");
    let open = UnixListener::bind(&path).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
    assert_eq!(
        refusal(OwnedFd::from(open).into(), &one),
        format!(
            "bratticed: others may connect to the socket {} that was handed over (mode 0666); its unit needs \
             SocketMode=0600\n",
            path.display()
        )
    );
    assert_eq!(
        refusal(Stdio::null(), &[("LISTEN_FDS", "2"), ("LISTEN_FDNAMES", "control:control")]),
        "bratticed: the sockets handed over are named \"control:control\": expected \"brattice\" and \"control\", \
         each at most once, or other names for all of them, and then the agents' socket first\n"
    );
    let taken = refusal(
        OwnedFd::from(listening(&world.out().join("b.sock"))).into(),
        &[("LISTEN_FDS", "2")],
    );
    assert!(
        taken.starts_with(
            "bratticed: descriptor 4 that LISTEN_FDS announces is not open: Bad file descriptor"
        ),
        "{taken}"
    );
}

#[test]
fn a_daemon_on_the_folder_keeps_another_ones_sockets_from_being_served() {
    let mut world = World::new();
    fs::remove_file(world.socket()).unwrap();
    let socket = listening(&world.socket());
    let mut command = handed(&world, "exec 3<&0 </dev/null", &[("LISTEN_FDS", "1")]);
    let child =
        command.stdin(OwnedFd::from(socket)).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let ended = Native::gather(child.unwrap());
    assert_eq!(ended.code, Some(DaemonExit::Taken.status().into()), "{ended:?}");
    world.daemon().signal(Signal::TERM);
    world.daemon().wait();
    assert!(world.socket().exists(), "a socket that is another's by now is not removed");
}

/// What systemd would have been told so far, in order.
fn told(notifications: &UnixDatagram) -> Option<String> {
    let mut buffer = [0; 512];
    let length = notifications.recv(&mut buffer).ok()?;
    Some(String::from_utf8(buffer[..length].to_vec()).unwrap())
}

#[test]
fn systemd_is_told_of_each_stage_and_of_life_in_between() {
    let world = without_daemon();
    let path = world.out().join("notify");
    let notifications = UnixDatagram::bind(&path).unwrap();
    notifications.set_nonblocking(true).unwrap();
    let next = || eventually("systemd is told", || told(&notifications));
    let sockets = [listening(&world.socket()), listening(&world.control())];
    let variables = [("NOTIFY_SOCKET", path.to_str().unwrap()), ("WATCHDOG_USEC", "200000")];
    let daemon = Activated::start(&world, [&sockets[0], &sockets[1]], &variables);
    assert_eq!(next(), "READY=1\nSTATUS=serving\n");
    for _ in 0..3 {
        assert_eq!(next(), "WATCHDOG=1\n");
    }
    kill_process(Pid::from_child(&daemon.child), Signal::HUP).unwrap();
    let news = || {
        let mut messages = std::iter::repeat_with(next);
        messages.find(|message| message != "WATCHDOG=1\n").unwrap()
    };
    let (reloading, ready) = (news(), news());
    let since = reloading.strip_prefix("RELOADING=1\nMONOTONIC_USEC=").unwrap().trim_end();
    assert!(since.parse::<u64>().is_ok_and(|since| since > 0), "{reloading}");
    assert_eq!(ready, "READY=1\nSTATUS=serving\n");
    daemon.stop();
    let rest: Vec<String> = std::iter::from_fn(|| told(&notifications)).collect();
    let others: Vec<&str> =
        rest.iter().map(String::as_str).filter(|message| *message != "WATCHDOG=1\n").collect();
    assert_eq!(others, ["STOPPING=1\nSTATUS=stopping foreground calls\n"]);
}

#[test]
fn commands_learn_nothing_of_the_daemons_unit() {
    let world = without_daemon();
    let sockets = [listening(&world.socket()), listening(&world.control())];
    let own = [
        ("LISTEN_FDNAMES", "brattice:control"),
        ("NOTIFY_SOCKET", "/nonexistent/notify"),
        ("WATCHDOG_USEC", "60000000"),
        ("INVOCATION_ID", "0"),
        ("JOURNAL_STREAM", "8:1"),
    ];
    let daemon = Activated::start(&world, [&sockets[0], &sockets[1]], &own);
    let printed = printed(
        &mut Wire::open(&world.socket()),
        &world,
        "env | grep -E '^(LISTEN|NOTIFY|WATCHDOG|INVOCATION|JOURNAL)' || echo none; ls /proc/self/fd",
    );
    assert_eq!(printed, "none\n0\n1\n2\n3\n", "3 is ls's own");
    daemon.stop();
}

/// A unit's settings by section and key, each with all its values.
type Unit = BTreeMap<(String, String), Vec<String>>;

fn unit(path: &str) -> Unit {
    let package =
        std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or(env!("CARGO_MANIFEST_DIR").into());
    let file = PathBuf::from(package).join("../packaging/systemd").join(path);
    let text =
        fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut section = String::new();
    let mut unit = Unit::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
            name.clone_into(&mut section);
        } else {
            let (key, value) = line.split_once('=').unwrap_or_else(|| panic!("{path}: {line}"));
            let place = unit.entry((section.clone(), key.to_owned())).or_default();
            place.push(value.to_owned());
        }
    }
    unit
}

fn assert_has(path: &str, section: &str, expected: &[(&str, &[&str])]) {
    let unit = unit(path);
    for (key, values) in expected {
        let found = unit.get(&(section.to_owned(), (*key).to_owned()));
        let values: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        assert_eq!(found, Some(&values), "{path}: [{section}] {key}");
    }
}

#[test]
fn the_units_say_what_the_daemon_relies_on() {
    let service: [(&str, &[&str]); 9] = [
        ("Type", &["notify"]),
        ("ExecStart", &["/usr/bin/bratticed"]),
        ("ExecReload", &["/bin/kill -HUP $MAINPID"]),
        ("KillMode", &["process"]),
        ("Delegate", &["yes"]),
        ("DelegateSubgroup", &["daemon"]),
        ("OOMPolicy", &["continue"]),
        ("Restart", &["on-failure"]),
        ("WatchdogSec", &["3min"]),
    ];
    for (folder, run) in [("user", "%t/brattice"), ("system", "/run/brattice")] {
        assert_has(&format!("{folder}/brattice.service"), "Service", &service);
        assert_has(
            &format!("{folder}/brattice.service"),
            "Unit",
            &[("Requires", &["brattice.socket"])],
        );
        let streams = [format!("{run}/brattice.sock"), format!("{run}/control.sock")];
        assert_has(
            &format!("{folder}/brattice.socket"),
            "Socket",
            &[("ListenStream", &[&streams[0], &streams[1]]), ("SocketMode", &["0600"])],
        );
        assert_has(
            &format!("{folder}/brattice.socket"),
            "Install",
            &[("WantedBy", &["sockets.target"])],
        );
    }
    // The sockets outlive the service, so their folder must, too.
    assert_has(
        "system/brattice.service",
        "Service",
        &[("RuntimeDirectory", &["brattice"]), ("RuntimeDirectoryPreserve", &["yes"])],
    );
}

#[test]
fn no_unit_hardens_what_commands_inherit() {
    const INHERITED: [&str; 8] = [
        "NoNewPrivileges",
        "Protect",
        "Private",
        "Restrict",
        "SystemCall",
        "MemoryDenyWriteExecute",
        "LockPersonality",
        "UMask",
    ];
    for path in ["user/brattice.service", "system/brattice.service"] {
        let found: Vec<String> = unit(path)
            .into_keys()
            .map(|(_, key)| key)
            .filter(|key| INHERITED.iter().any(|setting| key.starts_with(setting)))
            .collect();
        assert_eq!(found, Vec::<String>::new(), "{path}");
    }
}
