//! The conformance suite of the protocol's makers, against the bridge's test build over HTTP. What it does not pass is in
//! `tests/mcp/conformance-baseline.yml`, each with its reason.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use brattice_tests::{Native, World, mcp_bridge_over_http};

use crate::clients::{installed, program, scripts};

#[test]
fn the_conformance_suite_finds_what_is_written_down() {
    let (world, clients) = (World::new(), installed());
    let mut server = program(&world, &mcp_bridge_over_http(), &clients);
    let mut server = server.stdout(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let mut suite = program(&world, &clients.join("node_modules/.bin/conformance"), &clients);
    suite.args(["server", "--url", url.trim(), "--expected-failures"]);
    suite.arg(scripts().join("../conformance-baseline.yml"));
    let ended = Native::run(&mut suite);
    server.kill().unwrap();
    server.wait().unwrap();
    ended.succeeded();
    for passed in ["server-initialize", "ping", "tools-list", "resources-list", "tools-call-error"]
    {
        assert!(ended.stdout.contains(&format!("✓ {passed}: ")), "{passed}: {}", ended.stdout);
    }
    world.finish();
}
