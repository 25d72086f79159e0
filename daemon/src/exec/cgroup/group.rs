//! The group of one command.

use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::time::Duration;

use brattice_policy::Limits;
use brattice_policy::enforce::cgroup::Controller;
use brattice_policy::sys::Errno;

use super::file::{self, FileError};

/// The period that a share of CPU time is counted in, in microseconds; the kernel's default.
const CPU_PERIOD: u64 = 100_000;

/// A group that holds one command and nothing else. Dropping it removes it, if nothing lives there any more.
#[derive(Debug)]
pub(crate) struct Group {
    folder: PathBuf,
    procs: OwnedFd,
    kill: OwnedFd,
}

impl Group {
    /// Makes it and sets its limits.
    pub(super) fn new(
        folder: PathBuf,
        controllers: &[Controller],
        limits: &Limits,
    ) -> Result<Group, FileError> {
        rustix::fs::mkdir(&folder, rustix::fs::Mode::from_raw_mode(0o755))
            .map_err(|source| FileError::Make { path: folder.clone(), source })?;
        Group::over(folder.clone(), controllers, limits).inspect_err(|_| {
            // Nobody has entered it.
            rustix::fs::rmdir(&folder).ok();
        })
    }

    /// The group of a folder that was just made.
    pub(in crate::exec) fn over(
        folder: PathBuf,
        controllers: &[Controller],
        limits: &Limits,
    ) -> Result<Group, FileError> {
        for (name, value) in orders(controllers, limits) {
            match file::write(&folder.join(name), &value) {
                // A kernel without swap has nothing to limit there.
                Err(FileError::Open { source: Errno::NOENT, .. }) if name == SWAP => {}
                answer => answer?,
            }
        }
        let [procs, kill] =
            ["cgroup.procs", "cgroup.kill"].map(|name| file::open(&folder.join(name)));
        Ok(Group { folder, procs: procs?, kill: kill? })
    }

    /// What a keeper needs of it, in the order in which it takes them: `cgroup.procs`, `cgroup.kill`.
    ///
    /// # Errors
    /// There are too many descriptors.
    pub(crate) fn descriptors(&self) -> std::io::Result<[OwnedFd; 2]> {
        Ok([self.procs.try_clone()?, self.kill.try_clone()?])
    }

    /// Sends SIGKILL to all that is in it, in one call that no fork outruns.
    ///
    /// # Errors
    /// The kernel's answer.
    pub(crate) fn kill(&self) -> Result<(), Errno> {
        rustix::io::write(&self.kill, b"1").map(|_| ())
    }

    /// Whether any process lives in it.
    #[cfg(test)]
    pub(super) fn is_populated(&self) -> bool {
        file::number(&file::read(&self.folder.join("cgroup.events")), "populated") == Some(1)
    }

    /// How many of its processes were ended for want of memory; none where memory is not controlled.
    pub(crate) fn oom_kills(&self) -> u64 {
        file::number(&file::read(&self.folder.join("memory.events")), "oom_kill").unwrap_or(0)
    }

    /// The CPU time of all that was ever in it, whether or not somebody waited for it; `None` where it cannot be read.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        let used = file::number(&file::read(&self.folder.join("cpu.stat")), "usage_usec");
        used.map(Duration::from_micros)
    }

    /// Removes it, and what its processes made below it.
    ///
    /// # Errors
    /// `EBUSY` while anything lives in it.
    pub(crate) fn remove(&self) -> Result<(), Errno> {
        file::remove(&self.folder)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // What still lives there keeps it: the next sweep finds it.
        self.remove().ok();
    }
}

const SWAP: &str = "memory.swap.max";

/// What is written to which file, as far as there are limits and controllers for them.
fn orders(controllers: &[Controller], limits: &Limits) -> Vec<(&'static str, String)> {
    let mut orders = Vec::new();
    for controller in controllers {
        match (controller, limits) {
            (Controller::Memory, limits) => {
                if let Some(bytes) = limits.memory {
                    orders.push(("memory.max", bytes.to_string()));
                    // A command that outgrows its memory ends, rather than push everybody's pages out.
                    orders.push((SWAP, "0".to_owned()));
                }
                // It ends as one, as it was started; half a build is worth nothing.
                orders.push(("memory.oom.group", "1".to_owned()));
            }
            (Controller::Pids, Limits { pids: Some(most), .. }) => {
                orders.push(("pids.max", most.to_string()));
            }
            (Controller::Cpu, Limits { cpu: Some(percent), .. }) => {
                let quota = u64::from(*percent) * CPU_PERIOD / 100;
                orders.push(("cpu.max", format!("{quota} {CPU_PERIOD}")));
            }
            (Controller::Pids | Controller::Cpu, _) => {}
        }
    }
    orders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_written_where_their_controllers_are() {
        use Controller::{Cpu, Memory, Pids};
        let limits =
            |cpu| Limits { memory: Some(64 << 20), pids: Some(100), cpu, ..Limits::default() };
        let texts = |controllers: &[Controller], limits: &Limits| -> Vec<String> {
            let orders = orders(controllers, limits);
            orders.into_iter().map(|(file, value)| format!("{file} {value}")).collect()
        };
        assert_eq!(
            texts(&[Memory, Pids, Cpu], &limits(Some(150))),
            [
                "memory.max 67108864",
                "memory.swap.max 0",
                "memory.oom.group 1",
                "pids.max 100",
                "cpu.max 150000 100000",
            ]
        );
        assert_eq!(texts(&[Pids, Cpu], &limits(None)), ["pids.max 100"]);
        assert_eq!(texts(&[], &limits(Some(50))), [""; 0]);
        let unlimited = Limits { memory: None, pids: None, ..limits(None) };
        assert_eq!(texts(&[Memory, Pids, Cpu], &unlimited), ["memory.oom.group 1"]);
    }
}
