//! Manual pages: one for each command, each well-formed.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use brattice_tests::{Native, World, bratticed};

use crate::cli_world::brattice_in;

/// Commands as `--help` lists them, below these words.
fn listed(world: &World, words: &[String], found: &mut BTreeSet<String>) {
    let line: Vec<&str> = words.iter().map(String::as_str).chain(["--help"]).collect();
    let help = brattice_in(world, &line).succeeded().stdout.clone();
    found.insert(format!("{}.1", [&["brattice".to_owned()], words].concat().join("-")));
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = commands.take_while(|line| !line.is_empty()).filter_map(|line| {
        let is_name = line.starts_with("  ") && !line.starts_with("   ");
        line.split_whitespace().next().filter(|name| is_name && *name != "help")
    });
    for name in names {
        listed(world, &[words, &[name.to_owned()]].concat(), found);
    }
}

/// What groff says of a page, formatted for a terminal.
fn formatted(world: &World, path: &str) -> Native {
    Native::run(world.command("groff").args(["-man", "-Tutf8", "-ww", path]))
}

#[test]
fn every_command_has_a_page_that_is_well_formed() {
    let world = World::new();
    let folder = world.out().join("man");
    fs::create_dir(&folder).unwrap();
    let told = brattice_in(&world, &["man", folder.to_str().unwrap()]);
    let names: BTreeSet<String> = told.succeeded().stdout.lines().map(str::to_owned).collect();
    let mut commands = BTreeSet::new();
    listed(&world, &[], &mut commands);
    assert_eq!(names, commands);
    assert!(commands.contains("brattice-task-start.1") && commands.contains("brattice-attach.1"));
    let files: BTreeSet<String> = fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(files, names);
    for name in &names {
        let page = formatted(&world, folder.join(name).to_str().unwrap());
        assert_eq!(
            (page.succeeded().stderr.as_str(), page.stdout.is_empty()),
            ("", false),
            "{name}"
        );
    }
    let printed = brattice_in(&world, &["man"]);
    assert_eq!(printed.succeeded().stdout, fs::read_to_string(folder.join("brattice.1")).unwrap());
    world.finish();
}

#[test]
fn the_daemon_has_a_page_of_its_own_and_starts_nothing_for_it() {
    let world = World::new();
    let printed = Native::run(Command::new(bratticed()).arg("--man").current_dir(world.ws()));
    let path = world.out().join("bratticed.8");
    fs::write(&path, &printed.succeeded().stdout).unwrap();
    let page = formatted(&world, path.to_str().unwrap());
    assert_eq!(page.succeeded().stderr, "");
    for part in ["bratticed(8)", "READY", "The socket of operators"] {
        assert!(page.stdout.contains(part), "{part} in {}", page.stdout);
    }
    world.finish();
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let world = World::new();
    let told = brattice_in(&world, &["man", "gone"]);
    assert_eq!(told.code, Some(125));
    assert!(told.stderr.starts_with("brattice: cannot write gone/brattice.1\n"), "{told:?}");
    world.finish();
}
