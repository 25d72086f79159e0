//! Which command the arguments ask for.

use std::process::ExitCode;

use super::{
    approval, audit, call, completions, daemon, doctor, man, mcp, policy, question, run, session,
    task, tools,
};
use crate::attach::attach;
use crate::cli::arguments::{Arguments, Command};
use crate::cli::{Context, Failure};

/// Performs a command and gives its exit status.
pub(crate) async fn perform(arguments: Arguments) -> Result<ExitCode, Failure> {
    let context = || Context::new(&arguments.global);
    match arguments.command {
        Command::Run(run) => run::run(&context()?, run).await,
        Command::Task(task) => task::task(&context()?, task).await,
        Command::Call(call) => call::call(&context()?, call).await,
        Command::Tools(tools) => tools::tools(&context()?, tools).await,
        Command::Mcp(bridge) => Err(mcp::mcp(&bridge, &arguments.global)),
        Command::Session(session) => session::session(&context()?, session).await,
        Command::Attach => attach(&context()?).await,
        Command::Approvals(approvals) => approval::approvals(&context()?, approvals).await,
        Command::Approve(approve) => approval::approve(&context()?, approve).await,
        Command::Reject(reject) => approval::reject(&context()?, reject).await,
        Command::Questions(questions) => question::list(&context()?, questions).await,
        Command::Answer(answer) => question::answer(&context()?, answer).await,
        Command::Policy(policy) => policy::policy(&context()?, policy).await,
        Command::Audit(audit) => audit::audit(&context()?, audit),
        Command::Doctor => doctor::doctor(&context()?).await,
        Command::Daemon(daemon) => daemon::daemon(&context()?, daemon).await,
        Command::Man { folder } => man::man(&context()?, folder.as_deref()),
        Command::Completions { shell } => completions::completions(shell),
    }
}
