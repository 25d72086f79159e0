//! The file and search tools, through the socket.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use brattice_tests::{Process, World};
use serde_json::{Value, json};

use super::connection::Connection;
use super::row;
use super::scale::Scale;
use super::spread::{Spread, pause, timed};

/// Reads of a small file.
const READS: usize = 2000;

/// Edits of a large file.
const EDITS: usize = 10;

/// Bytes of that file.
const LARGE: usize = 100_000_000;

/// What it is made of.
const LINE: &str = "a line of sixty-three characters, more or less, in a large file\n";

/// Files of the tree that is searched by names.
const MANY: usize = 200_000;

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
    edit(scale, &world, &mut session);
    searches(scale, &mut session);
    many_files(scale, &world, &mut session);
    session.close();
    world.finish();
}

/// One place of a large file, there and back: time, and the memory of the process that does it.
fn edit(scale: Scale, world: &World, session: &mut Connection) {
    let bytes = scale.of(LARGE);
    world.file("large", &format!("{}needle\n", LINE.repeat(bytes / LINE.len())));
    session.tool("read", json!({"file_path": "large", "limit": 1}));
    let worker = || {
        let workers = Process::in_role(world.supervisor(session.id()).pid, "files");
        workers.first().expect("a process works on files").pid
    };
    let worker = worker();
    let before = Process::kib(worker, "VmRSS");
    let (mut times, mut words) = (Vec::new(), ["needle", "thread"]);
    for _ in 0..scale.of(EDITS).max(2) {
        let [old, new] = words;
        let call = json!({"file_path": "large", "old_string": old, "new_string": new});
        times.push(timed(|| session.tool("edit", call)));
        words.reverse();
        pause();
    }
    let megabytes = bytes / 1_000_000;
    row(&format!("`edit` of one place of a file of {megabytes} MB"), Spread::of(times));
    let grown = Process::kib(worker, "VmHWM").saturating_sub(before);
    row("its process' peak memory grew by", format!("{} MiB", grown / 1024));
}

/// Names alone, in a tree that is larger than most.
fn many_files(scale: Scale, world: &World, session: &mut Connection) {
    let files = scale.of(MANY);
    let tree = world.out().join("many");
    for number in 0..files {
        let folder = tree.join(format!("{:03}", number / 1000));
        if number % 1000 == 0 {
            std::fs::create_dir_all(&folder).expect("a folder");
        }
        std::fs::write(folder.join(format!("{number}.txt")), "").expect("a file");
    }
    let shown = tree.display().to_string();
    let call = json!({"pattern": "**/*", "path": shown});
    let rg = || {
        let arguments = ["--files", "--sortr", "modified", shown.as_str()];
        let status = Command::new("rg").args(arguments).stdout(Stdio::null()).status();
        assert!(status.expect("rg runs").success());
    };
    let is_there = Command::new("rg").arg("--version").output().is_ok();
    let (mut theirs, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..scale.of(SEARCHES) {
        if is_there {
            theirs.push(timed(rg));
            pause();
        }
        ours.push(timed(|| session.tool("glob", call.clone())));
        pause();
    }
    let ours = Spread::of(ours);
    let name = format!("`glob` over {files} files");
    if is_there {
        let theirs = Spread::of(theirs);
        row(&format!("`rg --files --sortr modified` over {files} files"), &theirs);
        row(&name, format!("{ours}, **{:.2}x**", ours.over(&theirs)));
    } else {
        row(&name, &ours);
    }
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
