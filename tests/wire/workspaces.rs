//! Workspaces that cannot be one: each a clear error and nothing done.

use std::os::unix::fs::symlink;

use brattice_protocol::ErrorCode;
use brattice_tests::World;
use serde_json::json;

#[test]
fn a_workspace_that_cannot_be_one_is_refused_and_named() {
    let world = World::new();
    world.file("plain", "x");
    symlink(world.state(), world.out().join("link")).unwrap();
    let path = |path: std::path::PathBuf| path.to_str().unwrap().to_owned();
    let cases = [
        (path(world.ws().join("missing")), "does not exist"),
        (path(world.ws().join("plain")), "is not a folder"),
        ("/".to_owned(), "root of the file system"),
        ("/usr/..".to_owned(), "root of the file system"),
        ("ws".to_owned(), "not an absolute path"),
        (String::new(), "not an absolute path"),
        ("/tmp\0x".to_owned(), "NUL"),
        (path(world.state()), "state"),
        (path(world.state().join("sessions")), "state"),
        (path(world.out().join("link")), "state"),
        (path(world.ws().join("..")), "daemon's"),
        (path(world.socket().parent().unwrap().to_owned()), "socket"),
        (path(brattice_tests::bratticed().parent().unwrap().to_owned()), "executable"),
    ];
    std::fs::create_dir_all(world.state().join("sessions")).unwrap();
    for (workspace, piece) in cases {
        for params in [
            json!({"workspace": workspace}),
            json!({"workspace": world.ws(), "writable": [workspace]}),
        ] {
            let error = world.wire().request("session.open", params.clone()).unwrap_err();
            let is_stated = error.is(ErrorCode::Invalid) || error.is(ErrorCode::Refused);
            assert!(is_stated && error.message.contains(piece), "{params}: {error:?}");
        }
    }
    assert_eq!(world.sessions().len(), 0, "nothing was opened");
    world.finish();
}

#[test]
fn f12_a_cwd_or_workdir_widens_nothing() {
    let world = World::new();
    for cwd in [json!(world.out()), json!("../out"), json!("/")] {
        let session = world.session("workspace-write").with("cwd", cwd.clone()).open();
        session.run("echo x > $OUT/f").exits(1);
        session.run("echo x > $WS/f").exits(0);
        session.bash(json!({"command": "echo x > f", "workdir": world.out()})).exits(1);
        assert!(!world.out().join("f").exists(), "{cwd}");
    }
    let error =
        world.session("workspace-write").with("cwd", json!("nowhere")).try_open().err().unwrap();
    assert!(error.is(ErrorCode::Invalid) && error.message.contains("nowhere"), "{error:?}");
    world.finish();
}

#[test]
fn a_session_says_where_it_is() {
    let world = World::new();
    symlink(world.ws(), world.out().join("ws")).unwrap();
    world.setup("mkdir sub");
    let session = world
        .session("read-only")
        .with("workspace", json!(world.out().join("ws")))
        .with("cwd", json!("sub"))
        .with("network", json!("none"))
        .with("toolset", json!("dsh"))
        .open();
    let opened = session.opened();
    assert_eq!(
        (
            opened.workspace.as_str(),
            opened.cwd.as_str(),
            opened.mode.as_str(),
            opened.toolset.as_str(),
            opened.network.as_str()
        ),
        (
            world.ws().to_str().unwrap(),
            world.ws().join("sub").to_str().unwrap(),
            "read-only",
            "dsh",
            "none"
        )
    );
    session.run("pwd").exits(0).says(world.ws().join("sub").to_str().unwrap());
    world.finish();
}
