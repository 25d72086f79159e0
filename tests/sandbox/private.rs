//! What commands see of their own: `/tmp`, `/dev/shm`, and a workspace that lies below `/tmp`.

use std::fs;

use brattice_protocol::{LayerName, LayerState};
use brattice_tests::{CONFINED, World, eventually};
use rustix::process::Signal;
use serde_json::json;

/// A name that no other world has.
fn name(world: &World) -> String {
    let root = world.ws().parent().unwrap().to_owned();
    format!("brattice-{}", root.file_name().unwrap().to_str().unwrap())
}

#[test]
fn tmp_is_the_sessions_own_and_the_same_in_each_of_its_modes() {
    let world = World::new();
    let name = name(&world);
    let one = world.session("read-only").open();
    one.run(&format!("echo one > /tmp/{name} && cat $TMPDIR/{name}")).exits(0).says("one");
    one.request("session.update", json!({"mode": "workspace-write"})).unwrap();
    one.run(&format!("cat /tmp/{name} && ls -A /tmp")).exits(0).says(&format!("one\n{name}"));
    let other = world.session("workspace-write").open();
    other.run("ls -A /tmp").exits(0).says("(no output)");
    assert!(!std::path::Path::new("/tmp").join(&name).exists());
    one.request("session.update", json!({"mode": "danger-full-access"})).unwrap();
    one.run(&format!("ls /tmp/{name}")).exits(2);
    world.finish();
}

#[test]
fn shared_memory_is_a_modes_own() {
    let world = World::new();
    let name = name(&world);
    for mode in CONFINED {
        let session = world.session(mode).open();
        session.run(&format!("echo x > /dev/shm/{name} && ls /dev/shm")).exits(0).says(&name);
        session.run(&format!("cat /dev/shm/{name}")).exits(0).says("x");
        assert!(!std::path::Path::new("/dev/shm").join(&name).exists(), "{mode}");
    }
    world.finish();
}

#[test]
fn users_and_groups_are_the_machines_own_for_who_owns_files() {
    let world = World::new();
    world.setup("mkdir sub; touch sub/f");
    let session = world.session("workspace-write").open();
    let facts = "id -u; id -g; stat -c '%u %g' . sub/f; touch new; stat -c '%u %g' new";
    assert_eq!(session.run(facts).exits(0).text(), world.native(facts).succeeded().stdout.trim());
    world.finish();
}

#[test]
fn a_workspace_below_tmp_stays_at_its_path_with_its_access() {
    let world = World::builder_in_tmp().start();
    world.setup("mkdir sub; echo x > sub/f; echo x > $OUT/f");
    let before = world.native("find $WS $OUT $HOME | sort").stdout;
    let ws = world.ws();
    let reader = world.session("read-only").open();
    reader.run("pwd; cat sub/f; ls").exits(0).says(&format!("{}\nx\nsub", ws.display()));
    for attempt in ["echo y > sub/f", "touch new", "rm sub/f", "mv sub sub2", "chmod 777 sub/f"] {
        // The mount refuses here, and still it is the mode that does.
        let reply = reader.run(attempt);
        let outcome = reply.exits(1).outcome();
        let told: Vec<_> =
            outcome.denials.iter().map(|it| (it.layer.as_str(), it.needs.as_str())).collect();
        assert_eq!(told, [("namespaces", "workspace-write")], "{attempt}");
    }
    reader.run("echo x > /tmp/f && cat $TMPDIR/f; ls $OUT").exits(2).holds("x\n");
    assert_eq!(world.native("find $WS $OUT $HOME | sort").stdout, before);
    assert_eq!(fs::read_to_string(ws.join("sub/f")).unwrap(), "x\n");

    let writer = world.session("workspace-write").open();
    writer.run("echo y > sub/f && mv sub/f g && mkdir new && rmdir new").exits(0);
    assert_eq!(fs::read_to_string(ws.join("g")).unwrap(), "y\n");
    // Whatever stands where a root's place is to be made is the session's own trouble, and no way out.
    let below = ws.strip_prefix("/tmp").unwrap().display().to_string();
    let first = below.split('/').next().unwrap().to_owned();
    writer.run(&format!("cd $TMPDIR; ls; mv {first} x && ln -s {} {first}", world.out().display()));
    writer.request("session.update", json!({"mode": "read-only"})).unwrap();
    writer.run("cat g").exits(0).says("y");
    assert_eq!(world.native("ls $OUT").stdout, "f\n");
    world.finish();
}

