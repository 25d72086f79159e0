//! The descriptions of the tools that have to do with people.

use crate::toolset::tool::{SessionTools, ToolKind};
use crate::toolset::wording::AnswerForm;

pub(super) fn ask_user(tools: SessionTools<'_>) -> String {
    let answers = match tools.toolset().answers {
        AnswerForm::Json => {
            "Result: `{\"answers\": [{\"id\", \"selected\": [LABEL, …], \"custom\"}]}`, the answer to each question under \
             its `id`; `custom` is what the user wrote. One option is chosen, or several where `multi_select` is true."
        }
        AnswerForm::Lines => {
            "Result: each question as a line `Q: …`, and its answer below as `A: …`, an option or what the user wrote."
        }
    };
    format!(
        "\
Asks the user questions and waits for the answers: for what only they can decide, where guessing would cost more than \
asking. Options are proposals; the user can always answer in their own words.

{answers} Where the user closes the questions, `[the user dismissed the questions without an answer]`: nothing was decided. \
Where nobody is there to answer, an error says so. An answer is never made up."
    )
}

pub(super) fn exit_plan_mode() -> String {
    "\
Plan mode is on: commands and tools may look at everything and change nothing, which the sandbox enforces, and nobody is \
asked for more. Once the plan is complete, this tool shows it to the user and waits.

The user approves it, which ends plan mode, or keeps planning, which is an error with what they said about it: change the \
plan accordingly and show it again. Only an approval is one; whatever else comes back, plan mode goes on."
        .to_owned()
}

pub(super) fn todo_write(tools: SessionTools<'_>) -> String {
    let shown = match tools.declares(ToolKind::AskUser) {
        true => "The user sees it; it asks them nothing.",
        false => "The user sees it.",
    };
    format!(
        "\
Replaces the session's to-do list: for work of several steps, to keep track of them. {shown}

The list that is given is the whole list. `status` is `pending`, `in_progress` (at most one item) or `completed`; no item may \
be blank or stand twice. Where something is wrong with it, the list stays as it was. Result: how many items there are of \
each kind."
    )
}
