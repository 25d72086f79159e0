//! What `/proc/PID/status` says of a process, as far as it matters for letting it in.
//!
//! Judging by it is `peer`'s. The format is proc_pid_status(5).

use std::io;

/// Why a process's state is not known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProcessError {
    /// There is no such process any more.
    #[error("process {pid} is gone")]
    Gone {
        /// The process.
        pid: u32,
    },
    /// The file cannot be read; a `hidepid` mount of `/proc` does that.
    #[error("cannot read /proc/{pid}/status")]
    Read {
        /// The process.
        pid: u32,
        /// The kernel's answer.
        #[source]
        source: io::Error,
    },
    /// A line that every supported kernel writes is missing or no number.
    #[error("/proc/{pid}/status has no readable line {field:?}")]
    Field {
        /// The process.
        pid: u32,
        /// The line.
        field: &'static str,
    },
}

/// A process as the kernel describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process {
    /// Its number.
    pub(super) pid: u32,
    /// Its parent's number; 0 for the first process of a namespace.
    pub(super) parent: u32,
    /// Its effective user.
    pub(super) uid: u32,
    no_new_privs: bool,
    /// 0 none, 1 strict, 2 filter.
    seccomp: u32,
    filters: u32,
}

impl Process {
    /// Reads a process's state.
    pub(super) fn read(pid: u32) -> Result<Self, ProcessError> {
        let text = match std::fs::read_to_string(format!("/proc/{pid}/status")) {
            Ok(text) => text,
            // ESRCH: it ended between the opening and the reading.
            Err(error)
                if error.kind() == io::ErrorKind::NotFound
                    || error.raw_os_error() == Some(rustix::io::Errno::SRCH.raw_os_error()) =>
            {
                return Err(ProcessError::Gone { pid });
            }
            Err(source) => return Err(ProcessError::Read { pid, source }),
        };
        Self::parse(pid, &text)
    }

    /// The daemon's own state.
    pub(crate) fn own() -> Result<Self, ProcessError> {
        Self::read(std::process::id())
    }

    /// Whether it is confined as a command of `daemon` is: no_new_privs, and more seccomp filters
    /// than the daemon has itself. Filters are inherited and never removed, so a daemon inside a
    /// confined container does not take its neighbours for commands, and a command always has more.
    pub(super) fn is_confined_beyond(&self, daemon: &Process) -> bool {
        const SECCOMP_MODE_FILTER: u32 = 2;
        self.no_new_privs && self.seccomp == SECCOMP_MODE_FILTER && self.filters > daemon.filters
    }

    fn parse(pid: u32, text: &str) -> Result<Self, ProcessError> {
        // Numbers of a line; the kernel escapes newlines in `Name`, so no process can forge one.
        let number = |field: &'static str, column: usize| {
            text.lines()
                .find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))
                .and_then(|rest| rest.split_ascii_whitespace().nth(column))
                .and_then(|word| word.parse::<u32>().ok())
                .ok_or(ProcessError::Field { pid, field })
        };
        Ok(Process {
            pid,
            parent: number("PPid", 0)?,
            uid: number("Uid", 1)?,
            no_new_privs: number("NoNewPrivs", 0)? != 0,
            seccomp: number("Seccomp", 0)?,
            filters: number("Seccomp_filters", 0)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(no_new_privs: u32, seccomp: u32, filters: u32) -> String {
        format!(
            "Name:\tsh\\nPPid:\\t1\nUmask:\t0022\nPid:\t40\nPPid:\t7\n\
             Uid:\t1000\t1001\t1002\t1003\nNoNewPrivs:\t{no_new_privs}\n\
             Seccomp:\t{seccomp}\nSeccomp_filters:\t{filters}\n"
        )
    }

    fn process(no_new_privs: u32, seccomp: u32, filters: u32) -> Process {
        Process::parse(40, &status(no_new_privs, seccomp, filters)).unwrap()
    }

    #[test]
    fn reads_parent_effective_user_and_confinement() {
        assert_eq!(
            process(1, 2, 3),
            Process { pid: 40, parent: 7, uid: 1001, no_new_privs: true, seccomp: 2, filters: 3 }
        );
    }

    #[test]
    fn confined_is_who_has_more_filters_than_the_daemon_and_no_new_privs() {
        let free = process(0, 0, 0);
        let in_container = process(1, 2, 1);
        assert!(in_container.is_confined_beyond(&free));
        assert!(!in_container.is_confined_beyond(&in_container));
        assert!(process(1, 2, 2).is_confined_beyond(&in_container));
        assert!(!process(1, 0, 0).is_confined_beyond(&free), "setpriv --no-new-privs alone");
        assert!(!process(0, 2, 1).is_confined_beyond(&free), "a container's filter alone");
    }

    #[test]
    fn a_missing_line_is_an_error_that_names_it() {
        let text = status(1, 2, 3).replace("NoNewPrivs", "Nothing");
        assert_eq!(
            Process::parse(40, &text).unwrap_err().to_string(),
            "/proc/40/status has no readable line \"NoNewPrivs\""
        );
    }

    #[test]
    fn reads_itself() {
        let own = Process::own().unwrap();
        assert_eq!(own.uid, rustix::process::geteuid().as_raw());
        assert_eq!(own.parent, std::os::unix::process::parent_id());
    }

    #[test]
    fn a_process_that_is_not_there_is_gone() {
        // Above the largest pid_max there can be.
        assert!(matches!(Process::read(1 << 23), Err(ProcessError::Gone { pid: 8_388_608 })));
    }
}
