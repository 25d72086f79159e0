//! Charsets, as the header and the page say them.

use crate::{Server, fetch, world};

const SERVER: &str = r#"
import http.server
P = {"/h": ("text/html; charset=GBK", "<p>中文页</p>".encode("gbk")),
     "/m": ("text/html", b'<meta charset="Shift_JIS"><p>' + "日本語".encode("shift_jis") + b"</p>"),
     "/e": ("text/html", b'<meta http-equiv="Content-Type" content="text/html; charset=windows-1251"><p>' + "привет".encode("cp1251") + b"</p>"),
     "/b": ("text/html; charset=utf-8", b"\xef\xbb\xbf<p>bom</p>"), "/x": ("text/html; charset=nonsense-9", "<p>é</p>".encode())}
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(s):
        t, d = P.get(s.path, ("text/plain", b"404")); s.send_response(200); s.send_header("Content-Type", t); s.end_headers(); s.wfile.write(d)
    def log_message(s, *a): pass
http.server.HTTPServer(("127.0.0.1", PORT), H).serve_forever()
"#;

#[test]
fn b107_the_header_and_then_the_page_say_the_charset() {
    let server = Server::start(SERVER);
    let world = world(&[&server]);
    let session = world.session("workspace-write").open();
    let urls = ["/h", "/m", "/e", "/b", "/x"].map(|path| server.url(path));
    let texts = ["中文页", "日本語", "привет", "bom", "é"];
    let under = |(url, text): (&String, &str)| format!("## {url}\n\n{text}");
    let whole: Vec<String> = urls.iter().zip(texts).map(under).collect();
    fetch(&session, &urls).says(&whole.join("\n\n"));
    for (url, text) in urls.iter().zip(texts) {
        fetch(&session, std::slice::from_ref(url)).says(text);
    }
    world.finish();
}
