//! Real programs, started from this process's threads.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, OwnedFd};

use super::*;

const ANYWHERE: Place<'_> = Place { ruleset: None, group: None };

fn text(text: &str) -> CString {
    CString::new(text).unwrap()
}

/// Starts a shell whose output is returned. Its descriptors are opened after the fork.
fn run(directory: &CStr, program: &str, script: &str) -> Result<String, StepError> {
    let child = Child::fork(&ANYWHERE)?;
    let (read, write) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).unwrap();
    let null = File::open("/dev/null").unwrap();
    let exec = Exec {
        candidates: &[text("/nonexistent/sh"), text(program)],
        argv: &[text("sh"), text("-c"), text(script)],
        environment: &[text("A=1"), text("PATH=/usr/bin:/bin")],
        directory,
        descriptors: &[(null.as_fd(), 0), (write.as_fd(), 1), (write.as_fd(), 2)],
        terminal: ControllingTerminal::None,
    };
    let started = child.exec(&exec);
    drop(write);
    let mut output = String::new();
    File::from(read).read_to_string(&mut output).unwrap();
    started.map(|_| output)
}

fn failed<T>(step: Step, errno: Errno) -> Result<T, StepError> {
    Err(StepError { step, errno })
}

/// Waits until no process of this number is left, not even a zombie.
fn is_gone(pid: Pid) -> bool {
    let path = format!("/proc/{}", pid.as_raw_nonzero());
    (0..1000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(2));
        !std::fs::exists(&path).unwrap()
    })
}

#[test]
fn runs_the_first_candidate_that_exists_with_three_descriptors() {
    let script = "echo $A; pwd; ls /proc/self/fd | tr '\\n' ' '";
    // `ls` itself holds the folder that it lists.
    assert_eq!(run(c"/", "/bin/sh", script), Ok("1\n/\n0 1 2 3 ".to_owned()));
}

#[test]
fn a_program_leads_a_session_without_a_terminal_and_hears_every_signal() {
    // Process, session and terminal (proc_pid_stat(5)).
    // By the shell alone: while it starts a program, its mask is another one.
    let script = "read -r pid name state parent group session terminal rest </proc/$$/stat; \
                  test $pid = $session && echo $terminal; \
                  while read -r key mask; do test $key != SigBlk: || echo $mask; done </proc/$$/status";
    assert_eq!(run(c"/", "/bin/sh", script), Ok("0\n0000000000000000\n".to_owned()));
}

#[test]
fn tells_the_step_that_failed() {
    let fails = |directory, program| run(directory, program, "true");
    assert_eq!(fails(c"/nonexistent", "/bin/sh"), failed(Step::Directory, Errno::NOENT));
    assert_eq!(fails(c"/etc/passwd", "/bin/sh"), failed(Step::Directory, Errno::NOTDIR));
    assert_eq!(fails(c"/", "/nonexistent"), failed(Step::Exec, Errno::NOENT));
    assert_eq!(fails(c"/", "/etc/passwd"), failed(Step::Exec, Errno::ACCESS));
}

#[test]
fn a_place_that_cannot_be_entered_is_told_ahead() {
    let null = OwnedFd::from(File::open("/dev/null").unwrap());
    let no_group = Place { ruleset: None, group: Some(null.as_fd()) };
    assert_eq!(Child::fork(&no_group).map(|_| ()), failed(Step::Group, Errno::BADF));
}

#[test]
fn what_is_no_terminal_is_not_acquired() {
    let null = File::open("/dev/null").unwrap();
    let exec = Exec {
        candidates: &[text("/bin/true")],
        argv: &[text("true")],
        environment: &[],
        directory: c"/",
        descriptors: &[(null.as_fd(), 0)],
        terminal: ControllingTerminal::StandardInput,
    };
    let started = Child::fork(&ANYWHERE).unwrap().exec(&exec);
    assert_eq!(started, failed(Step::Terminal, Errno::NOTTY));
}

#[test]
fn a_child_that_is_not_needed_leaves_nothing() {
    let child = Child::fork(&ANYWHERE).unwrap();
    let pid = child.pid.unwrap();
    assert!(std::fs::exists(format!("/proc/{}", pid.as_raw_nonzero())).unwrap());
    drop(child);
    assert!(is_gone(pid));
}

#[test]
fn a_child_that_was_killed_while_it_waited_becomes_nothing() {
    let child = Child::fork(&ANYWHERE).unwrap();
    kill_process(child.pid.unwrap(), Signal::KILL).unwrap();
    child.shared.wait_until_gone();
    let exec = Exec {
        candidates: &[],
        argv: &[],
        environment: &[],
        directory: c"/",
        descriptors: &[],
        terminal: ControllingTerminal::None,
    };
    assert_eq!(child.exec(&exec), failed(Step::Wait, Errno::CHILD));
}

#[test]
fn a_program_outlives_whoever_started_it() {
    let starter = std::thread::spawn(|| {
        let exec = Exec {
            candidates: &[text("/bin/sleep")],
            argv: &[text("sleep"), text("1000")],
            environment: &[],
            directory: c"/",
            descriptors: &[],
            terminal: ControllingTerminal::None,
        };
        Child::fork(&ANYWHERE).unwrap().exec(&exec).unwrap()
    });
    let pid = Pid::from_raw(starter.join().unwrap().cast_signed()).unwrap();
    assert!(waitpid(Some(pid), WaitOptions::NOHANG).unwrap().is_none());
    kill_process(pid, Signal::KILL).unwrap();
    let (_, status) = waitpid(Some(pid), WaitOptions::empty()).unwrap().unwrap();
    assert_eq!(status.terminating_signal(), Some(Signal::KILL.as_raw()));
}

#[test]
fn a_child_does_not_outlive_a_parent_that_was_killed() {
    // To the kernel, the parent is the thread that made it.
    let parent = std::thread::spawn(|| {
        let child = Child::fork(&ANYWHERE).unwrap();
        let pid = child.pid.unwrap();
        std::mem::forget(child);
        pid
    });
    let pid = parent.join().unwrap();
    while waitpid(Some(pid), WaitOptions::empty()).is_err_and(|errno| errno == Errno::INTR) {}
    assert!(is_gone(pid));
}
