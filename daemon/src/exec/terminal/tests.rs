//! A command on a terminal, behind every layer: domains D1 to D3 and the filter.

use std::ffi::CString;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use brattice_policy::sys::spawn::{Child, ControllingTerminal, Exec, Place};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::*;
use crate::exec::testing::confine;

const PATIENCE: Duration = Duration::from_secs(20);

fn text(text: &str) -> CString {
    CString::new(text).unwrap()
}

/// A command on a terminal.
struct Command {
    pid: Pid,
    master: OwnedFd,
    said: String,
}

impl Command {
    /// Starts bash with this text.
    fn start(script: &str) -> Command {
        Command::exec(&["bash", "-c", script])
    }

    /// Starts a program as a keeper does: on a thread that is below D1 and D2 and behind the filter, in D3.
    fn exec(argv: &[&str]) -> Command {
        let Pair { master, slave } = open(Size::default()).unwrap();
        let argv: Vec<CString> = argv.iter().map(|word| text(word)).collect();
        let keeper = std::thread::spawn(move || {
            let command = confine();
            let place = Place { ruleset: Some(command.as_fd()), group: None };
            let exec = Exec {
                candidates: &[text("/bin/bash")],
                argv: &argv,
                environment: &[
                    text("PATH=/usr/bin:/bin"),
                    text("TERM=xterm-256color"),
                    text("PS1=$ "),
                ],
                directory: c"/",
                descriptors: &[(slave.as_fd(), 0), (slave.as_fd(), 1), (slave.as_fd(), 2)],
                terminal: ControllingTerminal::StandardInput,
            };
            Child::fork(&place).unwrap().exec(&exec).unwrap()
        });
        let pid = Pid::from_raw(keeper.join().unwrap().cast_signed()).unwrap();
        Command { pid, master, said: String::new() }
    }

    fn types(&self, bytes: &[u8]) {
        assert_eq!(rustix::io::write(&self.master, bytes).unwrap(), bytes.len());
    }

    /// Waits until the terminal shows this, after what was waited for before.
    #[track_caller]
    fn says(&mut self, what: &str) {
        loop {
            if let Some((_, rest)) = self.said.split_once(what) {
                self.said = rest.to_owned();
                return;
            }
            assert!(self.reads(), "{what:?} is not in {:?}", self.said);
        }
    }

