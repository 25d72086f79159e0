//! What the observer costs: a call that it is asked about, and work that consists of such calls.

use std::path::{Path, PathBuf};

use brattice_tests::World;

use super::commands::bash_natively;
use super::connection::Connection;
use super::row;
use super::scale::Scale;
use super::spread::{Spread, pause, timed};

/// Runs of each side of a comparison of single calls, with as many calls in each.
const CALL_RUNS: usize = 30;
const CALLS: usize = 5000;

/// Files of the repository that is checked out, and how often it is.
const FILES: usize = 10_000;
const CHECKOUTS: usize = 15;

/// Builds of each side.
const BUILDS: usize = 3;

/// Opens a file for writing, or makes and removes a folder, so many times.
const PROGRAM: &str = r#"
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int count, char **arguments) {
    for (long left = atol(arguments[2]); left; left--) {
        if (arguments[1][0] == 'o')
            close(open("opened", O_WRONLY | O_CREAT, 0600));
        else if (mkdir("folder", 0700) || rmdir("folder"))
            return 1;
    }
}
"#;

pub(crate) fn measure(scale: Scale) {
    let world = World::new();
    calls(scale, &world);
    checkouts(scale, &world);
    builds(scale, &world);
    world.setup("chmod -R u+w .");
    world.finish();
}

/// Both sides of a comparison in turns, after a first run of each that does not count.
fn compare(
    world: &World,
    runs: usize,
    prepare: impl Fn(),
    command: &str,
    each: u32,
) -> (Spread, Spread) {
    let mut session = Connection::open(world, "workspace-write");
    let native = format!("cd {} && {command}", world.ws().display());
    let (mut bare, mut confined) = (Vec::new(), Vec::new());
    for run in 0..=runs {
        prepare();
        let alone = timed(|| bash_natively(&native));
        pause();
        prepare();
        let through = timed(|| {
            let result = session.bash(command);
            assert_eq!(result["structuredContent"]["exit_code"], 0, "{result}");
        });
        pause();
        if run > 0 {
            bare.push(alone / each);
            confined.push(through / each);
        }
    }
    session.close();
    (Spread::of(bare), Spread::of(confined))
}

fn tell(what: &str, (bare, confined): (Spread, Spread)) {
    row(&format!("{what}, bare"), &bare);
    row(
        &format!("{what}, in workspace-write"),
        format!("{confined}, **{:.2}x**", confined.over(&bare)),
    );
}

fn calls(scale: Scale, world: &World) {
    world.file("calls.c", PROGRAM);
    world.setup("gcc -O2 -o calls calls.c");
    let runs = scale.of(CALL_RUNS);
    for (what, argument) in
        [("an open for writing in a root", "o"), ("a folder made and removed in a root", "m")]
    {
        let each = u32::try_from(CALLS).expect("a small number");
        let command = format!("./calls {argument} {CALLS}");
        tell(what, compare(world, runs, || (), &command, each));
    }
}

fn checkouts(scale: Scale, world: &World) {
    world.setup(&format!(
        "mkdir repository && cd repository && git init -q -b empty && \
         git -c user.name=b -c user.email=b@b commit -q --allow-empty -m empty && git checkout -q -b full && \
         for d in $(seq 100); do mkdir $d; for f in $(seq {}); do echo $d $f > $d/$f; done; done && \
         git add . && git -c user.name=b -c user.email=b@b commit -q -m full",
        FILES / 100
    ));
    let empty = format!("cd {}/repository && git checkout -q empty", world.ws().display());
    let command = "cd repository && git checkout -q full";
    let (runs, prepare) = (scale.of(CHECKOUTS), || bash_natively(&empty));
    tell(&format!("`git checkout` of {FILES} files"), compare(world, runs, prepare, command, 1));
}

/// Builds a package of this repository with all that it needs, from sources that are there already.
fn builds(scale: Scale, world: &World) {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a workspace");
    let cargo = PathBuf::from(std::env::var_os("CARGO").expect("cargo runs benchmarks"));
    let home = |variable: &str, folder: &str| {
        let default = || Path::new(&std::env::var_os("HOME").expect("a home")).join(folder);
        std::env::var_os(variable).map_or_else(default, PathBuf::from)
    };
    let (cargo_home, rustup_home) = (home("CARGO_HOME", ".cargo"), home("RUSTUP_HOME", ".rustup"));
    let command = format!(
        "export CARGO_HOME={} RUSTUP_HOME={} PATH={}:$PATH CARGO_TARGET_DIR={}/target; \
         cargo build -q --offline --locked -p brattice-protocol --manifest-path {}/Cargo.toml",
        cargo_home.display(),
        rustup_home.display(),
        cargo.parent().expect("a folder").display(),
        world.ws().display(),
        repository.display(),
    );
    let target = world.ws().join("target");
    let prepare = || {
        if target.exists() {
            std::fs::remove_dir_all(&target).expect("what was built can be removed");
        }
    };
    tell(
        "`cargo build` of `protocol/` and what it needs",
        compare(world, scale.of(BUILDS), prepare, &command, 1),
    );
}
