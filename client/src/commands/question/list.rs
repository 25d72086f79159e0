//! `brattice questions`: what waits for an answer, once or from now on.

use std::process::ExitCode;

use brattice_client::{ClientError, Notice};
use brattice_protocol::QuestionId;
use brattice_protocol::hello::Role;
use brattice_protocol::question::QuestionList;
use serde::Serialize;
use serde_json::json;

use super::words::{plan, questions as words, settled};
use crate::cli::asked::Questions;
use crate::cli::context::{Asker, print};
use crate::cli::terminal::{Format, Style};
use crate::cli::{Context, Failure};
use crate::commands::interrupt::Interrupts;

/// Lists what is open; with `--follow` what is asked and settled from then on, too. Whoever follows counts as somebody who is
/// there to answer.
pub(crate) async fn questions(
    context: &Context,
    arguments: Questions,
) -> Result<ExitCode, Failure> {
    if arguments.follow {
        return follow(context).await;
    }
    let list = context.operator().await?.question_list().await?;
    if list.questions.is_empty() && list.plans.is_empty() && context.format == Format::Text {
        context.note("no questions wait");
        return Ok(ExitCode::SUCCESS);
    }
    context.show("the questions", &list, |style| all(&list, style))
}

fn all(list: &QuestionList, style: Style) -> String {
    let asked = list.questions.iter().map(|request| words(request, style));
    let mut text: String = asked.chain(list.plans.iter().map(plan)).collect();
    if list.omitted > 0 {
        text.push_str(&format!("and {} more, shown once these are answered\n", list.omitted));
    }
    text
}

async fn follow(context: &Context) -> Result<ExitCode, Failure> {
    let mut interrupts = Interrupts::listen()?;
    let client = context.asking(Role::Operator, Asker::Questions).await?;
    let mut notices = client.notifications();
    let list = client.question_list().await?;
    for request in &list.questions {
        line(context, "pending", request, |style| words(request, style))?;
    }
    for request in &list.plans {
        line(context, "pending", request, |_| plan(request))?;
    }
    // One that was asked while the list was on its way is in both.
    let is_listed = |id: &QuestionId| {
        let mut listed = list.questions.iter().map(|request| &request.id);
        listed.any(|other| other == id) || list.plans.iter().any(|request| request.id == *id)
    };
    loop {
        let notice = tokio::select! {
            notice = notices.next() => notice,
            interrupt = interrupts.next() => return Err(Failure::Interrupted(interrupt)),
        };
        match notice {
            None => return Err(ClientError::Closed.into()),
            Some(Notice::QuestionPending(request)) if !is_listed(&request.id) => {
                line(context, "pending", &request, |style| words(&request, style))?;
            }
            Some(Notice::PlanPending(request)) if !is_listed(&request.id) => {
                line(context, "pending", &request, |_| plan(&request))?;
            }
            Some(Notice::QuestionSettled(told)) => {
                line(context, "settled", &told, |style| settled(&told, style))?;
            }
            Some(Notice::Skipped(count)) => {
                context.note(&format!("{count} notices were missed; list the questions again"));
            }
            Some(_) => {}
        }
    }
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
