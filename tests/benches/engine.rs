//! The engine's figures, each as a ratio within one interleaved run: what confinement costs, how fast output moves, and
//! what a thousand calls leave behind. Prints the table that ARCHITECTURE.md holds.
//!
//! `cargo build --release --workspace && cargo bench -p brattice-tests --bench engine`
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a benchmark that cannot go on says why and ends"
)]

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use brattice_tests::{Process, Wire, World};
use serde_json::{Value, json};

/// Runs of each side of the interleaved comparison of `true`.
const RUNS: usize = 600;

/// Runs of each side of the interleaved comparison of output.
const OUTPUT_RUNS: usize = 5;

/// Calls whose traces are looked for.
const CALLS: usize = 1000;

fn main() {
    let mut world = World::new();
    let pid = world.daemon().pid();
    println!("| figure | value |\n|---|---|");
    for mode in ["workspace-write", "read-only", "danger-full-access"] {
        cost_of_true(&world, mode);
    }
    output_speed(&world, pid);
    traces(&world, pid);
    world.finish();
}

/// A connection with a session of its own.
struct Bench {
    wire: Wire,
    session: Value,
}

impl Bench {
    fn open(world: &World, mode: &str) -> Bench {
        let mut wire = Wire::open(&world.socket());
        let opened = wire
            .request("session.open", json!({"workspace": world.ws(), "mode": mode}))
            .expect("a session");
        Bench { wire, session: opened["session"].clone() }
    }

    fn bash(&mut self, command: &str) -> Value {
        let arguments = json!({"command": command, "timeoutMs": 600_000});
        let call = json!({"session": self.session, "name": "bash", "arguments": arguments});
        let result = self.wire.request("tools.call", call).expect("a result");
        assert_eq!(result["structuredContent"]["cause"], "exited", "{command}: {result}");
        result
    }

    fn close(mut self) {
        self.wire.request("session.close", json!({"session": self.session})).expect("it closes");
    }
}

/// `true` through the socket, over `bash -c true` by posix_spawn, in turns.
fn cost_of_true(world: &World, mode: &str) {
    let mut bench = Bench::open(world, mode);
    let (mut bare, mut through) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        bare.push(timed(|| bash_natively("true")));
        pause();
        through.push(timed(|| bench.bash("true")));
        pause();
    }
    bench.close();
    let (bare, through) = (Spread::of(bare), Spread::of(through));
    println!("| `true` bare | {bare} |");
    println!(
        "| `true` in {mode} through the socket | {through}, **{:.2}x** |",
        through.over(&bare)
    );
}

/// What a person's next call costs nobody: both sides begin from rest.
fn pause() {
    std::thread::sleep(Duration::from_micros(1500));
}

fn bash_natively(command: &str) {
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
fn output_speed(world: &World, daemon: u32) {
    const COMMAND: &str = "head -c 2G /dev/zero";
    let file = world.ws().join("copy");
    let native = format!("{COMMAND} | cat > {}", file.display());
    let mut bench = Bench::open(world, "workspace-write");
    bench.bash("true");
    let supervisor = supervisor_of(daemon);
    let resident = || [daemon, supervisor].map(|pid| Process::kib(pid, "VmHWM"));
    let before = resident();
    let (mut bare, mut through) = (Vec::new(), Vec::new());
    for _ in 0..OUTPUT_RUNS {
        bare.push(timed(|| bash_natively(&native)));
        std::fs::remove_file(&file).expect("the copy is there");
        through.push(timed(|| {
            let result = bench.bash(COMMAND);
            assert_eq!(result["structuredContent"]["stdout"]["bytes"], 2u64 << 30);
        }));
    }
    let after = resident();
    bench.close();
    let (bare, through) = (Spread::of(bare), Spread::of(through));
    println!("| 2 GiB, `\\| cat > file` | {bare} |");
    println!("| 2 GiB through the spool | {through}, **{:.2}x** |", through.over(&bare));
    for (name, before, after) in
        [("daemon", before[0], after[0]), ("supervisor", before[1], after[1])]
    {
        println!("| {name}'s peak memory grew over 10 GiB by | {} KiB |", after - before);
    }
}

/// What a thousand calls leave behind.
fn traces(world: &World, daemon: u32) {
    let mut bench = Bench::open(world, "workspace-write");
    for _ in 0..100 {
        bench.bash("echo warm; echo up >&2");
    }
    let supervisor = supervisor_of(daemon);
    let look = || {
        // The supervisor lets a task's keeper go, and forks the next, a moment after the end was told.
        std::thread::sleep(Duration::from_millis(200));
        [daemon, supervisor].map(|pid| {
            (Process::descriptors(pid).expect("our own process"), Process::kib(pid, "VmRSS"))
        })
    };
    let before = look();
    for _ in 0..CALLS {
        bench.bash("echo out; echo err >&2");
    }
    let after = look();
    let zombies = Process::below(daemon).iter().filter(|process| process.state == 'Z').count();
    bench.close();
    for (name, before, after) in
        [("daemon", before[0], after[0]), ("supervisor", before[1], after[1])]
    {
        println!(
            "| {name} after {CALLS} calls | {:+} descriptors, {:+} KiB |",
            after.0 as i64 - before.0 as i64,
            after.1 as i64 - before.1 as i64
        );
    }
    println!("| zombies after {CALLS} calls | {zombies} |");
}

fn supervisor_of(daemon: u32) -> u32 {
    let below = Process::below(daemon);
    below.iter().find(|process| process.parent == daemon).expect("the session has a supervisor").pid
}

fn timed<T>(what: impl FnOnce() -> T) -> Duration {
    let begun = Instant::now();
    what();
    begun.elapsed()
}

/// Median, tenth and ninetieth percentile.
struct Spread {
    low: Duration,
    median: Duration,
    high: Duration,
}

impl Spread {
    fn of(mut times: Vec<Duration>) -> Spread {
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() - 1) * percent / 100];
        Spread { low: at(10), median: at(50), high: at(90) }
    }

    fn over(&self, other: &Spread) -> f64 {
        self.median.as_secs_f64() / other.median.as_secs_f64()
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let millis = |time: Duration| time.as_secs_f64() * 1000.0;
        write!(
            f,
            "{:.2} ms ({:.2} to {:.2})",
            millis(self.median),
            millis(self.low),
            millis(self.high)
        )
    }
}