#[test]
fn a_session_on_tmp_itself_has_the_machines() {
    // A root must not hold the daemon's program, which may stand anywhere, below /tmp as well.
    let from_home =
        "set -- {}; cp \"$1\" \"$HOME/bratticed\"; shift; exec \"$HOME/bratticed\" \"$@\"";
    let world = World::builder().wrapper(&["sh", "-c", from_home]).start();
    let name = name(&world);
    let session = world.session("workspace-write").with("workspace", json!("/tmp")).open();
    session.run(&format!("echo x > /tmp/{name}; pwd")).exits(0).says("/tmp");
    let file = std::path::Path::new("/tmp").join(name);
    assert_eq!(fs::read_to_string(&file).unwrap(), "x\n");
    fs::remove_file(file).unwrap();
    world.finish();
}

#[test]
fn b011_no_file_is_left_wherever_a_kill_strikes() {
    for in_tmp in [false, true] {
        let builder = if in_tmp { World::builder_in_tmp() } else { World::builder() };
        let mut world = builder.configured("[session]\ndeny_read = [\"~/secret\"]\n").start();
        world.setup("git init -q .; mkdir $HOME/secret; echo x > $HOME/secret/f; rm -r .git/hooks; mkdir .git/hooks");
        let listing = "find $WS $OUT $HOME | sort; ls -la $HOME/secret; cat $HOME/secret/f";
        let before = world.native(listing).stdout;
        for victim in ["launcher", "supervisor", "daemon"] {
            let session = world.session("workspace-write").open();
            session.run("ls -A . /tmp").exits(0);
            let call = session.begin(json!({"command": "sleep 900", "timeoutMs": 600_000}));
            eventually("the command runs", || (!world.strays().is_empty()).then_some(()));
            assert_eq!(world.native(listing).stdout, before, "while it runs");
            let supervisor = world.supervisor(session.id());
            match victim {
                "launcher" => {
                    let below = brattice_tests::Process::below(supervisor.pid);
                    below.iter().find(|it| it.parent == supervisor.pid).unwrap().kill();
                }
                "supervisor" => supervisor.kill(),
                _ => {
                    world.daemon().signal(Signal::KILL);
                    world.daemon().wait();
                }
            }
            if victim == "launcher" {
                // The session outlives it, and what stands in its folders with it.
                session.request("session.close", json!({})).unwrap();
            }
            world.is_quiet();
            assert_eq!(world.native(listing).stdout, before, "{victim} killed");
            drop((call, session));
        }
        world.start();
        world.finish();
    }
}

#[test]
fn the_layer_is_told_with_what_it_does_not_hold() {
    let world = World::new();
    let namespaces = |layers: &[brattice_protocol::Layer]| {
        let layer = layers.iter().find(|layer| layer.name == LayerName::Namespaces).unwrap();
        (layer.state, layer.reason.clone())
    };
    let state = |session: &brattice_tests::Session| {
        let told = namespaces(&session.opened().sandbox.layers);
        // A result tells states, and no reasons.
        let result = session.run("true").outcome().sandbox.layers.clone();
        assert_eq!(namespaces(&result).0, told.0);
        told
    };
    let hello = world.hello().sandbox.layers;
    assert_eq!(namespaces(&hello), (LayerState::On, None));
    assert_eq!(state(&world.session("read-only").open()), (LayerState::On, None));
    let reason = format!(
        "not protected: {} does not exist, so a command can make it; from then on it is held",
        world.ws().join(".git/hooks").display()
    );
    let session = world.session("workspace-write").open();
    assert_eq!(state(&session), (LayerState::Partial, Some(reason)));
    world.setup("mkdir -p .git/hooks");
    assert_eq!(state(&world.session("workspace-write").open()), (LayerState::On, None));
    world.finish();
}

#[test]
fn namespaces_can_be_switched_off() {
    let world = World::builder().configured("[session]\nnamespaces = \"off\"\n").start();
    let session = world.session("workspace-write").open();
    let same = "for kind in user mnt net; do readlink /proc/self/ns/$kind; done";
    assert_eq!(session.run(same).exits(0).text(), world.native(same).stdout.trim());
    session.run("echo x > /tmp/brattice-off").exits(1).holds("Permission denied");
    let layers = session.opened().sandbox.layers.clone();
    let layer = layers.into_iter().find(|layer| layer.name == LayerName::Namespaces).unwrap();
    assert_eq!(layer.state, LayerState::Off);
    assert!(layer.reason.unwrap().starts_with("namespaces = \"off\": "));
    world.finish();
}
