//! Volume: memory stays flat, disk stays bounded, what was left out is told and kept in a file.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, Instant};

use brattice_protocol::outcome::Cause;
use brattice_tests::{Process, World};

const MIB: u64 = 1 << 20;

/// The largest resident sets of the daemon and of its own processes, in KiB.
fn peak(world: &mut World) -> u64 {
    let daemon = world.daemon().pid();
    Process::below(daemon)
        .iter()
        .filter(|process| process.arguments.contains("bratticed") && process.is_alive())
        .map(|process| process.pid)
        .chain([daemon])
        .map(|pid| Process::kib(pid, "VmHWM"))
        .max()
        .unwrap()
}

#[test]
fn b029_a_full_stderr_does_not_dead_lock() {
    let world = World::new();
    world.file("flood.py", "import sys\nsys.stderr.write('e' * 2_000_000 + '\\n'); sys.stderr.flush()\nprint('after-flood')\n");
    let session = world.session("workspace-write").open();
    let reply = session.run_for(120_000, "python3 flood.py");
    assert!(reply.exits(0).text().starts_with("after-flood\n[stderr]\n"));
    let stderr = reply.outcome().stderr.clone().unwrap();
    assert_eq!((stderr.bytes, stderr.shown), (2_000_001, [1_936_001, 2_000_001]));
    let file = stderr.file.expect("the whole is in a file");
    assert_eq!(
        reply.lines().pop().unwrap(),
        format!("[stderr truncated: 1936001 bytes omitted; full output: {file}]")
    );
    assert_eq!(fs::metadata(&file).unwrap().len(), 2_000_001);
    world.finish();
}

#[test]
fn b043_t043_t046_the_end_of_long_output_is_shown_and_all_of_it_kept() {
    let world = World::new();
    world.file(
        "suite.py",
        "import sys\nfor i in range(60000): print('test_%05d ... ok' % i)\nprint('FAILED: 1 failed, 59999 passed'); sys.exit(1)\n",
    );
    let session = world.session("workspace-write").open();
    let reply = session.run("PYTHONUNBUFFERED= python3 suite.py");
    let lines = reply.exits(1).lines();
    let stdout = reply.outcome().stdout.clone();
    assert_eq!((stdout.bytes, stdout.shown), (1_080_031, [1_016_031, 1_080_031]));
    let file = stdout.file.expect("the whole is in a file");
    assert_eq!(
        lines[lines.len() - 3..],
        [
            "FAILED: 1 failed, 59999 passed".to_owned(),
            format!("[stdout truncated: 1016031 bytes omitted; full output: {file}]"),
            "[exit code: 1]".to_owned(),
        ]
    );
    assert_eq!(fs::read_to_string(&file).unwrap().lines().count(), 60_001);
    for mode in ["read-only", "workspace-write", "danger-full-access"] {
        let session = world.session(mode).open();
        session.run(&format!("wc -l < {file}")).exits(0).says("60001");
        let read =
            serde_json::json!({"name": "read", "arguments": {"file_path": file, "offset": 60_001}});
        session.end(session.begin_call(read)).holds("60001|FAILED: 1 failed, 59999 passed");
    }
    world.finish();
}

#[test]
fn b045_t035_p23_endless_output_costs_neither_memory_nor_disk_and_stops_nobody_else() {
    let mut world = World::new();
    let (flood, other) =
        (world.session("workspace-write").open(), world.session("workspace-write").open());
    other.run("echo warm").exits(0);
    let before = peak(&mut world);
    let call = flood.begin(
        serde_json::json!({"command": "yes 'some filler text for the buffer'", "timeoutMs": 4000}),
    );
    let mut quick = 0;
    for number in 0..5 {
        let start = Instant::now();
        other.run(&format!("echo alive {number}")).exits(0).says(&format!("alive {number}"));
        quick += usize::from(start.elapsed() < Duration::from_secs(1));
    }
    assert!(quick >= 3, "{quick} of 5 were answered in under a second");
    let reply = flood.end(call);
    assert_eq!(reply.cause(), Cause::TimedOut);
    reply.holds("some filler text for the buffer\n").holds("[timed out after 4000ms]");
    let grown = peak(&mut world).saturating_sub(before);
    assert!(grown < 100 * 1024, "grew by {grown} KiB");
    let stdout = reply.outcome().stdout.clone();
    let file = fs::metadata(stdout.file.as_ref().expect("there is a file")).unwrap();
    assert!(file.blocks() * 512 <= 65 * MIB, "{} MiB on disk", file.blocks() * 512 / MIB);
    assert!(stdout.dropped > 0 && stdout.bytes > 64 * MIB, "{stdout:?}");
    world.finish();
}

