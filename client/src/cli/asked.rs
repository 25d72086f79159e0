//! The arguments of `brattice approvals`, `approve`, `reject`, `questions` and `answer`. Nothing here does any work.

use clap::{ArgGroup, Args};

/// `brattice approvals`
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Approvals {
    /// Go on, and show what is asked and how it is settled; meanwhile calls may ask
    #[arg(short, long)]
    pub(crate) follow: bool,
}

/// `brattice approve`
#[derive(Debug, Args)]
pub(crate) struct Approve {
    /// The approval's whole id
    pub(crate) id: String,
    /// Allow this exact command in this folder and mode for the rest of the session, without further questions
    #[arg(long)]
    pub(crate) session: bool,
}

/// `brattice reject`
#[derive(Debug, Args)]
pub(crate) struct Reject {
    /// The approval's whole id
    pub(crate) id: String,
    /// Why; the model is told
    pub(crate) reason: Option<String>,
}

/// `brattice questions`
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Questions {
    /// Go on, and show what is asked and how it is settled; meanwhile calls may ask
    #[arg(short, long)]
    pub(crate) follow: bool,
}

/// `brattice answer`
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").required(true).multiple(true))]
pub(crate) struct Answer {
    /// The whole id of the questions or the plan
    pub(crate) id: String,
    /// Choose this option; QUESTION= may be left out where one question is asked
    #[arg(short, long, value_name = "[QUESTION=]LABEL", group = "what")]
    pub(crate) choose: Vec<String>,
    /// Answer in your own words, likewise
    #[arg(short, long, value_name = "[QUESTION=]TEXT", group = "what")]
    pub(crate) text: Vec<String>,
    /// Approve the plan: plan mode ends
    #[arg(long, group = "what", conflicts_with_all = ["choose", "text", "dismiss"])]
    pub(crate) approve: bool,
    /// Do not approve it: plan mode goes on
    #[arg(long, group = "what", conflicts_with_all = ["choose", "text", "dismiss", "approve"])]
    pub(crate) keep_planning: bool,
    /// What to tell the model about its plan
    #[arg(long, conflicts_with_all = ["choose", "text", "dismiss"])]
    pub(crate) feedback: Option<String>,
    /// Close the questions, or the plan, without an answer
    #[arg(long, group = "what", conflicts_with_all = ["choose", "text"])]
    pub(crate) dismiss: bool,
}
