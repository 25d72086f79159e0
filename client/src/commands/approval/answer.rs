//! `brattice approve` and `brattice reject`: one answer.

use std::process::ExitCode;

use brattice_protocol::ApprovalId;
use brattice_protocol::approval::{ApprovalChoice, RespondParams};

use super::words::settled;
use crate::cli::asked::{Approve, Reject};
use crate::cli::{Context, Failure};

/// Allows the command of an approval.
pub(crate) async fn approve(context: &Context, arguments: Approve) -> Result<ExitCode, Failure> {
    let Approve { id, session } = arguments;
    let option = if session { ApprovalChoice::AllowAlways } else { ApprovalChoice::AllowOnce };
    answer(context, RespondParams { id: ApprovalId::new(id), option, reason: None }).await
}

/// Rejects it.
pub(crate) async fn reject(context: &Context, arguments: Reject) -> Result<ExitCode, Failure> {
    let Reject { id, reason } = arguments;
    let option = ApprovalChoice::RejectOnce;
    answer(context, RespondParams { id: ApprovalId::new(id), option, reason }).await
}

async fn answer(context: &Context, params: RespondParams) -> Result<ExitCode, Failure> {
    let told = context.operator().await?.approval_respond(&params).await?;
    context.show("the answer", &told, |style| settled(&told, style))
}
