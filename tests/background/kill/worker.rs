//! One client's part of the jobs: it starts them, a few at a time, and judges what is told of each.

use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant};

use brattice_protocol::outcome::Cause;
use brattice_protocol::task::{TaskStatus, TaskSummary};
use brattice_protocol::tools::Stream;
use brattice_tests::PATIENCE;

use super::client::{Client, Lost, Start};
use super::hits::Hits;
use super::job::{Expected, Job};

/// Tasks that one session runs at once.
const AT_ONCE: usize = 8;

/// How many tasks ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// As what they were.
    pub(crate) exact: usize,
    /// As lost.
    pub(crate) lost: usize,
    /// They did not start, and could not.
    pub(crate) refused: usize,
}

/// A client at work.
pub(crate) struct Worker {
    client: Client,
    hits: Hits,
    waiting: VecDeque<Job>,
    /// Those that this session was asked to start.
    started: BTreeMap<String, Job>,
    running: BTreeMap<String, Instant>,
    /// What was told of those that are over.
    known: BTreeMap<String, TaskSummary>,
    tally: Tally,
}

impl Worker {
    pub(crate) fn new(client: Client, hits: Hits, jobs: Vec<Job>) -> Worker {
        Worker {
            client,
            hits,
            waiting: jobs.into(),
            started: BTreeMap::new(),
            running: BTreeMap::new(),
            known: BTreeMap::new(),
            tally: Tally::default(),
        }
    }

    /// Runs every job. What the last session was told is judged later, by [`Worker::finish`].
    pub(crate) fn work(mut self) -> Worker {
        self.client.open();
        while !(self.waiting.is_empty() && self.running.is_empty()) {
            if let Err(Lost) = self.step() {
                self.judge();
                self.client.close();
                self.client.open();
            }
        }
        self
    }

    fn step(&mut self) -> Result<(), Lost> {
        while self.running.len() < AT_ONCE
            && let Some(job) = self.waiting.front().cloned()
        {
            match self.client.start(&job)? {
                Start::Started(task) => {
                    if job.is_to_be_killed() {
                        self.client.kill(&task);
                    }
                    self.running.insert(task.clone(), Instant::now());
                    let earlier = self.started.insert(task.clone(), job);
                    assert!(earlier.is_none(), "{task} was given twice");
                }
                Start::Refused(refusal) => {
                    assert!(job.is_missing(), "{job:?} was refused: {refusal:?}");
                    self.tally.refused += 1;
                }
            }
            self.waiting.pop_front();
        }
        self.wait()
    }

    /// Waits for an end, and takes note of all that there are.
    fn wait(&mut self) -> Result<(), Lost> {
        let running: Vec<&str> = self.running.keys().map(String::as_str).collect();
        if running.is_empty() {
            return Ok(());
        }
        self.client.wait(&running)?;
        let tasks = self.client.tasks()?;
        self.forget_unstarted(&tasks);
        for summary in tasks.iter().filter(|summary| summary.status.is_final()) {
            let task = summary.task.as_str();
            if !self.started.contains_key(task) {
                continue;
            }
            self.running.remove(task);
            let known = self.known.entry(task.to_owned()).or_insert_with(|| summary.clone());
            assert_eq!(facts(known), facts(summary), "what is told of {task} has changed");
        }
        self.kill_again(&tasks);
        let overdue = self.running.iter().find(|(_, since)| since.elapsed() > PATIENCE);
        if let Some((task, _)) = overdue {
            let told = tasks.iter().find(|summary| summary.task.as_str() == task);
            panic!("{task} does not end: {:?}, {told:#?}", self.started.get(task));
        }
        Ok(())
    }

    /// A daemon may die between its answer to a kill and the kill.
    fn kill_again(&mut self, tasks: &[TaskSummary]) {
        for summary in tasks.iter().filter(|summary| summary.status == TaskStatus::Running) {
            let task = summary.task.as_str();
            if self.started.get(task).is_some_and(Job::is_to_be_killed) {
                self.client.kill(task);
            }
        }
    }

