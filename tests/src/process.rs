//! Other processes, as `/proc` shows them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// A process, by its number and the time at which it started, which together no other process ever has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// Its parent's number.
    pub parent: u32,
    /// The state's letter (proc_pid_stat(5)); `Z` for one that ended and was not waited for.
    pub state: char,
    /// When it started, in clock ticks after the system.
    pub started: u64,
    /// Its arguments, joined by spaces; empty where it has none.
    pub arguments: String,
}

impl Process {
    /// What `/proc` says of a number.
    pub fn of(pid: u32) -> Option<Process> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name may hold blanks and brackets; the fields begin after the last bracket.
        let fields: Vec<&str> = stat.get(stat.rfind(')')? + 2..)?.split(' ').collect();
        let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        Some(Process {
            pid,
            state: fields.first()?.chars().next()?,
            parent: fields.get(1)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
            arguments: String::from_utf8_lossy(&arguments).replace('\0', " ").trim_end().to_owned(),
        })
    }

    /// All processes of the machine.
    pub fn all() -> Vec<Process> {
        let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
        numbers
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .filter_map(Process::of)
            .collect()
    }

    /// A process's children, their children and so on.
    pub fn below(pid: u32) -> Vec<Process> {
        let all = Process::all();
        let mut found: Vec<Process> = Vec::new();
        let mut parents = vec![pid];
        while let Some(parent) = parents.pop() {
            for child in all.iter().filter(|process| process.parent == parent) {
                parents.push(child.pid);
                found.push(child.clone());
            }
        }
        found
    }

    /// Those of them that play a role of the daemon's binary, such as `files` or `page`.
    pub fn in_role(below: u32, role: &str) -> Vec<Process> {
        let role = format!(" {role}");
        Process::below(below).into_iter().filter(|it| it.arguments.ends_with(&role)).collect()
    }

    /// Whether it still runs.
    pub fn is_alive(&self) -> bool {
        Process::of(self.pid).is_some_and(|now| now.started == self.started && now.state != 'Z')
    }

    /// Stops it with SIGSTOP, if it still runs.
    pub fn stop(&self) {
        self.signal(Signal::STOP);
    }

    /// Has it go on after that.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    /// Kills it with SIGKILL, if it still runs.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.pid.cast_signed()).filter(|_| self.is_alive());
        if let Some(pid) = pid {
            // It may end meanwhile, or be another user's.
            kill_process(pid, signal).ok();
        }
    }

    /// Processor time of each of its threads, to the nanosecond (Documentation/scheduler/sched-stats).
    ///
    /// # Panics
    /// When it is gone.
    pub fn cpu(&self) -> BTreeMap<u32, Duration> {
        let threads = fs::read_dir(format!("/proc/{}/task", self.pid)).expect("the process runs");
        let spent = threads.flatten().filter_map(|thread| {
            let text = fs::read_to_string(thread.path().join("schedstat")).ok()?;
            let spent = Duration::from_nanos(text.split(' ').next()?.parse().ok()?);
            Some((thread.file_name().to_str()?.parse().ok()?, spent))
        });
        spent.collect()
    }

    /// What its descriptors lead to, where this user may know it.
    pub fn open_files(&self) -> Vec<PathBuf> {
        let descriptors = fs::read_dir(format!("/proc/{}/fd", self.pid));
        let links = descriptors.into_iter().flatten().flatten();
        links.filter_map(|descriptor| fs::read_link(descriptor.path()).ok()).collect()
    }

    /// Whether its environment, where this user may read it, holds a text.
    pub fn has_in_environment(&self, text: &str) -> bool {
        let environment = fs::read(format!("/proc/{}/environ", self.pid)).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(text)
    }

    /// Whether it is a shell that was started ahead and waits for its task: it has the pipe open by which it is told.
    pub fn stands_ready(&self) -> bool {
        self.arguments.contains("-u 8 BRATTICE_TASK_ID")
            && fs::symlink_metadata(format!("/proc/{}/fd/8", self.pid)).is_ok()
    }

    /// Its program's file, where this user may know it.
    pub fn program(&self) -> Option<PathBuf> {
        fs::read_link(format!("/proc/{}/exe", self.pid)).ok()
    }

    /// A figure from `/proc/<pid>/status` in KiB, such as `VmHWM`.
    ///
    /// # Panics
    /// When the process or the figure is not there.
    pub fn kib(pid: u32, figure: &str) -> u64 {
        let status =
            fs::read_to_string(format!("/proc/{pid}/status")).expect("the process is there");
        let line = status.lines().find_map(|line| line.strip_prefix(figure)?.strip_prefix(':'));
        line.and_then(|line| line.split_whitespace().next()?.parse().ok())
            .expect("the figure is there")
    }

    /// How many descriptors a process has open, where this user may know it.
    pub fn descriptors(pid: u32) -> Option<usize> {
        Some(fs::read_dir(format!("/proc/{pid}/fd")).ok()?.count())
    }
}