#[test]
fn t039_p23_two_gigabytes_pass_in_flat_memory() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    session.run("head -c 200M /dev/zero").exits(0);
    let before = peak(&mut world);
    let reply = session.run_for(600_000, "head -c 2G /dev/zero");
    assert_eq!(reply.exits(0).outcome().stdout.bytes, 2048 * MIB);
    let grown = peak(&mut world).saturating_sub(before);
    assert!(grown < 5 * 1024, "grew by {grown} KiB");
    world.finish();
}

#[test]
fn t040_p23_head_and_tail_of_what_outgrew_its_cap_stay() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let reply = session
        .run_for(600_000, "echo FIRST; head -c 100M /dev/zero | tr '\\0' x; echo; echo LAST");
    let stdout = reply.exits(0).outcome().stdout.clone();
    assert_eq!(stdout.bytes, 6 + 100 * MIB + 1 + 5);
    assert!(stdout.dropped >= 36 * MIB, "{stdout:?}");
    let kept = fs::read(stdout.file.unwrap()).unwrap();
    assert!(kept.starts_with(b"FIRST\n") && kept.ends_with(b"\nLAST\n"));
    reply.holds("\nLAST\n[stdout truncated: ");
    world.finish();
}

#[test]
fn t041_p23_a_full_disk_loses_output_and_nothing_else() {
    let builder = World::builder();
    let mount = format!(
        "mount -t tmpfs -o size=1m,mode=700 tmpfs {}/state && exec {{}}",
        builder.root().display()
    );
    let mut world = builder.wrapper(&["unshare", "-rm", "/bin/bash", "-c", &mount]).start();
    let session = world.session("danger-full-access").open();
    let reply = session.run_for(120_000, "head -c 20M /dev/zero | tr '\\0' x; exit 3");
    reply.exits(3).holds("[output lost: ENOSPC]").holds("[exit code: 3]");
    let lost = reply.outcome().stdout.lost.clone().expect("the loss is told");
    assert_eq!(lost.error, "ENOSPC");
    assert!(lost.bytes > 0);
    assert!(Process::of(world.daemon().pid()).is_some_and(|daemon| daemon.is_alive()));
}

#[test]
fn t045_one_endless_line_is_cut_and_counted() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let reply = session.run("python3 -c \"print('A'*500000)\"");
    let stdout = reply.exits(0).outcome().stdout.clone();
    assert_eq!((stdout.bytes, stdout.shown), (500_001, [436_001, 500_001]));
    reply.says(&format!(
        "{}\n[stdout truncated: 436001 bytes omitted; full output: {}]",
        "A".repeat(63_999),
        stdout.file.unwrap()
    ));
    world.finish();
}

#[test]
fn t045_a_cut_never_splits_a_character() {
    let world = World::new();
    let session = world.session("workspace-write").open();
    let reply = session.run("python3 -c \"print('x' + '€'*30000)\"");
    let stdout = reply.exits(0).outcome().stdout.clone();
    assert_eq!((stdout.bytes, stdout.invalid_utf8), (90_002, 0));
    assert!(stdout.shown[1] - stdout.shown[0] <= 64_000 && stdout.shown[1] == 90_002, "{stdout:?}");
    reply
        .lacks("\u{fffd}")
        .holds(&format!("[stdout truncated: {} bytes omitted; ", stdout.shown[0]));
    world.finish();
}

#[test]
fn t052_p23_a_line_without_end_is_no_buffer_without_end() {
    let mut world = World::new();
    let session = world.session("workspace-write").open();
    session.run("head -c 200M /dev/zero").exits(0);
    let before = peak(&mut world);
    let reply = session.run_for(600_000, "head -c 300M /dev/zero | tr '\\0' x");
    assert_eq!(reply.exits(0).outcome().stdout.bytes, 300 * MIB);
    let grown = peak(&mut world).saturating_sub(before);
    assert!(grown < 5 * 1024, "grew by {grown} KiB");
    world.finish();
}