    /// A job that cannot start was seen starting when its daemon died. The next one tells that it did not start, and the one
    /// after that does not know it.
    fn forget_unstarted(&mut self, tasks: &[TaskSummary]) {
        let ends = |task: &&String| {
            let told = tasks.iter().find(|summary| summary.task.as_str() == task.as_str());
            told.is_none_or(|summary| summary.cause == Some(Cause::FailedToStart))
        };
        let unstarted: Vec<String> = self.started.keys().filter(ends).cloned().collect();
        for task in unstarted {
            self.running.remove(&task);
            self.known.remove(&task);
            let job = self.started.remove(&task).expect("it was started");
            assert!(job.is_missing(), "{task} is not known or did not start: {job:?}");
            self.tally.refused += 1;
        }
    }

    /// The tasks of a session in which nothing runs any more. That its supervisor is gone is told a moment before the ends of
    /// its tasks, for which the disk is looked at.
    fn settled(&mut self) -> Result<Vec<TaskSummary>, Lost> {
        let until = Instant::now() + PATIENCE;
        loop {
            let tasks = self.client.tasks()?;
            let is_over = tasks.iter().all(|summary| summary.status.is_final());
            if is_over || Instant::now() > until {
                return Ok(tasks);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Judges what is told of every task of the session, which was lost or has nothing that runs.
    fn judge(&mut self) {
        let session = self.client.session().to_owned();
        let was_hit = self.hits.contains(&session);
        let started = std::mem::take(&mut self.started);
        let known = std::mem::take(&mut self.known);
        self.running.clear();
        let Ok(tasks) = self.settled() else {
            // Nothing was on record, or the folder is gone: then nothing was known to have ended.
            assert!(was_hit && known.is_empty(), "{session} is gone with {known:#?}");
            self.tally.lost += started.len();
            return;
        };
        for (task, job) in &started {
            let told: Vec<&TaskSummary> =
                tasks.iter().filter(|summary| job.is(&summary.command)).collect();
            let [summary] = told[..] else {
                let known = known.get(task);
                panic!("{task} of {session}, {job:?}, known as {known:?}, is told as {told:#?}");
            };
            assert_eq!(summary.task.as_str(), task, "{job:?}");
            if let Some(known) = known.get(task) {
                assert_eq!(facts(known), facts(summary), "what is told of {task} has changed");
            }
            let told = self.told(summary);
            let expected = job.expected();
            if told == expected {
                self.tally.exact += 1;
                continue;
            }
            assert!(was_hit, "{task} of {session}: {job:?} ended as {}", describe(&told));
            assert!(
                told.cause == Cause::Lost && told.exit_code.is_none() && told.signal.is_none(),
                "{task} of {session}: {job:?} ended as {}",
                describe(&told)
            );
            assert!(
                expected.stdout.starts_with(&told.stdout)
                    && expected.stderr.starts_with(&told.stderr),
                "{task} of {session}: {job:?} printed {}",
                describe(&told)
            );
            self.tally.lost += 1;
        }
        let strangers: Vec<&TaskSummary> = tasks
            .iter()
            .filter(|told| told.cause != Some(Cause::FailedToStart))
            .filter(|told| !started.contains_key(told.task.as_str()))
            .collect();
        // One that was being started when the session was lost is started again elsewhere.
        let allowed = usize::from(was_hit);
        assert!(strangers.len() <= allowed, "started and unknown: {strangers:#?}");
    }

    fn told(&mut self, summary: &TaskSummary) -> Expected {
        let task = summary.task.as_str();
        Expected {
            cause: summary.cause.unwrap_or_else(|| panic!("it has not ended: {summary:#?}")),
            exit_code: summary.exit_code,
            signal: summary.signal.clone(),
            stdout: self.client.read(task, Stream::Stdout),
            stderr: self.client.read(task, Stream::Stderr),
        }
    }

    /// Judges the last session and closes it.
    pub(crate) fn finish(mut self) -> Tally {
        self.judge();
        self.client.close();
        self.tally
    }
}

/// What must not change once a task is over.
fn facts(summary: &TaskSummary) -> (Option<Cause>, Option<i32>, Option<&str>) {
    let TaskSummary { cause, exit_code, signal, .. } = summary;
    (*cause, *exit_code, signal.as_deref())
}

fn describe(told: &Expected) -> String {
    let Expected { cause, exit_code, signal, stdout, stderr } = told;
    let text = |bytes: &[u8]| {
        let shown = String::from_utf8_lossy(&bytes[..bytes.len().min(200)]).into_owned();
        format!("{} bytes: {shown:?}", bytes.len())
    };
    format!("{cause:?} {exit_code:?} {signal:?}; {}; {}", text(stdout), text(stderr))
}
