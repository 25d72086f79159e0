//! `policy.explain` against the kernel: what it says about a path is what a command meets there.

use brattice_tests::{CONFINED, World};
use serde_json::json;

#[test]
fn a_verdict_is_what_a_command_meets() {
    let world = World::new();
    world.setup("mkdir sub; echo x > f; echo x > $OUT/f; ln -s $OUT/f link; ln -s f inner");
    let paths = [
        "$WS/f",
        "$WS/new",
        "$WS/sub/new",
        "$OUT/f",
        "$OUT/new",
        "$HOME/new",
        "$WS/link",
        "$WS/inner",
        "/dev/null",
        "/etc/passwd",
    ];
    for mode in CONFINED {
        let session = world.session(mode).open();
        let temp = session.run("echo $TMPDIR").text();
        for path in paths.iter().map(|path| (*path).to_owned()).chain([format!("{temp}/new")]) {
            let absolute = session.run(&format!("echo {path}")).text();
            let explain = |operation| {
                session
                    .request("policy.explain", json!({"path": absolute, "operation": operation}))
                    .unwrap()
            };
            let is_new = path.ends_with("new");
            let verdict = explain(if is_new { "create" } else { "write" });
            let resolved = session.run(&format!("readlink -m {path}")).text();
            assert_eq!(verdict["path"], resolved, "{mode} {path}");
            let met = session.run(&format!("true >> {path}")).code() == Some(0);
            if is_new {
                world.native(&format!("rm -f {absolute}")).succeeded();
            }
            assert_eq!(verdict["allowed"], met, "{mode} {path}: {verdict}");
            assert_eq!(verdict["mode_needed"].is_null(), met, "{mode} {path}: {verdict}");
            assert_eq!(explain("read")["allowed"], true, "{mode} {path}");
        }
    }
    world.finish();
}

#[test]
fn danger_is_not_confined_and_says_so() {
    let world = World::new();
    let session = world.session("danger-full-access").open();
    let verdict = session
        .request("policy.explain", json!({"path": "/etc/passwd", "operation": "write"}))
        .unwrap();
    assert_eq!(
        verdict,
        json!({"path": "/etc/passwd", "allowed": true, "layer": null, "rule": null, "mode_needed": null})
    );
    world.finish();
}
