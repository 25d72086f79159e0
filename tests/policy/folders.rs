//! Folders that the configuration opens: presets of tools' caches, and `writable`; and the rule that each is told by.

use std::fs;

use serde_json::{Value, json};

use brattice_tests::Session;

use crate::worlds::{configured, root, with_operator};

/// The rule by which a session may create a file.
fn rule(session: &Session, path: &str) -> Value {
    let params = json!({"path": path, "operation": "create"});
    let verdict = session.request("policy.explain", params).unwrap();
    assert_eq!(verdict["allowed"], json!(!verdict["rule"].is_null()), "{verdict}");
    verdict["rule"].clone()
}

#[test]
fn b001_b004_presets_open_the_caches_of_tools_and_nothing_beside_them() {
    let builder = configured("[session]\npresets = [\"uv\", \"go\", \"cargo\"]\n");
    let home = builder.root().join("home");
    for folder in [".cache/uv/sdists-v9", ".cache/go-build", ".cargo/registry"] {
        fs::create_dir_all(home.join(folder)).unwrap();
    }
    let world = builder.start();
    let session = world.session("workspace-write").open();
    session.run("echo x > ~/.cache/uv/sdists-v9/.git && echo resolved").exits(0).says("resolved");
    session.run("mkdir -p ~/.cache/go-build/00 && echo x > ~/.cache/go-build/00/a").exits(0);
    session.run("echo x > ~/.cargo/registry/a").exits(0);
    session.run("echo x > ~/.cargo/config.toml").exits(1);
    session.run("echo x > ~/.cache/other").exits(1);
    let path = |name: &str| home.join(name).display().to_string();
    assert_eq!(
        rule(&session, &path(".cache/uv/new")),
        json!(format!("uv-preset {}", path(".cache/uv")))
    );
    assert_eq!(
        rule(&session, &path(".cargo/registry/new")),
        json!(format!("cargo-preset {}", path(".cargo/registry")))
    );
    assert_eq!(rule(&session, &path(".cargo/new")), Value::Null);
    assert!(!home.join("go").exists() && !home.join(".cargo/git").exists(), "nothing is created");
    world.session("read-only").open().run("echo x > ~/.cache/uv/b").exits(1);
    world.finish();
}

#[test]
fn a_tools_own_variable_says_where_its_cache_is() {
    let builder = configured("[session]\npresets = [\"cargo\"]\n");
    let cargo = builder.root().join("out/cargo");
    fs::create_dir_all(cargo.join("registry")).unwrap();
    let world = builder.variable("CARGO_HOME", cargo.to_str().unwrap()).start();
    let session = world.session("workspace-write").open();
    session.run("echo x > $CARGO_HOME/registry/a").exits(0);
    session.run("echo x > $CARGO_HOME/config.toml").exits(1);
    world.finish();
}

#[test]
fn a_configured_folder_that_is_missing_keeps_nobody_from_working() {
    let builder = configured("[session]\nwritable = [\"~/one\", \"~/two\"]\n");
    let home = builder.root().join("home");
    fs::create_dir(home.join("one")).unwrap();
    let world = builder.start();
    let session = world.session("workspace-write").open();
    session.run("touch ~/one/a").exits(0);
    session.run("touch ~/two/a").exits(1);
    assert!(!home.join("two").exists());
    let log = world.log();
    let line = log.lines().find(|line| line.contains("a configured folder is not there"));
    assert!(line.is_some_and(|line| line.contains("home/two")), "{log}");
    fs::create_dir(home.join("two")).unwrap();
    world.session("workspace-write").open().run("touch ~/two/a").exits(0);
    session.run("touch ~/two/b").exits(1);
    world.finish();
}

#[test]
fn whose_folder_it_is_is_told() {
    let text = "[session]\nwritable = [\"~/shared\"]\n";
    let builder = with_operator(configured(""), text);
    fs::create_dir(builder.root().join("home/shared")).unwrap();
    let world = builder.start();
    let shared = root(&world).join("home/shared").display().to_string();
    let session = world.session("workspace-write").open();
    session.run("touch ~/shared/a").exits(0);
    assert_eq!(rule(&session, &format!("{shared}/new")), json!(format!("operator {shared}")));
    world.finish();

    let builder = configured(text);
    fs::create_dir(builder.root().join("home/shared")).unwrap();
    let world = builder.start();
    let shared = root(&world).join("home/shared").display().to_string();
    let session = world.session("workspace-write").open();
    assert_eq!(rule(&session, &format!("{shared}/new")), json!(format!("configured {shared}")));
    world.finish();
}

#[test]
fn a_configured_folder_that_may_be_no_root_refuses_sessions_by_its_name() {
    let builder = configured("[session]\nwritable = [\"~/.config\"]\n");
    let world = builder.start();
    let refusal = world.session("workspace-write").try_open().err().unwrap();
    let folder = world.home().join(".config");
    assert!(refusal.message.contains(&format!("{folder:?}")), "{refusal:?}");
    world.finish();
}
