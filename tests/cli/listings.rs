//! What the client tells: declarations, sessions, policy, this machine, completions; for people and as data.

use brattice_tests::World;
use serde_json::Value;

use crate::cli_world::{brattice_in, ended};

fn json_of(world: &World, arguments: &[&str]) -> Value {
    let told = brattice_in(world, arguments);
    serde_json::from_str(&told.succeeded().stdout)
        .unwrap_or_else(|error| panic!("{arguments:?}: {error}: {told:?}"))
}

#[test]
fn doctor_tells_every_layer_and_0_where_the_default_mode_runs() {
    let world = World::new();
    let told = brattice_in(&world, &["doctor"]);
    for layer in ["landlock", "seccomp", "privileges"] {
        assert!(told.succeeded().stdout.to_lowercase().contains(layer), "{told:?}");
    }
    let data = json_of(&world, &["doctor", "--json"]).to_string();
    assert!(data.contains("landlock_abi") && data.contains("seccomp"), "{data}");
    world.finish();
}

#[test]
fn tools_are_listed_in_each_format() {
    let world = World::new();
    assert!(brattice_in(&world, &["tools"]).succeeded().stdout.contains("bash"));
    for (format, path) in [
        ("mcp", "/0/inputSchema/type"),
        ("openai", "/0/function/parameters/type"),
        ("anthropic", "/0/input_schema/type"),
    ] {
        let tools = json_of(&world, &["tools", "--format", format, "--json"]);
        let list = tools.get("tools").unwrap_or(&tools);
        assert_eq!(list.pointer(path), Some(&Value::from("object")), "{format}: {tools}");
    }
    world.finish();
}

#[test]
fn a_call_is_made_in_a_session_and_sessions_are_listed_and_closed() {
    let world = World::new();
    let told = brattice_in(&world, &["call", "bash", r#"{"command": "echo hi; exit 3"}"#]);
    assert!(told.stdout.contains("hi\n[exit code: 3]"), "{told:?}");
    let session = world.session("workspace-write").open();
    let listed = brattice_in(&world, &["session", "list"]);
    assert!(listed.succeeded().stdout.contains(session.id()), "{listed:?}");
    let shown = brattice_in(&world, &["session", "show", session.id()]);
    assert!(shown.succeeded().stdout.contains(world.ws().to_str().unwrap()), "{shown:?}");
    brattice_in(&world, &["session", "close", session.id()]).succeeded();
    assert_eq!(world.sessions().len(), 0);
    let none = brattice_in(&world, &["session", "list"]);
    assert_eq!(none, ended(0, "", "brattice: no sessions\n"));
    assert_eq!(brattice_in(&world, &["session", "list", "--json"]), ended(0, "[]\n", ""));
    assert_ne!(brattice_in(&world, &["session", "close", session.id()]).code, Some(0));
    assert_ne!(brattice_in(&world, &["call", "bash", "{not json"]).code, Some(0));
    world.finish();
}

#[test]
fn policy_is_shown_and_one_path_explained() {
    let world = World::new();
    let shown = brattice_in(&world, &["policy", "show"]);
    assert!(shown.succeeded().stdout.contains(world.ws().to_str().unwrap()), "{shown:?}");
    let out = world.out().join("f");
    let explain = |path: &std::path::Path| {
        json_of(&world, &["policy", "explain", path.to_str().unwrap(), "--write", "--json"])
    };
    assert_eq!(explain(&out)["allowed"], false);
    assert_eq!(explain(&world.ws().join("f"))["allowed"], true);
    assert_eq!(
        json_of(&world, &["policy", "explain", out.to_str().unwrap(), "--json"])["allowed"],
        true,
        "reading"
    );
    world.finish();
}

#[test]
fn completions_are_written_for_each_shell() {
    let world = World::new();
    for shell in ["bash", "zsh", "fish"] {
        assert!(
            brattice_in(&world, &["completions", shell]).succeeded().stdout.contains("brattice"),
            "{shell}"
        );
    }
    let script = brattice_in(&world, &["completions", "bash"]).stdout;
    world.file("completions", &script);
    world.native("bash -n completions").succeeded();
    world.finish();
}

#[test]
fn errors_are_one_line_that_names_the_thing_and_a_hint() {
    let world = World::new();
    let error = brattice_in(&world, &["session", "show", "nosuch"]);
    assert_ne!(error.code, Some(0));
    assert!(error.stdout.is_empty() && error.stderr.contains("nosuch"), "{error:?}");
    let unknown = brattice_in(&world, &["nosuchcommand"]);
    assert_eq!(unknown.code, Some(125), "{unknown:?}");
    assert!(unknown.stderr.contains("nosuchcommand"), "{unknown:?}");
    world.finish();
}
