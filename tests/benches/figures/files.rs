//! The file and search tools, through the socket.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use brattice_tests::World;
use serde_json::{Value, json};

use super::connection::Connection;
use super::row;
use super::scale::Scale;
use super::spread::{Spread, pause, timed};

/// Reads of a small file.
const READS: usize = 2000;

/// Searches of each side.
const SEARCHES: usize = 9;

pub(crate) fn measure(scale: Scale) {
    let world = World::new();
    world.file("small", &"a line of forty characters, more or less\n".repeat(250));
    let mut session = Connection::open(&world, "workspace-write");
    let mut read = || session.tool("read", json!({"file_path": "small", "limit": 50}));
    read();
    let mut times = Vec::new();
    for _ in 0..scale.of(READS) {
        times.push(timed(&mut read));
        std::thread::sleep(Duration::from_micros(200));
    }
    row("`read` of 50 lines of a 10 KB file", Spread::of(times));
    searches(scale, &mut session);
    session.close();
    world.finish();
}

/// The largest tree at hand: the sources and libraries of the toolchain that builds this.
fn searches(scale: Scale, session: &mut Connection) {
    let cargo = std::env::var_os("CARGO").expect("cargo runs benchmarks");
    let tree = Path::new(&cargo).ancestors().nth(2).expect("a toolchain").to_owned();
    let Ok(version) = Command::new("rg").arg("--version").output() else {
        eprintln!("searches are not measured: there is no rg to compare with");
        return;
    };
    let version = String::from_utf8_lossy(&version.stdout);
    eprintln!("compared with {}", version.lines().next().unwrap_or_default());
    let shown = tree.display().to_string();
    let rg = |arguments: &[&str]| {
        let status = Command::new("rg").args(arguments).arg(&shown).stdout(Stdio::null()).status();
        assert!(status.expect("rg runs").code().is_some_and(|code| code < 2));
    };
    let grep = json!({"pattern": "no such text anywhere", "path": shown, "includeIgnored": true});
    let glob = json!({"pattern": "**/*", "path": shown, "includeIgnored": true});
    let rounds: [(&str, &[&str], &str, Value); 2] = [
        ("grep", &["-uu", "-e", "no such text anywhere"], "`rg`", grep),
        ("glob", &["--files", "-uu", "--sortr", "modified"], "`rg --files --sortr modified`", glob),
    ];
    for (tool, arguments, name, call) in rounds {
        let (mut theirs, mut ours) = (Vec::new(), Vec::new());
        for _ in 0..scale.of(SEARCHES) {
            theirs.push(timed(|| rg(arguments)));
            pause();
            ours.push(timed(|| session.tool(tool, call.clone())));
            pause();
        }
        let (theirs, ours) = (Spread::of(theirs), Spread::of(ours));
        row(&format!("{name} over the toolchain"), &theirs);
        row(
            &format!("`{tool}` over the toolchain"),
            format!("{ours}, **{:.2}x**", ours.over(&theirs)),
        );
    }
}
