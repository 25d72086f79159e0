//! The agents in `examples/` do what they say: a denial, a question, a task in the background, the end.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use brattice_tests::{Native, World, WorldBuilder};

/// A world that keeps what npm needs to reach its registry here.
fn builder() -> WorldBuilder {
    let is_kept = |name: &str| {
        let name = name.to_ascii_uppercase();
        name.ends_with("_PROXY") || name.starts_with("NPM_CONFIG_") || name.starts_with("SSL_CERT_")
    };
    let kept = std::env::vars().filter(|(name, _)| is_kept(name));
    let builder =
        kept.fold(World::builder(), |builder, (name, value)| builder.variable(&name, &value));
    let settings = std::env::var("HOME").map(|home| format!("{home}/.npmrc")).unwrap_or_default();
    match fs::read(&settings) {
        Ok(_) => builder.variable("NPM_CONFIG_USERCONFIG", &settings),
        Err(_) => builder,
    }
}

fn example(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name)
}

/// Runs an agent in the workspace, with these flags.
fn run(world: &World, mut command: Command, flags: &[&str]) -> Native {
    command.arg(world.ws()).args(flags).env("BRATTICE_SOCKET", world.socket());
    Native::run(&mut command)
}

/// What every agent tells: its four calls, and what came of them.
fn did_its_work(world: &World, told: &Native) {
    told.succeeded();
    let made = world.home().join("made-by-an-agent");
    let lines: Vec<&str> = told.stdout.lines().filter(|line| !line.is_empty()).collect();
    let calls = lines.iter().filter(|line| line.starts_with("> ")).count();
    assert_eq!(calls, 4, "{}", told.stdout);
    let denied = format!("denied: create {}", made.display());
    let asked = format!("? workspace-write -> danger-full-access in {}", world.ws().display());
    let parts = [
        denied.as_str(),
        asked.as_str(),
        "made",
        "started background task bash-3",
        "built",
        "[status: completed, exit code: 0]",
        "All done.",
    ];
    let mut rest = lines.iter();
    for part in parts {
        assert!(rest.any(|line| line.starts_with(part)), "{part:?} in {}", told.stdout);
    }
    assert!(made.exists());
    assert_eq!(world.sessions(), Vec::<serde_json::Value>::new(), "it closes its session");
}

fn is_short(name: &str) {
    let lines = fs::read_to_string(example(name)).unwrap().lines().count();
    assert!(lines < 80, "{name} has {lines} lines");
}

#[test]
fn the_agent_in_python_does_its_work() {
    is_short("agent.py");
    let world = World::new();
    let python = || {
        let mut python = world.command("python3");
        python.arg(example("agent.py"));
        python
    };
    did_its_work(&world, &run(&world, python(), &["--yes"]));
    fs::remove_file(world.home().join("made-by-an-agent")).unwrap();
    // Nobody types a yes where there is no input.
    let told = run(&world, python(), &[]);
    assert_eq!(told.code, Some(1));
    assert!(told.stderr.contains("EOFError"), "{told:?}");
    assert!(!world.home().join("made-by-an-agent").exists());
    world.finish();
}

#[test]
fn the_agent_in_typescript_has_its_types_right_and_does_its_work() {
    is_short("agent.ts");
    let world = builder().start();
    let folder = world.out().join("agent");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("package.json"), r#"{"private": true, "type": "module"}"#).unwrap();
    fs::copy(example("agent.ts"), folder.join("agent.ts")).unwrap();
    // Node runs TypeScript by itself from version 22.18 on; the compiler serves any, and looks at the types.
    world.setup(
        "cd $OUT/agent && npm install --no-audit --no-fund --silent typescript@5 @types/node@20 \
         && node_modules/.bin/tsc --strict --target es2022 --module nodenext --types node agent.ts",
    );
    let mut node = world.command("node");
    node.arg(folder.join("agent.js"));
    did_its_work(&world, &run(&world, node, &["--yes"]));
    world.finish();
}
