//! What a result says, and the same as data.

use serde_json::json;

use crate::{Server, fetch, pages, world};

const SERVER: &str = r#"
import http.server
P = {"/page": ("text/html; charset=utf-8", 200, "<title>A title</title><nav><a href=/>Home</a></nav><main><h1>Head</h1><p>Text with <a href='x'>a link</a>.</p></main>".encode()),
     "/json": ("application/json", 200, b'{"a": [1, 2]}\n'), "/plain": ("text/plain", 200, b"<b>as it is</b>"),
     "/pdf": ("application/pdf", 200, b"%PDF-1.7" + b"x" * 992), "/zip": ("application/octet-stream", 200, b"PK\x03\x04....."),
     "/gone": ("application/json", 404, b'{"message": "not here"}'), "/empty": ("text/html", 200, b"")}
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(s):
        with open("ASKED", "a") as f: f.write(s.path + " " + s.headers.get("Accept-Encoding", "") + "\n")
        t, c, d = P[s.path]; s.send_response(c); s.send_header("Content-Type", t); s.send_header("Content-Length", str(len(d))); s.end_headers(); s.wfile.write(d)
    def log_message(s, *a): pass
http.server.ThreadingHTTPServer(("127.0.0.1", PORT), H).serve_forever()
"#;

#[test]
fn a_page_is_its_text_and_its_facts() {
    let server = Server::start(SERVER);
    let world = world(&[&server]);
    let session = world.session("workspace-write").open();
    let url = server.url("/page");
    let reply = fetch(&session, std::slice::from_ref(&url));
    reply.says(&format!("# Head\n\nText with [a link]({}).", server.url("/x")));
    let facts = |cached: bool| {
        json!({"pages": [{
            "url": url, "found": url, "status": 200, "media_type": "text/html; charset=utf-8", "charset": "UTF-8",
            "title": "A title", "bytes": 117, "truncated": false, "cached": cached,
        }]})
    };
    assert_eq!(reply.result.structured_content, facts(false));
    let editor = serde_json::to_value(&reply.result.meta).unwrap()["dev.brattice/acp"].clone();
    assert_eq!(
        editor,
        json!({
            "kind": "fetch", "title": format!("web_fetch {url}"), "status": "completed", "locations": [], "content": []
        })
    );
    let again = fetch(&session, &[format!("{url}#part")]);
    assert_eq!(again.text(), reply.text());
    assert_eq!(pages(&again)[0]["cached"], true);
    assert_eq!(server.written("ASKED"), "/page gzip, deflate, br, zstd\n");
    world.finish();
}

#[test]
fn what_is_no_page_comes_as_it_is_or_by_its_name() {
    let server = Server::start(SERVER);
    let world = world(&[&server]);
    let session = world.session("workspace-write").open();
    let cases = [
        ("/json", "{\"a\": [1, 2]}"),
        ("/plain", "<b>as it is</b>"),
        ("/pdf", "[PDF, application/pdf, 1000 bytes: not shown]"),
        ("/zip", "[ZIP archive, application/octet-stream, 9 bytes: not shown]"),
        ("/empty", "[the page has no text]"),
    ];
    for (path, text) in cases {
        assert_eq!(fetch(&session, &[server.url(path)]).text(), text, "{path}");
    }
    let gone = fetch(&session, &[server.url("/gone")]);
    gone.says("[failed: the server answered 404 Not Found]\n{\"message\": \"not here\"}");
    assert!(gone.is_error());
    assert_eq!(
        (&pages(&gone)[0]["status"], &pages(&gone)[0]["bytes"]),
        (&json!(404), &json!(null))
    );
    world.finish();
}

#[test]
fn glrs_has_its_cap_and_its_prefix() {
    let server = Server::start(SERVER);
    let world = world(&[&server]);
    let session = world.session("workspace-write").with("toolset", json!("glrs")).open();
    let gone = fetch(&session, &[server.url("/gone")]);
    assert!(gone.text().starts_with("ERROR: [failed: the server answered 404 Not Found]"));
    fetch(&session, &[server.url("/json")]).says("{\"a\": [1, 2]}");
    world.finish();
}

#[test]
fn arguments_that_are_no_urls_are_told_each_by_itself() {
    let server = Server::start(SERVER);
    let world = world(&[&server]);
    let session = world.session("workspace-write").open();
    let urls = ["no url".to_owned(), "ftp://a.example/".to_owned(), server.url("/json")];
    fetch(&session, &urls).says(&format!(
        "## no url\n\n[failed: not an absolute URL: write it with http:// or https://]\n\n\
         ## ftp://a.example/\n\n[failed: ftp: URLs are not fetched: only http and https are]\n\n\
         ## {}\n\n{{\"a\": [1, 2]}}",
        urls[2]
    ));
    world.finish();
}
