//! What people are told of denials: on standard error, and in numbers.

use brattice_protocol::outcome::CommandOutcome;
use brattice_tests::World;

use crate::cli_world::{brattice_in, ended};

const COMMAND: &str =
    "for f in a b a; do echo x 2>/dev/null >> \"$OUT/$f\"; done; echo done; exit 4";

fn world() -> World {
    let world = World::new();
    world.setup("touch \"$OUT/a\" \"$OUT/b\"");
    world
}

fn lines(world: &World) -> String {
    let out = world.out();
    format!(
        "brattice: denied: write {0}/a (needs danger-full-access, 2 times)\n\
         brattice: denied: write {0}/b (needs danger-full-access)\n",
        out.display()
    )
}

#[test]
fn run_tells_them_on_standard_error() {
    let world = world();
    assert_eq!(brattice_in(&world, &["run", "--", COMMAND]), ended(4, "done\n", &lines(&world)));
    let data = brattice_in(&world, &["run", "--json", "--", COMMAND]);
    let outcome: CommandOutcome = serde_json::from_str(&data.stderr).unwrap();
    assert_eq!((data.code, outcome.denials_total), (Some(4), Some(3)));
    assert_eq!(outcome.denials.iter().map(|told| told.count).collect::<Vec<_>>(), [2, 1]);
    world.finish();
}

#[test]
fn a_task_tells_them_beside_its_output_and_with_its_end() {
    let world = world();
    let started = brattice_in(&world, &["task", "start", "--", COMMAND]);
    let task = started.succeeded().stdout.trim().to_owned();
    let waited = brattice_in(&world, &["task", "wait", &task]);
    assert_eq!((waited.code, waited.stderr.as_str()), (Some(4), lines(&world).as_str()));
    let output = brattice_in(&world, &["task", "output", &task]);
    assert_eq!(output, ended(0, "done\n", &lines(&world)));
    let list = brattice_in(&world, &["task", "list"]);
    let cells: Vec<&str> =
        list.succeeded().stdout.lines().nth(1).unwrap().split_whitespace().collect();
    assert_eq!(cells[cells.iter().position(|cell| *cell == "for").unwrap() - 1], "3", "{list:?}");
    world.finish();
}
