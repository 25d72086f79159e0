//! The unconfined twin: a shell text run by plain bash, as the test's own child.

use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::until::eventually;

/// How a native command ended and what it printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Native {
    /// Its exit code; `None` when a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Native {
    /// Runs a command in a process group of its own, until it ends; what it leaves in the group is ended.
    ///
    /// # Panics
    /// When it does not start or does not end.
    pub fn run(command: &mut Command) -> Native {
        command.stdin(Stdio::null());
        Native::run_with_stdin(command)
    }

    /// The same, with the standard input that the command was given.
    ///
    /// # Panics
    /// When it does not start or does not end.
    pub fn run_with_stdin(command: &mut Command) -> Native {
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).spawn();
        Native::gather(child.expect("the program starts"))
    }

    /// Waits for a child that was started with piped output and leads its own process group.
    ///
    /// # Panics
    /// When it does not end.
    pub fn gather(mut child: Child) -> Native {
        let stdout = child.stdout.take().map(|pipe| thread::spawn(move || drain(pipe)));
        let stderr = child.stderr.take().map(|pipe| thread::spawn(move || drain(pipe)));
        let group = Pid::from_child(&child);
        let status: ExitStatus =
            eventually("the command ends", || child.try_wait().expect("a child can be waited for"));
        // ESRCH is the usual answer: nobody is left.
        kill_process_group(group, Signal::KILL).ok();
        let text = |reader: Option<thread::JoinHandle<String>>| {
            reader.map_or_else(String::new, |it| it.join().unwrap())
        };
        Native {
            code: status.code(),
            signal: status.signal(),
            stdout: text(stdout),
            stderr: text(stderr),
        }
    }

    /// Asserts that it exited with 0.
    ///
    /// # Panics
    /// When it did not, with all it printed.
    #[track_caller]
    pub fn succeeded(&self) -> &Native {
        assert_eq!(self.code, Some(0), "{self:#?}");
        self
    }
}

fn drain(mut pipe: impl Read) -> String {
    let mut bytes = Vec::new();
    // A pipe that breaks keeps what came before.
    pipe.read_to_end(&mut bytes).ok();
    String::from_utf8_lossy(&bytes).into_owned()
}
