//! Configuration files: where they are found, what their keys do, and how a faulty one is refused.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use brattice_protocol::outcome::Cause;
use brattice_protocol::{DaemonExit, ErrorCode};
use brattice_tests::{Native, World, WorldBuilder, eventually};
use rustix::process::Signal;
use serde_json::json;

/// Where a user's configuration is.
fn users(root: &Path) -> PathBuf {
    root.join("home/.config/brattice/config.toml")
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
}

/// A world to be started whose user has this configuration.
fn configured(text: &str) -> WorldBuilder {
    let builder = World::builder();
    write(&users(builder.root()), text);
    builder
}

/// A world whose daemon has ended.
fn without_daemon() -> World {
    let mut world = World::new();
    world.daemon().signal(Signal::TERM);
    world.daemon().wait();
    world
}

#[test]
fn limits_of_the_users_file_hold() {
    let world = configured("[limits]\nopen_files = 300\nmax_tasks = 1\n").start();
    let session = world.session("workspace-write").open();
    session.run("ulimit -n").exits(0).says("300");
    session.request("task.start", json!({"command": "sleep 900"})).unwrap();
    let refusal = session.request("task.start", json!({"command": "true"})).unwrap_err();
    assert!(refusal.is(ErrorCode::Busy), "{refusal:?}");
    world.finish();
}

#[test]
fn the_times_of_calls_are_the_configurations_where_the_toolset_has_none() {
    let text = "[limits]\ntimeout = \"300ms\"\nmax_timeout = \"700ms\"\nkill_grace = \"200ms\"\n";
    let world = configured(text).start();
    let session = world.session("workspace-write").open();
    let stubborn = "trap '' TERM; sleep 900";
    let begun = Instant::now();
    session.run(stubborn).says("(no output)\n[timed out after 300ms]\n[killed by signal: SIGKILL]");
    // The toolset's own grace was 5 s.
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    session
        .run_for(60_000, stubborn)
        .says("(no output)\n[timeout clamped to 700ms]\n[timed out after 700ms]\n[killed by signal: SIGKILL]");
    let tools = session.request("tools.list", json!({})).unwrap();
    let described = tools["tools"][0]["description"].as_str().unwrap();
    for part in
        ["(300 unless given, 700 at most)", "SIGKILL 200 ms", "`[timeout clamped to 700ms]`"]
    {
        assert!(described.contains(part), "{part}: {described}");
    }
    let dsh = world.session("workspace-write").with("toolset", json!("dsh")).open();
    dsh.run("sleep 1; echo done").exits(0).says("done");
    world.finish();
}

/// What a command may use is written into its control group, or the session says that it is not limited.
#[test]
fn t081_memory_and_processes_of_a_command_are_those_of_the_file() {
    let world = configured("[limits]\nmemory = \"64MiB\"\npids = 16\n").start();
    let session = world.session("workspace-write").open();
    let sandbox = serde_json::to_value(&session.opened().sandbox).unwrap();
    let layers = sandbox["layers"].as_array().unwrap();
    let layer = layers.iter().find(|layer| layer["name"] == "cgroup").unwrap();
    let gap = layer["reason"].as_str().unwrap_or_default();
    let lacks = |what: &str| layer["state"] == "off" || gap.contains(what);
    match lacks("memory") {
        true => {
            assert!(gap.contains("memory"), "{gap}");
            let reply = session.run("x=$(head -c 200000000 /dev/zero | tr '\\0' x); echo \"$x\"");
            reply.exits(2).holds("cannot allocate");
        }
        false => {
            let reply = session.run("x=$(head -c 200000000 /dev/zero | tr '\\0' x); echo \"$x\"");
            assert_eq!(reply.outcome().cause, Cause::OomKilled, "{reply:?}");
        }
    }
    match lacks("pids") {
        true => assert!(gap.contains("processes") || gap.contains("pids"), "{gap}"),
        false => {
            session.run("for i in {1..20}; do sleep 9 & done").holds("fork");
        }
    }
    world.finish();
}

