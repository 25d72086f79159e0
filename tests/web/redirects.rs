//! Redirects: each is judged as if it had been asked for.

use crate::{Server, fetch, pages, world};

const SERVER: &str = r#"
import http.server
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(s):
        if s.path == "/hit": open("HIT", "w").close()
        t = {"/meta": "http://169.254.169.254/latest/meta-data/", "/local": "http://127.0.0.1:OTHER/hit", "/file": "file:///etc/passwd", "/loop": "/loop", "/ok": "/page", "/away": "https://other.example/x", "/in": "http://me:pw@127.0.0.1:PORT/page", "/v6": "http://[::ffff:10.0.0.1]/"}.get(s.path)
        s.send_response(302 if t else 200)
        if t: s.send_header("Location", t)
        s.send_header("Content-Type", "text/html"); s.end_headers()
        if not t: s.wfile.write(b"<h1>Fine</h1><p>page</p>")
    def log_message(s, *a): pass
http.server.HTTPServer(("127.0.0.1", PORT), H).serve_forever()
"#;

#[test]
fn b108_a_redirect_is_judged_at_each_hop_and_spoils_no_other_page() {
    let other = Server::start_with(SERVER, &[("OTHER", "1".to_owned())]);
    let server = Server::start_with(SERVER, &[("OTHER", other.port.to_string())]);
    let world = world(&[&server]);
    let session = world.session("workspace-write").open();
    let urls = ["/meta", "/local", "/file", "/loop", "/ok"].map(|path| server.url(path));
    let refused = |path: &str, to: &str, why: &str| {
        let (from, allow) = (server.url(path), "by web_allow");
        let host = to.trim_start_matches("http://").split('/').next().unwrap();
        let host = if host.contains(':') { host.to_owned() } else { format!("{host}:80") };
        let address = host.split(':').next().unwrap();
        format!(
            "[failed: the redirect from {from} to {to} is not followed: refused: {host} leads to {address}, {why}; \
             the operator or user can allow {host} {allow}]"
        )
    };
    let local = format!("http://127.0.0.1:{}/hit", other.port);
    let told = [
        refused(
            "/meta",
            "http://169.254.169.254/latest/meta-data/",
            "the address of a cloud's metadata service",
        ),
        refused("/local", &local, "a loopback address"),
        format!(
            "[failed: the redirect from {} to file:///etc/passwd is not followed: file: URLs are not fetched: only http and \
             https are]",
            server.url("/file")
        ),
        "[failed: redirect limit: more than 10 redirects in a row]".to_owned(),
        "# Fine\n\npage".to_owned(),
    ];
    let under = |(url, text): (&String, &String)| format!("## {url}\n\n{text}");
    let whole: Vec<String> = urls.iter().zip(&told).map(under).collect();
    let reply = fetch(&session, &urls);
    reply.says(&whole.join("\n\n"));
    assert!(!reply.is_error());
    assert!(!other.folder.join("HIT").exists() && !server.folder.join("HIT").exists());
    world.finish();
}

#[test]
fn a_redirect_to_another_host_is_told_and_not_followed() {
    let server = Server::start_with(SERVER, &[("OTHER", "1".to_owned())]);
    let world = world(&[&server]);
    let session = world.session("workspace-write").open();
    let reply = fetch(&session, &[server.url("/away")]);
    reply.says(
        "[redirected (302) to another host, which is not followed: to go on, fetch https://other.example/x]",
    );
    assert!(!reply.is_error());
    assert_eq!(pages(&reply)[0]["redirect"], "https://other.example/x");
    let reply = fetch(&session, &[server.url("/in")]);
    reply.holds("a URL with a user name or password is not fetched");
    assert!(reply.is_error());
    fetch(&session, &[server.url("/v6")]).holds("leads to ::ffff:10.0.0.1, a private address");
    world.finish();
}

#[test]
fn addresses_of_this_machine_are_refused_however_they_are_spelled() {
    let server = Server::start_with(SERVER, &[("OTHER", "1".to_owned())]);
    let world = world(&[]);
    let session = world.session("workspace-write").open();
    let port = server.port;
    let hosts = [
        "127.0.0.1",
        "2130706433",
        "0x7f.1",
        "0177.0.0.1",
        "[::ffff:127.0.0.1]",
        "localhost",
        "127.0.0.1.",
    ];
    let urls = hosts.map(|host| format!("http://{host}:{port}/hit"));
    let reply = fetch(&session, &urls);
    assert_eq!(reply.text().matches("a loopback address").count(), hosts.len(), "{}", reply.text());
    assert!(reply.is_error());
    assert!(!server.folder.join("HIT").exists());
    world.finish();
}
