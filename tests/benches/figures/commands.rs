//! What confinement costs, how fast output moves, and what a thousand calls leave behind.

use std::process::{Command, Stdio};
use std::time::Duration;

use brattice_tests::{Process, World};

use super::connection::Connection;
use super::row;
use super::scale::Scale;
use super::spread::{Spread, pause, timed};

/// Runs of each side of the interleaved comparison of `true`.
const RUNS: usize = 600;

/// Commands that follow each other without a pause.
const IN_A_ROW: usize = 20;

/// Runs of each side of the interleaved comparison of output.
const OUTPUT_RUNS: usize = 5;

/// Calls whose traces are looked for.
const CALLS: usize = 1000;

pub(crate) fn measure(scale: Scale) {
    let mut world = World::new();
    let daemon = world.daemon().pid();
    for mode in ["workspace-write", "read-only", "danger-full-access"] {
        cost_of_true(scale, &world, mode);
    }
    cost_in_a_row(scale, &world);
    output_speed(scale, &world, daemon);
    traces(scale, &world, daemon);
    world.finish();
}

/// `true` through the socket, over `bash -c true` by posix_spawn, in turns.
fn cost_of_true(scale: Scale, world: &World, mode: &str) {
    let mut session = Connection::open(world, mode);
    let (mut bare, mut through) = (Vec::new(), Vec::new());
    for _ in 0..scale.of(RUNS) {
        bare.push(timed(|| bash_natively("true")));
        pause();
        through.push(timed(|| session.bash("true")));
        pause();
    }
    session.close();
    let (bare, through) = (Spread::of(bare), Spread::of(through));
    row("`true` bare", &bare);
    row(
        &format!("`true` in {mode} through the socket"),
        format!("{through}, **{:.2}x**", through.over(&bare)),
    );
}

/// The same where each command follows the one before at once: no shell stands ready then.
fn cost_in_a_row(scale: Scale, world: &World) {
    let mut session = Connection::open(world, "workspace-write");
    let (mut bare, mut through) = (Vec::new(), Vec::new());
    for _ in 0..scale.of(RUNS) / IN_A_ROW {
        bare.push(timed(|| (0..IN_A_ROW).for_each(|_| bash_natively("true"))));
        pause();
        through.push(timed(|| (0..IN_A_ROW).for_each(|_| drop(session.bash("true")))));
        pause();
    }
    session.close();
    let (bare, through) = (Spread::of(bare), Spread::of(through));
    row(&format!("`true`, {IN_A_ROW} in a row, bare"), &bare);
    row(
        &format!("`true`, {IN_A_ROW} in a row, in workspace-write through the socket"),
        format!("{through}, **{:.2}x**", through.over(&bare)),
    );
}

pub(super) fn bash_natively(command: &str) {
    // No pre-exec hooks and no changed identity: std uses posix_spawn.
    let status = Command::new("/bin/bash")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("bash runs");
    assert!(status.success());
}

/// 2 GiB through the spool, over the same through `cat` into a file.
fn output_speed(scale: Scale, world: &World, daemon: u32) {
    const COMMAND: &str = "head -c 2G /dev/zero";
    let file = world.ws().join("copy");
    let native = format!("{COMMAND} | cat > {}", file.display());
    let mut session = Connection::open(world, "workspace-write");
    session.bash("true");
    let supervisor = world.supervisor(session.id()).pid;
    let resident = || [daemon, supervisor].map(|pid| Process::kib(pid, "VmHWM"));
    let before = resident();
    let runs = scale.of(OUTPUT_RUNS);
    let (mut bare, mut through) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        bare.push(timed(|| bash_natively(&native)));
        std::fs::remove_file(&file).expect("the copy is there");
        through.push(timed(|| {
            let result = session.bash(COMMAND);
            assert_eq!(result["structuredContent"]["stdout"]["bytes"], 2u64 << 30);
        }));
    }
    let after = resident();
    session.close();
    let (bare, through) = (Spread::of(bare), Spread::of(through));
    row("2 GiB, `\\| cat > file`", &bare);
    row("2 GiB through the spool", format!("{through}, **{:.2}x**", through.over(&bare)));
    for (name, before, after) in
        [("daemon", before[0], after[0]), ("supervisor", before[1], after[1])]
    {
        row(
            &format!("{name}'s peak memory grew over {} GiB by", 2 * runs),
            format!("{} KiB", after - before),
        );
    }
}

/// What a thousand calls leave behind.
fn traces(scale: Scale, world: &World, daemon: u32) {
    let mut session = Connection::open(world, "workspace-write");
    for _ in 0..100 {
        session.bash("echo warm; echo up >&2");
    }
    let supervisor = world.supervisor(session.id()).pid;
    let look = || {
        // The supervisor lets a task's keeper go, and forks the next, a moment after the end was told.
        std::thread::sleep(Duration::from_millis(200));
        [daemon, supervisor].map(|pid| {
            (Process::descriptors(pid).expect("our own process"), Process::kib(pid, "VmRSS"))
        })
    };
    let calls = scale.of(CALLS);
    let before = look();
    for _ in 0..calls {
        session.bash("echo out; echo err >&2");
    }
    let after = look();
    let zombies = Process::below(daemon).iter().filter(|process| process.state == 'Z').count();
    session.close();
    for (name, before, after) in
        [("daemon", before[0], after[0]), ("supervisor", before[1], after[1])]
    {
        row(
            &format!("{name} after {calls} calls"),
            format!(
                "{:+} descriptors, {:+} KiB",
                after.0 as i64 - before.0 as i64,
                after.1 as i64 - before.1 as i64
            ),
        );
    }
    row(&format!("zombies after {calls} calls"), zombies);
}
