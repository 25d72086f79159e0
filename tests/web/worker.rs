//! How the processes that read pages are held.

use std::fs;

use brattice_tests::{Process, Session, World, eventually};
use rustix::process::geteuid;
use serde_json::json;

use crate::{Server, begin, fetching, processes, world};

const SERVER: &str = r#"
import http.server, time
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(s):
        s.send_response(200); s.send_header("Content-Type", "text/plain"); s.end_headers()
        while True: s.wfile.write(b"."); time.sleep(0.1)
    def log_message(s, *a): pass
http.server.ThreadingHTTPServer(("127.0.0.1", PORT), H).serve_forever()
"#;

/// What the kernel tells of how a process is held.
fn held(process: &Process) -> Vec<(String, String)> {
    let status = fs::read_to_string(format!("/proc/{}/status", process.pid)).unwrap();
    let told = ["NoNewPrivs", "Seccomp", "CapEff"];
    let line = |line: &str| {
        let (name, value) = line.split_once(":\t")?;
        told.contains(&name).then(|| (name.to_owned(), value.trim().to_owned()))
    };
    let mut held: Vec<_> = status.lines().filter_map(line).collect();
    held.sort();
    held
}

/// The launcher that a process descends from, which is the supervisor's child: there is one for each mode.
fn launcher(world: &World, session: &Session, process: &Process) -> Process {
    let supervisor = world.supervisor(session.id());
    let mut found = process.clone();
    while found.parent != supervisor.pid {
        found = Process::of(found.parent).unwrap();
    }
    found
}

/// The launcher of a session's own commands, by one that runs.
fn own_launcher(world: &World, session: &Session) -> Process {
    let task = session.start("exec sleep 900");
    let below = || Process::below(world.supervisor(session.id()).pid).into_iter();
    let command =
        eventually("the command runs", || below().find(|process| process.arguments == "sleep 900"));
    let found = launcher(world, session, &command);
    session.kill(&task);
    session.wait_for(&task);
    found
}

#[test]
fn pages_are_read_as_in_read_only_whatever_the_mode_of_the_session() {
    let server = Server::start(SERVER);
    let world = world(&[&server]);
    // Root's keep what file ownership needs: CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER.
    let capabilities = if geteuid().is_root() { "000000000000000b" } else { "0000000000000000" };
    let expected = [("CapEff", capabilities), ("NoNewPrivs", "1"), ("Seccomp", "2")];
    let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
    for mode in ["read-only", "workspace-write", "danger-full-access"] {
        let session = world.session(mode).open();
        let call = begin(&session, "w", &[server.url("/drip")]);
        let page = fetching(&world, &session);
        let worker = processes(&world, &session, "web").remove(0);
        let of_session = own_launcher(&world, &session);
        session.request("session.update", json!({"mode": "read-only"})).unwrap();
        let of_read_only = own_launcher(&world, &session);
        assert_eq!(of_session == of_read_only, mode == "read-only");
        for process in [&worker, &page] {
            assert_eq!(held(process), expected, "{mode}");
            assert_eq!(launcher(&world, &session, process), of_read_only, "{mode}");
        }
        let limits = fs::read_to_string(format!("/proc/{}/limits", page.pid)).unwrap();
        let data = limits.lines().find(|line| line.starts_with("Max data size")).unwrap();
        let data: Vec<&str> = data.split_whitespace().collect();
        assert_eq!(data[3..5], ["100663296", "100663296"]);
        page.kill();
        session.end(call).holds("the page was given up");
    }
    world.finish();
}
