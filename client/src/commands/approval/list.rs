//! `brattice approvals`: what waits for an answer, once or from now on.

use std::process::ExitCode;

use brattice_client::Notice;
use brattice_protocol::approval::{ApprovalList, ApprovalRequest};
use brattice_protocol::hello::Role;
use serde::Serialize;
use serde_json::json;

use super::words::{question, settled};
use crate::cli::asked::Approvals;
use crate::cli::context::{Asker, print};
use crate::cli::duration::now;
use crate::cli::terminal::{Format, Style};
use crate::cli::{Context, Failure};
use crate::commands::interrupt::Interrupts;

/// Lists what is open; with `--follow` what is asked and settled from then on, too. Whoever follows counts as somebody who
/// is there to be asked.
pub(crate) async fn approvals(
    context: &Context,
    arguments: Approvals,
) -> Result<ExitCode, Failure> {
    if arguments.follow {
        return follow(context).await;
    }
    let list = context.operator().await?.approval_list().await?;
    if list.approvals.is_empty() && context.format == Format::Text {
        context.note("no approvals wait");
        return Ok(ExitCode::SUCCESS);
    }
    context.show("the approvals", &list.approvals, |style| all(&list, style))
}

fn all(list: &ApprovalList, style: Style) -> String {
    let mut text: String =
        list.approvals.iter().map(|request| question(request, style, now())).collect();
    if list.omitted > 0 {
        text.push_str(&format!("and {} more, shown once these are answered\n", list.omitted));
    }
    text
}

async fn follow(context: &Context) -> Result<ExitCode, Failure> {
    let mut interrupts = Interrupts::listen()?;
    let client = context.asking(Role::Operator, Asker::Approvals).await?;
    let mut notices = client.notifications();
    let list = client.approval_list().await?;
    for request in &list.approvals {
        pending(context, request)?;
    }
    loop {
        let notice = tokio::select! {
            notice = notices.next() => notice,
            interrupt = interrupts.next() => return Err(Failure::Interrupted(interrupt)),
        };
        match notice {
            None => return Err(brattice_client::ClientError::Closed.into()),
            // One that was asked while the list was on its way is in both.
            Some(Notice::ApprovalPending(request))
                if list.approvals.iter().all(|listed| listed.id != request.id) =>
            {
                pending(context, &request)?;
            }
            Some(Notice::ApprovalSettled(told)) => {
                line(context, "settled", &told, |style| settled(&told, style))?;
            }
            Some(Notice::Skipped(count)) => {
                context.note(&format!("{count} notices were missed; list the approvals again"));
            }
            Some(_) => {}
        }
    }
}

fn pending(context: &Context, request: &ApprovalRequest) -> Result<(), Failure> {
    line(context, "pending", request, |style| question(request, style, now()))
}

/// One thing that happened: as it is for people, on one line for programs.
fn line<T: Serialize>(
    context: &Context,
    what: &'static str,
    data: &T,
    text: impl FnOnce(Style) -> String,
) -> Result<(), Failure> {
    match context.format {
        Format::Text => print(text(Style::of_stdout())),
        Format::Json => print(format!("{}\n", json!({what: data}))),
    }
}