#[test]
fn the_variable_and_then_the_flag_come_before_the_users_folder() {
    let builder = configured("[limits]\nopen_files = 300\n");
    let file = builder.root().join("out/other.toml");
    write(&file, "[limits]\nopen_files = 301\n");
    let world = builder.variable("BRATTICE_CONFIG", file.to_str().unwrap()).start();
    world.session("workspace-write").open().run("ulimit -n").exits(0).says("301");
    world.finish();

    let builder = configured("[limits]\nopen_files = 300\n");
    let [named, flagged] = ["named", "flagged"].map(|name| builder.root().join("out").join(name));
    write(&named, "[limits]\nopen_files = 301\n");
    write(&flagged, "[limits]\nopen_files = 302\n");
    let words = ["sh", "-c", "exec {} --config out/flagged"];
    let world =
        builder.variable("BRATTICE_CONFIG", named.to_str().unwrap()).wrapper(&words).start();
    world.session("workspace-write").open().run("ulimit -n").exits(0).says("302");
    world.finish();
}

#[test]
fn the_operators_ceiling_bounds_every_session() {
    let builder = World::builder();
    // A folder that stands in for the machine's.
    let etc = builder.root().join("etc");
    write(
        &etc.join("brattice/config.toml"),
        "[ceiling]\nmax_mode = \"read-only\"\nmax_sessions = 1\n",
    );
    fs::copy("/etc/passwd", etc.join("passwd")).unwrap();
    let mount = format!("mount --bind '{}' /etc && exec {{}}", etc.display());
    let world = builder.wrapper(&["unshare", "-rm", "sh", "-c", &mount]).start();
    let refusal = world.session("workspace-write").try_open().err().unwrap();
    assert_eq!(
        (refusal.is(ErrorCode::Refused), refusal.message.as_str()),
        (true, "mode workspace-write is beyond this daemon's ceiling, read-only")
    );
    let session = world.session("read-only").open();
    session.run("touch x").exits(1);
    let refusal = world.session("read-only").try_open().err().unwrap();
    assert_eq!(
        (refusal.is(ErrorCode::Busy), refusal.message.as_str()),
        (true, "1 sessions are open, which is as many as may be")
    );
    drop(session);
    world.finish();
}

#[test]
fn a_faulty_file_is_refused_with_its_place_and_what_was_expected() {
    let world = without_daemon();
    let path = users(world.home().parent().unwrap());
    let refused = |text: &str| {
        write(&path, text);
        Native::run(&mut world.daemon_command())
    };
    let told = |words: &str| Native {
        code: Some(DaemonExit::Failed.status().into()),
        signal: None,
        stdout: String::new(),
        stderr: format!("bratticed: the configuration {} is faulty: {words}\n", path.display()),
    };
    assert_eq!(
        refused("[session]\ndetached_ttl = \"1 hour\"\n"),
        told(
            "line 2, column 16: [session] detached_ttl: expected a duration from 1ms to 8760h, such as \"500ms\", \
             \"90s\" or \"2m\", got \"1 hour\""
        )
    );
    assert_eq!(
        refused("[ceiling]\nmax_mode = \"read-only\"\n"),
        told(
            "line 1, column 1: [ceiling] belongs into the operator's file, /etc/brattice/config.toml"
        )
    );
    assert!(!world.socket().exists(), "nothing was begun");
}

#[test]
fn a_file_that_was_named_must_be_there_and_one_that_all_may_write_is_refused() {
    let world = without_daemon();
    let path = users(world.home().parent().unwrap());
    let mut command = world.daemon_command();
    let refused = Native::run(command.arg("--config").arg(&path));
    assert_eq!(
        (refused.code, refused.stderr),
        (
            Some(DaemonExit::Failed.status().into()),
            format!(
                "bratticed: cannot read the configuration {}: No such file or directory (os error 2)\n",
                path.display()
            )
        )
    );
    write(&path, "");
    fs::set_permissions(&path, Permissions::from_mode(0o606)).unwrap();
    assert_eq!(
        Native::run(&mut world.daemon_command()).stderr,
        format!(
            "bratticed: everybody may write to the configuration {} (mode 0606); run chmod o-w on it\n",
            path.display()
        )
    );
}

