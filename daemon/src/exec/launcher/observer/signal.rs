//! kill(2), and changes of another process's limits and scheduling.
//!
//! Landlock keeps commands from signalling each other, so that a keeper's broadcast reaches its own command only. The
//! commands of one mode of a session may, though: a server that one started is stopped by another. That is done here,
//! on a pinned process. Whatever the kernel's scopes judge as well is let through.

use brattice_policy::sys::signal;
use brattice_policy::{DeniedOperation, LayerName};
use rustix::io::Errno;
use rustix::process::PidfdFlags;

use super::Judge;
use super::caller::{Caller, pid};
use super::host;
use super::lineage::Lineage;
use super::verdict::{Answer, Refusal};

pub(super) fn kill(judge: &Judge, caller: Caller<'_>) -> Answer {
    let (target, number) = (caller.word(0).cast_signed(), caller.word(1).cast_signed());
    // Its own group, or everything that it may reach: the kernel's scope holds.
    if target == 0 || target == -1 {
        return Answer::Continue;
    }
    let Lineage::Command { keeper: own, .. } = judge.lineage(caller.thread()) else {
        return Answer::Continue;
    };
    let process = target.unsigned_abs();
    match judge.lineage(process) {
        Lineage::Command { keeper, .. } if keeper == own => Answer::Continue,
        Lineage::Command { .. } if target > 0 => deliver(judge, caller, &[process], number),
        Lineage::Command { .. } => deliver(judge, caller, &group(judge, process), number),
        Lineage::Gone => Answer::Continue,
        Lineage::Keeping | Lineage::Outside => {
            refusal(process, DeniedOperation::Signal, LayerName::LandlockScopes, "scope_signal")
        }
    }
}

/// Sends the signal to processes of other commands. Each is pinned and then looked at again: the number that was judged may
/// have become another's.
fn deliver(judge: &Judge, caller: Caller<'_>, processes: &[u32], number: i32) -> Answer {
    if judge.is_below_another_domain(caller) {
        return Answer::Unseen;
    }
    let mut result = Err(Errno::SRCH);
    for process in processes {
        let pinned = pid(*process)
            .and_then(|number| rustix::process::pidfd_open(number, PidfdFlags::empty()));
        let Ok(pinned) = pinned else { continue };
        if !matches!(judge.lineage(*process), Lineage::Command { .. }) || !caller.is_waiting() {
            continue;
        }
        match signal::send(&pinned, number) {
            Ok(()) => result = Ok(()),
            Err(errno) if result.is_err() => result = Err(errno),
            Err(_) => {}
        }
    }
    match result {
        Ok(()) => Answer::Done(0),
        Err(errno) => Answer::Fail(errno),
    }
}

/// The processes of a group that belong to commands.
fn group(judge: &Judge, leader: u32) -> Vec<u32> {
    let Ok(wanted) = pid(leader) else { return Vec::new() };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|process| {
            let group = pid(*process).and_then(|process| rustix::process::getpgid(Some(process)));
            group == Ok(wanted)
        })
        .filter(|process| matches!(judge.lineage(*process), Lineage::Command { .. }))
        .collect()
}

/// Limits and scheduling: the command's own processes are its own to change.
pub(super) fn another(judge: &Judge, caller: Caller<'_>, argument: u8) -> Answer {
    let process = caller.word(argument);
    let own = judge.lineage(caller.thread());
    match (own, judge.lineage(process)) {
        // The kernel finds the process by its number once more, and judges nothing: what is left is the moment between this
        // answer and that, in which the process would have to end and its number to come round.
        (Lineage::Command { keeper: own, .. }, Lineage::Command { keeper, .. })
            if own == keeper =>
        {
            Answer::Continue
        }
        (_, Lineage::Gone) => Answer::Fail(Errno::SRCH),
        _ => refusal(process, DeniedOperation::Limit, LayerName::Observer, "process"),
    }
}

/// A process that the user could have reached; else it is not the sandbox that refuses.
fn refusal(process: u32, operation: DeniedOperation, layer: LayerName, right: &str) -> Answer {
    if !host::reaches(process) {
        return Answer::Fail(Errno::PERM);
    }
    let name = std::fs::read_to_string(format!("/proc/{process}/comm")).unwrap_or_default();
    Refusal {
        operation,
        path: format!("pid {process} ({})", name.trim_end()).into(),
        second_path: None,
        layer,
        errno: Errno::PERM,
        right: right.to_owned(),
        grant: None,
    }
    .into()
}
