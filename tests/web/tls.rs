//! Pages over TLS, with authorities of the tests' own, named as an operator names theirs.

use std::fs;

use brattice_tests::World;
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};

use crate::{Server, fetch};

const SERVER: &str = r#"
import http.server, ssl
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(s):
        s.send_response(200); s.send_header("Content-Type", "text/plain"); s.end_headers(); s.wfile.write(b"over TLS")
    def log_message(s, *a): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT), H)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("IDENTITY")
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"#;

/// Who is 127.0.0.1, by its own word.
fn identity() -> CertifiedKey<KeyPair> {
    generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap()
}

/// Where an operator names the file.
#[derive(Clone, Copy, Debug)]
enum Named {
    /// In the daemon's environment.
    Ambient,
    /// In the configuration.
    Configured,
}

/// A world that trusts what this file holds, and a server of this identity that its sessions may fetch from.
fn world(
    named: Named,
    authority: Option<&str>,
    identity: &CertifiedKey<KeyPair>,
) -> (World, Server) {
    let mut builder = World::builder();
    let own = builder.root().join("identity.pem");
    fs::write(&own, identity.cert.pem() + &identity.signing_key.serialize_pem()).unwrap();
    let server = Server::start_with(SERVER, &[("IDENTITY", own.display().to_string())]);
    let file = builder.root().join("authority.pem");
    if let Some(authority) = authority {
        fs::write(&file, authority).unwrap();
    }
    let port = server.port;
    let mut text = format!("[tools]\nweb_allow = [\"127.0.0.1:{port}\", \"localhost:{port}\"]\n");
    match named {
        Named::Ambient => {
            builder = builder.variable("SSL_CERT_FILE", &file.display().to_string());
        }
        Named::Configured => {
            text += &format!("[environment]\nset = {{ SSL_CERT_FILE = {file:?} }}\n")
        }
    }
    (builder.configured(&text).start(), server)
}

/// What is told of the server's page, asked for by this name of it.
fn told(world: &World, server: &Server, name: &str) -> String {
    let session = world.session("workspace-write").open();
    fetch(&session, &[format!("https://{name}:{}/", server.port)]).text()
}

#[test]
fn who_is_vouched_for_is_read_by_its_own_name_only() {
    let own = identity();
    for named in [Named::Ambient, Named::Configured] {
        let (world, server) = world(named, Some(&own.cert.pem()), &own);
        assert_eq!(told(&world, &server, "127.0.0.1"), "over TLS", "{named:?}");
        let other = told(&world, &server, "localhost");
        assert!(other.contains("certificate not valid for name"), "{other}");
        world.finish();
    }
}

#[test]
fn who_is_vouched_for_by_nobody_that_was_named_is_not_read() {
    let (own, foreign) = (identity(), identity());
    let (world, server) = world(Named::Ambient, Some(&foreign.cert.pem()), &own);
    let unknown = told(&world, &server, "127.0.0.1");
    assert!(unknown.contains("invalid peer certificate"), "{unknown}");
    world.finish();
}

#[test]
fn authorities_that_are_not_there_are_told_with_their_file() {
    let (world, server) = world(Named::Ambient, None, &identity());
    let missing = told(&world, &server, "127.0.0.1");
    assert!(missing.contains("no certificates of authorities"), "{missing}");
    assert!(missing.contains("/authority.pem"), "{missing}");
    world.finish();
}