#[test]
fn defaults_of_the_users_file_hold_where_nothing_else_is_asked_for() {
    let builder = World::builder();
    let cache = builder.root().join("home/cache");
    fs::create_dir(&cache).unwrap();
    write(
        &users(builder.root()),
        "[session]\nmode = \"workspace-write\"\ntoolset = \"dsh\"\nnetwork = \"none\"\nwritable = [\"~/cache\"]\n",
    );
    let world = builder.start();
    let mut wire = world.wire();
    let opened = wire.request("session.open", json!({"workspace": world.ws()})).unwrap();
    assert_eq!(
        (&opened["mode"], &opened["toolset"], &opened["network"]),
        (&json!("workspace-write"), &json!("dsh"), &json!("none"))
    );
    let asked = json!({"workspace": world.ws(), "mode": "read-only", "toolset": "standard", "network": "full"});
    let opened = wire.request("session.open", asked).unwrap();
    assert_eq!(
        (&opened["mode"], &opened["toolset"], &opened["network"]),
        (&json!("read-only"), &json!("standard"), &json!("full"))
    );
    world.session("workspace-write").open().run("touch ~/cache/here; touch ~/nope").exits(1);
    assert!(cache.join("here").exists() && !world.home().join("nope").exists());
    world.finish();
}

#[test]
fn a_workspace_that_holds_a_configuration_or_could_make_one_is_refused() {
    let builder = World::builder();
    let named = builder.root().join("out/brattice.toml");
    write(&named, "");
    let world = builder.variable("BRATTICE_CONFIG", named.to_str().unwrap()).start();
    let refusal = |world: &World, workspace: &Path| {
        world
            .session("workspace-write")
            .with("workspace", json!(workspace))
            .try_open()
            .err()
            .unwrap()
    };
    let told = |folder: &Path, path: &Path| {
        format!("workspace {folder:?} would open the daemon's configuration {path:?} to commands")
    };
    let refused = refusal(&world, &world.out());
    assert!(refused.is(ErrorCode::Refused), "{refused:?}");
    assert_eq!(refused.message, told(&world.out(), &named));
    world.finish();

    let world = World::new();
    let folder = world.home().join(".config");
    fs::create_dir(&folder).unwrap();
    let missing = folder.join("brattice/config.toml");
    assert_eq!(refusal(&world, &folder).message, told(&folder, &missing));
    world.finish();
}

#[test]
fn sighup_reads_it_again_for_new_sessions_and_a_faulty_one_changes_nothing() {
    let mut world = configured("[limits]\nopen_files = 300\n").start();
    let path = users(world.home().parent().unwrap());
    let old = world.session("workspace-write").open();
    old.run("ulimit -n").exits(0).says("300");
    let says = |world: &World, line: &str| {
        eventually(line, || world.log().contains(line).then_some(()));
    };

    write(&path, "[limits]\nopen_files = 400\n");
    world.daemon().signal(Signal::HUP);
    says(&world, "the configuration holds for new sessions");
    world.session("workspace-write").open().run("ulimit -n").exits(0).says("400");
    old.run("ulimit -n").exits(0).says("300");

    write(&path, "[limits]\nopen_files = 1\n");
    world.daemon().signal(Signal::HUP);
    says(&world, "the configuration stays as it was");
    assert!(
        world.log().contains("line 2, column 14: [limits] open_files: expected a whole number"),
        "{}",
        world.log()
    );
    world.session("workspace-write").open().run("ulimit -n").exits(0).says("400");
    world.finish();
}

#[test]
fn no_configuration_is_read_from_a_workspace() {
    let world = World::new();
    for name in
        [".brattice/config.toml", ".config/brattice/config.toml", "config.toml", "brattice.toml"]
    {
        write(&world.ws().join(name), "[limits]\nopen_files = 300\nnonsense = 1\n");
    }
    let limit = world.native("ulimit -Hn").stdout;
    let session = world.session("workspace-write").open();
    let printed = session.run("ulimit -n");
    let expected: u64 = limit.trim().parse::<u64>().unwrap_or(u64::MAX).min(4096);
    printed.exits(0).says(&expected.to_string());
    world.finish();
}
