//! What is left when a process dies or a call is withdrawn.

use brattice_tests::{Process, Session, World, eventually};
use serde_json::json;

use crate::{Server, begin, fetch, fetching, processes};

const SERVER: &str = r#"
import http.server, time
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(s):
        s.send_response(200); s.send_header("Content-Type", "text/plain"); s.end_headers()
        try:
            if s.path == "/drip": open("DRIPS", "w").close()
            while s.path == "/drip":
                s.wfile.write(b"."); s.wfile.flush(); time.sleep(0.05)
            s.wfile.write(b"fine")
        except OSError:
            open("HUNG-UP", "w").close()
    def log_message(s, *a): pass
http.server.ThreadingHTTPServer(("127.0.0.1", PORT), H).serve_forever()
"#;

/// A server, and a session that may fetch from it.
fn opened() -> (Server, World, Session) {
    let server = Server::start(SERVER);
    let world = crate::world(&[&server]);
    let session = world.session("workspace-write").open();
    (server, world, session)
}

#[test]
fn a_worker_that_dies_fails_its_calls_and_the_next_call_starts_another() {
    let (server, world, session) = opened();
    let call = begin(&session, "w", &[server.url("/drip")]);
    fetching(&world, &session);
    processes(&world, &session, "web").iter().for_each(Process::kill);
    let reply = session.end(call);
    reply.says("the process that fetches pages has ended; the call can be made again");
    assert!(reply.is_error());
    eventually("the page is given up", || {
        processes(&world, &session, "page").is_empty().then_some(())
    });
    fetch(&session, &[server.url("/fine")]).says("fine");
    world.finish();
}

#[test]
fn a_page_whose_process_dies_spoils_no_other() {
    let (server, world, session) = opened();
    fetch(&session, &[server.url("/fine")]);
    let call = begin(&session, "w", &[server.url("/drip"), server.url("/fine")]);
    fetching(&world, &session).kill();
    let reply = session.end(call);
    reply.says(&format!(
        "## {}\n\n[failed: the page was given up: the process that read it ended (signal: 9 (SIGKILL)); a page that takes \
         more memory than one may is ended so]\n\n## {}\n\nfine",
        server.url("/drip"),
        server.url("/fine")
    ));
    world.finish();
}

#[test]
fn a_call_that_is_withdrawn_hangs_up() {
    let (server, world, session) = opened();
    let call = begin(&session, "w", &[server.url("/drip")]);
    fetching(&world, &session);
    eventually("the server is asked", || server.folder.join("DRIPS").exists().then_some(()));
    session.request("tools.cancel", json!({"call": "w"})).unwrap();
    let reply = session.end(call);
    reply.says("[cancelled]");
    assert!(reply.is_error());
    eventually("its process is gone", || {
        processes(&world, &session, "page").is_empty().then_some(())
    });
    eventually("the server knows", || server.folder.join("HUNG-UP").exists().then_some(()));
    // The worker goes on.
    fetch(&session, &[server.url("/fine")]).says("fine");
    world.finish();
}

#[test]
fn a_session_that_is_closed_leaves_no_worker() {
    let (server, world, session) = opened();
    fetch(&session, &[server.url("/fine")]).says("fine");
    let worker = processes(&world, &session, "web").remove(0);
    session.request("session.close", json!({})).unwrap();
    eventually("the worker has ended", || (!worker.is_alive()).then_some(()));
    world.finish();
}
