//! The arguments of `brattice task`. Nothing here does any work.

use std::ffi::OsString;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::arguments::Confinement;
use super::duration;

/// `brattice task`
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Start a command in the background and print its name, SESSION/TASK
    ///
    /// It outlives this program and the daemon. Its session has no client then: it is closed, and the task with it, where
    /// nobody resumes it, waits for its tasks or follows them within the daemon's limit for such sessions, an hour by
    /// default.
    #[command(after_help = START_EXAMPLES)]
    Start(Box<Start>),
    /// List the tasks of all sessions, running and finished
    List {
        /// Of this session only: its id, or the beginning of it
        #[arg(long, value_name = "ID")]
        session: Option<String>,
    },
    /// Print what a task has printed so far
    ///
    /// Byte for byte: its standard output to standard output, its standard error to standard error. Where output outgrew
    /// its cap, the gap is told on standard error. With --json the last line on standard error tells, as data, where each
    /// stream goes on.
    #[command(after_help = OUTPUT_EXAMPLES)]
    Output(Output),
    /// Wait for a task's end
    ///
    /// Exits as `brattice run` would have: with the command's own status; 128 + n when signal n ended it; 124 when its time
    /// was over; 125 when Brattice failed or lost it. On a terminal a line tells how the task is doing meanwhile.
    Wait(Target),
    /// Stop a task and everything that it started
    ///
    /// All of it gets SIGTERM, and SIGKILL after a grace of 5 seconds. Returns at once; `brattice task wait` tells when
    /// nothing of it is left.
    Kill {
        #[command(flatten)]
        target: Target,
        /// Why, for the record
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        /// Kill it at once, without the grace or what is left of it
        #[arg(long)]
        force: bool,
    },
    /// Write to a task that was started with --stdin or --tty
    #[command(after_help = INPUT_EXAMPLES)]
    Input(Input),
}

const START_EXAMPLES: &str = "\
Examples:
  brattice task start -- make -j
  task=$(brattice task start --timeout 2h -- ./train.sh) && brattice task wait \"$task\"";

const OUTPUT_EXAMPLES: &str = "\
Examples:
  brattice task output bash-1 -f
  brattice task output --tail-bytes 2000 01995d2c/bash-1
  brattice task output --stderr bash-1 | less";

const INPUT_EXAMPLES: &str = "\
Examples:
  brattice task input bash-1 yes
  brattice task input bash-1 --eof < answers.txt";

/// Which task.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub(crate) struct Target {
    /// bash-1; or SESSION/bash-1, of which the beginning of the session's id will do
    #[arg(value_name = "TASK")]
    pub(crate) task: String,
    /// The task's session: its id, or the beginning of it
    #[arg(long, value_name = "ID")]
    pub(crate) session: Option<String>,
}

/// `brattice task start`
#[derive(Debug, Args)]
pub(crate) struct Start {
    #[command(flatten)]
    pub(crate) confinement: Confinement,
    /// Stop the command after this long: 90s, 500ms, 2m, 1h, or plain seconds
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) timeout: Option<Duration>,
    /// Stop the command when it has printed nothing for this long
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    pub(crate) idle_timeout: Option<Duration>,
    /// Give it a standard input that `brattice task input` writes to
    #[arg(long)]
    pub(crate) stdin: bool,
    /// Run it on a terminal of its own, which `brattice task input` types into
    #[arg(long)]
    pub(crate) tty: bool,
    /// Start it in this session instead of one of its own: its id, or the beginning of it
    #[arg(
        long,
        value_name = "ID",
        conflicts_with_all = ["mode", "workspace", "network", "writable", "label"]
    )]
    pub(crate) session: Option<String>,
    /// A name for its session, shown in listings
    #[arg(long, value_name = "TEXT")]
    pub(crate) label: Option<String>,
    /// One argument is a line for bash, several are a program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

/// `brattice task output`
#[derive(Debug, Args)]
pub(crate) struct Output {
    #[command(flatten)]
    pub(crate) target: Target,
    /// Go on until the task's end, over a restart of the daemon, too
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Its standard output only
    #[arg(long)]
    pub(crate) stdout: bool,
    /// Its standard error only, to standard output
    #[arg(long, conflicts_with = "stdout")]
    pub(crate) stderr: bool,
    /// Begin at this byte of standard output, or of standard error with --stderr; the other stream is left out
    #[arg(long, value_name = "BYTE", conflicts_with = "tail_bytes")]
    pub(crate) offset: Option<u64>,
    /// Begin so many bytes before the end of each stream
    #[arg(long, value_name = "COUNT")]
    pub(crate) tail_bytes: Option<u64>,
}

/// `brattice task input`
#[derive(Debug, Args)]
pub(crate) struct Input {
    #[command(flatten)]
    pub(crate) target: Target,
    /// A line to type; its line end is added. Without it standard input is passed on, byte for byte
    pub(crate) text: Option<String>,
    /// End the task's input after that; without TEXT and on a terminal, at once
    #[arg(long)]
    pub(crate) eof: bool,
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use clap::error::ErrorKind;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(subcommand)]
        task: Task,
    }

    fn parse(line: &[&str]) -> Result<Task, ErrorKind> {
        let words = std::iter::once("task").chain(line.iter().copied());
        Line::try_parse_from(words).map(|line| line.task).map_err(|error| error.kind())
    }

    #[test]
    fn start_leaves_the_commands_flags_alone() {
        let words =
            ["start", "--idle-timeout", "5m", "--tty", "--label", "build", "--", "make", "--tty"];
        let Task::Start(start) = parse(&words).unwrap() else { panic!("not start") };
        assert_eq!(
            (start.command, start.tty, start.stdin),
            (vec!["make".into(), "--tty".into()], true, false)
        );
        assert_eq!((start.idle_timeout, start.timeout), (Some(Duration::from_secs(300)), None));
        assert_eq!((start.label.as_deref(), start.session), (Some("build"), None));
    }

    #[test]
    fn a_task_is_named_before_or_after_the_flags() {
        let target = Target { task: "bash-1".into(), session: Some("0199".into()) };
        for line in
            [["wait", "bash-1", "--session", "0199"], ["wait", "--session", "0199", "bash-1"]]
        {
            let Task::Wait(parsed) = parse(&line).unwrap() else { panic!("not wait") };
            assert_eq!(parsed, target);
        }
    }

    #[test]
    fn flags_that_contradict_each_other_are_refused() {
        let cases: [(&[&str], ErrorKind); 6] = [
            (&["start"], ErrorKind::MissingRequiredArgument),
            (&["start", "make"], ErrorKind::UnknownArgument),
            (
                &["start", "--session", "s", "--mode", "read-only", "--", "make"],
                ErrorKind::ArgumentConflict,
            ),
            (&["output", "bash-1", "--stdout", "--stderr"], ErrorKind::ArgumentConflict),
            (
                &["output", "bash-1", "--offset", "1", "--tail-bytes", "1"],
                ErrorKind::ArgumentConflict,
            ),
            (&["kill"], ErrorKind::MissingRequiredArgument),
        ];
        for (line, kind) in cases {
            assert_eq!(parse(line).unwrap_err(), kind, "{line:?}");
        }
    }
}
