//! What a declaration says of its tool: what it does, its limits, and what each of its markers means. Numbers come from
//! the toolset, so that they cannot differ from what applies, and nothing is named that the session does not declare.

mod bash;
mod files;
mod people;
mod result;
mod skills;
mod tasks;

use super::tool::{SessionTools, ToolKind};

/// A tool's description in this session.
pub(super) fn description(tools: SessionTools<'_>, kind: ToolKind) -> String {
    match kind {
        ToolKind::Bash => bash::bash(tools),
        ToolKind::Read => files::read(tools),
        ToolKind::Write => files::write(tools),
        ToolKind::Edit => files::edit(tools),
        ToolKind::Grep => files::grep(),
        ToolKind::Glob => files::glob(),
        ToolKind::TaskOutput => tasks::task_output(tools),
        ToolKind::TaskKill => tasks::task_kill(tools),
        ToolKind::TaskList => tasks::task_list(tools),
        ToolKind::TaskInput => tasks::task_input(),
        ToolKind::AskUser => people::ask_user(tools),
        ToolKind::ExitPlanMode => people::exit_plan_mode(),
        ToolKind::Skill => skills::skill(tools),
        ToolKind::TodoWrite => people::todo_write(tools),
    }
}

#[cfg(test)]
mod tests {
    use brattice_policy::Limits;
    use brattice_protocol::session::ToolsetName;

    use super::*;
    use crate::toolset::Toolset;

    fn described(name: ToolsetName, kind: ToolKind, disabled: &[&str]) -> String {
        let disabled: Vec<String> = disabled.iter().map(|name| (*name).to_owned()).collect();
        description(SessionTools::of(Toolset::of(name), &disabled, &Limits::default()), kind)
    }

    fn assert_says(text: &str, parts: &[&str]) {
        for part in parts {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn descriptions_state_the_limits_that_apply() {
        let (dsh, standard) = (ToolsetName::Dsh, ToolsetName::Standard);
        assert_says(
            &described(dsh, ToolKind::Bash, &[]),
            &[
                "(120000 unless given, 600000 at most)",
                "SIGKILL 3 s",
                "last 64000 bytes",
                "no time limit applies, with or without `timeoutMs`",
            ],
        );
        assert_says(
            &described(standard, ToolKind::Bash, &[]),
            &["SIGKILL 5 s", "a `timeoutMs` that is given applies without a cap"],
        );
        for name in [dsh, standard] {
            assert_says(
                &described(name, ToolKind::TaskOutput, &[]),
                &["(30000 unless given, 600000 at most)", "last 64000 bytes"],
            );
        }
        assert_says(&described(dsh, ToolKind::TaskKill, &[]), &["SIGKILL 3 s later", "1024 bytes"]);
        assert_says(&described(standard, ToolKind::TaskInput, &[]), &["65536 bytes"]);
    }

    #[test]
    fn small_toolsets_describe_their_own_markers_and_no_others() {
        let glrs = described(ToolsetName::Glrs, ToolKind::Bash, &[]);
        let minimal = described(ToolsetName::Minimal, ToolKind::Bash, &[]);
        let (of_glrs, of_minimal) = (
            [
                "`bash -lc` in the workspace",
                "after 600000 milliseconds",
                "The first 20000 characters of standard output and the first 9000 of standard error",
                "`[exit 0]` if nothing was printed",
                "`[stdout truncated: N bytes omitted; full output: PATH]`: only the beginning",
                "`[timed out after Ns]`",
                "`[exit N]`",
            ],
            [
                "`bash -c`:",
                "after 30000 milliseconds",
                "The first 8000 characters of the output",
                "in the order of their arrival; `(no output)`",
                "`[output truncated: N characters omitted]`",
                "`[error: Ns timeout exceeded]`",
                "`[exit code: signal: killed]`",
            ],
        );
        assert_says(&glrs, &of_glrs);
        assert_says(&minimal, &of_minimal);
        assert_says(&minimal, &["`[LOOP_DETECTED: same call and result N times in a row]`"]);
        for (text, foreign) in [(&glrs, &of_minimal), (&minimal, &of_glrs)] {
            for part in foreign {
                assert!(!text.contains(part), "{part}: {text}");
            }
        }
        for part in ["timeoutMs", "background task", "now task", "`[stderr]`", "clamped"] {
            assert!(!glrs.contains(part) && !minimal.contains(part), "{part}");
        }
        assert!(!glrs.contains("LOOP_DETECTED"));
    }

    #[test]
    fn the_description_of_bash_explains_every_marker() {
        let text = described(ToolsetName::Standard, ToolKind::Bash, &[]);
        assert_says(
            &text,
            &[
                "`[stderr]`",
                "`(no output)`",
                "`[stdout truncated: N bytes omitted; full output: PATH]`",
                "`file unavailable`",
                "`[stdout dropped: N bytes from the middle, offsets A-B]`",
                "`[output lost: ENOSPC]`",
                "`[N processes still running: now task ID]`",
                "`[stopped N processes left running]`",
                "`[could not be killed: NAME (pid N)]`",
                "`[timeout clamped to 600000ms]`",
                "`[timed out after Nms]`",
                "`[out of memory]`",
                "`[killed]`",
                "`[killed: REASON]`",
                "`[lost: …]`",
                "`[killed by signal: SIGKILL]`",
                "`[exit code: N]`",
                "`[cancelled]`",
                "`[background task ID: …]`",
                "`[LOOP_DETECTED: same call and result N times in a row]`",
                "`started background task ID`",
            ],
        );
    }

    #[test]
    fn the_description_of_task_output_explains_every_marker() {
        let plain = [
            "`[stderr]`",
            "`(no new output)`",
            "`[stdout truncated: N bytes omitted; full output: PATH]`",
            "`file unavailable`",
            "`[stdout dropped: N bytes from the middle, offsets A-B]`",
            "`[output lost: ENOSPC]`",
            "`[could not be killed: NAME (pid N)]`",
            "`[timeout clamped to 600000ms]`",
            "`[background task ID: …]`",
            "`[status: …]`",
            "`running`",
            "`stopping`",
            "`completed, exit code: N`",
            "`killed, signal: NAME`",
            "`killed, exit code: N`",
            "`killed, timed out after Nms`",
            "`out of memory`",
            "`failed, REASON`",
        ];
        let full = [
            "`(no output from offset N on)`",
            "`[stdout: bytes A-B of N; go on with offset B]`",
            "`[the shell exited with N; M processes run on]`",
            "`[no output for Ns: the last line looks like a prompt]`",
            "`by task_kill: REASON`",
        ];
        let standard = described(ToolsetName::Standard, ToolKind::TaskOutput, &[]);
        assert_says(&standard, &plain);
        assert_says(&standard, &full);
        let dsh = described(ToolsetName::Dsh, ToolKind::TaskOutput, &[]);
        assert_says(&dsh, &plain);
        for absent in full {
            assert!(!dsh.contains(absent), "{absent}");
        }
    }

    #[test]
    fn nothing_is_named_that_the_session_does_not_declare() {
        let text = described(ToolsetName::Standard, ToolKind::Bash, &["task_input"]);
        assert!(!text.contains("task_input"), "{text}");
        let text = described(ToolsetName::Dsh, ToolKind::Bash, &[]);
        for foreign in ["task_input", "`tty`", "`stdin`"] {
            assert!(!text.contains(foreign), "{foreign}: {text}");
        }
        let text = described(ToolsetName::Dsh, ToolKind::TaskOutput, &[]);
        for foreign in ["`offset`", "`tail_lines`"] {
            assert!(!text.contains(foreign), "{foreign}: {text}");
        }
    }
}
