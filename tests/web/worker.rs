//! How the processes that read pages are held.

use std::fs;

use brattice_tests::{Process, eventually};

use crate::{Server, begin, processes, world};

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
    status.lines().filter_map(line).collect()
}

#[test]
fn pages_are_read_confined_even_where_commands_are_not() {
    let server = Server::start(SERVER);
    let world = world(&[&server]);
    let session = world.session("danger-full-access").open();
    let call = begin(&session, "w", &[server.url("/drip")]);
    let page = eventually("the page is being fetched", || {
        processes(&world, &session, "page").into_iter().next()
    });
    let worker = processes(&world, &session, "web").remove(0);
    for process in [&worker, &page] {
        let held = held(process);
        assert!(held.contains(&("NoNewPrivs".to_owned(), "1".to_owned())), "{held:?}");
        assert!(held.contains(&("Seccomp".to_owned(), "2".to_owned())), "{held:?}");
    }
    // Not held as the session's own commands, but as those of `read-only`.
    let limits = fs::read_to_string(format!("/proc/{}/limits", page.pid)).unwrap();
    let data = limits.lines().find(|line| line.starts_with("Max data size")).unwrap();
    let data: Vec<&str> = data.split_whitespace().collect();
    assert_eq!(data[3..5], ["100663296", "100663296"]);
    page.kill();
    session.end(call).holds("the page was given up");
    world.finish();
}
