//! `brattice policy` with configuration: a file's faults, where each value comes from, and the document's examples.

use std::fs;
use std::path::{Path, PathBuf};

use brattice_tests::{Native, World};
use serde_json::{Value, json};

use crate::cli_world::{brattice_in, client, ended};

/// A world without a daemon, and a file in it.
fn with_file(text: &str) -> (World, PathBuf) {
    let world = World::new();
    let path = world.out().join("policy.toml");
    fs::write(&path, text).unwrap();
    (world, path)
}

fn check(world: &World, path: &Path, more: &[&str]) -> Native {
    let mut command = client(world, &["--no-start", "policy", "check", path.to_str().unwrap()]);
    // Nobody is asked: there is no such socket.
    command.env("BRATTICE_SOCKET", world.out().join("none")).args(more);
    Native::run(&mut command)
}

#[test]
fn a_file_is_checked_without_a_daemon() {
    let (world, path) = with_file("[session]\nmode = \"read-only\"\nwritable = [\"~/x\"]\n");
    let name = path.display();
    assert_eq!(check(&world, &path, &[]), ended(0, &format!("{name}: ok\n"), ""));
    let told: Value = serde_json::from_str(&check(&world, &path, &["--json"]).stdout).unwrap();
    assert_eq!(told, json!({"file": path, "ok": true, "faults": []}));
    let missing = world.out().join("missing.toml");
    let refused = check(&world, &missing, &[]);
    assert_eq!(
        refused,
        ended(
            125,
            "",
            &format!(
                "brattice: cannot read {}\n  caused by: No such file or directory (os error 2)\n",
                missing.display()
            )
        )
    );
    world.finish();
}

#[test]
fn every_fault_of_a_file_is_told_with_its_place() {
    let text = "[ceiling]\nmax_mode = \"read-only\"\n\n[limits]\nmax_task = 3\n\n[[rule]]\n\
                argv = [\"git\", \"push\"]\ndecision = \"ask\"\nreason = \"publishing\"\n\
                examples = [\"git pull\"]\n";
    let (world, path) = with_file(text);
    let name = path.display();
    let faults = [
        (1, 1, "[ceiling] belongs into the operator's file, /etc/brattice/config.toml"),
        (
            5,
            1,
            "unknown key \"max_task\" in [limits]: expected one of timeout, max_timeout, kill_grace, memory, pids, \
             cpu, open_files, max_tasks, spool, state",
        ),
        (11, 13, "examples: \"git pull\" is not matched by the rule for git push"),
    ];
    let lines: String = faults
        .iter()
        .map(|(line, column, message)| format!("{name}:{line}:{column}: {message}\n"))
        .collect();
    assert_eq!(check(&world, &path, &[]), ended(1, &lines, ""));
    let told = check(&world, &path, &["--json", "--operator"]);
    let data: Value = serde_json::from_str(&told.stdout).unwrap();
    let rest: Vec<Value> = faults[1..]
        .iter()
        .map(|(line, column, message)| json!({"line": line, "column": column, "message": message}))
        .collect();
    assert_eq!(
        (told.code, data),
        (Some(1), json!({"file": path, "ok": false, "faults": rest})),
        "an operator's file may have a ceiling"
    );
    world.finish();
}

/// Pieces between lines ```` ```toml ```` and ```` ``` ````.
fn examples(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = text.lines();
    while lines.any(|line| line == "```toml") {
        found.push(lines.by_ref().take_while(|line| *line != "```").collect::<Vec<_>>().join("\n"));
    }
    found
}

#[test]
fn the_documents_examples_are_what_they_say() {
    let world = World::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for document in ["docs/policy.md", "README.md"] {
        let found = examples(&fs::read_to_string(folder.join(document)).unwrap());
        assert!(!found.is_empty(), "{document} has no example");
        for text in found {
            let path = world.out().join("example.toml");
            fs::write(&path, &text).unwrap();
            let whose: &[&str] = if text.contains("[ceiling]") { &["--operator"] } else { &[] };
            let told = check(&world, &path, whose);
            assert_eq!(told.code, Some(0), "{document}: {}\n{text}", told.stdout);
        }
    }
    world.finish();
}

#[test]
fn settings_are_shown_with_where_each_comes_from() {
    let builder = World::builder();
    let path = builder.root().join("home/.config/brattice/config.toml");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "[session]\nnetwork = \"none\"\n\n[limits]\nmax_tasks = 5\n").unwrap();
    let world = builder.start();
    let shown = brattice_in(&world, &["policy", "show", "--mode", "read-only"]);
    let rows: Vec<String> = shown
        .succeeded()
        .stdout
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    for row in [
        "[ceiling] max_mode danger-full-access built in".to_owned(),
        "[session] mode read-only session".to_owned(),
        format!("[session] network none user {}:2", path.display()),
        format!("[limits] max_tasks 5 user {}:5", path.display()),
    ] {
        assert!(rows.contains(&row), "{row:?} is not in {rows:#?}");
    }
    let told = brattice_in(&world, &["--json", "policy", "show"]);
    let data: Value = serde_json::from_str(&told.succeeded().stdout).unwrap();
    let settings = data["settings"].as_array().unwrap();
    let network = json!({
        "key": "[session] network", "value": "none", "layer": "user", "place": format!("{}:2", path.display())
    });
    assert!(settings.contains(&network), "{settings:#?}");
    world.finish();
}

#[test]
fn a_daemon_is_told_to_read_its_configuration_again() {
    let builder = World::builder();
    let path = builder.root().join("home/.config/brattice/config.toml");
    let world = builder.start();
    let reload = || brattice_in(&world, &["daemon", "reload"]);
    assert_eq!(reload(), ended(0, "reloaded: no configuration file is there\n", ""));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "[limits]\nmax_tasks = 5\n").unwrap();
    assert_eq!(reload(), ended(0, &format!("reloaded: {}\n", path.display()), ""));
    fs::write(&path, "[limits]\nmax_tasks = 0\n").unwrap();
    let refused = reload();
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(125), ""));
    assert!(
        refused.stderr.contains(&format!("{} is faulty: line 2", path.display())),
        "{refused:?}"
    );
    world.finish();
}

#[test]
fn a_command_that_a_rule_refuses_is_told_as_brattices_failure() {
    let builder = World::builder();
    let path = builder.root().join("home/.config/brattice/config.toml");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let rule =
        "[[rule]]\nargv = [\"git\", \"push\"]\ndecision = \"forbid\"\nreason = \"publishing\"\n";
    fs::write(&path, rule).unwrap();
    let world = builder.start();
    let refusal = format!(
        "brattice: command refused by a rule: publishing (the rule for \"git push\", {}:1)\n",
        path.display()
    );
    for command in [&["touch ran; git push"][..], &["git", "push"]] {
        let words = [&["run", "--"], command].concat();
        assert_eq!(brattice_in(&world, &words), ended(125, "", &refusal));
    }
    assert!(!world.ws().join("ran").exists());
    world.finish();
}
