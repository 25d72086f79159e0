//! Bodies without end, and those that lie about it: none costs more than its share of time and memory.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use brattice_tests::{Process, Session, World};

use crate::{Server, begin, fetch, fetching, processes, world};

const SERVER: &str = r#"
import gzip, http.server, time
BOMB = gzip.compress(b"<p>" + b"A" * 300_000_000, 1)
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(s):
        s.send_response(200); s.send_header("Content-Type", "text/html")
        if s.path == "/bomb":
            d = BOMB; s.send_header("Content-Encoding", "gzip"); s.end_headers(); s.wfile.write(d); return
        if s.path == "/lie": s.send_header("Content-Length", "10")
        s.end_headers()
        try:
            while True:
                s.wfile.write(b"<p>spam</p>" * (1 if s.path == "/drip" else 9000)); s.wfile.flush()
                if s.path == "/drip": time.sleep(1)
        except OSError: pass
    def log_message(s, *a): pass
http.server.ThreadingHTTPServer(("127.0.0.1", PORT), H).serve_forever()
"#;

/// KiB that no page's process may have of its own, and that none of the others may grow by.
const MOST: u64 = 100_000;

/// What one page may take on the whole, and room for a machine that does other things.
const LIMIT: Duration = Duration::from_secs(40);

/// KiB of memory of its own that a process has had at most: its peak, without the parts of files that it has mapped. `None`
/// where it has ended.
fn peak(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let figure = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    figure("VmHWM")?.checked_sub(figure("RssFile")?)
}

/// Ends the watch when it is dropped.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Does something while it is watched how much memory of its own any page's process has had.
fn watched<T>(world: &World, session: &Session, act: impl FnOnce() -> T) -> (T, u64) {
    let supervisor = world.supervisor(session.id()).pid;
    let (most, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    let done = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                for page in Process::in_role(supervisor, "page") {
                    most.fetch_max(peak(page.pid).unwrap_or(0), Ordering::SeqCst);
                }
                thread::sleep(Duration::from_millis(5));
            }
        });
        // Also where an assertion fails.
        let _over = Over(&is_over);
        act()
    });
    let most = most.into_inner();
    assert!(most > 0, "no page's process was seen");
    (done, most)
}

#[test]
fn b110_bodies_end_with_their_beginning_kept_and_delay_nobody() {
    let server = Server::start(SERVER);
    let mut world = world(&[&server]);
    let session = world.session("workspace-write").open();
    fetch(&session, &["http://10.0.0.1/".to_owned()]);
    let (daemon, worker) = (world.daemon().pid(), processes(&world, &session, "web")[0].pid);
    let before = [daemon, worker].map(|pid| Process::kib(pid, "VmHWM"));
    let begun = Instant::now();
    let dripping = begin(&session, "drip", &[server.url("/drip")]);
    fetching(&world, &session);
    let ((), most) = watched(&world, &session, || {
        let endless = fetch(&session, &[server.url("/endless")]);
        endless
            .holds("spam\n\nspam")
            .holds("[truncated: the page has more than 40000 elements; these are the first]")
            .holds("[truncated: the page is larger than 5242880 bytes; this is its beginning]");
        let lie = fetch(&session, &[server.url("/lie")]);
        lie.says("spam\n[truncated: the page ends in the middle of a tag]");
        let bomb = fetch(&session, &[server.url("/bomb")]);
        bomb.holds("AAAA")
            .holds("[truncated: the page is larger than 5242880 bytes; this is its beginning]");
        assert!(
            !processes(&world, &session, "page").is_empty(),
            "the page that drips is still being fetched, and has delayed none"
        );
    });
    assert!(most < MOST, "a page took {most} KiB");
    let dripped = session.end(dripping);
    assert!(begun.elapsed() < LIMIT, "{:?}", begun.elapsed());
    dripped
        .holds("spam\n\nspam")
        .holds("[truncated: the page had not ended after 20 s; this is what had come]");
    let grown = [daemon, worker].map(|pid| Process::kib(pid, "VmHWM"));
    for (before, after) in before.into_iter().zip(grown) {
        assert!(after - before < MOST, "{before} KiB, then {after}");
    }
    assert!(processes(&world, &session, "page").is_empty());
    world.finish();
}

const HOSTILE: &str = r#"
import http.server
P = {"/deep": b"<div>" * 500_000 + b"deep", "/bold": b"<p>" + b"".join(b"<b id=%d>" % n for n in range(190)) + b"<p>x" * 39_000,
     "/attributes": b"<p" + b"".join(b" a%d=1" % n for n in range(500_000)) + b">many</p>", "/fine": b"<p>fine</p>"}
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(s):
        s.send_response(200); s.send_header("Content-Type", "text/html"); s.end_headers(); s.wfile.write(P[s.path])
    def log_message(s, *a): pass
http.server.ThreadingHTTPServer(("127.0.0.1", PORT), H).serve_forever()
"#;

#[test]
fn a_page_that_would_take_all_memory_takes_no_more_than_another() {
    let server = Server::start(HOSTILE);
    let world = world(&[&server]);
    let session = world.session("read-only").open();
    let urls = ["/deep", "/bold", "/attributes", "/fine"].map(|path| server.url(path));
    let (reply, most) = watched(&world, &session, || fetch(&session, &urls));
    assert!(most < MOST, "a page took {most} KiB");
    let text_only = "[the page is nested too deeply to be laid out: only its text is shown]";
    reply
        .holds(&format!("## {}\n\ndeep\n{text_only}\n", urls[0]))
        .holds(&format!("## {}\n\nmany\n{text_only}\n", urls[2]))
        .holds(&format!("## {}\n\n**x**\n\n**x**\n", urls[1]))
        .holds("\n[truncated: the page has more than 40000 elements; these are the first]\n")
        .holds(&format!("## {}\n\nfine", urls[3]));
    fetch(&session, &urls[3..]).says("fine");
    world.finish();
}
