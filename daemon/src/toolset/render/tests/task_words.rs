//! What is said at once.

use std::time::Duration;

use brattice_policy::Limits;
use brattice_protocol::outcome::Cause;
use brattice_protocol::session::ToolsetName;

use super::super::samples::{because, ended};
use super::*;
use crate::toolset::Toolset;

fn task() -> TaskId {
    TaskId::new("bash-1")
}

fn kill(name: ToolsetName, effect: KillEffect<'_>) -> (String, TaskStatus) {
    let tools = SessionTools::of(Toolset::of(name), &[], &Limits::default());
    let Said { text, facts } = render_task_kill(tools, &task(), effect);
    assert_eq!(facts.task, task());
    (text, facts.status)
}

#[test]
fn a_start_in_the_background_is_its_id() {
    let facts = TaskState { task: task(), status: TaskStatus::Running };
    let text = "started background task bash-1".to_owned();
    assert_eq!(render_started(&task()), Said { text, facts });
}

#[test]
fn a_kill_says_what_is_under_way() {
    assert_eq!(
        kill(ToolsetName::Standard, KillEffect::Stops),
        (
            "stopping bash-1: SIGTERM was sent to everything that it started, SIGKILL follows 5 s later to what is \
             left"
                .to_owned(),
            TaskStatus::Stopping
        )
    );
    assert_eq!(
        kill(ToolsetName::Dsh, KillEffect::WasStopping),
        (
            "bash-1 is being stopped already; SIGKILL follows SIGTERM by 3 s".to_owned(),
            TaskStatus::Stopping
        )
    );
}

#[test]
fn a_kill_of_a_finished_task_says_how_it_ended() {
    let killed = because(ended(Cause::Killed, Some(0), None), "by task_kill: not needed");
    let limit = Some(Duration::from_millis(10));
    let effect = |end| KillEffect::HadEnded(Ending { end, limit });
    assert_eq!(
        kill(ToolsetName::Standard, effect(&killed)),
        (
            "bash-1 had ended already: killed, exit code: 0, by task_kill: not needed; nothing was changed"
                .to_owned(),
            TaskStatus::Killed
        )
    );
    assert_eq!(
        kill(ToolsetName::Dsh, effect(&ended(Cause::Exited, Some(7), None))),
        (
            "bash-1 had ended already: completed, exit code: 7; nothing was changed".to_owned(),
            TaskStatus::Completed
        )
    );
}

#[test]
fn input_that_was_taken_is_counted() {
    let said = |bytes, end| {
        let Said { text, facts } = render_task_input(&task(), bytes, end);
        (text, facts.bytes, facts.eof)
    };
    assert_eq!(said(2, InputEnd::More), ("sent 2 bytes to bash-1".to_owned(), 2, false));
    assert_eq!(
        said(0, InputEnd::Eof),
        ("sent 0 bytes to bash-1, and its input ended".to_owned(), 0, true)
    );
}

#[test]
fn an_unknown_task_is_named_on_one_line() {
    let fault = |id: &str| UnknownTask::named(&TaskId::new(id)).to_string();
    let rest =
        "in this session: expected one that runs or ended not too long ago; task_list shows those";
    assert_eq!(fault("bash-9"), format!("no task `bash-9` {rest}"));
    assert_eq!(fault("a\nb"), format!("no task `a?b` {rest}"));
}
