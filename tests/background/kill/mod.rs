//! The kill test: short tasks of all kinds, while daemons die at random times, and supervisors with them.
//!
//! ```text
//! chaos ── kills daemons with SIGKILL, starts the next; kills supervisors
//! worker, worker, … ── one client and one session each: starts, waits, resumes, finds out what has started
//! ```
//!
//! In the end every task was told as exactly what it was, or as lost where its supervisor was killed; no byte of its output
//! is missing, doubled or a stranger's; and nothing is left. The seed repeats the tasks and the kinds of kills; when a kill
//! comes is the machine's business.

mod client;
mod hits;
mod job;
mod random;
mod worker;

use std::env;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use brattice_tests::{PATIENCE, Process, World, eventually};

use client::Client;
use hits::Hits;
use job::Job;
use random::Random;
use worker::{Tally, Worker};

/// How many tasks run; [`FEW`] unless given.
const TASKS: &str = "BRATTICE_KILL_TEST";

/// The seed that a failed run has told.
const SEED: &str = "BRATTICE_KILL_TEST_SEED";

/// Tasks of a short run.
const FEW: usize = 150;

/// Clients at work at once.
const CLIENTS: usize = 4;

/// What is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Victims {
    Daemons,
    DaemonsAndSupervisors,
}

/// How many were.
#[derive(Clone, Copy, Debug, Default)]
struct Killed {
    daemons: usize,
    supervisors: usize,
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

fn wait_ms(random: &mut Random, from: u64, to: u64) {
    thread::sleep(Duration::from_millis(random.between(from, to)));
}

/// Kills one of the supervisors that live.
fn kill_supervisor(world: &World, hits: &Hits, random: &mut Random) -> usize {
    let supervisors = world.supervisors();
    if supervisors.is_empty() {
        return 0;
    }
    let numbers: Vec<usize> = (0..supervisors.len()).collect();
    let victim = &supervisors[random.one_of(&numbers)];
    hits.add(&victim.session);
    victim.process.kill();
    1
}

/// Kills the daemon, sometimes the next one before it is ready, and starts one that stays for a while.
fn replace_daemon(world: &mut World, random: &mut Random) -> usize {
    let mut killed = 1;
    world.kill_daemon();
    if random.in_percent(30) {
        wait_ms(random, 0, 300);
    }
    while random.in_percent(25) {
        let mut command = world.daemon_command();
        let mut early = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        wait_ms(random, 0, 40);
        early.kill().unwrap();
        early.wait().unwrap();
        killed += 1;
    }
    world.start();
    killed
}

/// Kills until all workers are done.
fn spread_death(
    world: &mut World,
    workers: &[JoinHandle<Worker>],
    victims: Victims,
    hits: &Hits,
    random: &mut Random,
) -> Killed {
    let mut killed = Killed::default();
    while workers.iter().any(|worker| !worker.is_finished()) {
        wait_ms(random, 50, 500);
        if victims == Victims::DaemonsAndSupervisors && random.in_percent(20) {
            killed.supervisors += kill_supervisor(world, hits, random);
        }
        if random.in_percent(80) {
            killed.daemons += replace_daemon(world, random);
        }
    }
    killed
}

fn run(victims: Victims) {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let seed = number(SEED).unwrap_or_else(|| u64::try_from(now()).unwrap());
    let tasks = number(TASKS).map_or(FEW, |tasks| usize::try_from(tasks).unwrap());
    println!("{victims:?}, {tasks} tasks; to repeat: {SEED}={seed}");
    let mut random = Random::of(seed);
    let mut world = World::new();
    let at_rest = descriptors(&mut world);
    let hits = Hits::default();

    let jobs: Vec<Job> = (0..tasks).map(|number| Job::new(number, &mut random)).collect();
    let workers: Vec<JoinHandle<Worker>> = jobs
        .chunks(tasks.div_ceil(CLIENTS))
        .map(|jobs| {
            let client = Client::new(world.socket(), world.ws(), hits.clone());
            let worker = Worker::new(client, hits.clone(), jobs.to_vec());
            thread::spawn(move || worker.work())
        })
        .collect();
    let killed = spread_death(&mut world, &workers, victims, &hits, &mut random);
    let workers: Vec<Worker> =
        workers.into_iter().map(|worker| worker.join().expect("a worker has failed")).collect();

    world.restart();
    let tally =
        workers.into_iter().map(Worker::finish).fold(Tally::default(), |sum, tally| Tally {
            exact: sum.exact + tally.exact,
            lost: sum.lost + tally.lost,
            refused: sum.refused + tally.refused,
        });
    println!("{killed:?}, {tally:?}");
    assert_eq!(tally.exact + tally.lost + tally.refused, tasks, "each is told once");
    if victims == Victims::Daemons {
        assert_eq!(tally.lost, 0, "no supervisor was killed");
    }
    nothing_is_left(&world.sessions(), &world);
    let begun = Instant::now();
    // Each of its two sockets takes a spare one when it begins to serve, which may be after the first look.
    while descriptors(&mut world).len() > at_rest.len() + 2 {
        let now = descriptors(&mut world);
        assert!(begun.elapsed() < PATIENCE, "descriptors are left: {now:?}, first {at_rest:?}");
        thread::sleep(Duration::from_millis(50));
    }
    world.finish();
}

/// What the daemon's descriptors lead to.
fn descriptors(world: &mut World) -> Vec<PathBuf> {
    let pid = world.daemon().pid();
    Process::of(pid).expect("the daemon runs").open_files()
}

/// Sessions whose opening was not answered may be left, without a task; they are closed, and then nothing is.
fn nothing_is_left(sessions: &[serde_json::Value], world: &World) {
    for session in sessions {
        assert_eq!(session["running"], 0, "{session}");
        let params = serde_json::json!({"session": session["session"]});
        let mut operator = brattice_tests::Wire::open(&world.control());
        operator.request("session.close", params).unwrap();
    }
    world.is_quiet();
    eventually("no supervisor is left", || world.supervisors().is_empty().then_some(()));
    let folders = std::fs::read_dir(world.state().join("sessions")).unwrap().count();
    assert_eq!(folders, 0, "a folder is left");
}

#[test]
fn every_task_is_what_it_was_while_daemons_die() {
    run(Victims::Daemons);
}

#[test]
fn every_task_is_what_it_was_or_lost_while_daemons_and_supervisors_die() {
    run(Victims::DaemonsAndSupervisors);
}
