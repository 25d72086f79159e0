//! The operator's ceiling: it bounds the user's file, sessions at their opening, and those that are open.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;

use brattice_protocol::ErrorCode;
use brattice_tests::World;
use serde_json::json;

use crate::worlds::{configured, operator, operators, root, with_operator, write};

#[test]
fn it_bounds_the_users_file_and_the_session() {
    let user = "[session]\nmode = \"danger-full-access\"\napproval = \"ask\"\n\
                [[rule]]\nargv = [\"make\"]\ndecision = \"ask\"\nreason = \"slow\"\n";
    let ceiling = "[ceiling]\nmax_mode = \"workspace-write\"\napproval = \"never\"\n";
    let world = with_operator(configured(user), ceiling).start();
    let opened = world.wire().request("session.open", json!({"workspace": world.ws()})).unwrap();
    assert_eq!(opened["mode"], "workspace-write");
    let session = world.session("read-only").open();
    session.run("make").holds("slow, which needs an approval, and approval prompts are disabled");
    let error = session.request("session.update", json!({"mode": "danger-full-access"}));
    let error = error.unwrap_err();
    assert!(error.is(ErrorCode::Refused), "{error:?}");
    session.request("session.update", json!({"mode": "workspace-write"})).unwrap();
    world.finish();
}

#[test]
fn one_that_is_narrowed_holds_for_what_starts_in_open_sessions() {
    let mut world =
        with_operator(World::builder(), "[ceiling]\nmax_mode = \"workspace-write\"\n").start();
    let path = operators(&root(&world));
    let session = world.session("workspace-write").open();
    session.run("touch one").exits(0);
    let running = session.begin(json!({
        "command": "touch started; until [ -e ../ws/go ]; do sleep 0.05; done; touch two"
    }));
    brattice_tests::eventually("it runs", || world.ws().join("started").exists().then_some(()));

    write(&path, "[ceiling]\nmax_mode = \"read-only\"\n");
    operator(&world, "daemon.reload").unwrap();
    session.run("touch three").exits(1);
    let shown = session.request("policy.show", json!({})).unwrap();
    assert_eq!(shown["mode"], "read-only");
    let error = session.request("session.update", json!({"mode": "workspace-write"})).unwrap_err();
    assert!(error.is(ErrorCode::Refused), "{error:?}");
    world.file("go", "");
    session.end(running).exits(0);
    assert!(world.ws().join("two").exists(), "what ran kept what it had");

    // A wider one widens nothing that is open, not even for the next daemon.
    write(&path, "");
    operator(&world, "daemon.reload").unwrap();
    let id = session.id().to_owned();
    let stays = |session: &brattice_tests::Session| {
        session.run("touch four").exits(1);
        let wider = session.request("session.update", json!({"mode": "workspace-write"}));
        assert!(wider.unwrap_err().is(ErrorCode::Refused));
    };
    stays(&session);
    world.restart();
    stays(&world.resume(&id).open());
    world.session("danger-full-access").open().run("touch five").exits(0);
    world.finish();
}

#[test]
fn one_that_others_could_change_is_refused_and_the_one_before_holds_on() {
    let world =
        with_operator(World::builder(), "[ceiling]\nmax_mode = \"workspace-write\"\n").start();
    let path = operators(&root(&world));
    write(&path, "");
    fs::set_permissions(&path, Permissions::from_mode(0o666)).unwrap();
    let error = operator(&world, "daemon.reload").unwrap_err();
    assert_eq!(
        error.message,
        "the operator's configuration /etc/brattice/config.toml is not only root's to change (owner 0, mode 0666); \
         run chown root and chmod go-w on it"
    );
    let error = world.session("danger-full-access").try_open().err().unwrap();
    assert_eq!(
        error.message,
        "mode danger-full-access is beyond this daemon's ceiling, workspace-write"
    );
    world.finish();
}

#[test]
fn what_it_hides_is_hidden_from_sessions_that_are_open_as_well() {
    let world = with_operator(World::builder(), "").start();
    world.setup("mkdir $HOME/keys; echo s3cret > $HOME/keys/a; echo s3cret > $HOME/token");
    let session = world.session("workspace-write").open();
    session.run("cat $HOME/keys/a").exits(0).says("s3cret");
    write(
        &operators(&root(&world)),
        "[ceiling]\ndeny_read = [\"~/keys\", \"~/token\"]\n[session]\ndeny_read = []\n",
    );
    operator(&world, "daemon.reload").unwrap();
    for session in [session, world.session("read-only").open()] {
        for path in ["$HOME/keys/a", "$HOME/token"] {
            let reply = session.run(&format!("grep . {path}"));
            assert_ne!(reply.code(), Some(0), "{path}");
            reply.lacks("s3cret");
        }
        let shown = session.request("policy.show", json!({})).unwrap();
        let hidden: Vec<&str> =
            shown["hidden"].as_array().unwrap().iter().map(|path| path.as_str().unwrap()).collect();
        assert!(hidden[0].ends_with("/keys") && hidden[1].ends_with("/token"), "{hidden:?}");
    }
    world.finish();
}
