//! A `bratticed` of a world's own: started, waited for until it says READY, ended by its pid.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

use rustix::process::{Pid, Signal, kill_process};

use crate::process::Process;
use crate::until::{PATIENCE, eventually};
use crate::wire::Wire;

/// A running daemon, perhaps below a wrapper that started it.
pub struct Daemon {
    child: Child,
    pid: u32,
    /// Reads what it prints, until nobody holds the other end.
    listener: JoinHandle<()>,
}

impl Daemon {
    /// Starts the command and waits for READY and for the socket. What it logs goes to a file.
    ///
    /// # Panics
    /// When it does not get ready.
    pub(crate) fn start(mut command: Command, socket: &Path, log: &Path) -> Daemon {
        let file =
            File::options().create(true).append(true).open(log).expect("the log can be written");
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(file);
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let output = child.stdout.take().expect("its output is piped");
        let (said, ready) = mpsc::channel();
        let listener = thread::spawn(move || {
            // The rest is read, too: a daemon that is not listened to must not block.
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if line.trim() == "READY" {
                    said.send(()).ok();
                }
            }
        });
        if ready.recv_timeout(PATIENCE).is_err() {
            child.kill().ok();
            let log = std::fs::read_to_string(log).unwrap_or_default();
            panic!("bratticed did not say READY; it logged:\n{log}");
        }
        let pid = Wire::connect(socket).peer();
        Daemon { child, pid, listener }
    }

    /// The daemon's process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Sends it a signal.
    ///
    /// # Panics
    /// When it is gone.
    pub fn signal(&self, signal: Signal) {
        let pid =
            Pid::from_raw(self.pid.try_into().expect("a pid is positive")).expect("a pid is not 0");
        kill_process(pid, signal).expect("the daemon is there");
    }

    /// Waits for its end.
    ///
    /// # Panics
    /// When it does not end.
    pub fn wait(&mut self) {
        eventually("the daemon ends", || self.child.try_wait().expect("a child can be waited for"));
    }

    /// Kills it with SIGKILL and waits for its end.
    ///
    /// # Panics
    /// When it is gone already, or does not end.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
        self.wait();
    }

    /// Whether nobody holds its standard output any more, as whoever reads a pipe of it learns.
    pub fn output_has_ended(&self) -> bool {
        self.listener.is_finished()
    }

    /// Ends it, politely first, and then everything that it started.
    pub(crate) fn end(&mut self) {
        let below = Process::below(self.pid);
        if matches!(self.child.try_wait(), Ok(None)) {
            self.signal(Signal::TERM);
            let start = std::time::Instant::now();
            while start.elapsed() < PATIENCE / 4 && matches!(self.child.try_wait(), Ok(None)) {
                thread::sleep(std::time::Duration::from_millis(10));
            }
        }
        if matches!(self.child.try_wait(), Ok(None)) {
            if self.child.id() != self.pid {
                self.signal(Signal::KILL);
            }
            self.child.kill().ok();
            self.child.wait().ok();
        }
        below.iter().for_each(Process::kill);
    }
}
