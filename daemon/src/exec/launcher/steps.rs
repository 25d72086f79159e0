//! A step of a program's start that failed, in words that name the thing.

use brattice_policy::sys;
use brattice_policy::sys::errno;
use brattice_policy::sys::spawn::{Step, StepError};
use brattice_protocol::task::TaskKind;

use crate::exec::message::{FailedStep, Failure};

/// Puts a failed step into words that name the thing.
pub(super) fn explain(
    error: StepError,
    kind: TaskKind,
    cwd: &std::path::Path,
    argv: &[std::ffi::CString],
) -> Failure {
    use sys::Errno;
    let StepError { step, errno } = error;
    let cwd = cwd.display();
    let program = argv.first().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let detail = match (step, errno) {
        (Step::Directory, Errno::NOENT) => format!("working directory {cwd} does not exist"),
        (Step::Directory, Errno::NOTDIR) => format!("working directory {cwd} is not a directory"),
        (Step::Directory, errno) => {
            format!("working directory {cwd} cannot be entered: {}", errno::explain(errno))
        }
        (Step::Exec, Errno::NOENT) if kind == TaskKind::Argv => {
            format!("no program {program:?} in PATH")
        }
        (Step::Exec, errno) => format!("cannot run {program:?}: {}", errno::explain(errno)),
        (step, errno) => return ahead(StepError { step, errno }),
    };
    let step = if step == Step::Directory { FailedStep::Directory } else { FailedStep::Exec };
    Failure::new(step, &detail)
}

/// The same for a step that has nothing to do with what is to run.
pub(super) fn ahead(StepError { step, errno }: StepError) -> Failure {
    let errno = errno::explain(errno);
    let (step, detail) = match step {
        Step::Clone => (FailedStep::Fork, errno),
        Step::Wait => (FailedStep::Fork, "the process made ahead was killed".to_owned()),
        Step::Session | Step::Signals => (FailedStep::Process, errno),
        Step::Group => (FailedStep::Process, format!("entering its control group: {errno}")),
        Step::Terminal => (FailedStep::Process, format!("acquiring its terminal: {errno}")),
        Step::Domain => (FailedStep::Domain, errno),
        Step::Descriptors => (FailedStep::Descriptors, errno),
        Step::Directory => (FailedStep::Directory, errno),
        Step::Exec => (FailedStep::Exec, errno),
    };
    Failure::new(step, &detail)
}