    /// Waits until a program of this name has the terminal.
    #[track_caller]
    fn foreground_is(&self, name: &str) {
        let begun = Instant::now();
        let has_it = || {
            let group = rustix::termios::tcgetpgrp(&self.master).ok()?;
            let path = format!("/proc/{}/comm", group.as_raw_nonzero());
            Some(std::fs::read_to_string(path).ok()?.trim() == name)
        };
        while has_it() != Some(true) {
            assert!(begun.elapsed() < PATIENCE, "{name} is not in the foreground");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Reads on; says whether anybody still holds the other end.
    fn reads(&mut self) -> bool {
        let patience = Timespec { tv_sec: PATIENCE.as_secs().cast_signed(), tv_nsec: 0 };
        let mut polled = [PollFd::new(&self.master, PollFlags::IN)];
        assert_eq!(poll(&mut polled, Some(&patience)).unwrap(), 1, "only {:?}", self.said);
        let mut bytes = [0; 4096];
        let answer = rustix::io::read(&self.master, &mut bytes);
        let bytes = answer.map(|count| &bytes[..count]);
        match bytes {
            Ok(bytes) => self.said.push_str(&String::from_utf8_lossy(bytes)),
            Err(errno) => assert_eq!(errno, Errno::IO),
        }
        bytes.is_ok()
    }

    /// Reads until nobody holds the other end, and says all that was shown.
    fn ends(mut self) -> String {
        while self.reads() {}
        std::mem::take(&mut self.said)
    }
}

impl Drop for Command {
    fn drop(&mut self) {
        kill_process(self.pid, Signal::KILL).ok();
        waitpid(Some(self.pid), WaitOptions::empty()).ok();
    }
}

/// The path of a terminal's other end.
fn path(master: &OwnedFd) -> PathBuf {
    PathBuf::from(rustix::pty::ptsname(master, Vec::new()).unwrap().into_string().unwrap())
}

#[test]
fn a_command_has_a_terminal_of_its_own() {
    let command = Command::start(
        "test -t 0 && test -t 1 && test -t 2 && echo all; stty size; echo direct > /dev/tty; \
         set -- $(cat /proc/$$/stat); test $1 = $6 && test $1 = $8 && echo foreground",
    );
    assert_eq!(command.ends(), "all\r\n24 80\r\ndirect\r\nforeground\r\n");
}

#[test]
fn a_shell_controls_its_jobs_and_ctrl_c_reaches_the_foreground() {
    let mut command = Command::exec(&["bash", "--norc", "--noediting", "-i"]);
    command.says("$ ");
    command.types(b"sleep 1000\n");
    command.foreground_is("sleep");
    // Typing it throws away what was typed before and not read.
    command.types(b"\x03");
    command.says("^C\r\n$ ");
    command.types(b"echo code $?\n");
    command.says("\r\ncode 130\r\n$ ");
    command.types(b"sleep 2000 &\n");
    command.says("$ ");
    command.types(b"jobs\n");
    command.says("Running");
    command.says("$ ");
    command.types(b"fg\n");
    command.says("fg\r\nsleep 2000\r\n");
    command.foreground_is("sleep");
    command.types(b"\x1a");
    command.says("Stopped");
}

#[test]
fn a_new_size_is_told_by_a_signal() {
    let mut command = Command::start(
        "trap 'stty size; exit' WINCH; echo ready; while :; do sleep 1000 & wait $!; done",
    );
    command.says("ready");
    resize(&command.master, Size { rows: 50, cols: 132 }).unwrap();
    command.says("50 132");
}

#[test]
fn the_end_of_input_is_typed() {
    for (typed, times) in [(&b"line\n"[..], 1), (&b"part"[..], 2)] {
        let mut command = Command::start("cat > /dev/null; echo over; read -r more; echo $more");
        command.types(typed);
        let end = end_of_input(&command.master, Line::default().after(typed)).unwrap();
        assert_eq!(end, vec![4; times]);
        command.types(&end);
        command.says("over");
        command.types(b"again\n");
        let said = command.ends();
        assert!(said.ends_with("again\r\nagain\r\n"), "{said:?}");
    }
}

#[test]
fn a_program_that_takes_keys_gets_one_character() {
    let mut command =
        Command::start("stty raw -echo; echo ready; head -c 2 | od -An -tx1; stty cooked");
    command.says("ready");
    let end = end_of_input(&command.master, Line::Within).unwrap();
    assert_eq!(end, [4]);
    command.types(b"x");
    command.types(&end);
    command.says("78 04");
}

#[test]
fn an_erased_character_is_erased_whole() {
    let mut command = Command::start("read -r line; echo \"<$line>\"");
    command.types("aé\x7fb\n".as_bytes());
    command.says("<ab>");
}

#[test]
fn the_other_end_is_closed_when_the_last_process_closes_it() {
    let begun = Instant::now();
    let mut command = Command::start("(sleep 0.3; echo later) & disown; echo first");
    while command.reads() {}
    assert_eq!(command.said, "first\r\n", "the session's leader ended, and its terminal hung up");
    assert!(begun.elapsed() < PATIENCE);
}

#[test]
fn a_program_that_closed_its_terminal_lives_on() {
    let mut command = Command::start("exec < /dev/null > /dev/null 2>&1; sleep 1000");
    while command.reads() {}
    assert!(waitpid(Some(command.pid), WaitOptions::NOHANG).unwrap().is_none());
}

#[test]
fn p6_nothing_is_typed_into_a_terminal_and_no_other_is_opened() {
    let other = open(Size::default()).unwrap();
    let script = format!(
        r#"python3 -B -c '
import errno, fcntl, os, sys
def attempt(name, call, *arguments):
    try: call(*arguments); print(name, "ok")
    except OSError as error: print(name, errno.errorcode[error.errno])
attempt("TIOCSTI", fcntl.ioctl, 0, 0x5412, b"x")
attempt("TIOCLINUX", fcntl.ioctl, 0, 0x541c, b"\2")
attempt("other", os.open, "{}", os.O_RDWR | os.O_NOCTTY)
attempt("ptmx", os.open, "/dev/ptmx", os.O_RDWR | os.O_NOCTTY)
attempt("own", os.open, os.ttyname(0), os.O_RDWR | os.O_NOCTTY)
attempt("tty", os.open, "/dev/tty", os.O_RDWR)
attempt("stdin", os.open, "/dev/stdin", os.O_RDONLY)
attempt("stderr", os.open, "/dev/stderr", os.O_WRONLY)
'"#,
        path(&other.master).display()
    );
    let said = Command::start(&script).ends().replace("\r\n", "\n");
    assert_eq!(
        said,
        "TIOCSTI EPERM\nTIOCLINUX EPERM\nother EACCES\nptmx EACCES\nown EACCES\ntty ok\nstdin EACCES\nstderr EACCES\n"
    );
}

#[test]
fn lines_are_followed() {
    let cases = [
        (&b""[..], Line::Start),
        (b"a", Line::Within),
        (b"a\n", Line::Start),
        (b"\r", Line::Start),
    ];
    for (typed, line) in cases {
        assert_eq!(Line::Start.after(typed), line, "{typed:?}");
    }
    assert_eq!(Line::Within.after(b""), Line::Within);
}
